// What an order makes of an operation, in every state.

import { deepEqual, equal } from 'node:assert/strict';
import { it } from 'node:test';
import { DELIVERY_STATES } from '../../../src/domain/delivery/delivery.ts';
import { NUMBERS_PER_MS } from '../../../src/domain/ids.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import {
  countNext,
  cursorAt,
  firstNumberOf,
  OPERATION_STATES,
  type OperationCursor,
  type OperationOrder,
  type OperationState,
  ordered,
  RESENDABLE,
  resendNext,
} from '../../../src/domain/operation.ts';

const EXPECTED: Record<OperationState, Record<OperationOrder, OperationState | undefined>> = {
  running: { pause: 'paused', resume: 'running', cancel: 'cancelled' },
  paused: { pause: 'paused', resume: 'running', cancel: 'cancelled' },
  done: { pause: undefined, resume: undefined, cancel: undefined },
  cancelled: { pause: undefined, resume: undefined, cancel: undefined },
};

for (const state of OPERATION_STATES) {
  for (const order of ['pause', 'resume', 'cancel'] as const) {
    const expected = EXPECTED[state][order];
    it(`${state} and told to ${order} becomes ${expected ?? 'nothing else'}`, () => {
      equal(ordered(state, order), expected);
    });
  }
}

it('only what can be over or waits is resendable', () => {
  for (const state of RESENDABLE) equal(DELIVERY_STATES.includes(state), true);
  for (const state of ['sending', 'held'] as const) equal((RESENDABLE as readonly string[]).includes(state), false);
});

const CURSOR: OperationCursor = { sinceMs: 5, states: ['exhausted'], after: 40 };
const of = (state: 'exhausted' | 'delivered', from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ delivery: from + i, state }));

it('counting goes on behind the last it looked at', () => {
  const looked = [...of('delivered', 41, 1), ...of('exhausted', 42, LIMITS.operationStep - 1)];
  deepEqual(countNext(CURSOR, looked), {
    matched: LIMITS.operationStep - 1,
    isCounted: false,
    after: 40 + LIMITS.operationStep,
  });
});

it('counting ends where none are left, and goes back', () => {
  deepEqual(countNext(CURSOR, of('exhausted', 41, 2)), { matched: 2, isCounted: true, after: cursorAt(5) });
  deepEqual(countNext(CURSOR, []), { matched: 0, isCounted: true, after: cursorAt(5) });
  equal(cursorAt(5), 5 * NUMBERS_PER_MS - 1);
  equal(firstNumberOf(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
});

it('sending again stops at the last that fits', () => {
  const { chosen, after, isDone } = resendNext(CURSOR, of('exhausted', 41, 5), { room: 3 });
  deepEqual([chosen.map(({ delivery }) => delivery), after, isDone], [[41, 42, 43], 43, false]);
  deepEqual(resendNext(CURSOR, of('exhausted', 41, 5), { room: 0 }), { chosen: [], after: 40, isDone: false });
});

it('sending again is done when no other is left', () => {
  const looked = [...of('exhausted', 41, 3), ...of('delivered', 44, 2)];
  const { chosen, after, isDone } = resendNext(CURSOR, looked, { room: 3 });
  deepEqual([chosen.length, after, isDone], [3, 45, true]);
  const whole = resendNext(CURSOR, of('delivered', 41, LIMITS.operationStep), { room: 3 });
  deepEqual(whole, { chosen: [], after: 40 + LIMITS.operationStep, isDone: false });
});

it('sending again passes what is not there', () => {
  const isThere = ({ delivery }: { delivery: number }): boolean => delivery !== 42;
  const { chosen, after } = resendNext(CURSOR, of('exhausted', 41, 4), { room: 2, isThere });
  deepEqual([chosen.map(({ delivery }) => delivery), after], [[41, 43], 43]);
});

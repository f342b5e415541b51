// What an order makes of an operation, in every state.

import { equal } from 'node:assert/strict';
import { it } from 'node:test';
import { DELIVERY_STATES } from '../../../src/domain/delivery/delivery.ts';
import {
  OPERATION_STATES,
  type OperationOrder,
  type OperationState,
  ordered,
  RESENDABLE,
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

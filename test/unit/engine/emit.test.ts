// Accepting an event, and where its caller's answer comes from.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type HttpAnswer, NO_OUTCOME, type RunOutcome } from '../../../src/domain/run/run.ts';
import { createEmit } from '../../../src/engine/accept/emit.ts';
import { Waiters } from '../../../src/engine/accept/waiters.ts';
import { Slots } from '../../../src/engine/capacity/slots.ts';
import { DeliveryLimiter } from '../../../src/engine/deliveries/delivery-limiter.ts';
import type { RunWhole } from '../../../src/store/contract/records.ts';
import type { Appended, AppendOptions, Claims, Store } from '../../../src/store/contract/store.ts';
import { appended, claimedRun, emission, NOTHING } from './parts.ts';

const ANSWER: HttpAnswer = { status: 201, headers: {}, body: Buffer.from('made') };
const SUCCEEDED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'succeeded' } };
const KEY = { triggerId: 'hi_1', key: 'one', requestHash: 'hash' };

function create(answers: Appended[], getRun: Store['getRun'] = async () => undefined) {
  const waiters = new Waiters();
  const watched: number[] = [];
  const taken: Claims[] = [];
  const asked: (AppendOptions | undefined)[] = [];
  const emit = createEmit({
    store: {
      append: async (_emission, _slots, options) => {
        asked.push(options);
        return answers.shift() as Appended;
      },
      getRun,
    },
    tracing: null,
    slots: new Slots(new DeliveryLimiter(), { runs: true, deliveries: true }),
    dispatch: { take: (claims) => void taken.push(claims) },
    waiters,
    answers: { watch: (run) => void watched.push(run) },
    metrics: { accepted: { inc: () => undefined } } as never,
  });
  return { emit, waiters, watched, taken, asked };
}

const inState =
  (state: string, errorCode: string | null = null) =>
  async () =>
    ({ state, errorCode, waiting: null }) as RunWhole;
const here = (run: number): Claims => ({ ...NOTHING, runs: [claimedRun(run)] });

test('a run that is claimed here is not looked for elsewhere', async () => {
  const { emit, waiters, watched, asked, taken } = create([appended(5, { claims: here(5) })]);
  const { answer } = await emit(emission, { wantsAnswer: true });
  assert.deepEqual(watched, []);
  assert.deepEqual(asked, [{ isAwaited: true }]);
  assert.deepEqual(taken, [here(5)]);
  waiters.end(5, { ...SUCCEEDED, answer: ANSWER });
  assert.deepEqual(await answer, { kind: 'answer', answer: ANSWER });
});

test('a run that is not claimed here is looked for', async () => {
  for (const options of [{ wantsAnswer: true }, { wantsEnd: true }]) {
    const { emit, waiters, watched } = create([appended(5, { claims: here(6) })]);
    const emitted = await emit(emission, options);
    assert.deepEqual(watched, [5]);
    assert.deepEqual(waiters.runs(), [5], 'whoever waits is known by then');
    waiters.end(5, SUCCEEDED);
    assert.deepEqual(await (emitted.answer ?? emitted.ended), options.wantsEnd ? SUCCEEDED : { kind: 'silent' });
  }
});

test('nobody waits for what nobody asked for', async () => {
  const { emit, waiters, watched, asked } = create([appended(5)]);
  assert.deepEqual((await emit(emission)).answer, null);
  assert.deepEqual([watched, waiters.runs()], [[], []]);
  assert.deepEqual(asked, [{ isAwaited: false }]);
});

test('no run, or a full queue, is told at once', async () => {
  const { emit, watched } = create([appended(null), appended(5, { firstRunRefused: true })]);
  assert.deepEqual(await (await emit(emission, { wantsAnswer: true })).answer, { kind: 'none' });
  const refused = await emit(emission, { wantsAnswer: true, wantsEnd: true });
  assert.deepEqual([await refused.answer, refused.ended], [{ kind: 'full' }, null]);
  assert.deepEqual(watched, []);
});

test('a repeat waits with the first call', async () => {
  const { emit, waiters, watched } = create(
    [appended(5, { repeated: { answer: null, isSameRequest: true } })],
    inState('running'),
  );
  const { answer } = await emit(emission, { wantsAnswer: true, idempotency: KEY });
  assert.deepEqual(watched, [5], 'the first call may have come to another node');
  waiters.answer(5, { kind: 'answer', answer: ANSWER });
  assert.deepEqual(await answer, { kind: 'answer', answer: ANSWER });
});

test('a repeat gets what was kept with its key', async () => {
  // Once it ended while the repeat waited, once before.
  for (const state of ['running', 'succeeded']) {
    const repeats = [
      appended(5, { repeated: { answer: null, isSameRequest: true } }),
      appended(5, { repeated: { answer: ANSWER, isSameRequest: true } }),
    ];
    const { emit, waiters, asked } = create(repeats, inState(state));
    const { answer } = await emit(emission, { wantsAnswer: true, idempotency: KEY });
    if (state === 'running') waiters.end(5, SUCCEEDED);
    assert.deepEqual(await answer, { kind: 'answer', answer: ANSWER });
    assert.deepEqual(asked[1], { idempotency: KEY });
    assert.deepEqual(waiters.runs(), []);
  }
});

test('a repeat of what never answered gets no answer', async () => {
  for (const [state, code, kind] of [
    ['failed', null, 'none'],
    ['succeeded', null, 'silent'],
    ['failed', 'Timeout', 'timeout'],
  ] as const) {
    const repeated = { repeated: { answer: null, isSameRequest: true } };
    const { emit, waiters } = create([appended(5, repeated), appended(5, repeated)], inState(state, code));
    const { answer } = await emit(emission, { wantsAnswer: true, idempotency: KEY });
    assert.deepEqual(await answer, { kind });
    assert.deepEqual(waiters.runs(), []);
  }
});

test('a repeat does not wait for a suspended run', async () => {
  const waiting = async () => ({ state: 'waiting', waiting: { kind: 'suspend', dueAtMs: 1 } }) as RunWhole;
  const repeated = appended(5, { repeated: { answer: null, isSameRequest: true } });
  const { emit, waiters } = create([repeated, repeated], waiting);
  const { answer } = await emit(emission, { wantsAnswer: true, idempotency: KEY });
  assert.deepEqual([await answer, waiters.runs()], [{ kind: 'none' }, []]);
});

test('a run that goes on is appended as such', async () => {
  const { emit, asked } = create([appended(5)]);
  const continuation = { checkpoint: '{}', attempt: 2 };
  await emit(emission, { continuation });
  assert.deepEqual(asked, [{ continuation, isAwaited: false }]);
});

test('another request with the same key is refused', async () => {
  for (const answer of [null, ANSWER]) {
    const { emit, waiters } = create([appended(5, { repeated: { answer, isSameRequest: false } })], inState('running'));
    await assert.rejects(emit(emission, { wantsAnswer: true, idempotency: KEY }), { code: 'key_reused' });
    assert.deepEqual(waiters.runs(), [], 'and nothing waits for the first one');
  }
});

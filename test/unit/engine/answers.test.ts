// Callers that wait here for runs that other nodes execute. The store is a stand-in that tells what a test puts in.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Answered } from '../../../src/domain/requests.ts';
import type { Fault, HttpAnswer, RunState } from '../../../src/domain/run/run.ts';
import { Answers } from '../../../src/engine/accept/answers.ts';
import { Waiters } from '../../../src/engine/accept/waiters.ts';
import type { Awaited } from '../../../src/store/contract/nodes.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { createLog, createWake, random } from './parts.ts';

const ANSWER: HttpAnswer = { status: 201, headers: {}, body: Buffer.from('made') };
const THROWN: Fault = { code: 'TypeError', msg: 'x', cellId: 'c_1', namespace: 'step', tsMs: 1, stack: '' };

function ended(run: number, state: RunState, more: { fault?: Fault; answer?: HttpAnswer } = {}): Awaited {
  return { run, answer: more.answer ?? null, ended: { state, fault: more.fault ?? null }, waiting: null };
}

function create() {
  const told: Awaited[] = [];
  const asked: (readonly number[])[] = [];
  const waiters = new Waiters();
  let isAway = false;
  const store = {
    awaited: async (runs: readonly number[]) => {
      asked.push(runs);
      if (isAway) throw new StoreUnavailable('connection lost');
      return told.filter(({ run }) => runs.includes(run));
    },
  };
  const { log, lines } = createLog();
  const { wake } = createWake();
  const outage = { failed: (_error: unknown, part: string) => log.warn({ part }, 'storage is unavailable') };
  const answers = new Answers({ store, waiters, wake, random, log, outage });
  /** A caller of a run that is not claimed here. */
  const call = (run: number): Promise<Answered> => {
    const { answered } = waiters.answerOf(run);
    answers.watch(run);
    return answered;
  };
  const away = (is: boolean): void => {
    isAway = is;
  };
  return { told, asked, waiters, answers, wake, call, away, lines };
}

test('nobody who waits means nothing is asked', async () => {
  const { answers, asked, waiters } = create();
  assert.equal(await answers.tick(), Number.POSITIVE_INFINITY);
  // Executed here: its end is heard here.
  waiters.answerOf(1);
  assert.equal(await answers.tick(), Number.POSITIVE_INFINITY);
  answers.watch(2);
  assert.equal(await answers.tick(), Number.POSITIVE_INFINITY);
  assert.deepEqual(asked, []);
});

test('an answer from elsewhere reaches its caller', async () => {
  const { answers, told, asked, call } = create();
  const answered = call(1);
  told.push({ run: 1, answer: ANSWER, ended: null, waiting: null });
  await answers.tick();
  assert.deepEqual(await answered, { kind: 'answer', answer: ANSWER });
  await answers.tick();
  assert.deepEqual(asked, [[1]], 'it is not asked for again');
});

const ENDS: readonly [Awaited, Answered][] = [
  [ended(1, 'succeeded', { answer: ANSWER }), { kind: 'answer', answer: ANSWER }],
  [ended(1, 'failed', { answer: ANSWER, fault: THROWN }), { kind: 'answer', answer: ANSWER }],
  [ended(1, 'succeeded'), { kind: 'silent' }],
  [ended(1, 'failed', { fault: THROWN }), { kind: 'none' }],
  [ended(1, 'failed', { fault: { ...THROWN, code: 'Timeout' } }), { kind: 'timeout' }],
  [ended(1, 'failed'), { kind: 'none' }],
  [ended(1, 'cancelled'), { kind: 'cancelled' }],
];

for (const [end, expected] of ENDS) {
  const { state, fault } = end.ended as NonNullable<Awaited['ended']>;
  test(`a caller hears of the end: ${state} ${fault?.code ?? ''} ${end.answer ? 'answered' : ''}`, async () => {
    const { answers, told, call } = create();
    const answered = call(1);
    told.push(end);
    await answers.tick();
    assert.deepEqual(await answered, expected);
  });
}

test('callers of a process that stops are told so: those that wait, and those that come', async () => {
  const { answers, call } = create();
  const waiting = call(1);
  // It was never started: no other process could answer them.
  answers.leave();
  assert.deepEqual([await waiting, await call(2)], [{ kind: 'stopping' }, { kind: 'stopping' }]);
});

test('whoever waits for the end gets its fault', async () => {
  const { answers, told, waiters } = create();
  const outcome = waiters.endOf(1);
  answers.watch(1);
  told.push({ run: 1, answer: ANSWER, ended: null, waiting: null });
  await answers.tick();
  told.splice(0, 1, ended(1, 'failed', { fault: THROWN }));
  await answers.tick();
  assert.deepEqual((await outcome).end, { kind: 'failed', fault: THROWN });
});

test('asking grows rare until there is news', async () => {
  const { answers, told, call } = create();
  void call(1);
  const waits: number[] = [];
  for (let n = 0; n < 6; n++) waits.push(await answers.tick());
  assert.deepEqual(waits, [25, 50, 100, 200, 250, 250]);
  void call(2);
  assert.equal(await answers.tick(), 25, 'somebody new waits');
  await answers.tick();
  told.push(ended(1, 'succeeded'));
  assert.equal(await answers.tick(), 25);
});

test('an answer that is known is no news', async () => {
  const { answers, told, waiters } = create();
  void waiters.endOf(1);
  answers.watch(1);
  told.push({ run: 1, answer: ANSWER, ended: null, waiting: null });
  const waits = [await answers.tick(), await answers.tick(), await answers.tick()];
  assert.deepEqual(waits, [25, 50, 100]);
});

test('a run that comes home is not asked for', async () => {
  const { answers, asked, waiters, call } = create();
  void call(1);
  void call(2);
  waiters.place(1, 'here');
  await answers.tick();
  assert.deepEqual(asked, [[2]]);
  // Its lease was lost: another node executes it now.
  answers.watch(1);
  await answers.tick();
  assert.deepEqual(asked[1], [1, 2]);
});

test('whoever left is not asked for', async () => {
  const { answers, asked, waiters } = create();
  const { leave } = waiters.answerOf(1);
  answers.watch(1);
  leave();
  leave();
  assert.equal(await answers.tick(), Number.POSITIVE_INFINITY);
  assert.deepEqual(asked, []);
});

test('a caller is told by the loop alone', async () => {
  const { answers, told, call } = create();
  answers.start();
  const answered = call(1);
  told.push(ended(1, 'succeeded', { answer: ANSWER }));
  assert.deepEqual(await answered, { kind: 'answer', answer: ANSWER });
  await answers.stop();
});

test('an outage ends no waiting', async () => {
  const { answers, wake, told, asked, call, away, lines } = create();
  away(true);
  answers.start();
  const answered = call(1);
  wake.notify('answers');
  while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  told.push(ended(1, 'succeeded', { answer: ANSWER }));
  away(false);
  wake.notify('answers');
  assert.deepEqual(await answered, { kind: 'answer', answer: ANSWER });
  await answers.stop();
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['warn'],
  );
});

test('a caller is let go when its run waits elsewhere', async () => {
  const { answers, told, waiters, call } = create();
  const answered = call(1);
  told.push({ run: 1, answer: null, ended: null, waiting: { kind: 'suspend', dueAtMs: 1 } });
  await answers.tick();
  assert.deepEqual([await answered, waiters.runs()], [{ kind: 'none' }, []]);
  const patient = call(2);
  told.splice(0, 1, { run: 2, answer: null, ended: null, waiting: { kind: 'delay', dueAtMs: 1 } });
  await answers.tick();
  assert.deepEqual(waiters.runs(), [2]);
  told.splice(0, 1, ended(2, 'succeeded', { answer: ANSWER }));
  await answers.tick();
  assert.deepEqual(await patient, { kind: 'answer', answer: ANSWER });
});

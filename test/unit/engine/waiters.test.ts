// Who waits for a run, and for how long.

import assert from 'node:assert/strict';
import test from 'node:test';
import { NUMBERS_PER_MS } from '../../../src/domain/ids.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { type HttpAnswer, NO_OUTCOME } from '../../../src/domain/run/run.ts';
import { Waiters } from '../../../src/engine/accept/waiters.ts';

const ANSWER: HttpAnswer = { status: 201, headers: {}, body: Buffer.from('made') };
const SUCCEEDED = { ...NO_OUTCOME, end: { kind: 'succeeded' } } as const;
const AT_MS = 1000;
const RUN = AT_MS * NUMBERS_PER_MS;

test('a caller gets what was answered by then', async () => {
  const waiters = new Waiters();
  const { answered } = waiters.answerOf(RUN);
  assert.ok(waiters.wait(RUN, { kind: 'delay', dueAtMs: AT_MS }, ANSWER));
  assert.deepEqual(await answered, { kind: 'answer', answer: ANSWER });
  assert.deepEqual(waiters.runs(), []);
});

test('a caller waits for what time ends soon', async () => {
  const lastMs = AT_MS + LIMITS.answerWaitMs;
  for (const kind of ['delay', 'rerun', 'retry'] as const) {
    const waiters = new Waiters();
    const { answered } = waiters.answerOf(RUN);
    assert.equal(waiters.wait(RUN, { kind, dueAtMs: lastMs }, null), false);
    assert.deepEqual(waiters.runs(), [RUN]);
    waiters.end(RUN, { ...SUCCEEDED, answer: ANSWER });
    assert.deepEqual(await answered, { kind: 'answer', answer: ANSWER });
    const late = waiters.answerOf(RUN);
    assert.ok(waiters.wait(RUN, { kind, dueAtMs: lastMs + 1 }, null));
    assert.deepEqual([await late.answered, waiters.runs()], [{ kind: 'none' }, []]);
  }
});

test('nobody waits for a suspension', async () => {
  const waiters = new Waiters();
  const [first, second] = [waiters.answerOf(RUN), waiters.answerOf(RUN)];
  assert.ok(waiters.wait(RUN, { kind: 'suspend', dueAtMs: AT_MS }, null));
  assert.deepEqual([await first.answered, await second.answered], [{ kind: 'none' }, { kind: 'none' }]);
  assert.deepEqual(waiters.runs(), []);
});

test('whoever waits for the end goes on waiting', async () => {
  const waiters = new Waiters();
  const ended = waiters.endOf(RUN);
  waiters.wait(RUN, { kind: 'suspend', dueAtMs: AT_MS }, null);
  assert.deepEqual(waiters.runs(), [RUN]);
  waiters.end(RUN, SUCCEEDED);
  assert.equal(await ended, SUCCEEDED);
});

test('no caller waits for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waiters = new Waiters();
  const { answered } = waiters.answerOf(RUN);
  const gone = waiters.answerOf(RUN + 1);
  gone.leave();
  t.mock.timers.tick(LIMITS.callerMs - 1);
  assert.deepEqual(waiters.runs(), [RUN]);
  t.mock.timers.tick(1);
  assert.deepEqual([await answered, waiters.runs()], [{ kind: 'timeout' }, []]);
});

test('a caller who is gone is not waited for', async () => {
  const waiters = new Waiters();
  const leaves: (() => void)[] = [];
  let staying = (): void => {};
  const first = waiters.answerOf(RUN, (leave) => {
    staying = leave;
  });
  const second = waiters.answerOf(RUN, (leave) => leaves.push(leave));
  const alone = waiters.answerOf(RUN + 1, (leave) => leaves.push(leave));
  for (const leave of leaves) leave();
  assert.deepEqual(waiters.runs(), [RUN]);
  assert.deepEqual([await second.answered, await alone.answered], [{ kind: 'none' }, { kind: 'none' }]);
  assert.deepEqual(await waiters.answerOf(RUN + 2, (leave) => leave()).answered, { kind: 'none' });
  assert.ok(waiters.answer(RUN, { kind: 'answer', answer: ANSWER }));
  assert.deepEqual(await first.answered, { kind: 'answer', answer: ANSWER });
  assert.deepEqual(waiters.runs(), []);
  staying();
  assert.deepEqual(waiters.runs(), []);
});

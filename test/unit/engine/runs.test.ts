// Answers of runs whose callers wait at other nodes, and callers here whose run is executed elsewhere.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { RunEnd } from '../../../src/domain/end.ts';
import { type ClaimedRun, type HttpAnswer, NO_OUTCOME, type RunOutcome } from '../../../src/domain/run.ts';
import { Lines } from '../../../src/engine/lines.ts';
import { propStoresOf } from '../../../src/engine/prop-stores.ts';
import { Runs } from '../../../src/engine/runs.ts';
import { Slots } from '../../../src/engine/slots.ts';
import { Waiters } from '../../../src/engine/waiters.ts';
import type { RunRequest } from '../../../src/runner/runner.ts';
import { type Store, StoreUnavailable } from '../../../src/store/store.ts';
import { claimedRun, createLog, NOTHING, random, runnable } from './parts.ts';

const ANSWER: HttpAnswer = { status: 201, headers: {}, body: Buffer.from('made') };
const SUCCEEDED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'succeeded' } };

interface Scene {
  readonly execute: (request: RunRequest) => RunOutcome;
  readonly held?: boolean;
  readonly answerRun?: Store['answerRun'];
}

function create({ execute, held = true, answerRun = async () => undefined }: Scene) {
  const ends: RunEnd[] = [];
  const watched: number[] = [];
  const waiters = new Waiters();
  const slots = new Slots(new Lines(), { runs: true, deliveries: true });
  slots.open();
  const store: Partial<Store> = {
    getDeployment: async () => ({ id: 'd_1', steps: [] }) as never,
    finishRun: async (end) => {
      ends.push(end);
      return { held, claims: NOTHING, errorEntry: null };
    },
    answerRun,
  };
  const inc = { inc: () => undefined, observe: () => undefined };
  const { log, lines } = createLog();
  const runs = new Runs({
    store: store as Store,
    runner: { run: async (request: RunRequest) => execute(request) } as never,
    slots,
    dispatch: { take: () => undefined } as never,
    waiters,
    answers: { watch: (run) => void watched.push(run) },
    metrics: { runs: inc, runSeconds: inc, errors: inc } as never,
    clock: { nowMs: () => 0 },
    random,
    log,
    propStores: propStoresOf({ getAccount: async () => undefined, getDataStore: async () => undefined }),
    publicUrl: () => 'http://errand',
    wakeSweep: () => undefined,
  });
  const execution = async (run: ClaimedRun): Promise<void> => {
    slots.takeRun(runnable);
    runs.execute(run);
    await runs.stop(1000);
  };
  return { execution, ends, watched, waiters, lines };
}

function respondingAtOnce({ onAnswer }: RunRequest): RunOutcome {
  onAnswer(ANSWER);
  return SUCCEEDED;
}

test('an answer is handed to where its caller waits', async () => {
  const handed: unknown[] = [];
  const { execution, ends } = create({
    execute: respondingAtOnce,
    answerRun: async (lease, answer) => void handed.push(lease, answer),
  });
  await execution(claimedRun(5, { fence: 3, isAwaitedElsewhere: true }));
  assert.deepEqual(handed, [{ run: 5, fence: 3 }, ANSWER]);
  await execution(claimedRun(6));
  assert.equal(handed.length, 2, 'nobody waits elsewhere');
  assert.deepEqual(
    ends.map(({ answer }) => answer),
    [ANSWER, ANSWER],
    'the end keeps it for repeats',
  );
});

test('an answer that cannot be handed over is told', async () => {
  const { execution, ends, lines } = create({
    execute: respondingAtOnce,
    answerRun: () => Promise.reject(new StoreUnavailable('connection lost')),
  });
  await execution(claimedRun(5, { isAwaitedElsewhere: true }));
  assert.deepEqual(
    lines.filter(({ level }) => level === 'warn').map(({ name }) => name),
    ['answer could not be handed over'],
  );
  assert.deepEqual(ends[0]?.answer, ANSWER, 'it comes with the end');
});

test('callers here are told here', async () => {
  let looked: number[] | undefined;
  const { execution, waiters, watched } = create({
    execute: (request) => {
      looked = waiters.elsewhere();
      return respondingAtOnce(request);
    },
  });
  const { answered } = waiters.answerOf(5);
  const ended = waiters.endOf(5);
  waiters.place(5, 'elsewhere');
  await execution(claimedRun(5));
  assert.deepEqual(await answered, { kind: 'answer', answer: ANSWER });
  assert.deepEqual((await ended).end, { kind: 'succeeded' });
  assert.deepEqual([looked, watched, waiters.runs()], [[], [], []]);
});

test('callers of a run that was lost look elsewhere', async () => {
  const { execution, waiters, watched } = create({ execute: () => SUCCEEDED, held: false });
  waiters.answerOf(5);
  await execution(claimedRun(5));
  assert.deepEqual(watched, [5]);
  assert.deepEqual(waiters.runs(), [5], 'it is not over for them');
});

test('callers of a run that was handed back look elsewhere', async () => {
  for (const kind of ['returned', 'bystander'] as const) {
    const { execution, waiters, watched } = create({ execute: () => ({ ...NO_OUTCOME, end: { kind } }) });
    waiters.answerOf(5);
    await execution(claimedRun(5));
    assert.deepEqual([watched, waiters.runs()], [[5], [5]]);
  }
});

// Answers of runs whose callers wait at other nodes, and callers here whose run is executed elsewhere.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type ClaimedRun, type HttpAnswer, NO_OUTCOME, type RunOutcome } from '../../../src/domain/run/run.ts';
import type { RunEnd } from '../../../src/domain/run/run-end.ts';
import { Waiters } from '../../../src/engine/accept/waiters.ts';
import { Slots } from '../../../src/engine/capacity/slots.ts';
import { DeliveryLimiter } from '../../../src/engine/deliveries/delivery-limiter.ts';
import { ReadyRuns } from '../../../src/engine/runs/ready-runs.ts';
import { Runs } from '../../../src/engine/runs/runs.ts';
import type { RunRequest } from '../../../src/runner/runner.ts';
import type { Claims, Store } from '../../../src/store/contract/store.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { claimedRun, createLog, createWake, NO_PROP_STORES, NOTHING, random, runnable } from './parts.ts';

const ANSWER: HttpAnswer = { status: 201, headers: {}, body: Buffer.from('made') };
const SUCCEEDED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'succeeded' } };

interface Scene {
  readonly execute: (request: RunRequest) => RunOutcome;
  readonly held?: boolean;
  readonly isCancelled?: boolean;
  readonly answerRun?: Store['answerRun'];
  /** With the end of the run. */
  readonly claimed?: readonly ClaimedRun[];
}

function create({ execute, held = true, isCancelled = false, answerRun = async () => undefined, claimed = [] }: Scene) {
  const ends: RunEnd[] = [];
  const watched: number[] = [];
  const started: number[] = [];
  const woken: number[] = [];
  const { wake } = createWake();
  wake.subscribe('schedules', (inMs) => woken.push(inMs));
  const waiters = new Waiters();
  const slots = new Slots(new DeliveryLimiter(), { runs: true, deliveries: true });
  slots.open();
  const store: Partial<Store> = {
    getDeployment: async () => ({ id: 'd_1', steps: [] }) as never,
    deriveKey: () => new Uint8Array(32),
    listTriggers: async () => [],
    finishRun: async (end) => {
      ends.push(end);
      return { held, isCancelled, claims: { ...NOTHING, runs: claimed }, errorEntry: null };
    },
    answerRun,
  };
  const inc = { inc: () => undefined, observe: () => undefined };
  const { log, lines } = createLog();
  const runs = new Runs({
    store: store as Store,
    readyRuns: new ReadyRuns({ run: async (request) => execute(request), runsBeside: () => null, cancel: () => false }),
    slots,
    dispatch: {
      take: (claims: Claims) => void started.push(...claims.runs.map(({ run }) => run)),
      startRuns: () => undefined,
    } as never,
    eventFor: async ({ emission }) => emission.body,
    endFor: async (_run, end) => end,
    waiters,
    answers: { watch: (run) => void watched.push(run) },
    tracing: null,
    metrics: { runs: inc, runSeconds: inc, errors: inc } as never,
    clock: { nowMs: () => 0, latestMs: () => 0 },
    random,
    log,
    propStores: NO_PROP_STORES,
    publicUrl: () => 'http://errand',
    endpointUrl: (key: string) => `http://errand/e/${key}`,
    linkOf: ({ id }) => `http://errand/n/${id}`,
    wake,
  });
  const execution = async (run: ClaimedRun): Promise<void> => {
    slots.takeRun(runnable);
    runs.execute(run);
    await runs.stop(1000);
  };
  return { execution, ends, watched, woken, waiters, lines, slots, started };
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

test('a run has the time of what started it, unless it has its own', async () => {
  const times: number[] = [];
  const { execution } = create({
    execute: ({ timeoutMs }) => {
      times.push(timeoutMs);
      return SUCCEEDED;
    },
  });
  const run = claimedRun(1);
  const scheduled = { ...run, emission: { ...run.emission, sourceType: 'TIMER' as const } };
  const settings = { ...run.runnable.settings, timeoutMs: 7000 };
  for (const one of [run, scheduled, { ...scheduled, runnable: { ...run.runnable, settings } }]) await execution(one);
  assert.deepEqual(times, [30_000, 60_000, 7000]);
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

test('the log of the server says why a run is queued again', async () => {
  for (const [kind, why] of [
    ['unattributed', /its process was ended/],
    ['returned', /handed back/],
  ] as const) {
    const { execution, lines } = create({ execute: () => ({ ...NO_OUTCOME, end: { kind } }) });
    await execution(claimedRun(1));
    assert.match(JSON.stringify(lines), why);
  }
});

test('callers of a run that was handed back look elsewhere', async () => {
  for (const kind of ['returned', 'unattributed'] as const) {
    const { execution, waiters, watched } = create({ execute: () => ({ ...NO_OUTCOME, end: { kind } }) });
    waiters.answerOf(5);
    await execution(claimedRun(5));
    assert.deepEqual([watched, waiters.runs()], [[5], [5]]);
  }
});

const WAITS: RunOutcome = { ...NO_OUTCOME, end: { kind: 'waiting', wait: { kind: 'delay', ms: 50, context: null } } };
const THROWN: RunOutcome = {
  ...NO_OUTCOME,
  end: { kind: 'failed', fault: { code: 'Error', msg: 'no', cellId: 'c_1', namespace: 'step', tsMs: 1, stack: '' } },
};

test('a run that waits is looked for again in time', async () => {
  const { execution, ends, watched, woken, waiters, lines } = create({ execute: () => WAITS });
  waiters.answerOf(5);
  await execution(claimedRun(5));
  assert.deepEqual([ends[0]?.state, ends[0]?.wait?.dueAtMs, woken, watched], ['waiting', 50, [50], [5]]);
  assert.deepEqual(waiters.runs(), [5], 'its caller waits with it');
  const line = lines.find(({ name }) => name === 'run waits');
  assert.partialDeepStrictEqual(line?.fields, { state: 'waiting', why: 'delay', due: new Date(50).toISOString() });
});

test('a failed attempt that is tried again waits', async () => {
  const retry = { attempts: 2, baseMs: 100, maxMs: 100, also: [], reportFirst: false };
  const patient = { ...runnable, settings: { ...runnable.settings, retry } };
  const { execution, ends, woken, lines } = create({ execute: () => THROWN });
  await execution(claimedRun(5, { runnable: patient }));
  assert.deepEqual([ends[0]?.state, ends[0]?.wait?.kind, ends[0]?.emissions, woken], ['waiting', 'retry', [], [100]]);
  assert.partialDeepStrictEqual(lines[0], { level: 'info', fields: { why: 'retry', code: 'Error', attempt: 1 } });
  await execution(claimedRun(6, { runnable: patient, checkpoint: ends[0]?.wait?.checkpoint as string, attempt: 2 }));
  assert.deepEqual([ends[1]?.state, ends[1]?.emissions.length], ['failed', 1]);
});

test('a run cancelled before its wait is over', async () => {
  const { execution, waiters, lines } = create({ execute: () => WAITS, isCancelled: true });
  const { answered } = waiters.answerOf(5);
  await execution(claimedRun(5));
  assert.deepEqual([await answered, waiters.runs()], [{ kind: 'cancelled' }, []]);
  assert.partialDeepStrictEqual(lines[0], { name: 'run ended', fields: { state: 'cancelled' } });
});

test('a run that goes on is given what was before', async () => {
  const requests: RunRequest[] = [];
  const execute = (request: RunRequest): RunOutcome => {
    requests.push(request);
    return WAITS;
  };
  const { execution, ends } = create({ execute });
  await execution(claimedRun(5));
  await execution(claimedRun(6, { checkpoint: ends[0]?.wait?.checkpoint as string, resumed: '{"body":1}' }));
  assert.deepEqual([requests[0]?.earlier, requests[0]?.resumeKey.length], [null, 64]);
  assert.deepEqual([requests[1]?.earlier?.waits, requests[1]?.earlier?.callback], [1, '{"body":1}']);
  assert.equal(ends[1]?.wait?.waits, 2);
});

test('a run gives its slot back, and its end starts the next', async () => {
  const { execution, slots, started } = create({ execute: () => SUCCEEDED, claimed: [claimedRun(6)] });
  await execution(claimedRun(5));
  assert.equal(slots.inFlight.runs, 0);
  assert.deepEqual(started, [6]);
});

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Runnable } from '../../../src/domain/resource.ts';
import { NO_OUTCOME, type RunOutcome } from '../../../src/domain/run/run.ts';
import { ReadyRuns } from '../../../src/engine/runs/ready-runs.ts';
import type { RunRequest } from '../../../src/runner/runner.ts';

const SUCCEEDED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'succeeded' } };

const requestOf = (run: number, runnableId = 'p_1'): RunRequest => ({ run, deployment: { runnableId } }) as RunRequest;
const workflow = (concurrency: number, id = 'p_1'): Runnable => ({ id, settings: { concurrency } }) as Runnable;

/** A runner whose runs end when the test says so. */
function aRunner() {
  const begun: number[] = [];
  const ends = new Map<number, (outcome: RunOutcome) => void>();
  const cancelled: number[] = [];
  const ready = new ReadyRuns({
    run: (request) => {
      begun.push(request.run);
      return new Promise((resolve) => ends.set(request.run, resolve));
    },
    runsBeside: () => null,
    cancel: (run) => ends.has(run) && cancelled.push(run) > 0,
  });
  const end = async (run: number): Promise<void> => {
    ends.get(run)?.(SUCCEEDED);
    ends.delete(run);
    await new Promise(setImmediate);
  };
  return { ready, begun, cancelled, end };
}

test('no more runs are executed at once than there are slots', async () => {
  const { ready, begun, end } = aRunner();
  const runs = [1, 2, 3, 4].map((run) => ready.run(requestOf(run), 2));
  deepEqual(begun, [1, 2]);
  await end(2);
  deepEqual(begun, [1, 2, 3]);
  await end(1);
  await end(3);
  await end(4);
  deepEqual(begun, [1, 2, 3, 4]);
  deepEqual(await Promise.all(runs), [SUCCEEDED, SUCCEEDED, SUCCEEDED, SUCCEEDED]);
});

test('workflows do not wait for each other', () => {
  const { ready, begun } = aRunner();
  void ready.run(requestOf(1), 1);
  void ready.run(requestOf(2), 1);
  void ready.run(requestOf(3, 'p_2'), 1);
  deepEqual(begun, [1, 3]);
});

test('a run that waits is cancelled before it begins', async () => {
  const { ready, begun, cancelled, end } = aRunner();
  void ready.run(requestOf(1), 1);
  const second = ready.run(requestOf(2), 1);
  const third = ready.run(requestOf(3), 1);
  equal(ready.cancel(2), true);
  deepEqual((await second).end, { kind: 'cancelled' });
  equal(ready.cancel(2), false);
  equal(ready.cancel(1), true);
  await end(1);
  await end(3);
  await third;
  deepEqual([begun, cancelled], [[1, 3], [1]]);
});

test('a failing runner gives its slot to the next run', async () => {
  let runs = 0;
  const run = async (): Promise<RunOutcome> => {
    runs++;
    if (runs === 1) throw new Error('broken');
    return SUCCEEDED;
  };
  const ready = new ReadyRuns({ run, runsBeside: () => null, cancel: () => false });
  const [first, second] = [ready.run(requestOf(1), 1), ready.run(requestOf(2), 1)];
  equal(await first.catch((error: Error) => error.message), 'broken');
  deepEqual(await second, SUCCEEDED);
});

test('runs are leased ahead only of workflows that are known to be quick', async () => {
  const ready = new ReadyRuns({ run: async () => SUCCEEDED, runsBeside: () => null, cancel: () => false });
  equal(ready.ahead(workflow(8)), 0);
  for (let run = 0; run < 31; run++) await ready.run(requestOf(run), 8);
  equal(ready.ahead(workflow(8)), 0);
  for (let run = 31; run < 1000; run++) await ready.run(requestOf(run), 8);
  deepEqual(
    [2, 8, 100].map((concurrency) => ready.ahead(workflow(concurrency))),
    [32, 128, 128],
  );
  equal(ready.ahead(workflow(8, 'p_2')), 0);
});

test('nothing is leased ahead of a workflow with one slot', async () => {
  const ready = new ReadyRuns({ run: async () => SUCCEEDED, runsBeside: () => null, cancel: () => false });
  for (let run = 0; run < 100; run++) await ready.run(requestOf(run), 1);
  equal(ready.ahead(workflow(1)), 0);
});

test('the time that a run waits in its process is none of its pace', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  let inFlight = 0;
  const run = async ({ onBegun }: RunRequest): Promise<RunOutcome> => {
    inFlight++;
    await new Promise(setImmediate);
    if (onBegun !== undefined) {
      // The others have ended.
      await new Promise(setImmediate);
      nowMs += 1000;
      onBegun();
    }
    inFlight--;
    return SUCCEEDED;
  };
  const ready = new ReadyRuns({ run, runsBeside: () => inFlight, cancel: () => false });
  const event = Buffer.from('{}');
  const quick = (n: number): Promise<RunOutcome> => ready.run({ ...requestOf(n), event }, 2);
  for (let n = 0; n < 40; n++) await quick(n);
  const before = nowMs;
  await Promise.all([quick(100), quick(101), quick(102)]);
  equal(nowMs - before, 1000);
  equal(ready.ahead(workflow(2)), 32);
});

test('runs are held until another workflow has runs, and again a second after', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  let [inFlight, held] = [0, 0];
  const run = async ({ onBegun }: RunRequest): Promise<RunOutcome> => {
    inFlight++;
    if (onBegun !== undefined) held++;
    await new Promise(setImmediate);
    inFlight--;
    return SUCCEEDED;
  };
  const ready = new ReadyRuns({ run, runsBeside: () => inFlight, cancel: () => false });
  const event = Buffer.from('{}');
  const heldOf = async (id: string): Promise<number> => {
    held = 0;
    await Promise.all(Array.from({ length: 8 }, (_, n) => ready.run({ ...requestOf(n, id), event }, 2)));
    return held;
  };
  for (let n = 0; n < 40; n++) await ready.run({ ...requestOf(n), event }, 2);
  ok((await heldOf('p_1')) > 0);
  await ready.run({ ...requestOf(1, 'p_2'), event }, 2);
  nowMs += 5000;
  equal(await heldOf('p_1'), 0);
  nowMs += 999;
  equal(await heldOf('p_1'), 0);
  nowMs += 1;
  ok((await heldOf('p_1')) > 0);
});

test('nothing is leased ahead of slow runs', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const run = async (): Promise<RunOutcome> => {
    nowMs += 100;
    return SUCCEEDED;
  };
  const ready = new ReadyRuns({ run, runsBeside: () => null, cancel: () => false });
  for (let n = 0; n < 100; n++) await ready.run(requestOf(n), 8);
  equal(ready.ahead(workflow(8)), 0);
});

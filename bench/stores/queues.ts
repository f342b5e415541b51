// Two well-known job queues on the same Postgres, doing what an event with its run does: add → run → done. Each with the
// settings that its documentation gives for speed, and jobs as large as our events. The adding is one job a call from as
// many callers as our load has connections, and the working begins with it.

import { Logger, makeWorkerUtils, run, WorkerPreset } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import { BODY, CONNECTIONS } from '../kit/load.ts';

const PAYLOAD = JSON.parse(BODY) as object;
const CONNECTIONS_TO_DATABASE = 10;
const BATCH = 500;

export interface Worked {
  readonly jobs: number;
  /** Jobs that are done, by the time from the first add until the last one was done. */
  readonly perSecond: number;
}

/** Counts jobs that are done; resolves when all of them are. */
class Done {
  readonly all: Promise<void>;
  #left: number;
  #resolve: () => void = () => {};

  constructor(jobs: number) {
    this.#left = jobs;
    this.all = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  one(): void {
    this.#left--;
    if (this.#left === 0) this.#resolve();
  }
}

async function addAll(jobs: number, add: () => Promise<unknown>): Promise<void> {
  let left = jobs;
  const adding = async (): Promise<void> => {
    while (left-- > 0) await add();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, adding));
}

async function timed(jobs: number, done: Done, add: () => Promise<unknown>): Promise<Worked> {
  const started = performance.now();
  await addAll(jobs, add);
  await done.all;
  return { jobs, perSecond: (jobs / (performance.now() - started)) * 1000 };
}

export async function graphileWorker(connectionString: string, jobs: number): Promise<Worked> {
  const preset = {
    extends: [WorkerPreset],
    worker: {
      connectionString,
      maxPoolSize: CONNECTIONS_TO_DATABASE,
      concurrentJobs: 24,
      pollInterval: 1000,
      localQueue: { size: BATCH },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      // It would write a line for each job.
      logger: new Logger(() => () => undefined),
    },
  };
  const done = new Done(jobs);
  const utils = await makeWorkerUtils({ preset });
  await utils.migrate();
  const runner = await run({
    preset,
    noHandleSignals: true,
    taskList: { bench: () => done.one() },
  });
  const worked = await timed(jobs, done, () => utils.addJob('bench', PAYLOAD));
  await runner.stop();
  await utils.release();
  return worked;
}

export async function pgBoss(connectionString: string, jobs: number): Promise<Worked> {
  const boss = new PgBoss({ connectionString, max: CONNECTIONS_TO_DATABASE });
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error}\n`));
  await boss.start();
  await boss.createQueue('bench');
  const done = new Done(jobs);
  const options = { batchSize: BATCH, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true, localConcurrency: 2 };
  await boss.work('bench', options, async (batch) => {
    for (const _ of batch) done.one();
  });
  const worked = await timed(jobs, done, () => boss.send('bench', PAYLOAD));
  await boss.stop({ graceful: false });
  return worked;
}

// The store alone: how many events it takes and how many runs it ends, by how many callers wait at once.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clock, random } from '../../src/server/real-ports.ts';
import type { Store } from '../../src/store/contract/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { SECRET_KEY } from '../kit/server.ts';
import { appendAndFinish, eventOf, type Flow, FREE_HANDS, failedEnd, layFlow } from './store-work.ts';

export interface StoreSpeed {
  readonly concurrency: number;
  /** Events appended and their runs finished: two verbs each. */
  readonly perSecond: number;
}

export async function storeSpeed(concurrency: number, ms: number): Promise<StoreSpeed> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-store-'));
  const store = await openSqliteStore({ path: join(dir, 'errand.db'), clock, random });
  const flow = await layFlow(store);
  let done = 0;
  let until = performance.now() + ms / 5;
  const work = async (): Promise<void> => {
    while (performance.now() < until) {
      await appendAndFinish(store, flow);
      done++;
    }
  };
  const all = (): Promise<unknown> => Promise.all(Array.from({ length: concurrency }, work));
  await all();
  done = 0;
  const started = performance.now();
  until = started + ms;
  await all();
  const perSecond = (done / (performance.now() - started)) * 1000;
  await store.close();
  await rm(dir, { recursive: true, force: true });
  return { concurrency, perSecond };
}

export interface Prefilled {
  readonly emissions: number;
  readonly seconds: number;
}

/** One in so many events reaches a workflow, and fails. */
const FAILING = 10;
const AT_ONCE = 500;
const SMALL_EVENT = Buffer.from(`{"method":"POST","path":"/","query":{},"body":{"pad":"${'x'.repeat(240)}"}}`);

/** As servers of `startBench` have them. */
export const SECRET_KEYS = [{ key: SECRET_KEY, from: 'the benchmark', isShared: true }];

/** Fills a file of a server of `startBench`, while none uses it. */
export async function prefill(path: string, flow: Flow, bounds: Bounds): Promise<Prefilled> {
  const store = await openSqliteStore({ path, clock, random, secretKeys: SECRET_KEYS });
  const filled = await fill(store, flow, bounds);
  await store.close();
  return filled;
}

export interface Bounds {
  readonly wanted: number;
  readonly maxMs: number;
}

/**
 * One event in ten goes to `flow`'s workflow and fails; the others come from a trigger that nobody listens to. Stops at
 * `wanted` emissions, or when the time is up.
 */
export async function fill(store: Store, flow: Flow, bounds: Bounds): Promise<Prefilled> {
  const unheard = { ...flow, triggerId: 'hi_0000000000000000' };
  const started = performance.now();
  let emissions = 0;
  const one = async (n: number): Promise<void> => {
    const { claims } = await store.append(eventOf(n % FAILING === 0 ? flow : unheard, SMALL_EVENT), FREE_HANDS);
    emissions++;
    for (const run of claims.runs) {
      await store.finishRun(failedEnd(run), FREE_HANDS);
      emissions++;
    }
  };
  while (emissions < bounds.wanted && performance.now() - started < bounds.maxMs) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => one(n)));
  }
  return { emissions, seconds: (performance.now() - started) / 1000 };
}

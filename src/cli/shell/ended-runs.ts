// Runs as they end, asked for again and again.

import { setTimeout as pause } from 'node:timers/promises';
import { type Errand, ProblemError, type Run, type SearchRunsInput } from '../../client/client.ts';
import type { Again } from './outlast.ts';

const OVER: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);

export interface Following {
  readonly query: Omit<SearchRunsInput, 'limit' | 'before' | 'after'>;
  readonly lookMs: number;
  readonly signal?: AbortSignal;
  /** Makes a call; left out: once. */
  readonly again?: Again;
  /** Called once it is known where it begins: no run that is made from then on is missed. */
  readonly onBegin?: () => void;
}

/** Yields runs that end from now on, in the order in which that shows. Ends with the signal. */
export async function* endedRuns(errand: Errand, following: Following): AsyncGenerator<Run> {
  const { query, lookMs, signal, again = (call) => call() } = following;
  const [newest] = (await errand.searchRuns({ ...query, limit: 1 })).data;
  following.onBegin?.();
  let cursor = newest?.id;
  const open = new Set<string>();
  while (signal?.aborted !== true) {
    const fresh = await again(() => since(errand, query, cursor));
    cursor = fresh.at(-1)?.id ?? cursor;
    for (const run of fresh) {
      if (OVER.has(run.state)) yield run;
      else open.add(run.id);
    }
    for (const id of [...open].filter((one) => !fresh.some((run) => run.id === one))) {
      const run = await again(() => runOf(errand, id));
      if (run !== null && !OVER.has(run.state)) continue;
      open.delete(id);
      if (run !== null) yield run;
    }
    await pause(lookMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns null when it is retained no more. */
async function runOf(errand: Errand, id: string): Promise<Run | null> {
  try {
    return (await errand.getRun({ id })).data;
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return null;
    throw error;
  }
}

/** Returns the runs behind a cursor, oldest first. */
async function since(errand: Errand, query: Following['query'], cursor: string | undefined): Promise<Run[]> {
  const found: Run[] = [];
  const asked = cursor === undefined ? query : { ...query, before: cursor };
  for await (const page of errand.searchRuns(asked).pages()) found.push(...[...page.data].reverse());
  return found;
}

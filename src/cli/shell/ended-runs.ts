// Runs as they end, asked for again and again.

import { setTimeout as pause } from 'node:timers/promises';
import type { Errand, Run, SearchRunsInput } from '../../client/client.ts';

const OVER: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);

export interface Following {
  readonly query: Omit<SearchRunsInput, 'limit' | 'before' | 'after'>;
  readonly lookMs: number;
  readonly signal?: AbortSignal;
}

/** Yields runs that end from now on, in the order in which that shows. Ends with the signal. */
export async function* endedRuns(errand: Errand, { query, lookMs, signal }: Following): AsyncGenerator<Run> {
  const [newest] = (await errand.searchRuns({ ...query, limit: 1 })).data;
  let cursor = newest?.id;
  const open = new Set<string>();
  while (signal?.aborted !== true) {
    const fresh = await since(errand, query, cursor);
    cursor = fresh.at(-1)?.id ?? cursor;
    for (const run of fresh) {
      if (OVER.has(run.state)) yield run;
      else open.add(run.id);
    }
    for (const id of [...open].filter((one) => !fresh.some((run) => run.id === one))) {
      const { data } = await errand.getRun({ id });
      if (!OVER.has(data.state)) continue;
      open.delete(id);
      yield data;
    }
    await pause(lookMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the runs behind a cursor, oldest first. */
async function since(errand: Errand, query: Following['query'], cursor: string | undefined): Promise<Run[]> {
  const found: Run[] = [];
  const asked = cursor === undefined ? query : { ...query, before: cursor };
  for await (const page of errand.searchRuns(asked).pages()) found.push(...[...page.data].reverse());
  return found;
}

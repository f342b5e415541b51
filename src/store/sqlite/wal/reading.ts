// Reads see what is committed, and that may not be on disk yet. An answer that showed it, or a line of a stream, could
// speak of an event that is gone after a power cut. So what was read is given out when all that was committed before is on
// disk. That is at once, unless the store is being written to.

import type { Batch } from '../log/batch.ts';
import type { CommitSync } from './commit-sync.ts';

// biome-ignore lint/suspicious/noExplicitAny: verbs of any arguments
type Verbs = Record<string, (...given: any[]) => Promise<unknown>>;

/** The same verbs. Those that write wait for their own commits, in the batch. */
export function showingWhatIsSynced<T extends Verbs>(verbs: T, to: { batch: Batch; commits: CommitSync }): T {
  const shown = Object.entries(verbs).map(([name, verb]) => [name, showing(verb, to)]);
  return Object.fromEntries(shown) as T;
}

function showing(verb: Verbs[string], { batch, commits }: { batch: Batch; commits: CommitSync }): Verbs[string] {
  return (...given) => {
    const before = batch.called;
    const answer = verb(...given);
    // It was read by now: no verb that only reads waits for anything before.
    const synced = batch.called === before ? commits.synced() : null;
    return synced === null ? answer : Promise.all([answer, synced]).then(([value]) => value);
  };
}

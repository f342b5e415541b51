// Reads see commits that may not be on disk yet, and an answer or stream could show an event that is gone after a power cut. So a
// read is returned once all commits before it are on disk. That is at once, unless the store is being written.

import type { Batch } from '../log/batch.ts';
import type { CommitSync } from './commit-sync.ts';

// biome-ignore lint/suspicious/noExplicitAny: verbs of any arguments
type Verbs = Record<string, (...given: any[]) => Promise<unknown>>;

/** Returns the verbs so that reads wait for earlier commits. Verbs that write wait for their own, in the batch. */
export function showingWhatIsSynced<T extends Verbs>(verbs: T, to: { batch: Batch; commits: CommitSync }): T {
  const shown = Object.entries(verbs).map(([name, verb]) => [name, showing(verb, to)]);
  return Object.fromEntries(shown) as T;
}

function showing(verb: Verbs[string], { batch, commits }: { batch: Batch; commits: CommitSync }): Verbs[string] {
  return (...given) => {
    const before = batch.called;
    const answer = verb(...given);
    // A verb that only reads has read by now: it never waits before.
    const synced = batch.called === before ? commits.synced() : null;
    return synced === null ? answer : Promise.all([answer, synced]).then(([value]) => value);
  };
}

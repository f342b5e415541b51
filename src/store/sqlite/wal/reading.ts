// Reads see commits that may not be on disk yet, and an answer or stream could show an event that is gone after a power cut. So a
// read is returned once all commits before it are on disk. That is at once, unless the store is being written.

import type { Batch } from '../log/batch.ts';
import type { CommitSync } from './commit-sync.ts';

// biome-ignore lint/suspicious/noExplicitAny: verbs of any arguments
type Verbs = Record<string, (...given: any[]) => Promise<unknown>>;

/** Returns the verbs so that reads wait for earlier commits. Verbs that write wait for their own, in the batch. */
export function showingWhatIsSynced<T extends Verbs>(verbs: T, to: { batch: Batch; commits: CommitSync }): T {
  const shown = Object.entries(verbs).map(([name, verb]) => [name, showing([name, verb], to)]);
  return Object.fromEntries(shown) as T;
}

/** Reads that let others go first while they read: what they show is on disk when the commits are that were made by their end. */
const READ_IN_STEPS: ReadonlySet<string> = new Set([
  'searchErrors',
  'searchRuns',
  'outcomeOfError',
  'previewReplay',
  'nextReplays',
]);

function showing(
  [name, verb]: [string, Verbs[string]],
  { batch, commits }: { batch: Batch; commits: CommitSync },
): Verbs[string] {
  const isInSteps = READ_IN_STEPS.has(name);
  return (...given) => {
    const before = batch.called;
    const answer = verb(...given);
    if (isInSteps) return answer.then((value) => Promise.resolve(commits.synced()).then(() => value));
    // Any other verb that only reads has read by now: it never waits before.
    const synced = batch.called === before ? commits.synced() : null;
    return synced === null ? answer : Promise.all([answer, synced]).then(([value]) => value);
  };
}

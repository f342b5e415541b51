// Reads see commits that may not be on disk yet, and an answer or stream could show an event that is gone after a power cut. So a
// read is returned once all commits are on disk that it may have seen. That is at once, unless its owner's rows are being written.

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
  'searchErrorGroups',
  'searchErrors',
  'searchRuns',
  'outcomeOfError',
  'previewReplay',
  'countReplayed',
  'nextReplays',
  'runHealth',
]);

/** Reads of tables that only verbs of setup write. */
const READS_OF_SETUP: ReadonlySet<string> = new Set([
  'exists',
  'getDeployment',
  'getSubscription',
  'getWorkflow',
  'listDeployments',
  'listSubscriptions',
  'listTriggerSubscriptions',
  'listWorkflows',
  'ownersWithRules',
  'redactionsOf',
]);

/** Reads of tables that verbs of setup write, and ticks: neither events nor ends of runs. */
const READS_OF_TRIGGERS: ReadonlySet<string> = new Set(['listTriggers']);

/** Reads of rows of one owner, who is named first. */
const READS_OF_OWNER: ReadonlySet<string> = new Set([
  'getEmission',
  'getErrorGroup',
  'getRun',
  'groupAssignees',
  'groupHours',
  'ledger',
  'listEmissions',
  'listErrorGroups',
  'listRuns',
  'receipts',
]);

/** Returns the latest commit that a read may have seen rows of; undefined: any commit. */
function seenBy(name: string, given: readonly unknown[], { latest }: Pick<Batch, 'latest'>): number | undefined {
  if (READS_OF_SETUP.has(name)) return latest.ofSetup;
  if (READS_OF_TRIGGERS.has(name)) return latest.notCounted;
  if (!READS_OF_OWNER.has(name)) return undefined;
  const [of] = given;
  const ownerId = typeof of === 'string' ? of : (of as { readonly ownerId: string }).ownerId;
  return latest.ofOwner(ownerId);
}

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
    const synced = batch.called === before ? commits.synced(seenBy(name, given, batch)) : null;
    return synced === null ? answer : Promise.all([answer, synced]).then(([value]) => value);
  };
}

// The latest commits by what they wrote: a read waits for the sync of those alone whose rows it may show. Otherwise one owner's reads
// would wait for the disk behind each of another owner's events, and each wait takes two turns of the event loop and more.

/**
 * What a verb writes. `setup`: what owners have set up, and nothing of a run or event but what that leads to. `counted`: rows of owners in
 * whose ledger it changes a count, in the same transaction, and no setup. `anything`: the rest.
 */
export type Writes = 'setup' | 'counted' | 'anything';

/** Owners that are told apart at a time. */
const MAX_OWNERS = 1000;

export class LatestCommits {
  #setup = 0;
  #anything = 0;
  readonly #ofOwners = new Map<string, number>();

  /** Notes a commit. `ownerIds`: those in whose ledger it has changed a count. */
  committed(commit: number, writes: ReadonlySet<Writes>, ownerIds: Iterable<string>): void {
    if (writes.has('setup')) this.#setup = commit;
    if (writes.has('anything')) this.#anything = commit;
    if (!writes.has('counted')) return;
    if (this.#ofOwners.size >= MAX_OWNERS) {
      this.#ofOwners.clear();
      this.#anything = commit;
    }
    for (const ownerId of ownerIds) this.#ofOwners.set(ownerId, commit);
  }

  /** Returns the latest commit that wrote `setup`. */
  get ofSetup(): number {
    return this.#setup;
  }

  /** Returns the latest commit that wrote anything but what is counted. */
  get notCounted(): number {
    return Math.max(this.#setup, this.#anything);
  }

  /** Returns the latest commit that may have written rows of the owner. */
  ofOwner(ownerId: string): number {
    return Math.max(this.notCounted, this.#ofOwners.get(ownerId) ?? 0);
  }
}

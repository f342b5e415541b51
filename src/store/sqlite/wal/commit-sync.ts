// Which commits are on disk. One sync is under way at a time; all commits that are made meanwhile share the next one.
//
// After a sync that failed it is not known what is on disk: Linux forgets the pages that it could not write, and the next sync
// succeeds without them. So the first failure is the last one: what waits is refused, and nothing is committed or shown any
// more. The process is to end; the next start goes by what the WAL has.

import { StoreUnavailable } from '../../contract/store.ts';

/** A sync of the WAL failed: what was committed may or may not be there after the next start. */
export class SyncFailed extends StoreUnavailable {
  override readonly mayBeWritten = true;
}

/** `failure`: why it is not known to be on disk. */
type Done = (failure: SyncFailed | null) => void;

interface Waiting {
  readonly commit: number;
  readonly done: Done;
}

export interface CommitSyncOptions {
  /** Resolves when all that was committed before it was called is on disk. */
  readonly sync: () => Promise<void>;
  /** Called once. */
  readonly onFailure?: (failure: SyncFailed) => void;
  /** Called with each commit. Never throws. */
  readonly onCommit?: () => void;
}

export class CommitSync {
  readonly #options: CommitSyncOptions;
  /** In the order of their commits. */
  #waiting: Waiting[] = [];
  #latest = 0;
  #synced = 0;
  #isSyncing = false;
  #failure: SyncFailed | null = null;

  constructor(options: CommitSyncOptions) {
    this.#options = options;
  }

  /** What everything is refused with that comes behind a sync that failed; null: every sync so far has succeeded. */
  get refusal(): StoreUnavailable | null {
    return this.#failure && new StoreUnavailable('the disk has failed, and nothing is written any more');
  }

  /** Another commit has written something. */
  committed(): void {
    this.#latest++;
    if (!this.#isSyncing && !this.#failure) void this.#sync();
    this.#options.onCommit?.();
  }

  /** Calls `done` when the commits so far are on disk: at once, when they are already. */
  whenSynced(done: Done): void {
    if (this.#failure || this.#synced === this.#latest) done(this.#failure);
    else this.#waiting.push({ commit: this.#latest, done });
  }

  /** Resolves when the commits so far are on disk; null: they are. Rejects when that is not known. */
  synced(): Promise<void> | null {
    if (!this.#failure && this.#synced === this.#latest) return null;
    return new Promise((resolve, reject) => {
      this.whenSynced(() => (this.#failure ? reject(this.refusal) : resolve()));
    });
  }

  /** Something else shows that what was written may not be on disk. */
  fail(error: unknown): void {
    if (this.#failure) return;
    const failure = new SyncFailed(
      `the store could not be written to disk: ${(error as Error).message}. Whether the latest writes are there, the next start shows`,
      { cause: error },
    );
    this.#failure = failure;
    this.#tell(this.#latest);
    this.#options.onFailure?.(failure);
  }

  async #sync(): Promise<void> {
    const upTo = this.#latest;
    this.#isSyncing = true;
    try {
      await this.#options.sync();
    } catch (error) {
      this.#isSyncing = false;
      this.fail(error);
      return;
    }
    this.#isSyncing = false;
    if (this.#failure) return;
    this.#synced = upTo;
    this.#tell(upTo);
    if (this.#latest > upTo) void this.#sync();
  }

  #tell(upTo: number): void {
    const count = this.#waiting.findIndex(({ commit }) => commit > upTo);
    const told = this.#waiting.splice(0, count === -1 ? this.#waiting.length : count);
    for (const { done } of told) done(this.#failure);
  }
}

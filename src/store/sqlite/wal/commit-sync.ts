// Knows which commits are on disk. One sync is under way at a time; commits during it share the next one.
//
// After a failed sync it is unknown what is on disk: Linux drops the pages that it could not write, and the next sync succeeds
// without them. So the first failure is final: waiting verbs are refused, and nothing more is committed or read. The process has
// to end; the next start uses what the WAL has.

import { StoreUnavailable } from '../../contract/unavailable.ts';

/** A sync of the WAL failed: the latest commits may be missing after the next start. */
export class SyncFailed extends StoreUnavailable {
  override readonly mayBeWritten = true;
}

/** `failure`: why the commit may not be on disk; null: it is. */
type Done = (failure: SyncFailed | null) => void;

interface PendingCommit {
  readonly commit: number;
  readonly done: Done;
}

export interface CommitSyncOptions {
  /** Resolves when all commits before the call are on disk. */
  readonly sync: () => Promise<void>;
  /** Called once. */
  readonly onFailure?: (failure: SyncFailed) => void;
  /** Called with each commit. Never throws. */
  readonly onCommit?: () => void;
}

export class CommitSync {
  readonly #options: CommitSyncOptions;
  /** In the order of their commits. */
  #waiting: PendingCommit[] = [];
  #latest = 0;
  #synced = 0;
  #isSyncing = false;
  #failure: SyncFailed | null = null;

  constructor(options: CommitSyncOptions) {
    this.#options = options;
  }

  /** Returns the error for verbs after a failed sync; null: no sync has failed. */
  get refusal(): StoreUnavailable | null {
    return this.#failure && new StoreUnavailable('the disk has failed, and nothing is written any more');
  }

  /** Returns the number of the latest commit. */
  get latest(): number {
    return this.#latest;
  }

  /** Called after each commit that has written. */
  committed(): void {
    this.#latest++;
    if (!this.#isSyncing && !this.#failure) void this.#sync();
    this.#options.onCommit?.();
  }

  /** Calls `done` when the commits so far are on disk; at once if they already are. */
  whenSynced(done: Done): void {
    if (this.#failure || this.#synced === this.#latest) done(this.#failure);
    else this.#waiting.push({ commit: this.#latest, done });
  }

  /** Resolves when the commits so far are on disk; null: those up to `upTo` are already. Rejects after a failed sync. */
  synced(upTo = this.#latest): Promise<void> | null {
    if (!this.#failure && this.#synced >= upTo) return null;
    return new Promise((resolve, reject) => {
      this.whenSynced(() => (this.#failure ? reject(this.refusal) : resolve()));
    });
  }

  /** Called when something else shows that commits may not be on disk. */
  fail(error: unknown): void {
    if (this.#failure) return;
    const failure = new SyncFailed(
      `the store could not be written to disk: ${(error as Error).message}. The next start shows whether the latest writes are there`,
      { cause: error },
    );
    this.#failure = failure;
    this.#resolve(this.#latest);
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
    this.#resolve(upTo);
    if (this.#latest > upTo) void this.#sync();
  }

  #resolve(upTo: number): void {
    const count = this.#waiting.findIndex(({ commit }) => commit > upTo);
    const synced = this.#waiting.splice(0, count === -1 ? this.#waiting.length : count);
    for (const { done } of synced) done(this.#failure);
  }
}

// Group commit. Verbs that are called within a few ticks of the event loop share one transaction: the first schedules the
// flush, the others join it. There are no timers, so an idle store commits at once, and a busy one shares commits.
//
// The writer is on the main thread, and its commits do not wait for the disk: ../wal/commit-sync.ts syncs them beside the event
// loop, while the next batch runs. A verb is resolved when a sync that began after its commit has succeeded.
//
// A batch takes verbs round robin over flows (fair-queue.ts), and is committed after some milliseconds; after one while several
// owners use the server (active-owners.ts).
//
// A verb that throws does not fail the others: the batch is rolled back, and each of its verbs is run again in a transaction of
// its own. When storage fails, all are rejected with `StoreUnavailable`.

import { StoreUnavailable } from '../../contract/unavailable.ts';
import { FairQueue } from '../../log/fair-queue.ts';
import { number } from '../../rows/cells.ts';
import { type Connection, storageError } from '../database.ts';
import type { CommitSync } from '../wal/commit-sync.ts';
import { LatestCommits, type Writes } from '../wal/latest-commits.ts';
import type { ActiveOwners } from './active-owners.ts';
import type { Transaction } from './transaction.ts';

/** The most verbs that share one commit, so that no verb waits for a huge one. */
const MAX_VERBS = 1024;

/**
 * Ticks of the event loop for which a batch fills before it is committed. An idle loop ticks in microseconds, so no verb waits;
 * a busy one brings more verbs with each tick, and a commit costs the same for many as for one. One tick: 7.9k events/s accepted
 * and run (median of noisy runs), p99 27 ms; two to eight ticks: 11k/s, p99 18 ms.
 */
const TICKS = 4;

/**
 * Verbs that a batch takes at least, and how long it goes on taking more, as a multiple of the time of a COMMIT, without the
 * disk. The callers' work after a verb, in the same tick, takes longer than the verb.
 */
const MIN_VERBS = 192;
const COMMITS = 2;

/**
 * Beside a queue of 50,000 with a concurrency of 1,000, an answer of another workflow took 30 ms (57 ms without a bound). If
 * batches were always so small, they would cost a third more CPU for each event.
 */
const BESIDE_SMALL_FLOWS = 64;
/** The weight of the latest commit in the mean of their times. */
const NEWEST = 0.1;

/**
 * While several owners use the server: how long a batch fills, and how long it takes verbs, of which it takes some at least. What
 * comes of the verbs once they are on disk takes as long again. With 1 ms a storm of errors costs 9 % more CPU for each, and the other
 * owner's calls wait no less (bench/README.md).
 */
const SHARED_MS = 2;
const SHARED_VERBS = 4;

interface QueuedVerb {
  readonly verb: (tx: Transaction) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly writes: Writes;
}

interface WriteOptions {
  /** Order is kept within a flow. */
  readonly flow?: string;
  /** About what the verb writes, if that may be much. */
  readonly bytes?: number;
  readonly writes?: Writes;
}

interface VerbResult {
  readonly waiting: QueuedVerb;
  readonly value: unknown;
}

export interface BatchOptions {
  readonly writer: Connection;
  readonly begin: () => Transaction;
  readonly commits: CommitSync;
  readonly owners: Pick<ActiveOwners, 'areSeveral'>;
}

export class Batch {
  readonly #writer: Connection;
  readonly #begin: () => Transaction;
  readonly #commits: CommitSync;
  readonly #owners: Pick<ActiveOwners, 'areSeveral'>;
  readonly #queue = new FairQueue<QueuedVerb>(BESIDE_SMALL_FLOWS);
  #commitMs = 0;
  #scheduled = false;
  #closed = false;
  #isHeld = false;
  /** Changed rows, by the count of the writer's connection. */
  #changes = 0;
  #called = 0;
  readonly latest = new LatestCommits();

  constructor({ writer, begin, commits, owners }: BatchOptions) {
    this.#writer = writer;
    this.#begin = begin;
    this.#commits = commits;
    this.#owners = owners;
  }

  /** Returns how many verbs were called so far. */
  get called(): number {
    return this.#called;
  }

  /** Runs `verb` in a transaction, and resolves with its value once that is on disk. */
  write<T>(verb: (tx: Transaction) => T, { flow = '', bytes = 0, writes = 'anything' }: WriteOptions = {}): Promise<T> {
    this.#called++;
    if (this.#commits.refusal) return Promise.reject(this.#commits.refusal);
    if (this.#closed) return Promise.reject(new StoreUnavailable('the store is closed'));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ verb, resolve: resolve as (value: unknown) => void, reject, writes }, flow, bytes);
      this.#schedule(TICKS);
    });
  }

  /** Commits the waiting verbs, and refuses new ones. Resolves when all is on disk, or a sync has failed. */
  async close(): Promise<void> {
    while (this.#queue.size > 0) this.#flush();
    this.#closed = true;
    await this.#commits.synced()?.catch(() => undefined); // the verbs' callers get the error
  }

  /** Holds commits until the returned function is called. */
  hold(): () => void {
    this.#isHeld = true;
    return () => {
      this.#isHeld = false;
      if (this.#queue.size > 0) this.#schedule(1);
    };
  }

  #schedule(ticks: number): void {
    if (this.#scheduled || this.#isHeld) return;
    this.#scheduled = true;
    this.#waitTicks(ticks, performance.now() + SHARED_MS);
  }

  #waitTicks(left: number, untilMs: number): void {
    setImmediate(() => {
      const isTime = left <= 1 || this.#queue.size >= MIN_VERBS;
      if (!isTime && !(this.#owners.areSeveral && performance.now() > untilMs))
        return this.#waitTicks(left - 1, untilMs);
      this.#scheduled = false;
      if (this.#isHeld) return;
      this.#flush();
      // The rest has waited already, so one tick is enough, in which new input is read.
      if (this.#queue.size > 0) this.#schedule(1);
    });
  }

  #flush(): void {
    if (this.#queue.size === 0) return;
    if (this.#commits.refusal) {
      for (const { reject } of this.#queue.next(MAX_VERBS)) reject(this.#commits.refusal);
      return;
    }
    const batch: QueuedVerb[] = [];
    const culprit = this.#attempt(this.#nextVerbs(), batch);
    if (culprit === undefined) return;
    if (batch.length === 1 || culprit instanceof StoreUnavailable) {
      for (const { reject } of batch) reject(culprit);
      return;
    }
    for (const waiting of batch) {
      const error = this.#attempt([waiting], []);
      if (error !== undefined) waiting.reject(error);
    }
  }

  /** Yields verbs for a batch, while there is time for more. */
  *#nextVerbs(): Iterable<QueuedVerb> {
    const [least, forMs] = this.#owners.areSeveral ? [SHARED_VERBS, SHARED_MS] : [MIN_VERBS, COMMITS * this.#commitMs];
    const untilMs = performance.now() + forMs;
    let count = 0;
    for (const waiting of this.#queue.next(MAX_VERBS)) {
      yield waiting;
      if (++count >= least && performance.now() > untilMs) return;
    }
  }

  /**
   * Commits the verbs together and resolves them; or rolls back, resolves none and returns the error. Adds the verbs that it
   * began to `taken`.
   */
  #attempt(verbs: Iterable<QueuedVerb>, taken: QueuedVerb[]): unknown {
    const tx = this.#begin();
    const outcomes: VerbResult[] = [];
    const writes = new Set<Writes>();
    let hasChanged: boolean;
    try {
      this.#writer.exec('BEGIN IMMEDIATE');
      for (const waiting of verbs) {
        taken.push(waiting);
        writes.add(waiting.writes);
        outcomes.push({ waiting, value: waiting.verb(tx) });
      }
      tx.beforeCommit();
      hasChanged = this.#hasChanged();
      const before = performance.now();
      this.#writer.exec('COMMIT');
      this.#commitMs += NEWEST * (performance.now() - before - this.#commitMs);
    } catch (error) {
      this.#rollback();
      tx.rolledBack();
      return storageError(error) ?? new Error('a verb threw undefined');
    }
    tx.committed();
    if (hasChanged) {
      this.#commits.committed();
      this.latest.committed(this.#commits.latest, writes, tx.countedOwners());
    }
    // A verb that only read may have read a commit that is not on disk yet.
    this.#commits.whenSynced((failure) => {
      for (const { waiting, value } of outcomes) failure ? waiting.reject(failure) : waiting.resolve(value);
    });
    return undefined;
  }

  #hasChanged(): boolean {
    const before = this.#changes;
    const row = this.#writer.get('SELECT total_changes() AS n');
    this.#changes = row ? number(row, 'n') : before;
    return this.#changes !== before;
  }

  #rollback(): void {
    try {
      if (this.#writer.db.isTransaction) this.#writer.exec('ROLLBACK');
    } catch {
      // On I/O errors SQLite rolls back itself.
    }
  }
}

// Group commit. Verbs that are called within one turn of the event loop share one transaction and one fsync: the first
// schedules the flush, the others join it. No timers, so an idle store commits at once, and a busy one amortises.
//
// The writer lives on the main thread. A worker thread would keep the fsync (0.1–0.3 ms on a local disk) off the event
// loop, but each verb would cross threads twice: see bench/README.md, "Writer thread", for the figures of both.
//
// A verb that throws does not take the others with it: the batch is rolled back and each of its verbs is run again in a
// transaction of its own. When storage itself fails, all of them are rejected as `StoreUnavailable`.

import { StoreUnavailable } from '../store.ts';
import { type Connection, storageError } from './database.ts';
import type { Transaction } from './transaction.ts';

/** Verbs that share one commit at most; the rest waits for the next one, so that nobody waits for a huge one. */
const MAX_VERBS = 1024;

/**
 * Turns of the event loop that a batch fills for before it is committed. An idle loop turns in microseconds, so nobody
 * waits; a busy one brings more verbs with each turn, and a commit costs the same for many as for one. One turn: 7.9k
 * events/s accepted and run (median of noisy runs), p99 27 ms; two to eight turns: 11k/s, p99 18 ms.
 */
const TURNS = 4;

interface Waiting {
  readonly verb: (tx: Transaction) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Outcome {
  readonly waiting: Waiting;
  readonly value: unknown;
}

export class Batch {
  readonly #writer: Connection;
  readonly #begin: () => Transaction;
  #queue: Waiting[] = [];
  #scheduled = false;
  #closed = false;

  constructor(writer: Connection, begin: () => Transaction) {
    this.#writer = writer;
    this.#begin = begin;
  }

  /** Runs `verb` in a transaction; resolves with its value once that is on disk. */
  write<T>(verb: (tx: Transaction) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('the store is closed'));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ verb, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Commits what waits, and takes no more. */
  close(): void {
    while (this.#queue.length > 0) this.#flush();
    this.#closed = true;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#waitTurns(TURNS);
  }

  #waitTurns(left: number): void {
    setImmediate(() => {
      if (left > 1 && this.#queue.length < MAX_VERBS) return this.#waitTurns(left - 1);
      this.#scheduled = false;
      this.#flush();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #flush(): void {
    const batch = this.#queue.length > MAX_VERBS ? this.#queue.splice(0, MAX_VERBS) : this.#queue;
    if (batch === this.#queue) this.#queue = [];
    if (batch.length === 0) return;
    const culprit = this.#attempt(batch);
    if (culprit === undefined) return;
    if (batch.length === 1 || culprit instanceof StoreUnavailable) {
      for (const { reject } of batch) reject(culprit);
      return;
    }
    for (const waiting of batch) {
      const error = this.#attempt([waiting]);
      if (error !== undefined) waiting.reject(error);
    }
  }

  /** Commits the verbs together and resolves them, or rolls back and returns why; then nobody was answered. */
  #attempt(batch: readonly Waiting[]): unknown {
    const tx = this.#begin();
    const outcomes: Outcome[] = [];
    try {
      this.#writer.exec('BEGIN IMMEDIATE');
      for (const waiting of batch) outcomes.push({ waiting, value: waiting.verb(tx) });
      tx.beforeCommit();
      this.#writer.exec('COMMIT');
    } catch (error) {
      this.#rollback();
      tx.rolledBack();
      return storageError(error) ?? new Error('a verb threw undefined');
    }
    tx.committed();
    for (const { waiting, value } of outcomes) waiting.resolve(value);
    return undefined;
  }

  #rollback(): void {
    try {
      if (this.#writer.db.isTransaction) this.#writer.exec('ROLLBACK');
    } catch {
      // SQLite rolls back by itself on I/O errors; there is nothing left to undo.
    }
  }
}

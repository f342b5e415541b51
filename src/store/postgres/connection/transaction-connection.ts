// One connection for transactions, one at a time. Statements are pipelined: each is sent at once, so a transaction costs as many
// round trips as it awaits results. When the connection breaks, the transaction is tried again over a new one, unless its commit
// was sent: then its mark tells the outcome (commit-marker.ts).

import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { text } from '../../rows/cells.ts';
import { CommitMarkers, type CommitOutcome, type RunStatement } from './commit-marker.ts';
import {
  ANSWER_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  Connection,
  type ConnectionOptions,
  closedError,
} from './connection.ts';
import { Hosts } from './hosts.ts';
import { isConnectionError, isContention, isReadOnly, isStalePlan, storageError } from './storage-error.ts';
import type { Row, Value } from './values.ts';

export interface Tx {
  /** When the transaction began, by `performance.now()`, before its first statement was sent. */
  readonly beganAt: number;
  /** Sends a statement at once. If it fails, so does the commit, also when it was not awaited. Arrays are passed as literals. */
  query(sql: string, ...values: Value[]): Promise<Row[]>;
}

/** Tries of a transaction after conflicts, or after a broken connection before its commit was sent. */
const MAX_TRIES = 5;
const RETRY_MS = 20;
/** How long, and how often, the database is asked for the outcome of a commit. */
const RESOLVE_WITHIN_MS = 5000;
const RESOLVE_MS = 200;

/** Statements that need no mark: without writes, a lost commit loses nothing. */
const READS = /^\s*SELECT/i;

/** The answer to a commit was lost, and its outcome is unknown. */
export class OutcomeUnknown extends StoreUnavailable {
  override readonly mayBeWritten = true;
}

export class TransactionConnection {
  readonly #options: ConnectionOptions;
  readonly #hosts: Hosts;
  #marks: CommitMarkers | undefined;
  #connection: Connection | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** All statements that were sent, each once: for the test of their plans. */
  readonly statements = new Set<string>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#hosts = new Hosts(options);
  }

  /**
   * Lets this connection find the outcome of lost commits, which is `OutcomeUnknown` otherwise. `name`: one that no other
   * connection has ever had. The schema must exist.
   */
  markAs(name: string): void {
    this.#marks = new CommitMarkers(name);
  }

  /** Runs `work` in a transaction, after earlier ones. It may run again: it keeps no state of a failed try. */
  transact<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const done = this.#last.then(() => this.#tries(work));
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Waits for transactions under way, then closes. */
  async close(): Promise<void> {
    await this.#last;
    this.#closed = true;
    this.#drop();
  }

  async #tries<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let n = 1; ; n++) {
      if (this.#closed) throw new StoreUnavailable('the store is closed');
      try {
        return await this.#once(work);
      } catch (error) {
        const isWorthIt = isContention(error) || isStalePlan(error) || (isConnectionError(error) && n < 3);
        if (error instanceof OutcomeUnknown || !isWorthIt || n === MAX_TRIES) throw storageError(error);
        await pause(RETRY_MS * n * Math.random());
      }
    }
  }

  async #once<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const connection = await this.#connect();
    const beganAt = performance.now();
    const silence = setTimeout(() => connection.breakOff(), ANSWER_TIMEOUT_MS);
    const sent: Promise<unknown>[] = [];
    // The first error counts: statements after it fail, too.
    let first: unknown;
    // Statements of `work` after a failure must not reach the next transaction.
    let isOver = false;
    const send = (sql: string, values: readonly Value[]): Promise<Row[]> => {
      const rows = isOver ? Promise.reject<Row[]>(closedError()) : connection.query(sql, values);
      rows.then(
        () => silence.refresh(),
        (error) => {
          if (!isOver) first ??= error;
        },
      );
      sent.push(rows);
      return rows;
    };
    let xid: Promise<Row[]> | undefined;
    let isWriting = false;
    try {
      send('BEGIN', []);
      xid = send('SELECT pg_current_xact_id()::text AS xid', []);
      const value = await work({
        beganAt,
        query: (sql, ...values) => {
          this.statements.add(sql);
          isWriting ||= !READS.test(sql);
          return send(sql, values);
        },
      });
      // Sent without waiting for the last writes: if one of them fails, COMMIT rolls back.
      const mark = isWriting ? this.#marks?.leave(send) : undefined;
      send('COMMIT', []);
      await Promise.all(sent).catch(async (error) => {
        if (!isConnectionError(error)) throw error;
        this.#drop();
        // Nothing was written, so it is tried again.
        if (!isWriting) throw closedError();
        await this.#resolve({ xid: xid as Promise<Row[]>, mark });
      });
      return value;
    } catch (error) {
      isOver = true;
      const cause = first ?? error;
      await this.#rollback(connection, cause);
      throw error instanceof OutcomeUnknown ? error : cause;
    } finally {
      clearTimeout(silence);
    }
  }

  async #rollback(connection: Connection, error: unknown): Promise<void> {
    // With stale plans, a new connection: else each transaction would meet the next stale statement.
    if (isConnectionError(error) || isReadOnly(error) || isStalePlan(error)) return this.#drop();
    await connection.query('ROLLBACK', []).catch(() => this.#drop());
  }

  /** Finds the outcome of a commit whose answer was lost. Returns if it is committed, throws otherwise. */
  async #resolve(of: { xid: Promise<Row[]>; mark: number | undefined }): Promise<void> {
    const known = await of.xid.catch(() => undefined);
    const row = known?.[0];
    const xid = row && text(row, 'xid');
    const { mark } = of;
    const until = performance.now() + RESOLVE_WITHIN_MS;
    while (this.#marks && mark !== undefined && performance.now() < until) {
      const outcome = await this.#outcomeOf(this.#marks, { mark, xid });
      if (outcome === 'committed') return;
      if (outcome === 'aborted') throw closedError();
      await pause(RESOLVE_MS);
    }
    throw new OutcomeUnknown('the connection to the database broke in the middle of a commit');
  }

  async #outcomeOf(marks: CommitMarkers, of: { mark: number; xid: string | undefined }): Promise<CommitOutcome> {
    try {
      const connection = await this.#connect();
      const run: RunStatement = (sql, ...values) => connection.query(sql, values);
      return await connection.within(CONNECT_TIMEOUT_MS, marks.outcomeOf(run, of));
    } catch {
      this.#drop();
      return 'unknown';
    }
  }

  async #connect(): Promise<Connection> {
    if (this.#connection?.isOpen) return this.#connection;
    this.#drop();
    this.#connection = await Connection.open({ ...this.#options, url: await this.#hosts.find() });
    return this.#connection;
  }

  #drop(): void {
    this.#connection?.breakOff();
    this.#connection = undefined;
  }
}

// Connections for reads, and for writes of one statement. When one of them fails, or its server no longer takes writes, the whole
// pool is replaced: all lead to the same server, and after a failover another host takes writes.
//
// Statements wait here for a connection, and not in the driver's pool: that one forgets those that wait when it is replaced, and
// tells a wait that was too long like a server that is out of reach, so that a busy database would get new connections besides.

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { ANSWER_TIMEOUT_MS, type ConnectionOptions, clientConfig, queryOf, sessionOf, withCode } from './connection.ts';
import { Hosts } from './hosts.ts';
import { isConnectionError, isReadOnly, isStalePlan, storageError } from './storage-error.ts';
import type { Row, Value } from './values.ts';

const CONNECT_TIMEOUT_MS = 8000;
/** As long as a statement that is under way may take: one connection at least is free by then, or has failed. */
const BUSY_TIMEOUT_MS = ANSWER_TIMEOUT_MS;
/** A read is tried again when it failed so soon that its caller has not waited for long. */
const AGAIN_WITHIN_MS = 4000;
/** A migration changes several tables, one after the other. */
const FRESH_TRIES = 5;
const CLOSE_TIMEOUT_MS = 1000;

export interface PoolOptions extends ConnectionOptions {
  readonly connections: number;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #hosts: Hosts;
  #connections: Promise<pg.Pool> | undefined;
  #free: number;
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#free = options.connections;
    this.#hosts = new Hosts(options);
  }

  /** Reads; tries again after a broken connection, or with a stale plan. */
  async all(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.#inTurn(() => again(() => this.#send(sql, values, true)));
  }

  async get(sql: string, ...values: Value[]): Promise<Row | undefined> {
    return (await this.all(sql, ...values))[0];
  }

  /**
   * Reads with a plan for these values. A prepared statement soon has one plan for all values, and a plan that suits a listener
   * with ten rows (read and sort) takes seconds for one with a million.
   */
  async planned(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.#inTurn(() => again(() => this.#send(sql, values, false)));
  }

  /** Writes by one statement, once: tried again only when its plan was stale, since it has done nothing then. */
  write(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.#inTurn(() => freshly(() => this.#send(sql, values, true)));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const connections = await this.#connections?.catch(() => undefined);
    await Promise.race([connections?.end(), pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }

  /** Runs `work` when one of the connections is free; rejects when none is for too long. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free++;
    }
  }

  #turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = (): void => {
      clearTimeout(tooLong);
      this.#waiting.delete(begin);
      resolve();
    };
    const tooLong = setTimeout(() => {
      this.#waiting.delete(begin);
      reject(new StoreUnavailable('all connections to the database are busy'));
    }, BUSY_TIMEOUT_MS);
    this.#waiting.add(begin);
    return promise;
  }

  async #send(sql: string, values: readonly Value[], isPrepared: boolean): Promise<Row[]> {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    this.#connections ??= this.#connect();
    const connections = this.#connections;
    try {
      const pool = await connections;
      return (await pool.query<Row>(queryOf(sql, values, isPrepared))).rows;
    } catch (thrown) {
      const error = withCode(thrown);
      // With stale plans, new connections: else each statement would meet a stale one on each of them.
      if (isConnectionError(error) || isReadOnly(error) || isStalePlan(error)) this.#leave(connections);
      throw storageError(error);
    }
  }

  async #connect(): Promise<pg.Pool> {
    const options = { ...this.#options, url: await this.#hosts.find() };
    const pool = new pg.Pool({
      ...clientConfig(options),
      max: options.connections,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // Behind the server's own limit: it would go on with a statement that has no reader any more.
      query_timeout: ANSWER_TIMEOUT_MS,
      onConnect: async (client) => {
        await client.query(sessionOf(options));
      },
    });
    // The pool removes a broken idle connection itself.
    pool.on('error', () => undefined);
    return pool;
  }

  #leave(failed: Promise<pg.Pool>): void {
    if (this.#connections !== failed) return;
    this.#connections = undefined;
    failed.then((pool) => pool.end()).catch(() => undefined);
  }
}

/** Reads, and once more over a new connection if the first one broke quickly. */
async function again<T>(read: () => Promise<T>): Promise<T> {
  const until = performance.now() + AGAIN_WITHIN_MS;
  try {
    return await freshly(read);
  } catch (error) {
    if (!isConnectionError((error as Error).cause) || performance.now() > until) throw error;
    return freshly(read);
  }
}

/** Sends a statement again when a newer process has changed a table since it was prepared: over new connections. */
async function freshly<T>(send: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await send();
    } catch (error) {
      if (!isStalePlan(error) || n === FRESH_TRIES) throw error;
    }
  }
}

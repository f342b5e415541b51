// Connections for reading, and for writes of one statement.
//
// The driver leaves what is sent to it between the failure of a connection and its closing without an answer for good,
// and with several hosts it tries to connect for ever without telling. So whenever a connection fails, all of the pool is
// replaced by a new one (what the old one still answers is heard), and no answer is waited for longer than it can take.

import postgres from 'postgres';
import { StoreUnavailable } from '../store.ts';
import { type ConnectionOptions, driverOptions } from './connection.ts';
import { isConnectionError, storageError } from './storage-error.ts';
import { type Row, toParameter, type Value } from './values.ts';

/** Longer than any statement of the pool takes; a connection that is not there by then will not come. */
const ANSWER_TIMEOUT_MS = 8000;
const CLOSE_TIMEOUT_S = 1;

export interface PoolOptions extends ConnectionOptions {
  readonly connections: number;
}

export class Pool {
  readonly #options: PoolOptions;
  #sql: postgres.Sql;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#sql = connect(options);
  }

  /** Reads. A connection that breaks is no failure: reading again is harmless. */
  async all(sql: string, ...values: Value[]): Promise<Row[]> {
    return again(() => this.write(sql, ...values));
  }

  async get(sql: string, ...values: Value[]): Promise<Row | undefined> {
    return (await this.all(sql, ...values))[0];
  }

  /**
   * Reads by a plan made for these very values. A prepared statement soon has one plan for all values, and what is right
   * for a listener with ten rows (read them, sort them) takes seconds for one with a million.
   */
  async planned(sql: string, ...values: Value[]): Promise<Row[]> {
    return again(() => this.#send(sql, values, { prepare: false }));
  }

  /** One statement, tried once. */
  write(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.#send(sql, values, { prepare: true });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sql.end({ timeout: CLOSE_TIMEOUT_S }).catch(() => undefined);
  }

  async #send(sql: string, values: readonly Value[], options: { prepare: boolean }): Promise<Row[]> {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    const connections = this.#sql;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new StoreUnavailable('the database does not answer')), ANSWER_TIMEOUT_MS);
    try {
      const rows = await Promise.race([connections.unsafe(sql, values.map(toParameter), options), late]);
      return rows as unknown as Row[];
    } catch (error) {
      if (error instanceof StoreUnavailable || isConnectionError(error)) this.#replace(connections);
      throw storageError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #replace(failed: postgres.Sql): void {
    if (this.#closed || this.#sql !== failed) return;
    this.#sql = connect(this.#options);
    void failed.end({ timeout: ANSWER_TIMEOUT_MS / 1000 }).catch(() => undefined);
  }
}

function connect(options: PoolOptions): postgres.Sql {
  return postgres(options.url, { ...driverOptions(options), max: options.connections });
}

async function again<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isConnectionError((error as Error).cause)) throw error;
    return read();
  }
}

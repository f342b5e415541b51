// Connections for reading, and for writes of one statement.
//
// The driver leaves what is sent to it between the failure of a connection and its closing without an answer for good.
// So whenever a connection fails, or its server takes no writes any more, all of the pool is replaced by a new one (what
// the old one still answers is heard), and no answer is waited for longer than it can take.

import postgres from 'postgres';
import { StoreUnavailable } from '../../contract/store.ts';
import { type ConnectionOptions, driverOptions } from './connection.ts';
import { Hosts } from './hosts.ts';
import { isConnectionError, isReadOnly, storageError } from './storage-error.ts';
import { inTime } from './time-limit.ts';
import { type Row, toParameter, type Value } from './values.ts';

/** Longer than any statement of the pool takes; a connection that is not there by then will not come. */
const ANSWER_TIMEOUT_MS = 8000;
const CLOSE_TIMEOUT_S = 1;

export interface PoolOptions extends ConnectionOptions {
  readonly connections: number;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #hosts: Hosts;
  #connections: Promise<postgres.Sql> | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#hosts = new Hosts(options);
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
    const connections = await this.#connections?.catch(() => undefined);
    await connections?.end({ timeout: CLOSE_TIMEOUT_S }).catch(() => undefined);
  }

  async #send(sql: string, values: readonly Value[], options: { prepare: boolean }): Promise<Row[]> {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    this.#connections ??= this.#connect();
    const connections = this.#connections;
    try {
      const sent = connections.then((pool) => pool.unsafe(sql, values.map(toParameter), options));
      return (await inTime(sent, ANSWER_TIMEOUT_MS)) as unknown as Row[];
    } catch (error) {
      const isOver = error instanceof StoreUnavailable || isConnectionError(error) || isReadOnly(error);
      if (isOver) this.#leave(connections);
      throw storageError(error);
    }
  }

  async #connect(): Promise<postgres.Sql> {
    const { connections: max } = this.#options;
    return postgres(await this.#hosts.find(), { ...driverOptions(this.#options), max });
  }

  #leave(failed: Promise<postgres.Sql>): void {
    if (this.#connections !== failed) return;
    this.#connections = undefined;
    failed.then((pool) => pool.end({ timeout: ANSWER_TIMEOUT_MS / 1000 })).catch(() => undefined);
  }
}

async function again<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isConnectionError((error as Error).cause)) throw error;
    return read();
  }
}

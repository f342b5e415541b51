// Connections for reading, and for writes of one statement.

import postgres from 'postgres';
import { type ConnectionOptions, driverOptions } from './connection.ts';
import { isConnectionError, storageError } from './storage-error.ts';
import { type Row, toParameter, type Value } from './values.ts';

export class Pool {
  readonly #sql: postgres.Sql;

  constructor(options: ConnectionOptions & { readonly connections: number }) {
    this.#sql = postgres(options.url, { ...driverOptions(options), max: options.connections });
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

  async #send(sql: string, values: readonly Value[], options: { prepare: boolean }): Promise<Row[]> {
    try {
      const rows = await this.#sql.unsafe(sql, values.map(toParameter), options);
      return rows as unknown as Row[];
    } catch (error) {
      throw storageError(error);
    }
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 5 });
  }
}

async function again<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isConnectionError((error as Error).cause ?? error)) throw error;
    return read();
  }
}

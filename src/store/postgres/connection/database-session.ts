// One connection for an operator's command, without the time limits of a server's statements. When it breaks, the command fails.

import { Connection, type ConnectionOptions } from './connection.ts';
import { Hosts } from './hosts.ts';
import { storageError } from './storage-error.ts';
import type { Row, Value } from './values.ts';

export class DatabaseSession {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Connects. Throws `StoreUnavailable` when it cannot. */
  static async open(options: ConnectionOptions): Promise<DatabaseSession> {
    try {
      const url = await new Hosts(options).find();
      return new DatabaseSession(await Connection.open({ ...options, url, isUnlimited: true }));
    } catch (error) {
      throw storageError(error);
    }
  }

  async query(sql: string, ...values: Value[]): Promise<Row[]> {
    try {
      return await this.#connection.query(sql, values, false);
    } catch (error) {
      throw storageError(error);
    }
  }

  async close(): Promise<void> {
    this.#connection.breakOff();
  }
}

// One connection for a command that an operator waits for: without the time limits that a server's statements have. When
// it breaks, the command is over: the driver would go on over a new one, outside of the transaction.

import postgres from 'postgres';
import { StoreUnavailable } from '../../contract/store.ts';
import { type ConnectionOptions, driverOptions } from './connection.ts';
import { Hosts } from './hosts.ts';
import { storageError } from './storage-error.ts';
import { type Row, toParameter, type Value } from './values.ts';

const UNLIMITED = { statement_timeout: 0, idle_in_transaction_session_timeout: 0 };

export class Session {
  readonly #sql: postgres.Sql;
  #reserved: postgres.ReservedSql | undefined;
  #isBroken = false;

  private constructor(url: string, options: ConnectionOptions) {
    const { connection, ...driver } = driverOptions(options);
    this.#sql = postgres(url, {
      ...driver,
      max: 1,
      max_lifetime: null,
      connection: { ...connection, ...UNLIMITED },
      onclose: () => {
        this.#isBroken = this.#reserved !== undefined;
      },
    });
  }

  /** Throws `StoreUnavailable` when it cannot connect. */
  static async open(options: ConnectionOptions): Promise<Session> {
    const url = await new Hosts(options).find().catch((error: unknown) => {
      throw storageError(error);
    });
    const session = new Session(url, options);
    try {
      // The driver reserves only what is open already.
      await session.#sql.unsafe('SELECT 1');
      session.#reserved = await session.#sql.reserve();
      return session;
    } catch (error) {
      await session.close();
      throw storageError(error);
    }
  }

  async query(sql: string, ...values: Value[]): Promise<Row[]> {
    if (!this.#reserved || this.#isBroken) throw new StoreUnavailable('the connection to the database was closed');
    try {
      return (await this.#reserved.unsafe(sql, values.map(toParameter))) as unknown as Row[];
    } catch (error) {
      throw storageError(error);
    }
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 0 });
  }
}

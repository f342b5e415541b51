// Where the database is, when the URL names several hosts: the one that takes writes, which after a failover is another one.
//
// The driver could be given all of them, and is not: while none takes writes it tries for ever and tells nobody, and a
// standby passes for one that does (Postgres says of a standby that sessions are not read-only by default, only that it is
// a standby; a connection to it would be kept while the primary is back already).

import postgres from 'postgres';
import { type ConnectionOptions, driverOptions } from './connection.ts';

const PARTS = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]+)(.*)$/is;
/** Of the driver, which must not choose. */
const CHOICE = /([?&])target_session_attrs=[^&#]*&?/;

export class Hosts {
  readonly #options: ConnectionOptions;
  readonly #urls: readonly string[];

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const [, before = '', hosts = '', behind = ''] = PARTS.exec(options.url) ?? [];
    const rest = behind.replace(CHOICE, '$1').replace(/[?&]$/, '');
    this.#urls = hosts.split(',').map((host) => before + host + rest);
  }

  /** Its URL. All are asked at once, so that one that does not answer at all holds nobody up. Rejects when none takes writes. */
  async find(): Promise<string> {
    const [only, second] = this.#urls;
    if (only !== undefined && second === undefined) return only;
    try {
      return await Promise.any(this.#urls.map((url) => this.#ask(url)));
    } catch (error) {
      throw (error as AggregateError).errors[0];
    }
  }

  async #ask(url: string): Promise<string> {
    const sql = postgres(url, { ...driverOptions(this.#options), max: 1 });
    try {
      const [row] = await sql.unsafe("SELECT current_setting('transaction_read_only') = 'on' AS is_read_only");
      if (row?.is_read_only === false) return url;
      throw Object.assign(new Error('the server takes no writes'), { code: '25006' });
    } finally {
      void sql.end({ timeout: 0 }).catch(() => undefined);
    }
  }
}

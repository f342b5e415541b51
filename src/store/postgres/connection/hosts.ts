// Finds the host that takes writes, when the URL names several; after a failover it is another one. Each host is asked for
// `transaction_read_only`, which is on at a standby.

import { CONNECT_TIMEOUT_MS, Connection, type ConnectionOptions } from './connection.ts';

const PARTS = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]+)(.*)$/is;

export class Hosts {
  readonly #options: ConnectionOptions;
  readonly #urls: readonly string[];

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const [, before = '', hosts = '', behind = ''] = PARTS.exec(options.url) ?? [];
    this.#urls = hosts.split(',').map((host) => before + host + behind);
  }

  /** Returns the URL of one host. All are asked at once, so that a silent one does not delay it. Rejects when none takes writes. */
  async find(): Promise<string> {
    const [only, second] = this.#urls;
    if (only !== undefined && second === undefined) return only;
    try {
      return await Promise.any(this.#urls.map((url) => this.#probe(url)));
    } catch (error) {
      throw (error as AggregateError).errors[0];
    }
  }

  async #probe(url: string): Promise<string> {
    const connection = await Connection.open({ ...this.#options, url });
    try {
      const answer = connection.query("SELECT current_setting('transaction_read_only') = 'on' AS is_read_only", []);
      const [row] = await connection.within(CONNECT_TIMEOUT_MS, answer);
      if (row?.is_read_only === false) return url;
      throw Object.assign(new Error('the server takes no writes'), { code: '25006' });
    } finally {
      void connection.close();
    }
  }
}

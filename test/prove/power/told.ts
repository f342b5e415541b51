// Who is told of events by webhook: what was sent there before the power was cut must be known to the server afterwards, else
// something was done for which there is no reason any more.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export class Told implements AsyncDisposable {
  /** When each event was first told of, by its id and CLOCK_MONOTONIC. */
  readonly byId = new Map<string, bigint>();
  readonly #server = createServer((request, response) => {
    const id = request.headers['webhook-id'] as string;
    if (!this.byId.has(id)) this.byId.set(id, process.hrtime.bigint());
    request.resume().on('end', () => response.writeHead(200).end());
  });

  static async start(): Promise<Told> {
    const told = new Told();
    told.#server.listen(0, '127.0.0.1');
    await once(told.#server, 'listening');
    return told;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

// Receivers of webhooks, each with a manner of its own, and a record of all that came: by webhook and id, with the number of
// the event that it tells of. What is refused at first sight is taken at the second.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dice } from '../random.ts';

/** How each answers what it has not seen before, now and then. */
export const MANNERS = ['fine', 'failing', 'busy', 'hanging'] as const;
export type Manner = (typeof MANNERS)[number];

/** Of first sights that are not taken. */
const REFUSED_PART: Readonly<Record<Manner, number>> = { fine: 0, failing: 0.3, busy: 0.2, hanging: 0.1 };

export interface Received {
  /** By webhook-id. */
  readonly ids: Map<string, { n: number; isError: boolean; isReplay: boolean; taken: number; refused: number }>;
}

export class Receivers implements AsyncDisposable {
  readonly received: Readonly<Record<Manner, Received>>;
  readonly #dice: Dice;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #isWell = false;
  #isAway = false;

  private constructor(dice: Dice) {
    this.#dice = dice;
    const made = MANNERS.map((manner) => [manner, { ids: new Map() }] as const);
    this.received = Object.fromEntries(made) as Record<Manner, Received>;
  }

  static async start(dice: Dice): Promise<Receivers> {
    const receivers = new Receivers(dice);
    receivers.#server.listen(0, '127.0.0.1');
    await once(receivers.#server, 'listening');
    return receivers;
  }

  url(manner: Manner): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${manner}`;
  }

  /** Connections are reset, these and new ones. */
  setAway(isAway: boolean): void {
    this.#isAway = isAway;
    if (isAway) this.#server.closeAllConnections();
  }

  /** From now on all of them take everything. */
  getWell(): void {
    this.#isWell = true;
    this.#isAway = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isAway) return void request.socket.resetAndDestroy();
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // the sender was killed in the middle
    }
    const manner = (request.url ?? '').slice(1) as Manner;
    const told = JSON.parse(Buffer.concat(chunks).toString());
    const isError = told.error !== undefined;
    const n = (isError ? told.original_event.body.n : told.n) as number;
    const isReplay = (isError ? told.original_context.replay : told.is_replay) as boolean;
    const { ids } = this.received[manner];
    const id = request.headers['webhook-id'] as string;
    const known = ids.get(id);
    const seen = known ?? { n, isError, isReplay, taken: 0, refused: 0 };
    ids.set(id, seen);
    const isRefused = !this.#isWell && known === undefined && this.#dice.next() < REFUSED_PART[manner];
    if (!isRefused) {
      seen.taken++;
      response.writeHead(200).end();
      return;
    }
    seen.refused++;
    if (manner === 'failing') response.writeHead(500).end();
    if (manner === 'busy') response.writeHead(503, { 'retry-after': '1' }).end();
    // Hanging: nothing comes until the sender gives up.
  }
}

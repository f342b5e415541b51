// The webhook's receiver: counts how often it saw each delivery, and sometimes answers 500 to the first attempt.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dice } from './random.ts';

/** Of the deliveries not seen before, so many are refused once. */
export const USUALLY_REFUSED_PART = 0.02;

export interface Sightings {
  /** Answered 2xx. */
  taken: number;
  /** Answered 500. */
  refused: number;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** By `webhook-id`, which is the same in all attempts of one delivery. */
  readonly seen: Map<string, Sightings>;
  /** How many first attempts have been refused so far. */
  readonly refusals: () => number;
  /** Of the deliveries not seen before, so large a part is answered 500 once. */
  refuse(part: number): void;
}

export async function startReceiver(dice: Dice): Promise<Receiver> {
  const seen = new Map<string, Sightings>();
  let part = 0;
  let refusals = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const id = request.headers['webhook-id'] as string;
      const known = seen.get(id);
      const sightings = known ?? { taken: 0, refused: 0 };
      seen.set(id, sightings);
      // Never twice: the second retry is a minute away.
      const isRefused = known === undefined && dice.next() < part;
      if (isRefused) {
        sightings.refused++;
        refusals++;
      } else sightings.taken++;
      response.writeHead(isRefused ? 500 : 200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    seen,
    refusals: () => refusals,
    refuse: (next) => {
      part = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

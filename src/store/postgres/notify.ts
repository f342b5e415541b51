// Hints from node to node by LISTEN/NOTIFY: what one node leaves is taken by another in milliseconds and not at its next
// poll. Only a hint: behind a pooler that does not pass it on, or with the connection down, the poll finds the work.
//
// NOTIFY takes a lock for the whole database when its transaction commits, so it has a transaction of its own, carries no
// payload, and is sent once for all that happens within a few milliseconds.

import postgres from 'postgres';
import type { Log, Wake } from '../../ports.ts';
import { type ConnectionOptions, driverOptions } from './connection.ts';
import type { Pool } from './pool.ts';

const GATHER_MS = 15;
const CHANNELS = ['runs', 'deliveries', 'schedules', 'answers'] as const;

export type Channel = (typeof CHANNELS)[number];

export class Notices {
  readonly #pool: Pool;
  readonly #options: ConnectionOptions;
  readonly #log: Log;
  readonly #due = new Set<Channel>();
  #timer: NodeJS.Timeout | undefined;
  #listener: postgres.Sql | undefined;
  #closed = false;
  /** Nobody else shares the database, as far as the last beat told: then there is nobody to tell. */
  isAlone = false;

  constructor(of: { pool: Pool; options: ConnectionOptions; log: Log }) {
    this.#pool = of.pool;
    this.#options = of.options;
    this.#log = of.log;
  }

  /** Tells the other nodes soon. */
  tell(channel: Channel): void {
    if (this.#closed || this.isAlone) return;
    this.#due.add(channel);
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS);
  }

  listen(wake: Wake): void {
    const listener = postgres(this.#options.url, { ...driverOptions(this.#options), max: 1 });
    this.#listener = listener;
    for (const channel of CHANNELS) {
      // The driver listens again after a lost connection; what was told meanwhile is found by polling.
      listener
        .listen(`errand_${channel}`, () => wake[channel]())
        .catch((error: unknown) => {
          if (!this.#closed)
            this.#log.warn({ err: error, channel }, 'no hints from other nodes; polling finds the work');
        });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#listener?.end({ timeout: 0 }).catch(() => undefined);
  }

  #send(): void {
    this.#timer = undefined;
    const channels = [...this.#due];
    this.#due.clear();
    const calls = channels.map((channel) => `pg_notify('errand_${channel}', '')`).join(', ');
    this.#pool.write(`SELECT ${calls}`).catch(() => undefined);
  }
}

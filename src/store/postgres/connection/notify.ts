// Hints between nodes by LISTEN/NOTIFY: another node claims new work within milliseconds instead of at its next poll. A hint may
// be lost, behind some poolers or with the connection down; then the poll finds the work.
//
// NOTIFY locks the whole database when its transaction commits. So it has a transaction of its own, without payload, and is sent
// once for all changes within a few milliseconds.

import type { Log, Wake } from '../../../ports.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { Hosts } from './hosts.ts';
import type { Pool } from './pool.ts';

const GATHER_MS = 15;
const AGAIN_MS = 1000;
/** The connection is probed so often: it may be dead without having been closed. */
const ASKED_EVERY_MS = 10_000;
const ANSWER_MS = 5000;
const CHANNELS = ['runs', 'deliveries', 'schedules', 'answers', 'emissions', 'keys'] as const;

export type NotifyChannel = (typeof CHANNELS)[number];

export class Notices {
  readonly #pool: Pool;
  readonly #options: ConnectionOptions;
  readonly #hosts: Hosts;
  readonly #log: Log;
  readonly #due = new Set<NotifyChannel>();
  #timer: NodeJS.Timeout | undefined;
  #wake: Wake | undefined;
  #listener: Connection | undefined;
  #listenTimer: NodeJS.Timeout | undefined;
  #isDeaf = false;
  #closed = false;
  /** By the last beat, no other node shares the database: nothing is sent. */
  isAlone = false;

  constructor(of: { pool: Pool; options: ConnectionOptions; log: Log }) {
    this.#pool = of.pool;
    this.#options = of.options;
    this.#hosts = new Hosts(of.options);
    this.#log = of.log;
  }

  /** Notifies the other nodes soon. Of keys also one that came behind the last beat: it would let a revoked key read on. */
  tell(channel: NotifyChannel): void {
    if (this.#closed || (this.isAlone && channel !== 'keys')) return;
    this.#due.add(channel);
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS);
  }

  /** Notifies the other nodes soon, and this one at once. */
  tellAll(channel: NotifyChannel): void {
    this.#wake?.notify(channel);
    this.tell(channel);
  }

  /** Requests a check of the counters, since one was found wrong. */
  suspectCounters(): void {
    this.#wake?.notify('counters');
  }

  listen(wake: Wake): void {
    this.#wake = wake;
    void this.#listen();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#listenTimer);
    this.#listener?.breakOff();
  }

  async #listen(): Promise<void> {
    let listener: Connection | undefined;
    const over = (error: unknown): void => this.#listenAgain(listener, error);
    try {
      listener = await Connection.open({
        ...this.#options,
        url: await this.#hosts.find(),
        onNotify: (channel) => this.#hear(channel),
        onClose: over,
      });
      if (this.#closed) return listener.breakOff();
      this.#listener = listener;
      const listens = CHANNELS.map((channel) => `LISTEN errand_${channel}`).join('; ');
      await listener.within(ANSWER_MS, listener.simple(listens));
      this.#isDeaf = false;
      this.#checkSoon(listener);
      // Notifications may have been lost meanwhile.
      for (const channel of CHANNELS) this.#wake?.notify(channel);
    } catch (error) {
      over(error);
    }
  }

  #hear(channel: string): void {
    const name = CHANNELS.find((known) => channel === `errand_${known}`);
    if (name) this.#wake?.notify(name);
  }

  #listenAgain(listener: Connection | undefined, error: unknown): void {
    if (this.#closed || this.#listener !== listener) return;
    if (!this.#isDeaf)
      this.#log.warn({ err: error }, 'notifications from other nodes do not arrive; polling finds the work');
    this.#isDeaf = true;
    this.#listener = undefined;
    listener?.breakOff();
    clearTimeout(this.#listenTimer);
    this.#listenTimer = setTimeout(() => void this.#listen(), AGAIN_MS);
  }

  #checkSoon(listener: Connection): void {
    if (this.#closed || this.#listener !== listener) return;
    this.#listenTimer = setTimeout(() => {
      listener.within(ANSWER_MS, listener.query('SELECT 1', [])).then(
        () => this.#checkSoon(listener),
        (error: unknown) => this.#listenAgain(listener, error),
      );
    }, ASKED_EVERY_MS);
  }

  #send(): void {
    this.#timer = undefined;
    const channels = [...this.#due];
    this.#due.clear();
    const calls = channels.map((channel) => `pg_notify('errand_${channel}', '')`).join(', ');
    this.#pool.write(`SELECT ${calls}`).catch(() => undefined);
  }
}

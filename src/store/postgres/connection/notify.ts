// Hints from node to node by LISTEN/NOTIFY: what one node leaves is taken by another in milliseconds and not at its next
// poll. Only a hint: behind a pooler that does not pass it on, or with the connection down, the poll finds the work.
//
// NOTIFY takes a lock for the whole database when its transaction commits, so it has a transaction of its own, carries no
// payload, and is sent once for all that happens within a few milliseconds.
//
// The driver's own listening is passed over: it stays with the host that it began with, and listens no more when a server
// refuses once, as one that has not taken over yet does.

import postgres from 'postgres';
import type { Log, Wake } from '../../../ports.ts';
import { type ConnectionOptions, driverOptions } from './connection.ts';
import { Hosts } from './hosts.ts';
import type { Pool } from './pool.ts';
import { inTime } from './time-limit.ts';

const GATHER_MS = 15;
const AGAIN_MS = 1000;
/** A connection that nobody closed may be dead all the same, and nothing would be heard for as long as it is believed. */
const ASKED_EVERY_MS = 10_000;
const ANSWER_MS = 5000;
const CHANNELS = ['runs', 'deliveries', 'schedules', 'answers', 'emissions'] as const;

export type Channel = (typeof CHANNELS)[number];

export class Notices {
  readonly #pool: Pool;
  readonly #options: ConnectionOptions;
  readonly #hosts: Hosts;
  readonly #log: Log;
  readonly #due = new Set<Channel>();
  #timer: NodeJS.Timeout | undefined;
  #wake: Wake | undefined;
  #listener: postgres.Sql | undefined;
  #listenTimer: NodeJS.Timeout | undefined;
  #isDeaf = false;
  #closed = false;
  /** Nobody else shares the database, as far as the last beat told: then there is nobody to tell. */
  isAlone = false;

  constructor(of: { pool: Pool; options: ConnectionOptions; log: Log }) {
    this.#pool = of.pool;
    this.#options = of.options;
    this.#hosts = new Hosts(of.options);
    this.#log = of.log;
  }

  /** Tells the other nodes soon. */
  tell(channel: Channel): void {
    if (this.#closed || this.isAlone) return;
    this.#due.add(channel);
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS);
  }

  /** Tells the other nodes soon, and this one at once. */
  tellAll(channel: Channel): void {
    this.#wake?.[channel]();
    this.tell(channel);
  }

  /** A counter was seen to be wrong. */
  suspectCounters(): void {
    this.#wake?.counters();
  }

  listen(wake: Wake): void {
    this.#wake = wake;
    void this.#listen();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#listenTimer);
    await this.#listener?.end({ timeout: 0 }).catch(() => undefined);
  }

  async #listen(): Promise<void> {
    let listener: postgres.Sql | undefined;
    const over = (error: unknown): void => this.#listenAgain(listener, error);
    try {
      const url = await this.#hosts.find();
      if (this.#closed) return;
      // The option is the driver's, though its types do not name it.
      const hears = { onnotify: (channel: string) => this.#hear(channel) };
      const options = { ...driverOptions(this.#options), ...hears, max: 1, max_lifetime: null };
      listener = postgres(url, { ...options, onclose: () => over(new Error('the connection was closed')) });
      this.#listener = listener;
      await inTime(listener.unsafe(CHANNELS.map((channel) => `LISTEN errand_${channel}`).join('; ')), ANSWER_MS);
      this.#isDeaf = false;
      this.#askSoon(listener);
      // What was told meanwhile.
      for (const channel of CHANNELS) this.#wake?.[channel]();
    } catch (error) {
      over(error);
    }
  }

  #hear(channel: string): void {
    const name = CHANNELS.find((known) => channel === `errand_${known}`);
    if (name) this.#wake?.[name]();
  }

  #listenAgain(listener: postgres.Sql | undefined, error: unknown): void {
    if (this.#closed || this.#listener !== listener) return;
    if (!this.#isDeaf) this.#log.warn({ err: error }, 'no hints from other nodes; polling finds the work');
    this.#isDeaf = true;
    this.#listener = undefined;
    void listener?.end({ timeout: 0 }).catch(() => undefined);
    clearTimeout(this.#listenTimer);
    this.#listenTimer = setTimeout(() => void this.#listen(), AGAIN_MS);
  }

  #askSoon(listener: postgres.Sql): void {
    if (this.#closed || this.#listener !== listener) return;
    this.#listenTimer = setTimeout(() => {
      inTime(listener.unsafe('SELECT 1'), ANSWER_MS).then(
        () => this.#askSoon(listener),
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

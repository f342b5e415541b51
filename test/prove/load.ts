// Senders that never stop for a server that is down: each event has a number, and what became of its request is kept. With
// several servers each sender has one that it goes to, and others while that one is down, as behind a load balancer.

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Kind, USUAL_MIX } from './arrangement.ts';
import type { Dice } from './random.ts';

export interface Sent {
  readonly kind: Kind;
  /** `accepted`: 2xx came. `refused`: another status. `unknown`: the connection ended before an answer. */
  outcome: 'accepted' | 'refused' | 'unknown';
  status: number | null;
  emitId: string | null;
}

export interface Pace {
  readonly senders: number;
  /** What each sender waits between two events. */
  readonly pauseMs: number;
}

export const LIGHT: Pace = { senders: 2, pauseMs: 40 };
export const BURST: Pace = { senders: 48, pauseMs: 0 };
export const NONE: Pace = { senders: 0, pauseMs: 0 };

const MAX_SENDERS = 48;
/** Before the next try when nobody listens. */
const DOWN_PAUSE_MS = 10;
const IDLE_PAUSE_MS = 5;
/** How long a sender keeps away from a server that did not take its event. */
const AVOIDED_MS = 500;

/** Where the events go: the same path at each of them. */
export interface Entrance {
  readonly origins: readonly string[];
  readonly path: string;
}

interface Door {
  readonly pool: Pool;
  /** Until then nobody goes there who can go elsewhere. */
  avoidedUntil: number;
}

export class Load {
  readonly sent = new Map<number, Sent>();
  /** How many of each status came; 0: no answer. */
  readonly statuses = new Map<number, number>();
  retryAfterMissing = 0;
  readonly #dice: Dice;
  readonly #path: string;
  readonly #doors: readonly Door[];
  readonly #senders: Promise<void>[];
  #pace: Pace = NONE;
  #next = 0;
  #limit = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor({ origins, path }: Entrance, dice: Dice) {
    this.#path = path;
    this.#dice = dice;
    const options = { connections: MAX_SENDERS, pipelining: 1, headersTimeout: 30_000 };
    this.#doors = origins.map((origin) => ({ pool: new Pool(origin, options), avoidedUntil: 0 }));
    this.#senders = Array.from({ length: MAX_SENDERS }, (_, index) => this.#send(index));
  }

  get accepted(): number {
    return this.statuses.get(200) ?? 0;
  }

  /** `atMost`: no more events than that from now on, so that what follows ends in time. */
  set(pace: Pace, atMost = Number.POSITIVE_INFINITY): void {
    this.#pace = pace;
    this.#limit = this.#next + atMost;
  }

  /** Waits for every request under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#senders);
    await Promise.all(this.#doors.map(({ pool }) => pool.destroy()));
  }

  async #send(index: number): Promise<void> {
    while (!this.#stopped) {
      const { senders, pauseMs } = this.#pace;
      if (index >= senders || this.#next >= this.#limit) {
        await pause(IDLE_PAUSE_MS);
        continue;
      }
      const door = this.#doorFor(index);
      const became = await this.#sendOne(this.#next++, door);
      if (became !== 'taken') door.avoidedUntil = Date.now() + AVOIDED_MS;
      const waitMs = became === 'not taken' ? DOWN_PAUSE_MS : pauseMs;
      if (waitMs > 0) await pause(waitMs);
    }
  }

  /** The sender's own, unless it was down a moment ago; then the next one. */
  #doorFor(index: number): Door {
    const now = Date.now();
    const count = this.#doors.length;
    const inTurn = this.#doors.map((_, at) => this.#doors[(index + at) % count] as Door);
    return inTurn.find(({ avoidedUntil }) => avoidedUntil <= now) ?? (inTurn[0] as Door);
  }

  async #sendOne(n: number, { pool }: Door): Promise<'taken' | 'not taken' | 'lost'> {
    const kind = this.#dice.pick(USUAL_MIX);
    const sent: Sent = { kind, outcome: 'unknown', status: null, emitId: null };
    // The odd numbers are there to be kept byte for byte.
    const pad = 'x'.repeat(this.#dice.next() < 0.02 ? 20_000 : 400);
    const body = `{"n":${n},"kind":"${kind}","wait_ms":${this.#dice.between(5, 250)},"odd":[12345678901234567890,1e400],"pad":"${pad}"}`;
    this.sent.set(n, sent);
    try {
      const headers = { 'content-type': 'application/json' };
      const answer = await pool.request({ path: this.#path, method: 'POST', headers, body });
      sent.status = answer.statusCode;
      sent.outcome = answer.statusCode >= 200 && answer.statusCode < 300 ? 'accepted' : 'refused';
      this.#count(answer.statusCode);
      if (answer.statusCode === 503 && answer.headers['retry-after'] === undefined) this.retryAfterMissing++;
      const said = (await answer.body.json()) as { id?: string };
      sent.emitId = said.id ?? null;
      return sent.outcome === 'accepted' ? 'taken' : 'not taken';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') {
        // Nobody listened, so nothing was sent: the number is left out, and does not count towards the burst.
        this.sent.delete(n);
        this.#limit++;
        return 'not taken';
      }
      if (sent.status === null) this.#count(0);
      return 'lost';
    }
  }

  #count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}

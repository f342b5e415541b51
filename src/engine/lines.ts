// Who stands in line for a webhook. At most `inFlightPerWebhook` requests are on their way to one at a time. While a
// webhook answers fast, some more of its deliveries are claimed ahead and wait here, so that the next request leaves when
// one comes back and not when its outcome has been committed (one webhook under a load of 4,000 errors/s: 530 deliveries/s
// without, 850 with). A slow one gets none ahead: what stands in line is leased, and shows as `sending`.
//
// Meanwhile the webhook may be disabled, changed or deleted at another node. So what has stood here for too long is not
// sent: it goes back to the store, which knows the webhook as it is by then.

import { type ClaimedDelivery, MAIL } from '../domain/delivery.ts';
import { LIMITS } from '../domain/limits.ts';

const MAILS_AT_ONCE = 4;
const CLAIMED_AHEAD = 32;
/** Slower than this (smoothed), and nothing is claimed ahead. */
const FAST_MS = 100;
/** For how long what is known of a webhook is good; a line of 32 before a fast webhook takes 400 ms at most. */
const GOOD_FOR_MS = 1000;
/** Weight of the newest attempt in the smoothed time. */
const NEWEST = 0.3;

interface Line {
  sending: number;
  tookMs: number | null;
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly delivery: ClaimedDelivery;
  readonly since: number;
}

export class Lines {
  readonly #lines = new Map<string, Line>();
  readonly #now: () => number;

  /** `now`: milliseconds of a clock that never jumps. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many deliveries of this listener may be claimed at a time. */
  limit(listenerId: string): number {
    if (listenerId === MAIL) return MAILS_AT_ONCE;
    const tookMs = this.#lines.get(listenerId)?.tookMs ?? null;
    const isFast = tookMs !== null && tookMs < FAST_MS;
    return LIMITS.inFlightPerWebhook + (isFast ? CLAIMED_AHEAD : 0);
  }

  /** True: send it now. False: it stands in line, and `done` of another one calls it. */
  join(listenerId: string, delivery: ClaimedDelivery): boolean {
    const line = this.#of(listenerId);
    if (line.sending >= LIMITS.inFlightPerWebhook) {
      line.waiting.push({ delivery, since: this.#now() });
      return false;
    }
    line.sending++;
    return true;
  }

  /** A request came back, or was never made; the answer is whose turn it is now. `tookMs` null: nothing was sent. */
  done(listenerId: string, tookMs: number | null): ClaimedDelivery | undefined {
    const line = this.#of(listenerId);
    if (tookMs !== null) line.tookMs = line.tookMs === null ? tookMs : line.tookMs + NEWEST * (tookMs - line.tookMs);
    const next = line.waiting.shift();
    if (next === undefined) line.sending--;
    if (line.sending === 0) this.#forgetSome();
    return next?.delivery;
  }

  /** Empties the line: these were not sent. */
  leave(listenerId: string): readonly ClaimedDelivery[] {
    const waiting = this.#lines.get(listenerId)?.waiting.splice(0) ?? [];
    return waiting.map(({ delivery }) => delivery);
  }

  /** Takes those out of the line that have stood in it for too long: they must not be sent. */
  stale(listenerId: string): readonly ClaimedDelivery[] {
    const waiting = this.#lines.get(listenerId)?.waiting ?? [];
    const since = this.#now() - GOOD_FOR_MS;
    const fresh = waiting.findIndex((one) => one.since >= since);
    return waiting.splice(0, fresh < 0 ? waiting.length : fresh).map(({ delivery }) => delivery);
  }

  #of(listenerId: string): Line {
    const known = this.#lines.get(listenerId);
    if (known) return known;
    const made: Line = { sending: 0, tookMs: null, waiting: [] };
    this.#lines.set(listenerId, made);
    return made;
  }

  /** Idle lines are only a memory of speed; a bounded number of them is kept. */
  #forgetSome(): void {
    if (this.#lines.size < LIMITS.countedRecords) return;
    for (const [id, line] of this.#lines) if (line.sending === 0) this.#lines.delete(id);
  }
}

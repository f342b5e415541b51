// The limit of one owner's requests: a token bucket.

import { SECOND_MS } from '../../domain/limits.ts';

/** Smallest burst after a pause: one second's requests, or this number if higher. */
const LEAST_BURST = 10;

export class RequestRate {
  readonly perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #atMs: number;
  /** Requests of this second, and of the one before. */
  #counted = { second: 0, now: 0, before: 0 };

  constructor(perSecond: number, nowMs: number) {
    this.perSecond = perSecond;
    this.#burst = Math.max(LEAST_BURST, perSecond);
    this.#tokens = this.#burst;
    this.#atMs = nowMs;
  }

  /** Returns 0: the request is allowed; else the seconds until one is. */
  take(nowMs: number): number {
    const passedMs = Math.max(0, nowMs - this.#atMs);
    // Also back, as the clock: else nothing is refilled until it has come as far again.
    this.#atMs = nowMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + (passedMs * this.perSecond) / SECOND_MS);
    if (this.#tokens < 1) return Math.max(1, Math.ceil((1 - this.#tokens) / this.perSecond));
    this.#tokens--;
    this.#count(nowMs).now++;
    return 0;
  }

  /** Returns the requests allowed in the last whole second. */
  lastSecond(nowMs: number): number {
    return this.#count(nowMs).before;
  }

  #count(nowMs: number): { now: number; before: number } {
    const second = Math.floor(nowMs / SECOND_MS);
    const counted = this.#counted;
    if (second !== counted.second) {
      this.#counted = { second, now: 0, before: second === counted.second + 1 ? counted.now : 0 };
    }
    return this.#counted;
  }
}

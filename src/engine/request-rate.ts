// How many requests of one owner are let through: a token bucket.

import { SECOND_MS } from '../domain/limits.ts';

/** How many requests may come at once after a pause: those of one second, and at least so many. */
const LEAST_BURST = 10;

export class RequestRate {
  readonly perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #atMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.perSecond = perSecond;
    this.#burst = Math.max(LEAST_BURST, perSecond);
    this.#tokens = this.#burst;
    this.#atMs = nowMs;
  }

  /** 0: it may come; else after how many seconds it may. */
  take(nowMs: number): number {
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = Math.max(this.#atMs, nowMs);
    this.#tokens = Math.min(this.#burst, this.#tokens + (passedMs * this.perSecond) / SECOND_MS);
    if (this.#tokens >= 1) {
      this.#tokens--;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.perSecond));
  }
}

// How long what is not begun has waited, of the whole store: for /metrics. Asked again after some seconds only, however often a
// monitor asks, and never waited for while storage does not answer.

import type { StoreClock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';

/** In seconds. */
export interface Lag {
  readonly run: number;
  readonly delivery: number;
}

export interface QueueLagDeps {
  readonly store: Pick<Store, 'longestWaiting'>;
  readonly clock: StoreClock;
}

const KEPT_MS = 5000;
const WAIT_MS = 2000;
const UNKNOWN: Lag = { run: Number.NaN, delivery: Number.NaN };

export class QueueLag {
  readonly #deps: QueueLagDeps;
  #kept: { readonly lag: Promise<Lag>; readonly atMs: number } | null = null;

  constructor(deps: QueueLagDeps) {
    this.#deps = deps;
  }

  /** Returns NaN for what storage does not tell in time. */
  async read(): Promise<Lag> {
    const nowMs = performance.now();
    if (this.#kept === null || nowMs - this.#kept.atMs > KEPT_MS) this.#kept = { lag: this.#ask(), atMs: nowMs };
    const { promise: late, resolve } = Promise.withResolvers<Lag>();
    const timer = setTimeout(() => resolve(UNKNOWN), WAIT_MS);
    const lag = await Promise.race([this.#kept.lag, late]);
    clearTimeout(timer);
    return lag;
  }

  async #ask(): Promise<Lag> {
    const { store, clock } = this.#deps;
    try {
      const { runMs, deliveryMs } = await store.longestWaiting();
      const since = (ms: number | null): number => (ms === null ? 0 : Math.max(0, clock.nowMs() - ms) / 1000);
      return { run: since(runMs), delivery: since(deliveryMs) };
    } catch {
      return UNKNOWN;
    }
  }
}

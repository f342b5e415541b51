// What a process remembers between its claims of deliveries: the first attempts since the last retry, of each listener and of
// all. Each process counts for itself, since one at a time sends to a webhook.

import { FruitlessLooks, firstsAfter, RetryShare, retriesOf, type Served } from '../../log/round-robin.ts';

/** The most listeners before all counts are dropped; a retry then waits for a few more first attempts. */
const MAX_KEPT = 20_000;

export class RetryShares {
  /** First attempts since the last retry, by listener. */
  readonly #firsts = new Map<string, number>();
  retries = new RetryShare();
  readonly vainLooks = new FruitlessLooks();

  /** Returns how many of the next slots of a listener (by its pairKey) are for retries, if all its deliveries are due. */
  retriesOf(key: string, slots: number): number {
    return retriesOf(this.#firsts.get(key) ?? 0, slots);
  }

  served(key: string, served: Served): void {
    const firsts = firstsAfter(this.#firsts.get(key) ?? 0, served);
    if (firsts === 0) this.#firsts.delete(key);
    else this.#firsts.set(key, firsts);
    if (this.#firsts.size > MAX_KEPT) this.#firsts.clear();
  }
}

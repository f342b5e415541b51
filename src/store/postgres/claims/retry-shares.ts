// What a process remembers of its claims of deliveries, from one to the next: how many first attempts each listener had
// since its last retry, and how many of all. Counted at each process for itself, since one at a time sends to a webhook.

import { firstsAfter, RetryShare, retriesOf, type Served } from '../../log/round-robin.ts';

/** Listeners before all begin again: a retry of one then waits for a few first attempts more. */
const MAX_KEPT = 20_000;

export class RetryShares {
  /** First attempts since the last retry. */
  readonly #firsts = new Map<string, number>();
  retries = new RetryShare();
  /** Queues that claims looked at in vain, one after the other. */
  #inVain = 0;

  /** A claim looked at so many in vain, of so many that are ready. Whether some are left that no claim has looked at since. */
  leavesSome(inVain: number, ready: number): boolean {
    this.#inVain = inVain === 0 ? 0 : this.#inVain + inVain;
    const leaves = this.#inVain < ready;
    if (!leaves) this.#inVain = 0;
    return leaves;
  }

  /** How many of the next slots of a listener (by its pairKey) are for retries, were all its deliveries due. */
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

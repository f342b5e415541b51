// A busy webhook's retries: first attempts go before them, but of so many hands that its deliveries get, one goes to a
// retry that is due. Counted at each node for itself, since one node at a time sends to a webhook.

import { LIMITS } from '../../../domain/limits.ts';

export const FIRST_ATTEMPTS = LIMITS.inFlightPerWebhook - 1;
/** Lines before all begin anew: somebody's retry then waits for a few first attempts more. */
const MAX_KEPT = 20_000;

export interface Served {
  readonly pending: number;
  readonly retrying: number;
}

export class Shares {
  /** First attempts since the last retry. */
  readonly #firsts = new Map<string, number>();
  /** First attempts that claims gave, one after the other, while some line had a retry due. */
  firstsInRow = 0;
  /** Lines that claims looked at in vain, one after the other. */
  #inVain = 0;

  /** A claim looked at so many in vain, of so many that are ready. Whether some are left that no claim has looked at since. */
  leavesSome(inVain: number, ready: number): boolean {
    this.#inVain = inVain === 0 ? 0 : this.#inVain + inVain;
    const leaves = this.#inVain < ready;
    if (!leaves) this.#inVain = 0;
    return leaves;
  }

  /** How many of the next hands of a line (by its pairKey) are a retry's, were they `hands` and all its deliveries due. */
  retriesOf(line: string, hands: number): number {
    return Math.floor(((this.#firsts.get(line) ?? 0) + hands) / LIMITS.inFlightPerWebhook);
  }

  served(line: string, { pending, retrying }: Served): void {
    if (retrying === 0 && pending === 0) return;
    const before = this.#firsts.get(line) ?? 0;
    const after = before + pending - retrying * FIRST_ATTEMPTS;
    if (after <= 0) this.#firsts.delete(line);
    else this.#firsts.set(line, Math.min(after, FIRST_ATTEMPTS));
    if (this.#firsts.size > MAX_KEPT) this.#firsts.clear();
  }
}

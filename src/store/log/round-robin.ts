// The round robin of delivery claims: one slot each over the listeners with due deliveries, until none may take more or the limit
// is reached. First attempts come before retries, so that failures do not starve new events; but one slot in
// LIMITS.inFlightPerWebhook goes to a due retry, of the slots of each listener and of the slots of all claims. So new events do not
// starve the retries of their webhook, and events for hundreds of dead webhooks do not starve the retries of a recovered one.

import type { WaitingState } from '../../domain/delivery/progress.ts';
import { LIMITS } from '../../domain/limits.ts';

const FIRST_ATTEMPTS = LIMITS.inFlightPerWebhook - 1;

/** Runs or deliveries that the end of one claims: two, so that a queue shrinks also while slots are free. */
export const HANDED_OVER = 2;

export interface Served {
  readonly pending: number;
  readonly retrying: number;
}

/** Returns the first attempts of a listener since its last retry, up to the number that matters. `firsts`: before these were served. */
export function firstsAfter(firsts: number, { pending, retrying }: Served): number {
  return Math.max(0, Math.min(FIRST_ATTEMPTS, firsts + pending - retrying * FIRST_ATTEMPTS));
}

/** Returns how many of the next slots of a listener are for retries, if all its deliveries are due. */
export function retriesOf(firsts: number, slots: number): number {
  return Math.floor((firsts + slots) / LIMITS.inFlightPerWebhook);
}

/** Shares slots between first attempts and retries, over all listeners and from claim to claim. */
export class RetryShare {
  /** Consecutive first attempts while some retry may have been due. */
  #firstsInRow: number;
  #isOwed: boolean;

  constructor({ firstsInRow = 0, isOwed = false } = {}) {
    this.#firstsInRow = firstsInRow;
    this.#isOwed = isOwed;
  }

  copy(): RetryShare {
    return new RetryShare({ firstsInRow: this.#firstsInRow, isOwed: this.#isOwed });
  }

  /** Returns whether a retry may be claimed before the next first attempt. */
  get isDue(): boolean {
    return this.#firstsInRow >= FIRST_ATTEMPTS;
  }

  /** Returns whether the next claim begins with a retry, since none could be claimed when one was due. */
  get isOwed(): boolean {
    return this.#isOwed;
  }

  countFirst(hasRetries: boolean): void {
    this.#firstsInRow = hasRetries ? this.#firstsInRow + 1 : 0;
  }

  countRetry(): void {
    this.#firstsInRow = 0;
    this.#isOwed = false;
  }

  /** Called when a retry was to be claimed, and none could be. */
  skipRetry(hasRetries: boolean): void {
    this.#firstsInRow = 0;
    this.#isOwed = hasRetries;
  }
}

/** Counts the listeners that consecutive claims looked at in vain, since one was served or all were looked at. */
export class FruitlessLooks {
  #n = 0;

  /** Called after a claim. Returns whether some of the `ready` listeners were not looked at: the next claim follows at once. */
  leaveSome(
    { isCut, isServed, inVain }: { isCut: boolean; isServed: boolean; inVain: number },
    ready: number,
  ): boolean {
    this.#n = isServed ? inVain : this.#n + inVain;
    const leaves = isCut && this.#n < ready;
    if (!leaves) this.#n = 0;
    return leaves;
  }
}

/** The listeners of one claim. */
export interface ClaimSource<L> {
  /** Returns listeners that may have a due delivery in that state, in the order of the round robin. */
  ready(state: WaitingState): Iterable<L>;
  /** Whether some listener may have a retry due. */
  readonly hasRetries: boolean;
  /** Takes one delivery; in the phase of first attempts, a retry if the listener's share has one. Returns which; null: none. */
  take(listener: L, phase: WaitingState): WaitingState | null;
  /** Takes a retry of the first listener that may have one. */
  takeRetry(): boolean;
  /** Whether enough listeners were looked at in vain: the next claim goes on. */
  readonly hasLookedEnough: boolean;
}

export interface GrantedRound<L> {
  /** The listeners served, in order. */
  readonly served: ReadonlySet<L>;
  /** Some listeners were not looked at, although the limit was not reached. */
  readonly isCut: boolean;
}

export function grantRound<L>(source: ClaimSource<L>, share: RetryShare, limit: number): GrantedRound<L> {
  const served = new Set<L>();
  let left = limit;
  const grantRetry = (): void => {
    if (source.takeRetry()) {
      share.countRetry();
      left--;
    } else share.skipRetry(source.hasRetries);
  };
  if (left > 0 && share.isOwed) grantRetry();
  for (const phase of ['pending', 'retrying'] as const) {
    for (let round = source.ready(phase), isOver = false; !isOver; ) {
      const again: L[] = [];
      for (const listener of round) {
        if (left > 0 && source.hasLookedEnough) return { served, isCut: true };
        if (left > 0 && phase === 'pending' && share.isDue) grantRetry();
        if (left === 0) return { served, isCut: false };
        const taken = source.take(listener, phase);
        if (taken === null) continue;
        left--;
        served.add(listener);
        again.push(listener);
        if (taken === 'pending') share.countFirst(source.hasRetries);
        else share.countRetry();
      }
      isOver = again.length === 0;
      round = again;
    }
  }
  return { served, isCut: false };
}

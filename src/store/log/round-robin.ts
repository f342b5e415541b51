// Who gets the slots of one claim of deliveries: one each in turn over the listeners that have something due, until none may
// take more or the limit is reached. First attempts of all come before retries of any, so that failures do not starve new
// events; but one slot in LIMITS.inFlightPerWebhook goes to a retry that is due, of those that one listener gets and of
// those that claims give in all. So new events do not starve the retries of their webhook, and those for hundreds of dead
// webhooks not the retries of one that is well again.

import type { WaitingState } from '../../domain/delivery/progress.ts';
import { LIMITS } from '../../domain/limits.ts';

const FIRST_ATTEMPTS = LIMITS.inFlightPerWebhook - 1;

/** Deliveries that the end of an attempt hands over to: two, so that a queue shrinks also while new slots are free. */
export const HANDED_OVER = 2;

export interface Served {
  readonly pending: number;
  readonly retrying: number;
}

/** `firsts`: first attempts of one listener since its last retry, as far as they matter. Returns what they are then. */
export function firstsAfter(firsts: number, { pending, retrying }: Served): number {
  return Math.max(0, Math.min(FIRST_ATTEMPTS, firsts + pending - retrying * FIRST_ATTEMPTS));
}

/** How many of the next slots of one listener are for retries, were all its deliveries due. */
export function retriesOf(firsts: number, slots: number): number {
  return Math.floor((firsts + slots) / LIMITS.inFlightPerWebhook);
}

/** Whose turn it is between first attempts and retries, over all listeners and from claim to claim. */
export class RetryShare {
  /** First attempts that claims gave, one after the other, while some retry may have been due. */
  #firstsInRow: number;
  #isOwed: boolean;

  constructor({ firstsInRow = 0, isOwed = false } = {}) {
    this.#firstsInRow = firstsInRow;
    this.#isOwed = isOwed;
  }

  copy(): RetryShare {
    return new RetryShare({ firstsInRow: this.#firstsInRow, isOwed: this.#isOwed });
  }

  /** So many first attempts went that a retry may go before the next one. */
  get isDue(): boolean {
    return this.#firstsInRow >= FIRST_ATTEMPTS;
  }

  /** It was a retry's turn, and none could go: the next claim begins with it. */
  get isOwed(): boolean {
    return this.#isOwed;
  }

  firstWent(hasRetries: boolean): void {
    this.#firstsInRow = hasRetries ? this.#firstsInRow + 1 : 0;
  }

  retryWent(): void {
    this.#firstsInRow = 0;
    this.#isOwed = false;
  }

  /** It was a retry's turn, and none could go. */
  noneWent(hasRetries: boolean): void {
    this.#firstsInRow = 0;
    this.#isOwed = hasRetries;
  }
}

/** What one claim may take from. */
export interface ClaimSource<L> {
  /** Listeners that may have something due in that state, in turn. */
  ready(state: WaitingState): Iterable<L>;
  /** Some listener may have a retry due. */
  readonly hasRetries: boolean;
  /** Takes one delivery; in the phase of first attempts, a retry where that is its listener's turn. Returns which; null: none. */
  take(listener: L, phase: WaitingState): WaitingState | null;
  /** Takes a retry of the first listener that may have one. */
  takeRetry(): boolean;
  /** Enough listeners were looked at in vain: the rest is for the next claim. */
  readonly isTired: boolean;
}

export interface GrantedInTurn<L> {
  /** Those whose turn it was, in turn. */
  readonly served: ReadonlySet<L>;
  /** Some were not looked at, and not because of the limit. */
  readonly isCut: boolean;
}

export function grantInTurn<L>(source: ClaimSource<L>, turns: RetryShare, limit: number): GrantedInTurn<L> {
  const served = new Set<L>();
  let left = limit;
  const grantRetry = (): void => {
    if (source.takeRetry()) {
      turns.retryWent();
      left--;
    } else turns.noneWent(source.hasRetries);
  };
  if (left > 0 && turns.isOwed) grantRetry();
  for (const phase of ['pending', 'retrying'] as const) {
    for (let round = source.ready(phase), isOver = false; !isOver; ) {
      const again: L[] = [];
      for (const listener of round) {
        if (left > 0 && source.isTired) return { served, isCut: true };
        if (left > 0 && phase === 'pending' && turns.isDue) grantRetry();
        if (left === 0) return { served, isCut: false };
        const taken = source.take(listener, phase);
        if (taken === null) continue;
        left--;
        served.add(listener);
        again.push(listener);
        if (taken === 'pending') turns.firstWent(source.hasRetries);
        else turns.retryWent();
      }
      isOver = again.length === 0;
      round = again;
    }
  }
  return { served, isCut: false };
}

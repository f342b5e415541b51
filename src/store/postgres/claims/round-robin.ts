// What one claim of deliveries grants the listeners that it found, in numbers. A claim grants twice: over the found queues, and
// over those that it could lock. store/log/round-robin.ts decides the order.

import type { WaitingState } from '../../../domain/delivery/progress.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { FreeSlots } from '../../contract/store.ts';
import { type ClaimSource, grantRound, type RetryShare } from '../../log/round-robin.ts';
import { pairKey } from '../log/batch-needs.ts';
import type { RetryShares } from './retry-shares.ts';

/** The most due rows that one claim counts for a listener: more than may be in flight, far fewer than may be due. */
export const MAX_DUE = 64;

export interface Candidate {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly webhook: Webhook | null;
  readonly mailTo: string | null;
  readonly due: Readonly<Record<WaitingState, number>>;
}

interface GrantedSlots {
  readonly candidate: Candidate;
  readonly counts: Record<WaitingState, number>;
}

export interface GrantedDeliveries {
  readonly granted: ReadonlyMap<Candidate, GrantedSlots>;
  /** Listeners served in order; others only had a share of retries. */
  readonly served: ReadonlySet<Candidate>;
  readonly isMoreWaiting: boolean;
  /** The share of retries after this claim. */
  readonly retries: RetryShare;
}

export interface DeliveryGrantOptions {
  readonly limit: number;
  readonly admission: FreeSlots;
  readonly retryShares: RetryShares;
  /** Some listener has a retry due. */
  readonly hasRetries: boolean;
}

export function keyOf({ ownerId, listenerId }: { ownerId: string; listenerId: string }): string {
  return pairKey(ownerId, listenerId);
}

export function grant(found: readonly Candidate[], granting: DeliveryGrantOptions): GrantedDeliveries {
  const granter = new Granter(found, granting);
  const retries = granting.retryShares.retries.copy();
  const { served } = grantRound(granter, retries, granting.limit);
  return { granted: granter.granted, served, isMoreWaiting: granter.isMoreWaiting, retries };
}

class Granter implements ClaimSource<Candidate> {
  readonly granted = new Map<Candidate, GrantedSlots>();
  readonly hasRetries: boolean;
  /** A claim looks at all listeners that it found. */
  readonly hasLookedEnough = false;
  readonly #found: readonly Candidate[];
  readonly #admission: FreeSlots;
  readonly #retryShares: RetryShares;
  /** Listeners without a free slot; not tried again. */
  readonly #refused = new Set<Candidate>();

  constructor(found: readonly Candidate[], { admission, retryShares, hasRetries }: DeliveryGrantOptions) {
    this.#found = found;
    this.#admission = admission;
    this.#retryShares = retryShares;
    this.hasRetries = hasRetries;
  }

  ready(): readonly Candidate[] {
    return this.#found;
  }

  take(candidate: Candidate, phase: WaitingState): WaitingState | null {
    const grant = this.granted.get(candidate) ?? { candidate, counts: { pending: 0, retrying: 0 } };
    if (this.#refused.has(candidate) || grant.counts[phase] >= candidate.due[phase]) return null;
    if (!this.#admission.takeDelivery(candidate.listenerId, candidate.webhook)) {
      this.#refused.add(candidate);
      return null;
    }
    const taken = this.#isRetryNext(grant) ? 'retrying' : phase;
    grant.counts[taken]++;
    this.granted.set(candidate, grant);
    return taken;
  }

  takeRetry(): boolean {
    return this.#found.some((candidate) => this.take(candidate, 'retrying') !== null);
  }

  /** Returns whether a due delivery may not have been granted. */
  get isMoreWaiting(): boolean {
    return this.#found.some((candidate) => {
      const { pending, retrying } = candidate.due;
      const counts = this.granted.get(candidate)?.counts;
      const isCounted = pending < MAX_DUE && retrying < MAX_DUE;
      return !isCounted || (counts ? counts.pending + counts.retrying : 0) < pending + retrying;
    });
  }

  #isRetryNext({ candidate, counts }: GrantedSlots): boolean {
    if (counts.retrying >= candidate.due.retrying) return false;
    return this.#retryShares.retriesOf(keyOf(candidate), counts.pending + counts.retrying + 1) > counts.retrying;
  }
}

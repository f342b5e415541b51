// Who gets the hands of one claim of deliveries: one each in turn, first attempts before retries, but for the shares of
// these (retry-share.ts). In memory alone, and twice for one claim: of what was found, and of what could be locked.

import type { Webhook } from '../../../domain/resource.ts';
import type { Admission } from '../../contract/store.ts';
import { pairKey } from '../log/batch-needs.ts';
import { FIRST_ATTEMPTS, type Shares } from './retry-share.ts';

/** Due rows counted for one webhook in one claim: more than it may have in flight, far less than may be due. */
export const MAX_DUE = 64;

export type State = 'pending' | 'retrying';

export interface Candidate {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly webhook: Webhook | null;
  readonly mailTo: string | null;
  readonly due: Readonly<Record<State, number>>;
}

interface Grant {
  readonly candidate: Candidate;
  readonly counts: Record<State, number>;
}

export interface Taken {
  readonly granted: ReadonlyMap<Candidate, Grant>;
  /** Those whose turn it was; the others had a retry's share before it came to them. */
  readonly served: ReadonlySet<Candidate>;
  readonly isMoreWaiting: boolean;
  /** See Shares. */
  readonly firstsInRow: number;
}

export interface Granting {
  readonly limit: number;
  readonly admission: Admission;
  readonly shares: Shares;
  /** Of all that were found, one has retries alone. */
  readonly isRetryDue: boolean;
}

export function keyOf({ ownerId, listenerId }: { ownerId: string; listenerId: string }): string {
  return pairKey(ownerId, listenerId);
}

/** Of one that has first attempts as well, its own share is enough. */
export function isRetryAlone({ due }: Candidate): boolean {
  return due.retrying > 0 && due.pending === 0;
}

export function grantInTurn(found: readonly Candidate[], { isRetryDue, ...of }: Granting): Taken {
  const granter = new Granter(of);
  const served = new Set<Candidate>();
  let { firstsInRow } = of.shares;
  for (const state of ['pending', 'retrying'] as const) {
    if (found.some(({ due }) => due[state] === MAX_DUE)) granter.isMoreWaiting = true;
    for (let left = found; left.length > 0; ) {
      left = left.filter((candidate) => {
        // Of all hands that claims give, too, one goes to a retry: first attempts for hundreds of dead webhooks must not
        // keep it from one that is well again.
        if (state === 'pending' && firstsInRow >= FIRST_ATTEMPTS) {
          if (found.some((other) => isRetryAlone(other) && granter.take(other, 'retrying'))) firstsInRow = 0;
        }
        if (!granter.take(candidate, state)) return false;
        served.add(candidate);
        if (state === 'pending') firstsInRow = isRetryDue ? firstsInRow + 1 : 0;
        return true;
      });
    }
  }
  return { granted: granter.granted, served, isMoreWaiting: granter.isMoreWaiting, firstsInRow };
}

class Granter {
  readonly granted = new Map<Candidate, Grant>();
  isMoreWaiting = false;
  readonly #admission: Admission;
  readonly #shares: Shares;
  /** Not asked again: they have no hand free. */
  readonly #refused = new Set<Candidate>();
  #rest: number;

  constructor({ limit, admission, shares }: Omit<Granting, 'isRetryDue'>) {
    this.#rest = limit;
    this.#admission = admission;
    this.#shares = shares;
  }

  take(candidate: Candidate, state: State): boolean {
    const grant = this.granted.get(candidate) ?? { candidate, counts: { pending: 0, retrying: 0 } };
    if (this.#refused.has(candidate) || grant.counts[state] >= candidate.due[state]) return false;
    if (this.#rest === 0 || !this.#admission.takeDelivery(candidate.listenerId, candidate.webhook)) {
      this.isMoreWaiting = true;
      this.#refused.add(candidate);
      return false;
    }
    grant.counts[this.#isTurnOfRetry(grant) ? 'retrying' : state]++;
    this.granted.set(candidate, grant);
    this.#rest--;
    return true;
  }

  #isTurnOfRetry({ candidate, counts }: Grant): boolean {
    if (counts.retrying >= candidate.due.retrying) return false;
    return this.#shares.retriesOf(keyOf(candidate), counts.pending + counts.retrying + 1) > counts.retrying;
  }
}

// What one claim of runs grants: slots round robin, over owners and their workflows and sources, until none may start more runs or
// the limit is reached.

import type { Runnable } from '../../domain/resource.ts';
import type { OwnerRoundRobin } from './owner-round-robin.ts';

/** A workflow or source with runs that wait. */
export interface RunCandidate {
  readonly ownerId: string;
  readonly runnable: Runnable;
  readonly waiting: number;
  /** How many runs its throttle lets begin. */
  readonly room: number;
  /** How many more of its runs may be under way over all processes. */
  readonly free: number;
}

/** `takeRun`: takes a slot of this process. */
export interface RunGrantOptions {
  readonly round: OwnerRoundRobin;
  readonly limit: number;
  readonly takeRun: (runnable: Runnable) => boolean;
}

export interface GrantedRuns {
  /** How many runs each may start now, in the order in which they were served first. */
  readonly granted: ReadonlyMap<Runnable, number>;
  /** Workflows with more runs than their throttle lets begin. They wait for their time, not for slots. */
  readonly throttled: readonly Runnable[];
  /** Some runs wait for slots, or for the next claim. */
  readonly isMoreWaiting: boolean;
}

export function grantRuns(found: readonly RunCandidate[], { round, limit, takeRun }: RunGrantOptions): GrantedRuns {
  const granted = new Map<Runnable, number>();
  const throttled: Runnable[] = [];
  let isMoreWaiting = false;
  let rest = limit;
  round.goRound(found, ({ runnable, waiting, room, free }) => {
    const count = granted.get(runnable) ?? 0;
    if (count >= waiting) return false;
    if (count >= room) {
      throttled.push(runnable);
      return false;
    }
    if (rest === 0 || count >= free || !takeRun(runnable)) {
      isMoreWaiting = true;
      return false;
    }
    granted.set(runnable, count + 1);
    rest--;
    return true;
  });
  return { granted, throttled, isMoreWaiting };
}

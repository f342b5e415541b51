// Deletes, in small steps, what is no longer shown or needed: records of deleted or cleared data stores, expired
// records, owners that were deleted, and deployments that newer ones have replaced. Then returns free space of the store to the system.

import { HOUR_MS, LIMITS, MINUTE_MS } from '../../domain/limits.ts';
import type { Clock } from '../../ports.ts';
import type { DeploymentPlace } from '../../store/contract/deployments.ts';
import type { Store } from '../../store/contract/store.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { WakeUps } from '../wake-ups.ts';
import { createOwnerSweeps, type OwnerSweepDeps, type OwnerSweeps } from './owner-sweeps.ts';

interface JanitorDeps extends LoopPorts, OwnerSweepDeps {
  readonly store: Pick<Store, 'sweepData' | 'sweepOwners' | 'pruneDeployments' | 'reclaimSpace'>;
  readonly clock: Clock;
  readonly wake: WakeUps;
}

const POLL_MS = 10 * MINUTE_MS;
/** Interval between walks over the deployments. */
const WALK_MS = HOUR_MS;
/** Pause between two steps, so that they never delay the work that users wait for. */
const PAUSE_MS = 20;

export class Janitor {
  readonly #deps: JanitorDeps;
  readonly #owners: OwnerSweeps;
  readonly #loop: Loop;
  /** The position of a walk under way. */
  #after: DeploymentPlace | null = null;
  #walkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: JanitorDeps) {
    this.#deps = deps;
    this.#owners = createOwnerSweeps(deps);
    this.#loop = new Loop({ name: 'janitor', tick: () => this.tick(), maxWaitMs: POLL_MS }, deps);
    deps.wake.subscribe('deletions', () => this.#loop.wake());
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Makes one bounded step. */
  async tick(): Promise<number> {
    const { store } = this.#deps;
    if (await store.sweepData()) return PAUSE_MS;
    const inMs = await this.#owners.sweep();
    const isMore = inMs === 0 || (await this.#walk()) || (await store.reclaimSpace());
    return isMore ? PAUSE_MS : inMs;
  }

  /** Returns whether the walk has more steps. */
  async #walk(): Promise<boolean> {
    const { store, clock } = this.#deps;
    const nowMs = clock.nowMs();
    if (this.#after === null && nowMs - this.#walkedAtMs < WALK_MS) return false;
    const { next } = await store.pruneDeployments(nowMs - LIMITS.deploymentsSettledMs, this.#after);
    this.#after = next;
    if (next === null) this.#walkedAtMs = nowMs;
    return next !== null;
  }
}

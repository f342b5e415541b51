// Deletes, in small steps, what is no longer shown or needed: records of deleted or cleared data stores, expired
// records, and deployments that newer ones have replaced. Then returns free space of the store to the system.

import { HOUR_MS, LIMITS, MINUTE_MS } from '../../domain/limits.ts';
import type { Clock } from '../../ports.ts';
import type { DeploymentPlace } from '../../store/contract/deployments.ts';
import type { Store } from '../../store/contract/store.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { WakeUps } from '../wake-ups.ts';

interface JanitorDeps extends LoopPorts {
  readonly store: Pick<Store, 'sweepData' | 'pruneDeployments' | 'reclaimSpace'>;
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
  readonly #loop: Loop;
  /** The position of a walk under way. */
  #after: DeploymentPlace | null = null;
  #walkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: JanitorDeps) {
    this.#deps = deps;
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
    const isMore = (await store.sweepData()) || (await this.#walk()) || (await store.reclaimSpace());
    return isMore ? PAUSE_MS : Number.POSITIVE_INFINITY;
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

// Nodes that share a store: this one beats, cancels its runs at the request of callers of other nodes, and takes over
// leases of dead nodes. With a store of one node there is nothing to do. Runs from the first moment to the
// last: a node that is starting or draining is alive.

import { HOUR_MS, LIMITS } from '../domain/limits.ts';
import type { Wake } from '../ports.ts';
import type { Runner } from '../runner/runner.ts';
import type { Store } from '../store/contract/store.ts';
import type { Dispatch } from './accept/dispatch.ts';
import type { Slots } from './capacity/slots.ts';
import { Loop, type LoopPorts } from './loop.ts';

export interface NodesDeps extends LoopPorts {
  readonly store: Pick<Store, 'beat' | 'rescue'>;
  readonly slots: Slots;
  readonly dispatch: Pick<Dispatch, 'take'>;
  readonly runner: Pick<Runner, 'cancel'>;
  readonly wake: Wake;
}

export class Nodes {
  readonly #deps: NodesDeps;
  readonly #beats: Loop;
  /** A loop of its own: a rescue may take long, and the beat must not wait for it. */
  readonly #rescues: Loop;
  #isRescueDue = false;

  constructor(deps: NodesDeps) {
    this.#deps = deps;
    this.#beats = new Loop({ name: 'nodes', tick: () => this.tick(), maxWaitMs: LIMITS.beatMs }, deps);
    this.#rescues = new Loop({ name: 'rescue', tick: () => this.#tickRescue(), maxWaitMs: HOUR_MS }, deps);
  }

  start(): void {
    this.#beats.start();
    this.#rescues.start();
  }

  async stop(): Promise<void> {
    await this.#rescues.stop();
    await this.#beats.stop();
  }

  async tick(): Promise<number> {
    const { store, runner } = this.#deps;
    const { cancel, isRescueDue } = await store.beat();
    for (const run of cancel) runner.cancel(run);
    if (isRescueDue) {
      this.#isRescueDue = true;
      this.#rescues.wake();
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Takes over the leases of dead nodes. */
  async rescue(): Promise<void> {
    const { store, slots, dispatch, log } = this.#deps;
    const { runs, deliveries, claims } = await store.rescue(slots);
    if (runs + deliveries > 0) log.info({ runs, deliveries }, 'took over work of an earlier process');
    dispatch.take(claims);
  }

  async #tickRescue(): Promise<number> {
    if (!this.#isRescueDue) return Number.POSITIVE_INFINITY;
    // Before the rescue, so that a beat during it can request another one.
    this.#isRescueDue = false;
    await this.rescue();
    this.#deps.wake.notify('takeovers');
    return Number.POSITIVE_INFINITY;
  }
}

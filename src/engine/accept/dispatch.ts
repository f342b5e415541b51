// Starts what the store has leased to this node. Every verb that writes emissions returns claims, which all pass
// through here.  The verbs of one transaction resolve in one turn of the event loop, but their callers await different
// numbers of promises before they call this: runs that were claimed later could arrive first. So the runs of a turn
// begin at its end, in the order of their numbers, and none overtakes another of its workflow.

import type { Wake } from '../../ports.ts';
import type { Claims } from '../../store/contract/store.ts';

/** Set by the parts once they are built: runs end in emissions that become deliveries, whose ends become runs. */
export interface Starters {
  readonly run: (claimed: Claims['runs'][number]) => void;
  readonly delivery: (claimed: Claims['deliveries'][number]) => void;
}

export class Dispatch {
  readonly #wake: Wake;
  #starters: Starters | undefined;
  #runs: Claims['runs'][number][] = [];

  constructor(wake: Wake) {
    this.#wake = wake;
  }

  connect(starters: Starters): void {
    this.#starters = starters;
  }

  take(claims: Claims): void {
    const starters = this.#starters;
    if (!starters) throw new Error('dispatch used before it was connected');
    if (claims.runs.length > 0) {
      // Behind all promises that are settled now.
      if (this.#runs.length === 0) process.nextTick(() => this.startRuns());
      this.#runs.push(...claims.runs);
    }
    for (const delivery of claims.deliveries) starters.delivery(delivery);
    if (claims.runsWaiting) this.#wake.notify('runs');
    if (claims.deliveriesWaiting) this.#wake.notify('deliveries');
  }

  /** Starts the runs that were taken in this turn. */
  startRuns(): void {
    const runs = this.#runs;
    this.#runs = [];
    runs.sort((a, b) => a.run - b.run);
    for (const run of runs) this.#starters?.run(run);
  }
}

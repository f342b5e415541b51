// Starts what the store has leased to this node. Every verb that writes emissions returns claims, which all pass through here.

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

  constructor(wake: Wake) {
    this.#wake = wake;
  }

  connect(starters: Starters): void {
    this.#starters = starters;
  }

  take(claims: Claims): void {
    const starters = this.#starters;
    if (!starters) throw new Error('dispatch used before it was connected');
    for (const run of claims.runs) starters.run(run);
    for (const delivery of claims.deliveries) starters.delivery(delivery);
    if (claims.runsWaiting) this.#wake.notify('runs');
    if (claims.deliveriesWaiting) this.#wake.notify('deliveries');
  }
}

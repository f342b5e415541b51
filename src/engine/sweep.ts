// Deletes, a little at a time, what is left of data stores that are gone or were cleared, and records that have expired.
// Nobody sees them any more: this only frees their room.

import { MINUTE_MS } from '../domain/limits.ts';
import type { Log, Random } from '../ports.ts';
import type { Store } from '../store/store.ts';
import { Loop } from './loop.ts';

interface SweepDeps {
  readonly store: Pick<Store, 'sweepData'>;
  readonly random: Random;
  readonly log: Log;
}

const POLL_MS = 10 * MINUTE_MS;
/** Between two steps, so that they never hold up the work that users wait for. */
const PAUSE_MS = 20;

export class Sweep {
  readonly #loop: Loop;

  constructor({ store, random, log }: SweepDeps) {
    const tick = async (): Promise<number> => ((await store.sweepData()) ? PAUSE_MS : Number.POSITIVE_INFINITY);
    this.#loop = new Loop({ name: 'sweep', tick, maxWaitMs: POLL_MS, random, log });
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}

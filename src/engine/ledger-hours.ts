// Notes the ledger's figures by hour, so that there is something to draw of the time before. What happens between the last note
// of an hour and its end counts to the next hour, so notes are made often: owners for whom nothing has changed cost a read.

import { HOURS_KEPT_MS } from '../domain/ledger/hours.ts';
import { MINUTE_MS } from '../domain/limits.ts';
import type { Clock } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import { Loop, type LoopPorts } from './loop.ts';

interface LedgerHoursDeps extends LoopPorts {
  readonly store: Pick<Store, 'noteHours'>;
  readonly clock: Clock;
}

const POLL_MS = MINUTE_MS;
/** Pause between two steps, so that they never delay the work that users wait for. */
const PAUSE_MS = 20;

export class LedgerHours {
  readonly #deps: LedgerHoursDeps;
  readonly #loop: Loop;
  #after: string | null = null;

  constructor(deps: LedgerHoursDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'ledger.hours', tick: () => this.tick(), maxWaitMs: POLL_MS }, deps);
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Makes one bounded step. */
  async tick(): Promise<number> {
    const { store, clock } = this.#deps;
    const { next } = await store.noteHours(this.#after, clock.nowMs() - HOURS_KEPT_MS);
    this.#after = next;
    return next === null ? Number.POSITIVE_INFINITY : PAUSE_MS;
  }
}

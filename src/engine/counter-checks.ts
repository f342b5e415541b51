// Compares the store's counters with its rows: once an hour, a little after nodes were taken for gone, and when a counter
// was seen to be wrong. A counter that had to be corrected is a fault of this program or of its storage: it is counted and logged.

import { LIMITS } from '../domain/limits.ts';
import type { Clock } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import { Loop, type LoopPorts } from './loop.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { WakeUps } from './wake-ups.ts';

interface CountersDeps extends LoopPorts {
  readonly store: Pick<Store, 'repairCounters'>;
  readonly metrics: Pick<Metrics, 'repairs'>;
  readonly clock: Clock;
  readonly wake: WakeUps;
}

/** Repairs that one check logs one by one; the others are in the sum. */
const LOGGED = 20;

export class Counters {
  readonly #deps: CountersDeps;
  readonly #loop: Loop;
  #isAsked = false;

  constructor(deps: CountersDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'counters', tick: () => this.tick(), maxWaitMs: LIMITS.countersEveryMs }, deps);
    deps.wake.subscribe('counters', () => this.#checkSoon());
    deps.wake.subscribe('takeovers', () => this.#checkSoon());
  }

  start(): void {
    this.#loop.start();
  }

  /** Checks soon, so that many reasons at once lead to one check. */
  #checkSoon(): void {
    this.#isAsked = true;
    this.#loop.wake(LIMITS.countersSoonMs);
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async tick(): Promise<number> {
    const { store, clock } = this.#deps;
    // Half: of several nodes one checks first, and the others are not much behind it.
    const isAsked = this.#isAsked;
    this.#isAsked = false;
    let isDone = false;
    try {
      const everyMs = isAsked ? LIMITS.countersSoonMs : LIMITS.countersEveryMs / 2;
      const { isChecked, repairs } = await store.repairCounters(clock.nowMs() - everyMs);
      this.#report(repairs);
      isDone = isChecked || !isAsked;
    } finally {
      // A check a moment ago may have been before the reason came.
      if (!isDone) this.#isAsked ||= isAsked;
    }
    return isDone ? Number.POSITIVE_INFINITY : LIMITS.countersSoonMs;
  }

  #report(repairs: Awaited<ReturnType<Store['repairCounters']>>['repairs']): void {
    const { metrics, log } = this.#deps;
    if (repairs.length === 0) return;
    for (const { kind } of repairs) metrics.repairs.inc({ kind });
    for (const { kind, ownerId, of, counted, found } of repairs.slice(0, LOGGED)) {
      log.warn({ kind, owner_id: ownerId, of, counted, found }, 'a counter differed from its rows and was corrected');
    }
    log.warn(
      { repairs: repairs.length },
      'counters were corrected: keep this log, run errand store check, and report it, since this should not happen',
    );
  }
}

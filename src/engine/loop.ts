// The loop of all parts that wait for work. A tick does what is due and returns how long to wait; a wake-up is only a hint that cuts the
// wait short, so a lost one costs at most `maxWaitMs`.

import type { Log, Random } from '../ports.ts';
import { StoreUnavailable } from '../store/contract/unavailable.ts';
import type { StorageOutage } from './storage-outage.ts';

export interface LoopPorts {
  readonly random: Random;
  readonly log: Log;
  /** Tells of storage that fails, for all loops of a process together. Without it, each failed tick is logged. */
  readonly outage?: Pick<StorageOutage, 'failed'> | undefined;
  /** For tests: false, and only wake-ups and the waits that ticks return lead to the next tick. */
  readonly isPolling?: boolean | undefined;
}

export interface LoopOptions {
  readonly name: string;
  /** Returns milliseconds until there may be work again; 0: at once; infinite: nothing is known to come. */
  readonly tick: () => Promise<number>;
  /** The poll: no wait is longer, give or take a tenth, so that nodes do not tick in step. */
  readonly maxWaitMs: number;
}

/** Wait after a tick that threw: storage is away, most likely. */
const AFTER_FAILURE_MS = 500;
const JITTER = 0.1;

export class Loop {
  readonly #options: LoopOptions;
  readonly #ports: LoopPorts;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires, by a clock that never jumps. */
  #dueAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();
  #isTicking = false;
  #wokenInMs = Number.POSITIVE_INFINITY;
  #stopped = true;

  constructor(options: LoopOptions, ports: LoopPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#schedule(0);
  }

  /** Ticks within `inMs`; during a tick: counted from its end. */
  wake(inMs = 0): void {
    if (this.#stopped) return;
    if (this.#isTicking) this.#wokenInMs = Math.min(this.#wokenInMs, inMs);
    // Only sooner: wake-ups that come faster than a timer fires must not put the tick off for ever.
    else if (performance.now() + inMs < this.#dueAt) this.#schedule(inMs);
  }

  /** Waits for a tick under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(waitMs: number): void {
    clearTimeout(this.#timer);
    this.#dueAt = performance.now() + waitMs;
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#tick();
    }, waitMs);
  }

  async #tick(): Promise<void> {
    let waitMs = AFTER_FAILURE_MS;
    this.#isTicking = true;
    this.#wokenInMs = Number.POSITIVE_INFINITY;
    try {
      waitMs = await this.#options.tick();
    } catch (error) {
      this.#reportFailure(error);
    }
    this.#isTicking = false;
    if (this.#stopped) return;
    this.#schedule(Math.min(Math.max(waitMs, 0), this.#longestMs(), this.#wokenInMs));
  }

  #longestMs(): number {
    const { random, isPolling = true } = this.#ports;
    return isPolling
      ? this.#options.maxWaitMs * (1 - JITTER + 2 * JITTER * random.fraction())
      : Number.POSITIVE_INFINITY;
  }

  #reportFailure(error: unknown): void {
    const { name } = this.#options;
    const { log, outage } = this.#ports;
    if (outage && error instanceof StoreUnavailable) outage.failed(error, name);
    else log.error({ err: error, loop: name }, 'tick failed');
  }
}

// The one sleeping loop. A tick does what is due and returns how long to wait; a wake-up is only a hint that cuts the
// wait short, so a lost one costs at most `maxWaitMs`.

import type { Log, Random } from '../ports.ts';
import { StoreUnavailable } from '../store/contract/store.ts';

export interface LoopOptions {
  readonly name: string;
  /** Returns milliseconds until there may be work again; 0: at once; infinite: nothing is known to come. */
  readonly tick: () => Promise<number>;
  /** The poll: no wait is longer, give or take a tenth, so that nodes do not tick in step. */
  readonly maxWaitMs: number;
  readonly random: Random;
  readonly log: Log;
}

/** After a tick that threw: storage is away, most likely. */
const AFTER_FAILURE_MS = 500;
const JITTER = 0.1;

export class Loop {
  readonly #options: LoopOptions;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires, by a clock that never jumps. */
  #dueAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();
  #isTicking = false;
  #wokenInMs = Number.POSITIVE_INFINITY;
  #isStorageAway = false;
  #stopped = true;

  constructor(options: LoopOptions) {
    this.#options = options;
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
    // Never later than it would: wake-ups that come faster than a timer fires must not put it off for ever.
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
      this.#isStorageAway = false;
    } catch (error) {
      this.#tellFailure(error);
    }
    this.#isTicking = false;
    if (this.#stopped) return;
    const { maxWaitMs, random } = this.#options;
    const longestMs = maxWaitMs * (1 - JITTER + 2 * JITTER * random.fraction());
    this.#schedule(Math.min(Math.max(waitMs, 0), longestMs, this.#wokenInMs));
  }

  /** An outage of storage is told once, and not with every tick. */
  #tellFailure(error: unknown): void {
    const { name, log } = this.#options;
    if (!(error instanceof StoreUnavailable)) {
      log.error({ err: error, loop: name }, 'tick failed');
      return;
    }
    if (!this.#isStorageAway) log.warn({ err: error, loop: name }, 'storage is unavailable; trying again');
    this.#isStorageAway = true;
  }
}

// The one sleeping loop. A tick does what is due and returns how long to wait; a wake-up is only a hint that cuts the
// wait short, so a lost one costs at most `maxWaitMs`.

import type { Log } from '../ports.ts';

export interface LoopOptions {
  readonly name: string;
  /** Returns milliseconds until there may be work again; 0: at once. */
  readonly tick: () => Promise<number>;
  /** The poll: no wait is longer. */
  readonly maxWaitMs: number;
  readonly log: Log;
}

/** After a tick that threw: storage is away, most likely. */
const AFTER_FAILURE_MS = 500;

export class Loop {
  readonly #options: LoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isTicking = false;
  #wokenMeanwhile = false;
  #stopped = true;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#schedule(0);
  }

  /** Ticks soon; during a tick: once more after it. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#isTicking) this.#wokenMeanwhile = true;
    else this.#schedule(0);
  }

  /** Waits for a tick under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(waitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#tick();
    }, waitMs);
  }

  async #tick(): Promise<void> {
    let waitMs = AFTER_FAILURE_MS;
    this.#isTicking = true;
    this.#wokenMeanwhile = false;
    try {
      waitMs = await this.#options.tick();
    } catch (error) {
      this.#options.log.error({ err: error, loop: this.#options.name }, 'tick failed');
    }
    this.#isTicking = false;
    if (this.#stopped) return;
    this.#schedule(this.#wokenMeanwhile ? 0 : Math.min(Math.max(waitMs, 0), this.#options.maxWaitMs));
  }
}

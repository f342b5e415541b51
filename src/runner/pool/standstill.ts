// For how long this process stood still: its machine was suspended, its host paused it, or its own loop was blocked. The
// timers of that time all fire at once when it goes on, before anything that code has done meanwhile is read. Code that had
// no time is not late.

/** How often it is looked at, in ms. */
const LOOK_MS = 500;
/** A longer gap between two looks is a standstill; a shorter one a busy loop. */
const LONGEST_GAP_MS = 1500;

export type StandstillMeter = Pick<Standstill, 'watch' | 'rest' | 'totalMs'>;

export class Standstill {
  #beforeMs = 0;
  #lookedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Looks from now on, until `rest`. */
  watch(): void {
    if (this.#timer !== undefined) return;
    this.#lookedAtMs = performance.now();
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  rest(): void {
    if (this.#timer === undefined) return;
    this.#look();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Returns the ms of all standstills that were seen: two values differ by what was in between. */
  totalMs(): number {
    if (this.#timer !== undefined) this.#look();
    return this.#beforeMs;
  }

  #look(): void {
    const nowMs = performance.now();
    const gapMs = nowMs - this.#lookedAtMs;
    if (gapMs > LONGEST_GAP_MS) this.#beforeMs += gapMs - LOOK_MS;
    this.#lookedAtMs = nowMs;
  }
}

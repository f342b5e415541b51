// What was seen and may be over at the next look: kept with the time at which it was seen first.

interface Doubt {
  readonly what: string;
  readonly sinceMs: number;
}

export class Doubts {
  #before = new Map<string, Doubt>();
  #now = new Map<string, Doubt>();
  #leftMs = Number.POSITIVE_INFINITY;
  #lookedAtMs = 0;

  /**
   * Begins the next look. What is not seen again in it is forgotten. `lookedAtMs`: before anything of it was read, by a clock that
   * never jumps: what is judged late may be over since.
   */
  next(lookedAtMs: number): void {
    this.#lookedAtMs = lookedAtMs;
    this.#before = this.#now;
    this.#now = new Map();
    this.#leftMs = Number.POSITIVE_INFINITY;
  }

  /** Returns whether each look for `forMs` has seen the same of a file. */
  hasLasted(path: string, what: string, forMs: number): boolean {
    const before = this.#before.get(path);
    const doubt = before?.what === what ? before : { what, sinceMs: this.#lookedAtMs };
    this.#now.set(path, doubt);
    const leftMs = doubt.sinceMs + forMs - this.#lookedAtMs;
    if (leftMs > 0) this.#leftMs = Math.min(this.#leftMs, leftMs);
    return leftMs <= 0;
  }

  /** Returns how long it is until the first of them has lasted; infinite: none is left. */
  get leftMs(): number {
    return this.#leftMs;
  }
}

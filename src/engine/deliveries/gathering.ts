// Lets callers wait for each other for a moment, so that what they do next is done together: the ends of attempts of one webhook
// come back eight at a time, and a transaction for each eight took a fifth of their time.

interface Gathered {
  readonly all: Promise<void>;
  readonly release: () => void;
  readonly timer: NodeJS.Timeout;
}

export class Gathering {
  readonly #waitMs: number;
  #gathered: Gathered | null = null;

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /** Resolves with those of all callers since the first, `waitMs` after it or with `release`. */
  join(): Promise<void> {
    this.#gathered ??= this.#begin();
    return this.#gathered.all;
  }

  /** Lets all callers go on now. */
  release(): void {
    if (!this.#gathered) return;
    const { release, timer } = this.#gathered;
    clearTimeout(timer);
    this.#gathered = null;
    release();
  }

  #begin(): Gathered {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { all: promise, release: resolve, timer: setTimeout(() => this.release(), this.#waitMs) };
  }
}

// How many messages a process may send that cost its runs nothing: an honest one sends hardly any, and without a bound a
// forger could keep the server reading for ever.

/** Exceptions of no run: a process tells of 100, and then is silent (child/worker.ts). */
const MAX_STRAYS = 100;
/** Messages of runs that are not, or no more. */
const MAX_OF_UNKNOWN_RUNS = 256;

export class MessageBudget {
  #strayExceptions = MAX_STRAYS;
  #unknown = MAX_OF_UNKNOWN_RUNS;
  #isLoaded = false;

  /** Throws when there were too many of its kind. `isKnown`: it is of a run in flight. */
  count(kind: unknown, isKnown: boolean): void {
    if (kind === 'loaded') {
      if (this.#isLoaded) throw new TypeError('it has loaded its code before');
      this.#isLoaded = true;
    } else if (kind === 'stray') {
      if (--this.#strayExceptions < 0) throw new RangeError('more stray exceptions than are told');
    } else if (!isKnown && --this.#unknown < 0) throw new RangeError('more messages of no run than there may be');
  }
}

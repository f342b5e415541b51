// Bounds the messages of a process that belong to no run: an honest process sends hardly any, and without a bound a
// forger could keep the server reading endlessly.

/** Exceptions of no run in flight: a process reports at most 100 (child/worker.ts). */
const MAX_STRAYS = 100;
/** How often a process reports late calls (child/late-calls.ts). */
const MAX_LATE_CALLS = 100;
/** Messages of runs that do not exist, or have ended. */
const MAX_OF_UNKNOWN_RUNS = 256;

export class MessageBudget {
  #strayExceptions = MAX_STRAYS;
  #lateCalls = MAX_LATE_CALLS;
  #unknown = MAX_OF_UNKNOWN_RUNS;
  #isLoaded = false;

  /** Counts a message. Throws when there were too many of its kind. `isKnown`: its run is in flight. */
  count(kind: unknown, isKnown: boolean): void {
    if (kind === 'loaded') {
      if (this.#isLoaded) throw new TypeError('it has loaded its code before');
      this.#isLoaded = true;
    } else if (kind === 'stray') {
      if (--this.#strayExceptions < 0) throw new RangeError('more stray exceptions than a process reports');
    } else if (kind === 'late') {
      // Their run may be in flight: it is the same run that goes on after a wait, or is tried again.
      if (--this.#lateCalls < 0) throw new RangeError('more late calls than a process reports');
    } else if (!isKnown && --this.#unknown < 0) throw new RangeError('more messages of no run than there may be');
  }
}

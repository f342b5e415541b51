// Long work on the server's thread, in pieces: what comes meanwhile goes first, and has most of the time.

import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** Of work, before others have twice as long. */
const WORK_MS = 8;
const OTHERS = 2;

export class Pace {
  #workedMs = 0;

  /** Does a piece of work. */
  do<T>(work: () => T): T {
    const beganMs = performance.now();
    try {
      return work();
    } finally {
      this.#workedMs += performance.now() - beganMs;
    }
  }

  /** Lets others go first. */
  async rest(): Promise<void> {
    if (this.#workedMs < WORK_MS) return nextTurn();
    const restMs = OTHERS * this.#workedMs;
    this.#workedMs = 0;
    await pause(restMs);
  }
}

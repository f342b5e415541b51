// Starts processes ahead of their first run, one at a time and in the order of the requests. An owner that deploys a
// thousand workflows has a few of them warmed, and no run waits for the CPU that starting the others would take. A
// warm-up is a hint: without room it is dropped, not postponed, and a failure shows on the first run.

import type { RunProcess } from '../process/run-process.ts';
import type { ProcessSettings } from './process-keys.ts';

/** A process that has not loaded its code after so long, and has no run, makes room for the next. */
const LOAD_MS = 10_000;

interface WarmUpDeps {
  /** Starts a process; null: there is no room for it any more, or no need. */
  readonly start: (key: string, settings: ProcessSettings) => RunProcess | null;
}

export class WarmUps {
  readonly #start: WarmUpDeps['start'];
  /** By the key of their runs. */
  readonly #waiting = new Map<string, ProcessSettings>();
  #isWorking = false;

  constructor({ start }: WarmUpDeps) {
    this.#start = start;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  add(key: string, settings: ProcessSettings): void {
    this.#waiting.set(key, settings);
    if (!this.#isWorking) void this.#work();
  }

  /** Drops the warm-up of a deployment. */
  drop(deploymentId: string): void {
    for (const [key, { deployment }] of this.#waiting) if (deployment.id === deploymentId) this.#waiting.delete(key);
  }

  dropAll(): void {
    this.#waiting.clear();
  }

  /** Warms up what waits. Never rejects. */
  async #work(): Promise<void> {
    this.#isWorking = true;
    for (const [key, settings] of this.#waiting) {
      this.#waiting.delete(key);
      const process = this.#start(key, settings);
      if (process !== null) await settled(process);
    }
    this.#isWorking = false;
  }
}

/**
 * Waits until the process has loaded its code. A process that failed to load it ends: a new one would fail its first
 * run just as soon.
 */
async function settled(process: RunProcess): Promise<void> {
  const late = setTimeout(() => process.drainUnused(), LOAD_MS).unref();
  const isWell = await process.loaded;
  clearTimeout(late);
  if (!isWell) process.drainUnused();
}

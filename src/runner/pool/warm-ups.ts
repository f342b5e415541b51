// Processes that are started ahead of their first run, one at a time and in the order in which they were asked for: whoever
// deploys a thousand workflows has a few of them warmed, and no run waits for the CPU of the others. It is a hint. What
// there is no room for is dropped, not kept for later, and what goes wrong shows on the first run.

import type { RunProcess } from '../process/run-process.ts';
import type { ProcessSettings } from './process-keys.ts';

/** A process that has not loaded its code after so long, and has no run, makes room for the next. */
const LOAD_MS = 10_000;

interface WarmUpDeps {
  /** Null: there is no room for it any more, or no need. */
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

  /** Nobody will need it. */
  drop(deploymentId: string): void {
    for (const [key, { deployment }] of this.#waiting) if (deployment.id === deploymentId) this.#waiting.delete(key);
  }

  dropAll(): void {
    this.#waiting.clear();
  }

  /** Never rejects. */
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

/** It has loaded its code, or is leaving: one that could not load it would fail its first run no sooner than a new one. */
async function settled(process: RunProcess): Promise<void> {
  const late = setTimeout(() => process.drainUnused(), LOAD_MS).unref();
  const isWell = await process.loaded;
  clearTimeout(late);
  if (!isWell) process.drainUnused();
}

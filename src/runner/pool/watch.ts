// Looks at the processes from time to time: what they use, and which have had nothing to do for long.

import type { ComponentInspector } from '../process/component-inspector.ts';
import type { RunProcess } from '../process/run-process.ts';
import { CPU_LOOK_MS, CPU_LOOK_SOON_MS } from './cpu.ts';
import { idleInOrder } from './fair-slots.ts';
import { MEMORY_LOOK_MS } from './memory.ts';
import type { Places } from './places.ts';

interface WatchOptions {
  readonly maxProcesses: number;
  readonly poolMb: number;
  readonly idleMs: number;
  readonly inspector: ComponentInspector;
}

/** An idle process is looked at every so many times: hundreds may be idle, and each look costs. */
const IDLE_EVERY = 4;

export class Watch {
  readonly #places: Places<RunProcess>;
  readonly #options: WatchOptions;
  readonly #timers: readonly NodeJS.Timeout[];
  #looks = 0;

  constructor(places: Places<RunProcess>, options: WatchOptions) {
    this.#places = places;
    this.#options = options;
    this.#timers = [
      setInterval(() => this.#endIdle(), options.idleMs / 2).unref(),
      setInterval(() => this.#lookAtMemory(), MEMORY_LOOK_MS).unref(),
      setInterval(() => places.lookAtCpu(), CPU_LOOK_MS).unref(),
      setInterval(() => places.lookAtCpu('busy'), CPU_LOOK_SOON_MS).unref(),
    ];
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #lookAtMemory(): void {
    const { all } = this.#places;
    const { inspector, poolMb, maxProcesses } = this.#options;
    this.#looks++;
    let nth = 0;
    for (const process of all) {
      if (process.inFlight > 0 || process.usedMb === 0 || (nth++ + this.#looks) % IDLE_EVERY === 0)
        process.lookAtMemory();
    }
    inspector.lookAtMemory();
    let overMb = -poolMb;
    // Without those that are ending and about to give theirs back.
    for (const { usedMb, isDraining, inFlight } of all) if (!isDraining || inFlight > 0) overMb += usedMb;
    if (overMb <= 0) return;
    for (const process of idleInOrder([...all], maxProcesses)) {
      process.drain();
      overMb -= process.usedMb;
      if (overMb <= 0) return;
    }
  }

  #endIdle(): void {
    const since = performance.now() - this.#options.idleMs;
    for (const process of this.#places.all) {
      if (process.inFlight === 0 && process.lastUsedAt < since) process.drain();
    }
  }
}

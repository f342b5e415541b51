// Samples the processes at intervals, and ends those that use too much or have been idle for long.

import type { ComponentInspector } from '../process/component-inspector.ts';
import type { RunProcess } from '../process/run-process.ts';
import { BUSY_CPU_SAMPLE_MS, CPU_SAMPLE_MS } from './cpu.ts';
import { idleInOrder } from './fair-slots.ts';
import { MEMORY_SAMPLE_MS } from './memory.ts';
import type { ProcessSlots } from './process-slots.ts';

interface ProcessMonitorOptions {
  readonly maxProcesses: number;
  readonly poolMb: number;
  readonly idleMs: number;
  readonly inspector: ComponentInspector;
}

/** An idle process is sampled every so many times: hundreds may be idle, and each sample costs. */
const IDLE_EVERY = 4;

export class ProcessMonitor {
  readonly #slots: ProcessSlots<RunProcess>;
  readonly #options: ProcessMonitorOptions;
  readonly #timers: readonly NodeJS.Timeout[];
  #looks = 0;

  constructor(slots: ProcessSlots<RunProcess>, options: ProcessMonitorOptions) {
    this.#slots = slots;
    this.#options = options;
    this.#timers = [
      setInterval(() => this.#endIdle(), options.idleMs / 2).unref(),
      setInterval(() => this.#sampleMemory(), MEMORY_SAMPLE_MS).unref(),
      setInterval(() => slots.sampleCpu(), CPU_SAMPLE_MS).unref(),
      setInterval(() => slots.sampleCpu('busy'), BUSY_CPU_SAMPLE_MS).unref(),
    ];
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #sampleMemory(): void {
    const { all } = this.#slots;
    const { inspector, poolMb, maxProcesses } = this.#options;
    this.#looks++;
    let nth = 0;
    for (const process of all) {
      if (process.inFlight > 0 || process.usedMb === 0 || (nth++ + this.#looks) % IDLE_EVERY === 0)
        process.sampleMemory();
    }
    inspector.sampleMemory();
    let overMb = -poolMb;
    // Ending processes are about to free their memory.
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
    for (const process of this.#slots.all) {
      if (process.inFlight === 0 && process.lastUsedAt < since) process.drain();
    }
  }
}

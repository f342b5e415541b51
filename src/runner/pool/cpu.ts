// Samples how much CPU a child process uses. A run is bounded by its time limit, but what a run leaves behind (a timer,
// a loop of promises) goes on for as long as the process is kept warm. The samples also show whether a process's runs
// sleep.

import { readFileSync } from 'node:fs';

export const CPU_SAMPLE_MS = 1000;
/** For processes with runs; for all of them while runs wait for a process. */
export const BUSY_CPU_SAMPLE_MS = 200;
/** A process that uses more between two runs is not just tidying up. */
const IDLE_CPU_MS = 1000;
/** The runs of a process that uses less than this part of a core are asleep. */
const ASLEEP = 1 / 10;
/** The cost of starting a process. Its owner is charged at once: many processes live too short to be sampled. */
export const START_CPU_MS = 60;
/** The unit of times in /proc, on every Linux. */
const MS_PER_TICK = 10;
/** PF_EXITING of the kernel. */
const EXITING = 0x4;
/** Fields behind the name, which may contain anything. */
const STATE = 0;
const FLAGS = 6;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
/** Running or runnable, in uninterruptible sleep, stopped. */
const WAITING: ReadonlySet<string> = new Set(['R', 'D', 'T']);

export interface Cpu {
  readonly usedMs: number;
  /** Whether its main thread has the CPU or waits for it. */
  readonly isRunnable: boolean;
  /** Whether its main thread has the CPU, or waits for what others take from it: the CPU, the disk, or to be continued. */
  readonly isWaiting: boolean;
}

/** Returns the process's use; null where the system does not tell (no Linux), and for a process that is gone. */
export function cpuOf(pid: number): Cpu | null {
  const fields = statOf(pid);
  if (fields === null) return null;
  const usedMs = (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * MS_PER_TICK;
  const state = fields[STATE] ?? '';
  return { usedMs, isRunnable: state === 'R', isWaiting: WAITING.has(state) };
}

/** Returns whether the process is ending, and not gone yet. False where the system does not tell. */
export function isExiting(pid: number): boolean {
  return (Number(statOf(pid)?.[FLAGS] ?? 0) & EXITING) !== 0;
}

function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** Measures one process, from sample to sample. */
export class CpuSampler {
  /** Whether its runs used almost no CPU between the last two samples. */
  isAsleep = false;
  #usedMs = START_CPU_MS;
  #atMs = performance.now();
  /** The use at the first sample without a run; null: it has had a run since. */
  #idleMs: number | null = null;

  runBegins(): void {
    this.isAsleep = false;
    this.#idleMs = null;
  }

  /**
   * Returns what the process used since the last sample, beyond its start, and whether it keeps the CPU although it has
   * no run.
   */
  sample(pid: number, isBusy: boolean): { readonly usedMs: number; readonly isRunaway: boolean } {
    const cpu = cpuOf(pid);
    if (cpu === null) return { usedMs: 0, isRunaway: false };
    const nowMs = performance.now();
    const [usedMs, passedMs] = [Math.max(0, cpu.usedMs - this.#usedMs), nowMs - this.#atMs];
    if (isBusy && passedMs >= BUSY_CPU_SAMPLE_MS / 2) this.isAsleep = !cpu.isRunnable && usedMs < passedMs * ASLEEP;
    [this.#usedMs, this.#atMs] = [this.#usedMs + usedMs, nowMs];
    if (!isBusy) this.#idleMs ??= cpu.usedMs;
    return { usedMs, isRunaway: !isBusy && this.#idleMs !== null && cpu.usedMs - this.#idleMs > IDLE_CPU_MS };
  }
}

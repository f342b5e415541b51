// How much CPU a child process uses. A run is bounded by its time limit; what it leaves behind (a timer, a loop of
// promises) goes on for as long as the process is kept warm, and is looked at here. So is whether its runs sleep.

import { readFileSync } from 'node:fs';

export const CPU_SAMPLE_MS = 1000;
/** Those that have runs; all, while runs wait for a process. */
export const BUSY_CPU_SAMPLE_MS = 200;
/** More than this between two runs is no tidying up any more. */
const IDLE_CPU_MS = 1000;
/** Less than this part of one core, and the runs of a process sleep. */
const ASLEEP = 1 / 10;
/** What starting a process costs. Its owner is charged with it at once: many live too short to be looked at. */
export const START_CPU_MS = 60;
/** Of the times in /proc, on every Linux. */
const MS_PER_TICK = 10;
/** Behind the name, which may have anything in it. */
const STATE = 0;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

interface Cpu {
  readonly usedMs: number;
  /** Its main thread has, or wants, the CPU. */
  readonly isRunnable: boolean;
}

/** Null where the system does not tell (no Linux), and of a process that is gone. */
export function cpuOf(pid: number): Cpu | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const usedMs = (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * MS_PER_TICK;
    return { usedMs, isRunnable: fields[STATE] === 'R' };
  } catch {
    return null;
  }
}

/** What one process uses, from look to look. */
export class CpuSampler {
  /** Its runs used next to nothing between the last two looks. */
  isAsleep = false;
  #usedMs = START_CPU_MS;
  #atMs = performance.now();
  /** What it had used when it was first looked at without a run in it; null: it has had one since. */
  #idleMs: number | null = null;

  runBegins(): void {
    this.isAsleep = false;
    this.#idleMs = null;
  }

  /** Returns what it has used since the last look, beyond its start, and whether it keeps the CPU although nothing runs in it. */
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

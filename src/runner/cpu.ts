// How much CPU a child process has used. A run is bounded by its time limit; what it leaves behind (a timer, a loop of
// promises) goes on for as long as the process is kept warm, and is looked at here.

import { readFileSync } from 'node:fs';

export const CPU_LOOK_MS = 1000;
/** More than this between two runs is no tidying up any more. */
export const IDLE_CPU_MS = 1000;
/** Of the times in /proc, on every Linux. */
const MS_PER_TICK = 10;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** Null where the system does not tell (no Linux). */
export function cpuMs(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * MS_PER_TICK;
  } catch {
    return null;
  }
}

// Whose processes give way on a busy machine. The system shares the CPU by process, and not by owner: with 16 loops, one
// owner has 16 parts of 17. So the processes of an owner that takes much more of the CPU than the others run at the lowest
// priority, which takes nothing from it as long as nobody else wants the CPU. Owners count that have a process, idle or not:
// the next run of one that has nothing to do now should find the CPU free.

import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const NORMAL = 0;
const LOWEST = 19;
/** How much of a second of CPU, at least, one that gives way has used in the last second. */
const LEAST_MS = 100;
/** Of what all have used, so many times an equal part. */
const BEYOND = 1.5;

/** Those that use much more than the others. `usedMs`: of the last second, by owner; of all that have a process. */
export function greedy(usedMs: ReadonlyMap<string, number>): ReadonlySet<string> {
  if (usedMs.size < 2) return new Set();
  let total = 0;
  for (const ms of usedMs.values()) total += ms;
  const part = (BEYOND * total) / usedMs.size;
  return new Set([...usedMs].filter(([, ms]) => ms >= LEAST_MS && ms > part).map(([ownerId]) => ownerId));
}

/**
 * Sets the priority of all threads of a process. Linux has one for each thread, and the process's is that of its first
 * alone: V8's own, which collect garbage and compile, would go on as before. False where that may not be: only root may
 * raise a priority.
 */
export function prioritize(pid: number, isLow: boolean): boolean {
  const priority = isLow ? LOWEST : NORMAL;
  try {
    // The first one begins: those that it starts from here on are as it is.
    setPriority(pid, priority);
  } catch {
    // Or it is gone, which is as good.
    return false;
  }
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch {} // it has ended
  }
  return true;
}

/** None where the system does not tell (no Linux): there a priority is the whole process's. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

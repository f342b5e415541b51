// Which processes give way on a busy machine, and how. The system shares the CPU by process, and not by owner: with 16
// loops, one owner has 16 parts of 17. So the processes of an owner that takes much more of the CPU than the others run only
// as far as nobody else wants the CPU, which takes nothing from it while it is free. Owners count that have a process, idle
// or not: the next run of one that has nothing to do now should find the CPU free.
//
// A priority (nice 19) alone is not enough. It decides how much of the CPU a process gets, and not when: whoever wakes up waits
// until the slice of the one that has the CPU is over, a millisecond or three, and a run wakes five or six threads one after
// the other. Beside 24 loops of another owner the median of a run was 14.6 ms with the priority alone, and 3 ms with the policy
// `idle` (SCHED_IDLE), whose processes leave the CPU at once (2 cores, a busy machine).

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const NORMAL = 0;
const LOWEST = 19;
/** How much of a second of CPU, at least, one that gives way has used in the last second. Three processes that start are no flood. */
const LEAST_MS = 200;
/** Of what all have used, so many times an equal part. */
const BEYOND = 1.5;
/** In /proc/<pid>/stat, behind the name, which may have anything in it. */
const SESSION = 3;

/** Those that use much more than the others. `usedMs`: of the last second, by owner; of all that have a process. */
export function greedy(usedMs: ReadonlyMap<string, number>): ReadonlySet<string> {
  if (usedMs.size < 2) return new Set();
  let total = 0;
  for (const ms of usedMs.values()) total += ms;
  const part = (BEYOND * total) / usedMs.size;
  return new Set([...usedMs].filter(([, ms]) => ms >= LEAST_MS && ms > part).map(([ownerId]) => ownerId));
}

/** Sets what the system goes by when several processes want the CPU. */
export class Priorities {
  /** By process: those whose policy is to be changed in this turn. */
  readonly #policies = new Map<number, boolean>();

  /** False where that may not be: only root may raise a priority. */
  set(pid: number, isLow: boolean): boolean {
    if (!prioritize(pid, isLow)) return false;
    if (process.platform !== 'linux') return true;
    if (this.#policies.size === 0) setImmediate(() => this.#setPolicies());
    this.#policies.set(pid, isLow);
    return true;
  }

  #setPolicies(): void {
    for (const isLow of [true, false])
      setPolicy(
        [...this.#policies].filter((it) => it[1] === isLow).map(([pid]) => pid),
        isLow,
      );
    this.#policies.clear();
  }
}

/**
 * Sets the priority of all threads of a process. Linux has one for each thread, and the process's is that of its first
 * alone: V8's own, which collect garbage and compile, would go on as before. False where that may not be.
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
  prioritizeSession(pid, priority);
  return true;
}

/**
 * Where the system groups processes by session (autogroup), priorities count within a session alone, and a process in a jail
 * is a session to itself. Left as it is where that may not be written (a server that is not root) or is not there.
 */
function prioritizeSession(pid: number, priority: number): void {
  try {
    if (sessionOf(pid) !== sessionOf('self')) writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch {}
}

function sessionOf(pid: number | 'self'): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[SESSION];
}

/** None where the system does not tell (no Linux): there a priority is the whole process's. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

const SET_EACH = 'policy=$1; shift; for pid do chrt --all-tasks "$policy" --pid 0 "$pid"; done';

/**
 * Sets the scheduling policy of all threads of processes, `idle` or the usual one. Node has no function for it, and
 * util-linux's `chrt` has. Where that is missing, the priority is all that there is.
 */
function setPolicy(pids: readonly number[], isLow: boolean): void {
  if (pids.length === 0) return;
  const args = ['-c', SET_EACH, 'sh', isLow ? '--idle' : '--other', ...pids.map(String)];
  const env = { PATH: '/usr/bin:/bin' };
  spawn('/bin/sh', args, { env, stdio: 'ignore' })
    .on('error', () => {})
    .unref();
}

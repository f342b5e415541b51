// Decides which owners' processes get a low priority on a busy machine, and sets it. The system shares the CPU by
// process, not by owner: with 16 loops, one owner would have 16 parts of 17. So the processes of an owner that takes
// much more of the CPU than the others run only while no other process wants the CPU, which costs that owner nothing
// while the CPU is free. Owners count that have a process, idle or not: their next run should find the CPU free.
//
// A priority (nice 19) alone is not enough. It decides how much of the CPU a process gets, but not when: a thread that
// wakes up waits for the end of the running thread's time slice, a millisecond or three, and a run wakes five or six
// threads in turn. Beside 24 loops of another owner the median of a run was 14.6 ms with the priority alone, and 3 ms
// with the policy `idle` (SCHED_IDLE), whose processes leave the CPU at once (2 cores, a busy machine). Not always: of the wake-ups
// beside ten loops, 2 to 5 of 100 waited until the next tick, 3 ms on average (bench/README.md).

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';

const NORMAL = 0;
const LOWEST = 19;
/** The least CPU time in the last second of an owner that gets a low priority: starting three processes is less. */
const LEAST_MS = 200;
/** How many times an equal share is too much. */
const BEYOND = 1.5;
/** The part of the least CPU time above which an owner keeps its low priority: one that is about as busy as it says would change each second. */
const KEPT = 0.5;
/** In /proc/<pid>/stat, behind the name, which may contain anything. */
const SESSION = 3;

/**
 * Returns the owners that use much more than the others. `usedMs`: the last second's use of every owner that has a
 * process. `before`: those whose priority is low.
 */
export function greedy(
  usedMs: ReadonlyMap<string, number>,
  before: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  if (usedMs.size < 2) return new Set();
  let total = 0;
  for (const ms of usedMs.values()) total += ms;
  const part = (BEYOND * total) / usedMs.size;
  const leastMs = (ownerId: string): number => (before.has(ownerId) ? KEPT * LEAST_MS : LEAST_MS);
  return new Set(
    [...usedMs].filter(([ownerId, ms]) => ms >= leastMs(ownerId) && ms > part).map(([ownerId]) => ownerId),
  );
}

/** Sets priorities and policies of processes. */
export class Priorities {
  /** The processes whose policy changes in this turn. */
  readonly #policies = new Map<number, boolean>();
  readonly #setter = new PolicySetter();

  /** Sets the priority of a process. Returns false where that is not permitted: only root may raise a priority. */
  set(pid: number, isLow: boolean): boolean {
    if (!prioritize(pid, isLow)) return false;
    if (process.platform !== 'linux') return true;
    if (this.#policies.size === 0) setImmediate(() => this.#setPolicies());
    this.#policies.set(pid, isLow);
    return true;
  }

  #setPolicies(): void {
    for (const isLow of [true, false]) {
      const pids = [...this.#policies].filter((it) => it[1] === isLow).map(([pid]) => pid);
      if (pids.length > 0) this.#setter.set(pids, isLow);
    }
    this.#policies.clear();
  }
}

/**
 * Sets the priority of all threads of a process. On Linux each thread has one, and the process's is only that of its
 * first thread: V8's threads for garbage collection and compilation would keep theirs. Returns false where that is not
 * permitted.
 */
export function prioritize(pid: number, isLow: boolean): boolean {
  const priority = isLow ? LOWEST : NORMAL;
  try {
    // The main thread first: threads that it starts from here on inherit its priority.
    setPriority(pid, priority);
  } catch {
    // The process may also be gone, which needs no handling.
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
 * Sets the priority of the process's session. Where the system groups processes by session (autogroup), priorities
 * count only within a session, and a process in a jail is a session of its own. Does nothing where that is missing, or
 * may not be written (a server that is not root).
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

/**
 * Returns the process's threads; none where the system does not tell (no Linux): there a priority applies to the whole
 * process.
 */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

const SET_EACH =
  'while read -r policy pids; do for pid in $pids; do chrt --all-tasks "$policy" --pid 0 "$pid"; done; done';
const IDLE_MS = 10_000;

/**
 * Sets the scheduling policy of all threads of processes, `idle` or the default. Node has no function for it; `chrt` of
 * util-linux does it. Where that is missing, only the priority applies.
 *
 * A shell reads what to set, and ends when it was idle for some time, or its server ends. Were it started each time, the server would
 * stand still meanwhile: to start a process it is copied with the tables of its memory, 8 to 57 ms at 400 MB on a busy machine.
 */
class PolicySetter {
  #shell: ChildProcess | null = null;
  #idle: NodeJS.Timeout | undefined;

  set(pids: readonly number[], isLow: boolean): void {
    clearTimeout(this.#idle);
    this.#shell ??= this.#start();
    this.#shell.stdin?.write(`${isLow ? '--idle' : '--other'} ${pids.join(' ')}\n`);
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
  }

  #start(): ChildProcess {
    const env = { PATH: '/usr/bin:/bin' };
    const shell = spawn('/bin/sh', ['-c', SET_EACH], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    const gone = (): void => {
      if (this.#shell === shell) this.#shell = null;
    };
    shell.on('error', gone).on('exit', gone).unref();
    shell.stdin.on('error', gone);
    (shell.stdin as Socket).unref();
    return shell;
  }

  #end(): void {
    this.#shell?.stdin?.end();
    this.#shell = null;
  }
}

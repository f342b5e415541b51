// A server's processes, to be killed together.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { until } from '../wait.ts';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/**
 * SIGKILLs a process and its children, and waits until they are gone. The parent is held first, so that none is born
 * meanwhile. (A group would not do: each backend of Postgres makes a session of its own.)
 */
export async function killTree(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  const pids = new Set([pid, ...living().flatMap((child) => (child.parent === pid ? [child.pid] : []))]);
  for (const one of pids) killOne(one);
  await until(`the processes ${[...pids].join(', ')} are gone`, () => !living().some((one) => pids.has(one.pid)));
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Without those that ended and that nobody has waited for: they hold nothing any more. */
function living(): Process[] {
  const all = platform() === 'linux' ? fromProc() : fromPs();
  return all.filter(({ state }) => !state.startsWith('Z'));
}

/** From /proc, since small images have no `ps`. */
function fromProc(): Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The program's name stands in brackets, and may hold anything.
      const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(parent), state }];
    } catch {
      return [];
    }
  });
}

function fromPs(): Process[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,state='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid, parent, state = ''] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state };
  });
}

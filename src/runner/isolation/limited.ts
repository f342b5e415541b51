// Wraps an isolation so that each process has a cgroup of its own.

import type { Readable } from 'node:stream';
import { processMb } from '../pool/memory.ts';
import type { Cgroup, Cgroups } from './cgroups.ts';
import type {
  CodeUser,
  Ending,
  Inside,
  Isolation,
  IsolationSettings,
  PrepareOptions,
  StartedProcess,
  StartOptions,
} from './isolation.ts';
import { REPORT } from './jail.ts';

const BYTES_PER_MB = 1024 * 1024;
/** The kernel's memory for descriptors, and for files that the process reads. */
export const KERNEL_MB = 64;

export class LimitedByCgroups implements Isolation {
  readonly #inner: Isolation;
  readonly #cgroups: Cgroups;
  readonly #hasTmpInMemory: boolean;

  constructor(inner: Isolation, cgroups: Cgroups, { level }: Pick<IsolationSettings, 'level'>) {
    this.#inner = inner;
    this.#cgroups = cgroups;
    this.#hasTmpInMemory = level === 'jail';
  }

  inside(dir: string): Inside {
    return this.#inner.inside(dir);
  }

  userOf(ownerId: string): CodeUser | null {
    return this.#inner.userOf(ownerId);
  }

  prepare(options: PrepareOptions): Promise<{ close(): void }> {
    return this.#inner.prepare(options);
  }

  start(options: StartOptions): StartedProcess {
    const { memoryMb } = options;
    const tmpMb = this.#hasTmpInMemory ? memoryMb : 0;
    const group = this.#cgroups.make({ memoryBytes: (processMb(memoryMb) + tmpMb + KERNEL_MB) * BYTES_PER_MB });
    let started: StartedProcess;
    try {
      started = this.#inner.start(options);
    } catch (error) {
      group.remove();
      throw error;
    }
    const { process } = started;
    const add = (pid: number | undefined): void => {
      if (pid !== undefined && !isAdded(group, pid)) started.kill();
    };
    add(process.pid);
    // bwrap may have started the inner process before bwrap itself was in the cgroup.
    (process.stdio[REPORT] as Readable | null | undefined)?.once('end', () => add(started.pid()));
    let isOutOfMemory = false;
    process.once('exit', () => {
      isOutOfMemory = group.isOutOfMemory();
    });
    process.once('close', () => group.remove());
    process.once('error', () => group.remove());
    const ending = (given: Ending): Ending => ({ ...started.ending(given), isOutOfMemory });
    const setLowPriority = (isLowPriority: boolean): boolean => group.setLowPriority(isLowPriority);
    return { process, pid: () => started.pid(), kill: () => started.kill(), ending, setLowPriority };
  }
}

/** Adds a process to its cgroup. Returns false where that fails: a process never runs without its limits. */
function isAdded(group: Cgroup, pid: number): boolean {
  try {
    group.add(pid);
    return true;
  } catch {
    return false;
  }
}

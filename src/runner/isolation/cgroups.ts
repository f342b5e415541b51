// Limits of the system on a process and all that it may start: memory (the kernel's own for it, too), processes, CPU.
//
// They take a part of the cgroup v2 tree that was given to the server: a service of systemd with `Delegate=yes`, or a container
// whose cgroup is writable. A cgroup with limits below it may have no processes itself, so the server goes into one of its
// own there, with those that started it, and each process of code into another:
//
//   <the server's>/errand-server      the server
//                 /errand-code-<n>    one process of code
//
// What started the server goes on there and starts the next one: that finds itself in `errand-server`, and takes what is above.
//
// A process is put there as soon as it was started: what it took before, some MB, counts for the server.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../../domain/limits.ts';

/** What a process is told of its cgroups: `/proc/self/cgroup` and `/proc/self/mountinfo`. */
export interface CgroupView {
  readonly membership: string;
  readonly mounts: string;
  /** The process, and those that started it. */
  readonly pids: readonly number[];
}

export interface Cgroups {
  /** Makes one with limits. */
  make(limits: GroupLimits): Cgroup;
}

export interface GroupLimits {
  readonly memoryBytes: number;
}

export interface Cgroup {
  /** Throws when the process is gone. */
  add(pid: number): void;
  /**
   * Takes the CPU only as far as no other cgroup wants it; or no longer. Priorities of processes count within their cgroup
   * alone. False when it is gone.
   */
  setLowPriority(isLowPriority: boolean): boolean;
  /** Whether the system has ended processes since they took too much memory. */
  isOutOfMemory(): boolean;
  /** When its processes are gone. */
  remove(): void;
}

export type Opened =
  | { readonly cgroups: Cgroups; readonly obstacle: null; readonly dir: string }
  | { readonly cgroups: null; readonly obstacle: string };

const SERVER = 'errand-server';
const CODE = 'errand-code-';
const IN_SERVER = new RegExp(`/${SERVER}$`);
const SERVER_OF_CODE = new RegExp(`^${CODE}(\\d+)-`);
const CONTROLLERS = ['memory', 'pids', 'cpu'];
/** Of the CPU, beside other cgroups: the server has as much as ten processes of code. */
const SERVER_WEIGHT = 1000;
const USUAL_WEIGHT = 100;
const LEAST_WEIGHT = 1;

/** Takes possession of the server's cgroup, where it may; says why not, else. To be called once. */
export function openCgroups(view: CgroupView = ownView()): Opened {
  try {
    const found = folderOf(view);
    if ('obstacle' in found) return { cgroups: null, obstacle: found.obstacle };
    const obstacle = obstacleIn(found.dir, view.pids);
    if (obstacle !== null) return { cgroups: null, obstacle };
    takeOver(found.dir, view.pids);
    return { cgroups: groupsIn(found.dir), obstacle: null, dir: found.dir };
  } catch (error) {
    return { cgroups: null, obstacle: `the system refuses them: ${(error as Error).message}` };
  }
}

/** Where the server's own cgroup is, as files. */
export function folderOf({ membership, mounts }: CgroupView): { readonly dir: string } | { readonly obstacle: string } {
  const path = /^0::(\/.*)$/m.exec(membership)?.[1];
  if (path === undefined) return { obstacle: 'the system has no cgroup v2' };
  const mount = mounts.split('\n').find((line) => / - cgroup2 /.test(line));
  if (mount === undefined) return { obstacle: 'the cgroup v2 tree is not mounted' };
  const [, , , root = '/', point = ''] = mount.split(' ').map(unescaped);
  const base = root === '/' ? '' : root;
  if (path.includes('/..') || (path !== base && !path.startsWith(`${base}/`))) {
    return { obstacle: `its own cgroup, ${path}, is not to be seen` };
  }
  if (path.endsWith('.scope')) return { obstacle: `its own cgroup, ${path}, is a session's, and not its own` };
  const below = path.slice(base.length).replace(IN_SERVER, '') || '/';
  return { dir: below === '/' ? point : join(point, below) };
}

/** Why the folder is not for the server to divide. */
function obstacleIn(dir: string, pids: readonly number[]): string | null {
  const there = words(join(dir, 'cgroup.controllers'));
  const missing = CONTROLLERS.filter((name) => !there.includes(name));
  if (missing.length > 0) return `${dir} has no controllers for ${missing.join(', ')}`;
  for (const name of ['', 'cgroup.procs', 'cgroup.subtree_control']) {
    try {
      accessSync(join(dir, name), constants.W_OK);
    } catch {
      return `the server may not write to ${join(dir, name)}: a service of systemd needs Delegate=yes`;
    }
  }
  const others = processesIn(dir).filter((pid) => !pids.includes(pid));
  return others.length === 0 ? null : `other processes are in ${dir}: ${others.slice(0, 5).join(', ')}`;
}

function takeOver(dir: string, pids: readonly number[]): void {
  for (const name of readdirSync(dir)) {
    const server = SERVER_OF_CODE.exec(name)?.[1];
    if (server !== undefined && !existsSync(`/proc/${server}`)) removeFolder(join(dir, name)); // it was killed
  }
  const here = processesIn(dir);
  // The root of all has no type, and may have both.
  if (existsSync(join(dir, 'cgroup.type')) && here.length > 0) {
    const own = join(dir, SERVER);
    mkdirSync(own, { recursive: true });
    for (const pid of pids) if (here.includes(pid)) writeFileSync(join(own, 'cgroup.procs'), String(pid));
  }
  writeFileSync(join(dir, 'cgroup.subtree_control'), CONTROLLERS.map((name) => `+${name}`).join(' '));
  if (existsSync(join(dir, SERVER))) writeFileSync(join(dir, SERVER, 'cpu.weight'), String(SERVER_WEIGHT));
}

function groupsIn(dir: string): Cgroups {
  let last = 0;
  return {
    make: ({ memoryBytes }) => {
      const path = join(dir, `${CODE}${process.pid}-${++last}`);
      mkdirSync(path);
      for (const [name, value] of Object.entries(filesOf(memoryBytes))) writeFileSync(join(path, name), value);
      return {
        add: (pid) => writeFileSync(join(path, 'cgroup.procs'), String(pid)),
        setLowPriority: (isLowPriority) => setGroupPriority(path, isLowPriority),
        isOutOfMemory: () => Number(/^oom_kill (\d+)$/m.exec(read(join(path, 'memory.events')))?.[1] ?? 0) > 0,
        remove: () => removeFolder(path),
      };
    },
  };
}

/** What is written into the files of a cgroup. */
export function filesOf(memoryBytes: number): Readonly<Record<string, string>> {
  return {
    'memory.max': String(memoryBytes),
    // All or none: half a process is no use.
    'memory.oom.group': '1',
    'pids.max': String(LIMITS.codeGroupThreads),
    'cpu.max': `${LIMITS.codeCpuPercent * 1000} 100000`,
  };
}

function setGroupPriority(path: string, isLowPriority: boolean): boolean {
  const idle = join(path, 'cpu.idle');
  try {
    // Before Linux 5.15 there are only weights.
    if (existsSync(idle)) writeFileSync(idle, isLowPriority ? '1' : '0');
    else writeFileSync(join(path, 'cpu.weight'), String(isLowPriority ? LEAST_WEIGHT : USUAL_WEIGHT));
    return true;
  } catch {
    return false;
  }
}

/** The kernel makes the files, and removes them with the folder. */
function removeFolder(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // something of it still ends: the next server removes it
  }
}

function processesIn(dir: string): number[] {
  return words(join(dir, 'cgroup.procs')).map(Number);
}

function words(file: string): string[] {
  return read(file).split(/\s+/).filter(Boolean);
}

/** Spaces and the like stand in mountinfo as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function ownView(): CgroupView {
  const pids = [process.pid];
  for (let pid = process.ppid; pid > 0 && !pids.includes(pid); pid = parentOf(pid)) pids.push(pid);
  return { membership: read('/proc/self/cgroup'), mounts: read('/proc/self/mountinfo'), pids };
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

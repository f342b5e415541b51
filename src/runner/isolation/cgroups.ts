// Limits the memory (the kernel's part included), processes and CPU of a process and its descendants by means of
// cgroups.
//
// The server uses the part of the cgroup v2 tree that was delegated to it: a systemd service with `Delegate=yes`, or a
// container whose cgroup is writable. A cgroup whose children have limits may contain no processes itself, so the
// server moves into a child of its own, with the processes that started it, and puts each process of code into another:
//
//   <the server's>/errand-server      the server
//                 /errand-code-<n>    one process of code
//
// A supervisor that stays in `errand-server` may start the next server there, which then uses the cgroup above.
//
// A process is moved right after its start: the few MB that it took before count for the server.

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

/** What the kernel says about a process's cgroups: `/proc/self/cgroup` and `/proc/self/mountinfo`. */
export interface CgroupView {
  readonly membership: string;
  readonly mounts: string;
  /** The process and its ancestors. */
  readonly pids: readonly number[];
}

export interface Cgroups {
  /** Creates a cgroup with limits. */
  make(limits: GroupLimits): Cgroup;
}

export interface GroupLimits {
  readonly memoryBytes: number;
}

export interface Cgroup {
  /** Adds a process. Throws when the process is gone. */
  add(pid: number): void;
  /**
   * Lets the processes have only the CPU that no other cgroup wants, or ends that. Priorities of processes count only
   * within their cgroup. Returns false when the cgroup is gone.
   */
  setLowPriority(isLowPriority: boolean): boolean;
  /** Returns whether the system has killed processes for taking too much memory. */
  isOutOfMemory(): boolean;
  /** Removes the cgroup, once its processes are gone. */
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
/** CPU weight: beside other cgroups, the server has as much as ten processes of code. */
const SERVER_WEIGHT = 1000;
const USUAL_WEIGHT = 100;
const LEAST_WEIGHT = 1;

/** Takes over the server's cgroup; returns the obstacle where that is not possible. Call it once. */
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

/** Returns the folder of the server's own cgroup. */
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

/** Returns why the server may not divide the folder; null: it may. */
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
    if (server !== undefined && !existsSync(`/proc/${server}`)) removeFolder(join(dir, name)); // its server was killed
  }
  const here = processesIn(dir);
  // The root cgroup has no type, and may have both processes and children with limits.
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

/** Returns the content of a cgroup's files, by name. */
export function filesOf(memoryBytes: number): Readonly<Record<string, string>> {
  return {
    'memory.max': String(memoryBytes),
    // The system kills all processes of the cgroup or none: a part of them is no use.
    'memory.oom.group': '1',
    'pids.max': String(LIMITS.codeGroupThreads),
    'cpu.max': `${LIMITS.codeCpuPercent * 1000} 100000`,
  };
}

function setGroupPriority(path: string, isLowPriority: boolean): boolean {
  const idle = join(path, 'cpu.idle');
  try {
    // Linux before 5.15 has only weights.
    if (existsSync(idle)) writeFileSync(idle, isLowPriority ? '1' : '0');
    else writeFileSync(join(path, 'cpu.weight'), String(isLowPriority ? LEAST_WEIGHT : USUAL_WEIGHT));
    return true;
  } catch {
    return false;
  }
}

/** Removes a cgroup's folder; the kernel removes its files. */
function removeFolder(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // a process in it is still ending: the next server removes the folder
  }
}

function processesIn(dir: string): number[] {
  return words(join(dir, 'cgroup.procs')).map(Number);
}

function words(file: string): string[] {
  return read(file).split(/\s+/).filter(Boolean);
}

/** Decodes the octal escapes of mountinfo, such as those of spaces. */
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

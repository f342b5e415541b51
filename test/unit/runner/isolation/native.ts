// What code could ask of the system itself once it had left Node: calls by their numbers, through a function of the C library
// that was kept from before the process gave all of that up.

import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  filterArguments,
  folderArguments,
  jailFilter,
  systemArguments,
} from '../../../../src/runner/isolation/jail.ts';
import { ISOLATION } from '../kit.ts';

const HARDEN = pathToFileURL(join(import.meta.dirname, '../../../../src/runner/child/confine/harden.ts')).href;

/** The system's names of the calls, and their numbers on x64 and arm64; null: it is not there. */
export const NUMBERS = {
  add_key: [248, 217],
  bpf: [321, 280],
  chroot: [161, 51],
  clone: [56, 220],
  clone3: [435, 435],
  eventfd2: [290, 19],
  execve: [59, 221],
  execveat: [322, 281],
  fcntl: [72, 25],
  fork: [57, null],
  init_module: [175, 105],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  kill: [62, 129],
  memfd_create: [319, 279],
  mount: [165, 40],
  msgget: [68, 186],
  newer: [900, 900],
  open_by_handle_at: [304, 265],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pidfd_open: [434, 434],
  prctl: [157, 167],
  prlimit64: [302, 261],
  process_vm_readv: [310, 270],
  ptrace: [101, 117],
  reboot: [169, 142],
  seccomp: [317, 277],
  setns: [308, 268],
  setpriority: [141, 140],
  setuid: [105, 146],
  shmget: [29, 194],
  socket: [41, 198],
  tgkill: [234, 131],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  vfork: [58, null],
  x32: [0x40000000 + 39, null],
} as const satisfies Readonly<Record<string, readonly [x64: number, arm64: number | null]>>;

type CallName = keyof typeof NUMBERS;
/** By what the test calls it. */
export type Calls = Readonly<Record<string, readonly [name: CallName, ...args: (number | string)[]]>>;
/** What each gave; below zero: the error, by its number. */
export type Given = Readonly<Record<string, number>>;

/** A text among the arguments is JavaScript, as a BigInt: `self`, `parent`, `path` (of a program). */
const PROGRAM = `
  import { closeSync, writeSync } from 'node:fs';
  const { calls, harden, limits } = JSON.parse(process.argv[2]);
  const ffi = process.getBuiltinModule('node:ffi');
  const { functions } = ffi.dlopen(null, {
    syscall: { arguments: ['i64', 'u64', 'u64', 'u64', 'u64', 'u64'], return: 'i64' },
    __errno_location: { arguments: [], return: 'u64' },
    memcpy: { arguments: ['u64', 'u64', 'u64'], return: 'u64' },
  });
  const errno = new Int32Array(1);
  const errnoAt = ffi.getRawPointer(errno.buffer);
  const program = Buffer.from('/bin/true\\0');
  const names = { self: BigInt(process.pid), parent: BigInt(process.ppid), path: ffi.getRawPointer(program.buffer) + BigInt(program.byteOffset) };
  if (harden) (await import(harden)).harden(limits, process.ppid);
  const given = {};
  for (const [name, [number, ...args]] of Object.entries(calls)) {
    const five = [0, 1, 2, 3, 4].map((index) => typeof args[index] === 'string' ? names[args[index]] : BigInt.asUintN(64, BigInt(args[index] ?? 0)));
    const value = Number(functions.syscall(BigInt(number), ...five));
    if (value === -1) functions.memcpy(errnoAt, functions.__errno_location(), 4n);
    given[name] = value === -1 ? -errno[0] : value;
  }
  writeSync(1, JSON.stringify(given));
  process.reallyExit(0);
`;

/** What leads out of a process. */
export const OUTSIDE: Calls = {
  fork: ['fork'],
  'clone of a process': ['clone', 17],
  'clone3 of a process': ['clone3', 0, 0],
  'kill of its parent': ['kill', 'parent', 0],
  'tgkill of its parent': ['tgkill', 'parent', 'parent', 0],
  pidfd_open: ['pidfd_open', 'parent', 0],
  ptrace: ['ptrace', 16, 'parent'],
  process_vm_readv: ['process_vm_readv', 'parent', 0, 0, 0, 0],
  memfd_create: ['memfd_create', 'path', 0],
  mount: ['mount'],
  unshare: ['unshare', 0x10000000],
  setuid: ['setuid', 0],
  bpf: ['bpf'],
  io_uring_setup: ['io_uring_setup', 8, 0],
};

interface Options {
  /** By itself, as every process is that runs code. */
  readonly isHardened?: boolean;
  /** By bwrap alone, before it is hardened. */
  readonly inJail?: boolean;
}

/** Makes the calls that this machine has, one after the other, in a process of their own. Throws when it is killed. */
export function callSystem(calls: Calls, { isHardened = false, inJail = false }: Options): Given {
  const limits = { descriptors: 64, fileBytes: 1_000_000, threads: null };
  const given = JSON.stringify({ calls: numbered(calls), harden: isHardened ? HARDEN : null, limits });
  const node = ['--permission', '--allow-fs-read=*', '--experimental-ffi', '--allow-ffi', '--no-warnings'];
  const args = [...node, '--input-type=module', '-e', PROGRAM, '-', given];
  if (inJail) return inBareJail(args);
  const output = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return JSON.parse(output);
}

function numbered(calls: Calls): Readonly<Record<string, readonly (number | string)[]>> {
  const there = Object.entries(calls).flatMap(([title, [name, ...args]]) => {
    const number = NUMBERS[name][process.arch === 'x64' ? 0 : 1];
    return number === null ? [] : [[title, [number, ...args]] as const];
  });
  return Object.fromEntries(there);
}

function inBareJail(node: readonly string[]): Given {
  const dir = mkdtempSync(join(tmpdir(), 'errand-native-'));
  chmodSync(dir, 0o755);
  writeFileSync(join(dir, 'filter'), jailFilter() ?? '');
  const filter = openSync(join(dir, 'filter'), 'r');
  try {
    const jail = [...systemArguments('none'), ...folderArguments(dir, 64), ...filterArguments(jailFilter())];
    const output = execFileSync('bwrap', [...jail, '--', '/usr/bin/node', ...node], {
      encoding: 'utf8',
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe', 'ignore', 'pipe', filter],
      ...(ISOLATION.user ?? {}),
    });
    return JSON.parse(output);
  } finally {
    closeSync(filter);
    rmSync(dir, { recursive: true });
  }
}

// What code could ask of the system itself once it had left Node: calls by their numbers, through a function of the C library
// that was kept from before the process gave all of that up.

import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filterArguments, folderArguments, jailFilter, systemArguments } from '../../../src/runner/jail.ts';
import { ISOLATION } from './kit.ts';

const HARDEN = pathToFileURL(join(import.meta.dirname, '../../../src/runner/child/harden.ts')).href;

export type Calls = Readonly<Record<string, readonly [number: number, ...args: (number | string)[]]>>;
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

/** On x64: what leads out of a process. */
export const OUTSIDE: Calls = {
  fork: [57],
  'clone of a process': [56, 17],
  'clone3 of a process': [435, 0, 0],
  'kill of its parent': [62, 'parent', 0],
  'tgkill of its parent': [234, 'parent', 'parent', 0],
  pidfd_open: [434, 'parent', 0],
  ptrace: [101, 16, 'parent'],
  process_vm_readv: [310, 'parent', 0, 0, 0, 0],
  memfd_create: [319, 'path', 0],
  mount: [165],
  unshare: [272, 0x10000000],
  setuid: [105, 0],
  bpf: [321],
  io_uring_setup: [425, 8, 0],
};

interface Options {
  /** By itself, as every process is that runs code. */
  readonly isHardened?: boolean;
  /** By bwrap alone, before it is hardened. */
  readonly inJail?: boolean;
}

/** Makes the calls one after the other in a process of their own. Throws when it is killed. */
export function callSystem(calls: Calls, { isHardened = false, inJail = false }: Options): Given {
  const limits = { descriptors: 64, fileBytes: 1_000_000, threads: null };
  const given = JSON.stringify({ calls, harden: isHardened ? HARDEN : null, limits });
  const node = ['--permission', '--allow-fs-read=*', '--experimental-ffi', '--allow-ffi', '--no-warnings'];
  const args = [...node, '--input-type=module', '-e', PROGRAM, '-', given];
  if (inJail) return inBareJail(args);
  const output = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return JSON.parse(output);
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

// Restricts this process by means of the system, before it loads any code: which system calls it may make, how many
// descriptors it may have, that no program it starts gains rights, and that it leaves no core file.
//
// Node has no functions for this except node:ffi, which calls the C library: 3 ms of CPU on a busy machine, 1 of them
// to assemble the filter. `setpriv` and `prlimit` before Node took 1.2 ms, but a filter that keeps Node from starting
// programs cannot be installed before Node is started. After the last call the process gives up ffi for good
// (`permission.drop`), closes the library, and empties the module.
//
// Throws when any of this fails, and then no code runs.

import { constants, fstatSync } from 'node:fs';
import { type FilterOptions, seccompFilter } from '../../seccomp/filter.ts';
import { isMachine } from '../../seccomp/syscalls.ts';

/** Values for `setrlimit`, on Linux. A process at its limit gets an error and is not ended. */
export interface ResourceLimits {
  readonly descriptors: number;
  readonly fileBytes: number;
  /** For its user, all processes and threads together; null: as many as the system allows. */
  readonly threads: number | null;
}

const RLIMIT_FSIZE = 1;
const RLIMIT_CORE = 4;
const RLIMIT_NPROC = 6;
const RLIMIT_NOFILE = 7;
const RLIMIT_MSGQUEUE = 12;
const SIGXFSZ = 25;
const SIG_IGN = 1n;
const SIGKILL = 9n;
const PR_SET_PDEATHSIG = 1;
const PR_SET_DUMPABLE = 4;
const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1n;
/** Applies to all threads: V8's exist before any JavaScript runs. */
const SECCOMP_FILTER_FLAG_TSYNC = 1n;
const SECCOMP_NUMBER = { x64: 317n, arm64: 277n } as const;
const INSTRUCTION_BYTES = 8;
const FCNTL_NUMBER = { x64: 72n, arm64: 25n } as const;
const F_GETFL = 3n;
/** Behind the standard ones and the pipe to the server. */
const FIRST_OF_NODE = 4;
/** Twice what Node opens at its start. */
const MAX_AT_START = 64;

type Call = (...args: (number | bigint)[]) => number | bigint;

export interface Ffi {
  dlopen(
    path: null,
    signatures: Readonly<Record<string, { arguments: string[]; return: string }>>,
  ): { lib: { close(): void }; functions: Readonly<Record<string, Call>> };
  getRawPointer(buffer: ArrayBuffer): bigint;
}

/** The C library's functions, while the process may call them. */
export interface System {
  readonly ffi: Ffi;
  readonly close: () => void;
  /** Calls a function. Throws when the system refuses; `what` names the purpose. */
  call(what: string, name: string, ...args: (number | bigint)[]): void;
  readonly functions: Readonly<Record<string, Call>>;
}

/**
 * Restricts the process. `parent`: the process whose end ends this one; null: what started this process sees to that.
 * `inherited`: how many descriptors the process was given beside those that it needs; Node's own lie above them.
 */
export function harden(limits: ResourceLimits, parent: number | null, inherited = 0): void {
  const system = openSystem();
  limit(system, limits, parent);
  const sealed = signalPipes(system, MAX_AT_START + inherited);
  installFilter(system, { stage: 'run', pid: process.pid, sealed });
  system.close();
  giveUp(system.ffi);
}

export function openSystem(): System {
  const ffi = process.getBuiltinModule('node:ffi' as 'node:fs') as unknown as Ffi;
  const { lib, functions } = ffi.dlopen(null, {
    getrlimit: { arguments: ['i32', 'u64'], return: 'i32' },
    setrlimit: { arguments: ['i32', 'u64'], return: 'i32' },
    prctl: { arguments: ['i32', 'u64', 'u64', 'u64', 'u64'], return: 'i32' },
    signal: { arguments: ['i32', 'u64'], return: 'u64' },
    syscall: { arguments: ['i64', 'u64', 'u64', 'u64'], return: 'i64' },
  });
  const call: System['call'] = (what, name, ...args) => {
    if (Number((functions[name] as Call)(...args)) !== 0) throw new Error(`the system refuses ${what}`);
  };
  return { ffi, functions, call, close: () => lib.close() };
}

/** Sets everything but the filter. `parent` as for `harden`. */
export function limit({ ffi, functions, call }: System, limits: ResourceLimits, parent: number | null): void {
  const pair = new BigUint64Array(2);
  const pointer = ffi.getRawPointer(pair.buffer);
  for (const [resource, value] of limitsOf(limits)) {
    call(`to tell a limit (${resource})`, 'getrlimit', resource, pointer);
    const most = pair[1] as bigint; // only root may exceed what this process was given
    pair.fill(value < most ? value : most);
    call(`a limit (${resource}) of ${value}`, 'setrlimit', resource, pointer);
  }
  (functions.signal as Call)(SIGXFSZ, SIG_IGN);
  call('no_new_privs', 'prctl', PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n);
  // Other processes of the same user can neither trace it nor read its memory.
  call('to close its memory', 'prctl', PR_SET_DUMPABLE, 0n, 0n, 0n, 0n);
  // Code that never yields does not see its pipe closed: it would run on after the server was killed.
  if (parent !== null) call('to end with the server', 'prctl', PR_SET_PDEATHSIG, SIGKILL, 0n, 0n, 0n);
  if (parent !== null && process.ppid !== parent) throw new Error('the server is gone');
}

/**
 * Returns the pipes through which libuv tells its event loops of signals, both ends. What is read there are addresses, which
 * libuv follows: code that writes into one, or closes one and has a socket opened in its place, would have the process call
 * whatever it likes. They differ from libuv's other pipe, a lock between its threads, in that no read of them waits. Only
 * libuv has pipes by now.
 */
function signalPipes({ functions }: System, below: number): number[] {
  const { arch } = process;
  const found: number[] = [];
  for (let descriptor = FIRST_OF_NODE; isMachine(arch) && descriptor < below; descriptor++) {
    const flags = Number((functions.syscall as Call)(FCNTL_NUMBER[arch], BigInt(descriptor), F_GETFL, 0n));
    if (flags >= 0 && (flags & constants.O_NONBLOCK) !== 0 && fstatSync(descriptor).isFIFO()) found.push(descriptor);
  }
  return found;
}

function limitsOf({ descriptors, fileBytes, threads }: ResourceLimits): (readonly [number, bigint])[] {
  return [
    [RLIMIT_CORE, 0n],
    [RLIMIT_MSGQUEUE, 0n],
    [RLIMIT_FSIZE, BigInt(fileBytes)],
    [RLIMIT_NOFILE, BigInt(descriptors)],
    ...(threads === null ? [] : [[RLIMIT_NPROC, BigInt(threads)] as const]),
  ];
}

export function installFilter({ ffi, call }: System, options: FilterOptions): void {
  const { arch } = process;
  if (!isMachine(arch)) throw new Error(`there is no filter of system calls for ${arch}`);
  const filter = seccompFilter(arch, options);
  // `struct sock_fprog`: the number of instructions, and their address.
  const program = new BigUint64Array([BigInt(filter.length / INSTRUCTION_BYTES), ffi.getRawPointer(filter.buffer)]);
  const flags = [SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, ffi.getRawPointer(program.buffer)];
  call('a filter of system calls', 'syscall', SECCOMP_NUMBER[arch], ...flags);
  if (filter.length === 0 || program.length === 0) throw new Error('they were read where they are not any more');
}

export function giveUp(ffi: Ffi): void {
  const { permission } = process as unknown as {
    permission: { drop(scope: string): void; has(scope: string): boolean };
  };
  permission.drop('ffi');
  if (permission.has('ffi')) throw new Error('Node keeps the right to call the system');
  // `guardProcess` updates the module's imports.
  for (const name of Object.getOwnPropertyNames(ffi)) Reflect.deleteProperty(ffi, name);
}

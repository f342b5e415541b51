// The seccomp filter of the processes that run code: an allow list of system calls.
//
// There are two filters for code. `run` is installed by the process itself (child/confine/harden.ts) before it loads
// any code, at both levels. From then on the process can start no program and no process, signal and trace no other,
// mount nothing, change no user, and reach none of the kernel's parts that Node does not need. `start` is installed in
// a jail by bwrap before Node starts. It also denies io_uring, which libuv opens before a line of JavaScript runs (at
// the level `process` the rings that libuv has opened stay; they start no programs and send no signals). `start` must
// let bwrap start Node, and let Node install `run`.
//
// At the stage `run`, the descriptors through which code could leave Node are sealed (harden.ts says which).
//
// A third filter, `bundling`, is for the process that bundles, until that process has started the bundler, which keeps
// this filter: it allows starting programs and processes, without namespaces.
//
// A refused call fails with EPERM, as for a user without the right. Calls that libraries only try (clone3, io_uring,
// calls newer than the table) fail with ENOSYS, and the libraries fall back. Calls of another machine end the process.

import { and, assemble, type BpfProgram, ifAtLeast, ifEqual, jump, label, load, ret } from './bpf.ts';
import { ALLOWED, AUDIT_NAMES, FORKS, JUDGED, LAST_KNOWN, type Machine, numberOn, X32_FIRST } from './syscalls.ts';

export interface FilterOptions {
  readonly stage: 'start' | 'run' | 'bundling';
  /** The process's own id, as the process sees it: the only one that it may signal. */
  readonly pid: number;
  /** The process may also end the process group of its id. */
  readonly mayEndGroup?: boolean;
  /** Descriptors that the process may neither write to nor close. */
  readonly sealed?: readonly number[];
}

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const EPERM = 0x00050000 + 1;
/** What a full pipe gives: libuv, when it handles a signal, takes no other error. */
const EAGAIN = 0x00050000 + 11;
const ENOSYS = 0x00050000 + 38;
const EAFNOSUPPORT = 0x00050000 + 97;

const NUMBER = 0;
const MACHINE = 4;
/** Returns the offset of the lower half of an argument: all arguments checked here are 32 bits wide, for the kernel too. */
const argument = (index: number): number => 16 + 8 * index;

const CLONE_THREAD = 0x00010000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NAMESPACES = 0x7e020000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_TYPE_MASK = 0xf;
/** PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS, PR_SET_VMA. */
const PRCTLS = [3, 15, 16, 21, 39, 0x53564d41];
/** PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS. */
const PRCTLS_AT_START = [4, 38];
/** TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, SIOCGIFNAME, SIOCGIFINDEX, FICLONE. */
const IOCTLS = [0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x8910, 0x8933, 0x40049409];
/** F_SETOWN, F_SETSIG, F_SETOWN_EX, F_NOTIFY, F_SETPIPE_SZ: they signal others, or make pipes larger than descriptors tell. */
const FCNTLS_REFUSED = [8, 10, 15, 1026, 1031];

type Judged = keyof typeof JUDGED;

/** Returns the filter's instructions. */
export function seccompFilter(machine: Machine, options: FilterOptions): Uint8Array<ArrayBuffer> {
  const judged = judgements(options);
  const names = Object.keys(judged) as Judged[];
  const isBundling = options.stage === 'bundling';
  const allowed = Object.values(isBundling ? { ...ALLOWED, ...FORKS } : ALLOWED).flatMap(
    (numbers) => numberOn(machine, numbers) ?? [],
  );
  return assemble([
    load(MACHINE),
    ifEqual(AUDIT_NAMES[machine], 'known', 'kill'),
    label('known'),
    load(NUMBER),
    ...(machine === 'x64' ? [ifAtLeast(X32_FIRST, 'kill')] : []),
    ifAtLeast(LAST_KNOWN + 1, 'unknown'),
    ...names.map((name) => ifEqual(JUDGED[name][machine === 'x64' ? 0 : 1], `judge-${name}`)),
    jump('listed'),
    label('kill'),
    ret(KILL_PROCESS),
    label('unknown'),
    ret(ENOSYS),
    ...names.flatMap((name) => [label(`judge-${name}`), ...judged[name]]),
    label('listed'),
    ...allowed.map((number) => ifEqual(number, 'allow')),
    ret(EPERM),
    label('allow'),
    ret(ALLOW),
  ]);
}

function judgements({ stage, pid, mayEndGroup = false, sealed = [] }: FilterOptions): Record<Judged, BpfProgram> {
  const isBundling = stage === 'bundling';
  const isStart = stage !== 'run';
  const onlySelf = oneOf('self', 0, [pid]);
  return {
    writev: [jump('judge-write')],
    close: [jump('judge-write')],
    write: [
      load(argument(0)),
      ...sealed.map((descriptor) => ifEqual(descriptor, 'sealed')),
      ret(ALLOW),
      label('sealed'),
      ret(EAGAIN),
    ],
    clone: [
      load(argument(0)),
      and(isBundling ? CLONE_NAMESPACES : CLONE_THREAD),
      ifEqual(isBundling ? 0 : CLONE_THREAD, undefined, 'no-clone'),
      ret(ALLOW),
      label('no-clone'),
      ret(EPERM),
    ],
    // The flags lie in memory, where no filter sees them; the C library then falls back to clone.
    clone3: [ret(ENOSYS)],
    // A group's number is negative there.
    kill: oneOf('self', 0, mayEndGroup ? [pid, -pid >>> 0] : [pid])('kill'),
    // The bundler signals its own threads, and its id is not known yet.
    tgkill: isBundling ? [ret(ALLOW)] : onlySelf('tgkill'),
    prctl: oneOf('prctl', 0, isStart ? [...PRCTLS, ...PRCTLS_AT_START] : PRCTLS)('prctl'),
    ioctl: oneOf('ioctl', 1, IOCTLS)('ioctl'),
    fcntl: noneOf(1, FCNTLS_REFUSED),
    prlimit64: oneOf('limits', 0, [0, pid])('prlimit64'),
    socket: socketJudgement(),
    socketpair: [load(argument(0)), ifEqual(AF_UNIX, 'pair-allow'), ret(EAFNOSUPPORT), label('pair-allow'), ret(ALLOW)],
    execve: [ret(isStart ? ALLOW : EPERM)],
    seccomp: [ret(isStart ? ALLOW : EPERM)],
    // Uses rings that exist; none can be made.
    io_uring_enter: [ret(stage === 'start' ? ENOSYS : ALLOW)],
    io_uring_setup: [ret(ENOSYS)],
  };
}

/** Returns the judgement of a call: allowed when that argument is one of the values. */
function oneOf(what: string, index: number, values: readonly number[]): (name: string) => BpfProgram {
  return (name) => {
    const yes = `${name}-${what}-allow`;
    return [load(argument(index)), ...values.map((value) => ifEqual(value, yes)), ret(EPERM), label(yes), ret(ALLOW)];
  };
}

function noneOf(index: number, values: readonly number[]): BpfProgram {
  return [
    load(argument(index)),
    ...values.map((value) => ifEqual(value, 'none-refuse')),
    ret(ALLOW),
    label('none-refuse'),
    ret(EPERM),
  ];
}

/** Allows streams and datagrams of the internet and of this machine, and netlink for the network's interfaces. */
function socketJudgement(): BpfProgram {
  return [
    load(argument(0)),
    ifEqual(AF_NETLINK, 'socket-netlink'),
    ...[AF_UNIX, AF_INET, AF_INET6].map((family) => ifEqual(family, 'socket-type')),
    ret(EAFNOSUPPORT),
    label('socket-netlink'),
    load(argument(2)),
    ifEqual(NETLINK_ROUTE, 'socket-allow', 'socket-refuse'),
    label('socket-type'),
    load(argument(1)),
    and(SOCK_TYPE_MASK),
    ifEqual(SOCK_STREAM, 'socket-allow'),
    ifEqual(SOCK_DGRAM, 'socket-allow'),
    label('socket-refuse'),
    ret(EPERM),
    label('socket-allow'),
    ret(ALLOW),
  ];
}

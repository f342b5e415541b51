// What the kernel answers a process that is hardened, tried with the C library's own functions, past Node and its permissions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hardeningObstacle } from '../../../../src/runner/isolation/hardening.ts';
import { type Calls, callSystem } from './native.ts';

const skip = hardeningObstacle() ?? false;
const EPERM = -1;
const ENOSYS = -38;
const EAFNOSUPPORT = -97;

/** What would not even be tried where nothing stops it. */
const FATAL: Calls = {
  fork: ['fork'],
  vfork: ['vfork'],
  'clone of a process': ['clone', 17],
  execve: ['execve', 'path', 0, 0],
  execveat: ['execveat', -100, 'path', 0, 0],
  'kill all': ['kill', -1, 0],
  reboot: ['reboot', 0, 0, 0],
  kexec_load: ['kexec_load'],
  chroot: ['chroot', 'path'],
  setuid: ['setuid', 0],
  'seccomp, once more': ['seccomp', 0, 0, 0],
};
const HARMLESS: Calls = {
  'kill of its parent': ['kill', 'parent', 0],
  'tgkill of its parent': ['tgkill', 'parent', 'parent', 0],
  pidfd_open: ['pidfd_open', 'parent', 0],
  memfd_create: ['memfd_create', 'path', 0],
  personality: ['personality', 0xffffffff],
  setpriority: ['setpriority', 0, 0, 19],
  'prctl(PR_SET_DUMPABLE)': ['prctl', 4, 1],
  'a socket of netfilter': ['socket', 16, 3, 12],
  eventfd2_as_control: ['eventfd2', 0, 0],
};
const REFUSED: Calls = {
  shmget: ['shmget', 0, 4096, 0o1600],
  msgget: ['msgget', 0, 0o1600],
  ptrace: ['ptrace', 16, 'parent'],
  process_vm_readv: ['process_vm_readv', 'parent', 0, 0, 0, 0],
  mount: ['mount'],
  unshare: ['unshare', 0x10000000],
  setns: ['setns', 0, 0],
  bpf: ['bpf'],
  perf_event_open: ['perf_event_open'],
  userfaultfd: ['userfaultfd', 1],
  keyctl: ['keyctl'],
  add_key: ['add_key'],
  open_by_handle_at: ['open_by_handle_at'],
  init_module: ['init_module'],
  'ioctl(TIOCSTI)': ['ioctl', 0, 0x5412],
  'fcntl(F_SETOWN)': ['fcntl', 1, 8, 1],
  'fcntl(F_SETPIPE_SZ)': ['fcntl', 1, 1031, 1048576],
  'prlimit of its parent': ['prlimit64', 'parent', 7, 0, 0],
};

test('the kernel refuses what no code needs', { skip }, () => {
  const { eventfd2_as_control: control, ...harmless } = callSystem(
    { ...FATAL, ...HARMLESS, ...REFUSED },
    { isHardened: true },
  );
  assert.ok((control as number) >= 0, 'others are let through');
  for (const [name, value] of Object.entries(harmless)) assert.equal(value, EPERM, name);
});

test('and grants it to a process that is not hardened', { skip }, () => {
  for (const [name, value] of Object.entries(callSystem(HARMLESS, { isHardened: false }))) {
    assert.ok(value >= 0, `${name}: ${value}`);
  }
});

test('what libraries only try is not there', { skip }, () => {
  const given = callSystem(
    {
      clone3: ['clone3', 0, 0],
      io_uring_setup: ['io_uring_setup', 8, 0],
      newer: ['newer'],
      packets: ['socket', 17, 3, 0],
      vsock: ['socket', 40, 1, 0],
    },
    { isHardened: true },
  );
  assert.deepEqual(given, {
    clone3: ENOSYS,
    io_uring_setup: ENOSYS,
    newer: ENOSYS,
    packets: EAFNOSUPPORT,
    vsock: EAFNOSUPPORT,
  });
});

test('calls of another machine end the process', { skip: skip || (process.arch !== 'x64' && 'x32 is of x64') }, () => {
  assert.throws(() => callSystem({ x32: ['x32'] }, { isHardened: true }), { signal: 'SIGSYS' });
});

test('descriptors end at the limit', { skip }, () => {
  const calls = Object.fromEntries(
    Array.from({ length: 70 }, (_, index) => [`pair ${index}`, ['eventfd2', 0, 0] as const]),
  );
  const given = Object.values(callSystem(calls, { isHardened: true }));
  assert.equal(given.at(-1), -24);
  assert.ok(given.filter((value) => value >= 0).length < 64);
});

// What the kernel answers a process that is hardened, tried with the C library's own functions, past Node and its permissions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hardeningObstacle } from '../../../src/runner/hardening.ts';
import { type Calls, callSystem } from './native.ts';

const skip = hardeningObstacle() ?? (process.arch !== 'x64' && 'the numbers here are those of x64');
const EPERM = -1;
const ENOSYS = -38;
const EAFNOSUPPORT = -97;

/** What would not even be tried where nothing stops it. */
const FATAL: Calls = {
  fork: [57],
  vfork: [58],
  'clone of a process': [56, 17],
  execve: [59, 'path', 0, 0],
  execveat: [322, -100, 'path', 0, 0],
  'kill all': [62, -1, 0],
  reboot: [169, 0, 0, 0],
  kexec_load: [246],
  chroot: [161, 'path'],
  setuid: [105, 0],
  'seccomp, once more': [317, 0, 0, 0],
};
const HARMLESS: Calls = {
  'kill of its parent': [62, 'parent', 0],
  'tgkill of its parent': [234, 'parent', 'parent', 0],
  pidfd_open: [434, 'parent', 0],
  memfd_create: [319, 'path', 0],
  personality: [135, 0xffffffff],
  setpriority: [141, 0, 0, 19],
  'prctl(PR_SET_DUMPABLE)': [157, 4, 1],
  'a socket of netfilter': [41, 16, 3, 12],
  eventfd2_as_control: [290, 0, 0],
};
const REFUSED: Calls = {
  shmget: [29, 0, 4096, 0o1600],
  msgget: [68, 0, 0o1600],
  ptrace: [101, 16, 'parent'],
  process_vm_readv: [310, 'parent', 0, 0, 0, 0],
  mount: [165],
  unshare: [272, 0x10000000],
  setns: [308, 0, 0],
  bpf: [321],
  perf_event_open: [298],
  userfaultfd: [323, 1],
  keyctl: [250],
  add_key: [248],
  open_by_handle_at: [304],
  init_module: [175],
  'ioctl(TIOCSTI)': [16, 0, 0x5412],
  'fcntl(F_SETOWN)': [72, 1, 8, 1],
  'fcntl(F_SETPIPE_SZ)': [72, 1, 1031, 1048576],
  'prlimit of its parent': [302, 'parent', 7, 0, 0],
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
    { clone3: [435, 0, 0], io_uring_setup: [425, 8, 0], newer: [900], packets: [41, 17, 3, 0], vsock: [41, 40, 1, 0] },
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

test('calls of another machine end the process', { skip }, () => {
  assert.throws(() => callSystem({ x32: [0x40000000 + 39] }, { isHardened: true }), { signal: 'SIGSYS' });
});

test('descriptors end at the limit', { skip }, () => {
  const calls = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`pair ${index}`, [290, 0, 0] as const]));
  const given = Object.values(callSystem(calls, { isHardened: true }));
  assert.equal(given.at(-1), -24);
  assert.ok(given.filter((value) => value >= 0).length < 64);
});

// The filter of system calls: as a program that is run here, and as the kernel keeps to it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assemble, ifEqual, jump, label, load, ret } from '../../../../src/runner/seccomp/bpf.ts';
import { type FilterOptions, seccompFilter } from '../../../../src/runner/seccomp/filter.ts';
import {
  ALLOWED,
  AUDIT_NAMES,
  FORKS,
  JUDGED,
  LAST_KNOWN,
  type Machine,
  numberOn,
} from '../../../../src/runner/seccomp/syscalls.ts';
import { decide } from './bpf-machine.ts';
import { NUMBERS } from './native.ts';

const MACHINES: readonly Machine[] = ['x64', 'arm64'];
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x50001;
const EAGAIN = 0x5000b;
const ENOSYS = 0x50026;
const EAFNOSUPPORT = 0x50061;
const PID = 4711;
/** Where distributions have them. */
const HEADERS: Readonly<Record<Machine, string>> = {
  x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h',
  arm64: '/usr/include/asm-generic/unistd.h',
};

type Judged = keyof typeof JUDGED;

type Stage = FilterOptions['stage'];

function answer(machine: Machine, stage: Stage, number: number, ...args: number[]): number {
  return decide(seccompFilter(machine, { stage, pid: PID }), { machine: AUDIT_NAMES[machine], number, args });
}

const judged = (machine: Machine, stage: Stage, name: Judged, ...args: number[]): number =>
  answer(machine, stage, JUDGED[name][machine === 'x64' ? 0 : 1], ...args);

for (const machine of MACHINES) {
  test(`what is in no list is refused on ${machine}`, () => {
    const listed = new Set([
      ...Object.values(ALLOWED).map((numbers) => numberOn(machine, numbers)),
      ...Object.values(JUDGED).map((numbers) => numberOn(machine, numbers)),
    ]);
    const allowed = new Set(Object.values(ALLOWED).map((numbers) => numberOn(machine, numbers)));
    for (const stage of ['start', 'run', 'bundling'] as const) {
      const forks = stage === 'bundling' ? Object.values(FORKS).map((numbers) => numberOn(machine, numbers)) : [];
      const filter = seccompFilter(machine, { stage, pid: PID });
      for (let number = 0; number <= LAST_KNOWN + 100; number++) {
        const given = decide(filter, { machine: AUDIT_NAMES[machine], number });
        if (allowed.has(number) || forks.includes(number)) assert.equal(given, ALLOW, String(number));
        else if (!listed.has(number)) assert.equal(given, number > LAST_KNOWN ? ENOSYS : EPERM, String(number));
      }
    }
  });

  test(`no other machine speaks to ${machine}`, () => {
    const filter = seccompFilter(machine, { stage: 'run', pid: PID });
    const [read] = Object.values(ALLOWED).map((numbers) => numberOn(machine, numbers));
    for (const other of [0x40000003, 0x40000028, AUDIT_NAMES[machine === 'x64' ? 'arm64' : 'x64']]) {
      assert.equal(decide(filter, { machine: other, number: read as number }), KILL);
    }
  });

  test(`processes, signals and programs are refused on ${machine}`, () => {
    const run = (name: Judged, ...args: number[]): number => judged(machine, 'run', name, ...args);
    assert.equal(run('clone', 0x003d0f00), ALLOW, 'a thread');
    assert.equal(run('clone', 17), EPERM, 'a process');
    assert.equal(run('clone', 0x10000000), EPERM, 'a namespace');
    assert.equal(run('clone3'), ENOSYS);
    assert.equal(run('execve'), EPERM);
    assert.equal(judged(machine, 'start', 'execve'), ALLOW, 'bwrap starts Node');
    for (const name of ['kill', 'tgkill'] as const) {
      assert.equal(run(name, PID), ALLOW);
      for (const other of [0, 1, -1, -PID, PID + 1]) assert.equal(run(name, other), EPERM, `${name} ${other}`);
    }
    assert.equal(run('prlimit64', 0), ALLOW);
    assert.equal(run('prlimit64', 1), EPERM);
  });

  test(`the bundler can be started, and nothing else, on ${machine}`, () => {
    const bundling = (name: Judged, ...args: number[]): number => judged(machine, 'bundling', name, ...args);
    assert.equal(bundling('clone', 17), ALLOW, 'a process');
    assert.equal(bundling('clone', 0x4111), ALLOW, 'and one that shares memory until it is a program');
    for (const bit of [17, 25, 26, 27, 28, 29, 30])
      assert.equal(bundling('clone', 2 ** bit), EPERM, `namespace ${bit}`);
    assert.equal(bundling('clone3'), ENOSYS);
    assert.equal(bundling('execve'), ALLOW);
    for (const other of [0, 1, -1, -PID]) assert.equal(bundling('kill', other), EPERM, String(other));
    assert.equal(bundling('socket', 16, 3, 12), EPERM);
    for (const [name, numbers] of Object.entries(FORKS)) {
      const number = numberOn(machine, numbers);
      if (number === null) continue;
      assert.equal(answer(machine, 'bundling', number), ALLOW, name);
      assert.equal(answer(machine, 'run', number), EPERM, name);
    }
    const filter = seccompFilter(machine, { stage: 'run', pid: PID, mayEndGroup: true });
    const kill = (pid: number): number =>
      decide(filter, { machine: AUDIT_NAMES[machine], number: NUMBERS.kill[machine === 'x64' ? 0 : 1], args: [pid] });
    assert.deepEqual([PID, -PID].map(kill), [ALLOW, ALLOW]);
    for (const other of [0, 1, -1, PID + 1, -PID - 1]) assert.equal(kill(other), EPERM, String(other));
  });

  test(`arguments are judged by their lower half on ${machine}`, () => {
    const filter = seccompFilter(machine, { stage: 'run', pid: PID });
    const number = JUDGED.fcntl[machine === 'x64' ? 0 : 1];
    const high = 1n << 32n;
    assert.equal(decide(filter, { machine: AUDIT_NAMES[machine], number, args: [3, high | 1031n] }), EPERM);
    assert.equal(decide(filter, { machine: AUDIT_NAMES[machine], number, args: [3, 1030] }), ALLOW);
  });

  test(`only streams and datagrams are opened on ${machine}`, () => {
    const socket = (...args: number[]): number => judged(machine, 'run', 'socket', ...args);
    for (const family of [1, 2, 10]) {
      assert.equal(socket(family, 0x80801), ALLOW);
      assert.equal(socket(family, 2), ALLOW);
      assert.equal(socket(family, 3), EPERM, 'raw');
      assert.equal(socket(family, 5), EPERM);
    }
    assert.equal(socket(16, 3, 0), ALLOW);
    assert.equal(socket(16, 3, 12), EPERM, 'netfilter');
    for (const family of [17, 38, 40, 31, 44]) assert.equal(socket(family, 1), EAFNOSUPPORT);
    assert.equal(judged(machine, 'run', 'socketpair', 16), EAFNOSUPPORT);
    assert.equal(judged(machine, 'run', 'ioctl', 0, 0x5412), EPERM, 'types into a terminal');
    assert.equal(judged(machine, 'run', 'prctl', 4, 1), EPERM, 'opens its memory');
  });

  test(`sealed descriptors are neither written to nor closed on ${machine}`, () => {
    const filter = seccompFilter(machine, { stage: 'run', pid: PID, sealed: [9, 14] });
    for (const name of ['write', 'writev', 'close'] as const) {
      const number = JUDGED[name][machine === 'x64' ? 0 : 1];
      const given = (descriptor: number | bigint): number =>
        decide(filter, { machine: AUDIT_NAMES[machine], number, args: [descriptor] });
      assert.deepEqual([8, 9, 14, 15].map(given), [ALLOW, EAGAIN, EAGAIN, ALLOW], name);
      assert.equal(given((1n << 32n) | 9n), EAGAIN, name);
      for (const stage of ['start', 'run', 'bundling'] as const) assert.equal(judged(machine, stage, name, 9), ALLOW);
    }
  });

  test(`a jail has no io_uring on ${machine}`, () => {
    for (const name of ['io_uring_setup', 'io_uring_enter'] as const) {
      assert.equal(judged(machine, 'start', name), ENOSYS);
    }
    assert.equal(judged(machine, 'run', 'io_uring_setup'), ENOSYS);
  });

  const header = HEADERS[machine];
  test(`the numbers are the system's on ${machine}`, { skip: !existsSync(header) && `needs ${header}` }, () => {
    const known = numbersIn(readFileSync(header, 'utf8'));
    let compared = 0;
    for (const [name, numbers] of Object.entries({ ...ALLOWED, ...JUDGED, ...NUMBERS })) {
      const number = known.get(name);
      if (number === undefined) continue; // newer than the headers, or there under another name
      assert.equal(numberOn(machine, numbers), number, name);
      compared++;
    }
    assert.ok(compared > 100, String(compared));
  });
}

test('x32 calls end the process', () => {
  assert.equal(answer('x64', 'run', 0x40000000), KILL);
  assert.equal(answer('x64', 'run', 0x40000000 + 520), KILL);
});

test('jumps are refused that are none', () => {
  assert.throws(() => assemble([ifEqual(1, 'far'), ...Array(300).fill(load(0)), label('far'), ret(0)]), /reach/);
  assert.throws(() => assemble([label('behind'), jump('behind')]), /reach/);
  assert.throws(() => assemble([jump('nowhere')]), /reach/);
  assert.throws(() => assemble([label('a'), label('a')]), /two labels/);
  assert.equal(assemble([jump('far'), ...Array(300).fill(load(0)), label('far'), ret(0)]).length, 302 * 8);
});

function numbersIn(text: string): Map<string, number> {
  const found = [...text.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm)];
  const renamed: Readonly<Record<string, string>> = { fstatat: 'newfstatat' };
  return new Map(found.map(([, name = '', number]) => [renamed[name] ?? name, Number(number)]));
}

// Cgroups: which of them is the server's, what is written there, and what becomes of a process there.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Cgroup, type CgroupView, folderOf, openCgroups } from '../../../../src/runner/isolation/cgroups.ts';
import { deploymentOf, faultOf, kit, requestOf, returned, until } from '../kit.ts';

const MOUNT = '35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw';
const V1 = '36 24 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory';
const view = (membership: string, mounts: string, pids: number[] = [7]): CgroupView => ({ membership, mounts, pids });

test('the server finds its own cgroup', () => {
  const cases: [string, string, string][] = [
    ['0::/system.slice/errand.service\n', MOUNT, '/sys/fs/cgroup/system.slice/errand.service'],
    ['12:memory:/x\n0::/a\n', `${V1}\n${MOUNT}`, '/sys/fs/cgroup/a'],
    ['0::/\n', MOUNT, '/sys/fs/cgroup'],
    ['0::/errand.service/errand-server', MOUNT, '/sys/fs/cgroup/errand.service'],
    ['0::/errand-server', MOUNT, '/sys/fs/cgroup'],
    ['0::/docker/1/in', '1 2 0:3 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw', '/sys/fs/cgroup/in'],
    ['0::/a', '1 2 0:3 / /with\\040space rw - cgroup2 cgroup rw', '/with space/a'],
  ];
  for (const [membership, mounts, dir] of cases) assert.deepEqual(folderOf(view(membership, mounts)), { dir });
});

test('and says why it has none', () => {
  const cases: [string, string, RegExp][] = [
    ['4:memory:/x\n', V1, /no cgroup v2/],
    ['', '', /no cgroup v2/],
    ['0::/a', V1, /not mounted/],
    ['0::/../b', MOUNT, /not to be seen/],
    ['0::/docker/12', '1 2 0:3 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw', /not to be seen/],
    ['0::/user.slice/session-3.scope', MOUNT, /a session's/],
  ];
  for (const [membership, mounts, why] of cases) {
    const found = folderOf(view(membership, mounts));
    assert.match('obstacle' in found ? found.obstacle : 'found', why);
  }
});

interface Files {
  readonly controllers?: string;
  readonly processes?: string;
}

/** A folder that looks like a cgroup; its files are files. */
function cgroup(t: TestContext, { controllers = 'cpu io memory pids', processes = '7\n' }: Files = {}): string {
  const base = mkdtempSync(join(tmpdir(), 'errand-cgroups-'));
  t.after(() => rm(base, { recursive: true, force: true }));
  writeFileSync(join(base, 'cgroup.controllers'), controllers);
  writeFileSync(join(base, 'cgroup.procs'), processes);
  writeFileSync(join(base, 'cgroup.subtree_control'), '');
  writeFileSync(join(base, 'cgroup.type'), 'domain');
  return base;
}

const at = (dir: string, pids?: number[]): CgroupView => view('0::/', `1 2 0:3 / ${dir} rw - cgroup2 cgroup2 rw`, pids);

test('a cgroup of its own is divided', (t) => {
  const dir = cgroup(t);
  const [killed, running] = [`errand-code-${2 ** 30}-1`, `errand-code-${process.ppid}-1`];
  for (const name of [killed, running]) mkdirSync(join(dir, name));
  const { cgroups, obstacle } = openCgroups(at(dir));
  assert.equal(obstacle, null);
  assert.equal(existsSync(join(dir, killed)), false, 'what a killed server left');
  assert.equal(existsSync(join(dir, running)), true, 'what another one uses');
  assert.equal(readFileSync(join(dir, 'errand-server/cgroup.procs'), 'utf8'), '7');
  assert.equal(readFileSync(join(dir, 'cgroup.subtree_control'), 'utf8'), '+memory +pids +cpu');
  const group = cgroups?.make({ memoryBytes: 1000 });
  const of = (name: string): string => readFileSync(join(dir, `errand-code-${process.pid}-1`, name), 'utf8');
  group?.add(4711);
  assert.deepEqual(['memory.max', 'memory.oom.group', 'pids.max', 'cpu.max', 'cgroup.procs'].map(of), [
    '1000',
    '1',
    '128',
    '150000 100000',
    '4711',
  ]);
  assert.equal(group?.isOutOfMemory(), false);
  writeFileSync(
    join(dir, `errand-code-${process.pid}-1`, 'memory.events'),
    'low 0\noom 1\noom_kill 1\noom_group_kill 1\n',
  );
  assert.equal(group?.isOutOfMemory(), true);
});

test('the CPU is left to the cgroups of others', (t) => {
  const dir = cgroup(t);
  const group = openCgroups(at(dir)).cgroups?.make({ memoryBytes: 1000 });
  const path = join(dir, `errand-code-${process.pid}-1`);
  const of = (name: string): string => readFileSync(join(path, name), 'utf8');
  assert.equal(readFileSync(join(dir, 'errand-server/cpu.weight'), 'utf8'), '1000');
  assert.equal(group?.setLowPriority(true), true);
  assert.equal(of('cpu.weight'), '1', 'of a system that knows nothing else');
  group?.setLowPriority(false);
  assert.equal(of('cpu.weight'), '100');
  writeFileSync(join(path, 'cpu.idle'), '0');
  group?.setLowPriority(true);
  assert.equal(of('cpu.idle'), '1');
  group?.setLowPriority(false);
  assert.equal(of('cpu.idle'), '0');
  rmSync(path, { recursive: true });
  assert.equal(group?.setLowPriority(true), false, 'it is gone');
});

test('one that is not its own is left alone', (t) => {
  const cases: [Files, RegExp][] = [
    [{ controllers: '' }, /no controllers for memory, pids, cpu/],
    [{ controllers: 'cpu memory' }, /no controllers for pids/],
    [{ processes: '7\n8\n9\n' }, /other processes are in .*: 8, 9/],
  ];
  for (const [files, why] of cases) {
    const dir = cgroup(t, files);
    const { obstacle } = openCgroups(at(dir));
    assert.match(obstacle ?? '', why);
    assert.equal(readFileSync(join(dir, 'cgroup.subtree_control'), 'utf8'), '');
    assert.equal(existsSync(join(dir, 'errand-server')), false);
  }
});

test('those that started the server move with it', (t) => {
  const dir = cgroup(t, { processes: '5\n7\n' });
  assert.equal(openCgroups(at(dir, [7, 5, 1])).obstacle, null);
});

const GROUP: Cgroup = { add: () => {}, setLowPriority: () => true, isOutOfMemory: () => false, remove: () => {} };
const BUSY = 'export default async () => { for (;;) await new Promise((resolve) => setImmediate(resolve)) }';

test('a process is put into a cgroup of its own', async (t) => {
  const added: number[] = [];
  let removed = 0;
  const group: Cgroup = { ...GROUP, add: (pid) => void added.push(pid), remove: () => void removed++ };
  const { run, runner } = kit(t, { cgroups: { make: () => group } });
  const pid = returned(await run('export default () => process.pid'));
  assert.deepEqual(added, [pid]);
  await runner.stop(0);
  assert.equal(removed, 1);
});

test('a cgroup gives way where its owner takes too much', async (t) => {
  const weights: boolean[] = [];
  const make = (): Cgroup => ({ ...GROUP, setLowPriority: (isLowPriority) => weights.push(isLowPriority) > 0 });
  const { run, runner } = kit(t, { cgroups: { make } });
  returned(await run({ ...(await deploymentOf('export default () => 1')), ownerId: 'u_2' }));
  const request = requestOf(await deploymentOf(BUSY), { timeoutMs: 600_000 });
  const outcome = runner.run(request);
  await until(() => weights.length > 0);
  assert.deepEqual(weights, [true]);
  runner.cancel(request.run);
  await outcome;
});

test('what the system ended for its memory is OutOfMemory', async (t) => {
  const { run } = kit(t, { cgroups: { make: () => ({ ...GROUP, isOutOfMemory: () => true }) } });
  const fault = faultOf(await run('export default () => process.kill(process.pid, "SIGKILL")'));
  assert.equal(fault.code, 'WorkerExit', 'its own doing stays its own');
  const died = faultOf(
    await run(
      `import fs from 'node:fs'; export default () => { for (;;) try { fs.closeSync(3); break } catch {} for (;;); }`,
    ),
  );
  assert.equal(died.code, 'OutOfMemory');
});

test('a process that cannot be limited does not run', async (t) => {
  const add = (): never => {
    throw new Error('no');
  };
  const { run } = kit(t, { cgroups: { make: () => ({ ...GROUP, add }) } });
  assert.match(faultOf(await run('export default () => 1')).code, /WorkerLost|WorkerExit/);
});

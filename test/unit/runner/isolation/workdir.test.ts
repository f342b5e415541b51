import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Workdirs } from '../../../../src/runner/isolation/workdir.ts';

function base(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'errand-runner-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The number of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '0']).pid;
}

test('a folder is made, filled and removed', async (t) => {
  const dir = base(t);
  const workdirs = new Workdirs(join(dir, 'new'));
  const made = await workdirs.make();
  const step = { id: 'c_1', namespace: 'one', code: '', bundle: 'export default 1', sourceMap: '{}' };
  const files = await workdirs.fill(made, {
    id: 'd_1',
    ownerId: 'u_1',
    runnableId: 'p_1',
    steps: [step],
    createdAtMs: 0,
  });
  assert.deepEqual(readdirSync(made).sort(), ['child.mjs', 'code', 'tmp']);
  assert.deepEqual(
    files.map(({ file, mapFile }) => existsSync(file) && existsSync(mapFile)),
    [true],
  );
  await workdirs.remove(made);
  await workdirs.remove(made);
  assert.equal(existsSync(made), false);
});

test('what a dead server left is cleared away', async (t) => {
  const dir = base(t);
  const left = join(dir, `${deadPid()}-left`);
  mkdirSync(join(left, 'tmp'), { recursive: true });
  const living = join(dir, `${process.ppid}-living`);
  mkdirSync(living);
  const other = join(dir, 'unrelated');
  mkdirSync(other);
  const workdirs = new Workdirs(dir);
  const own = await workdirs.make();
  await workdirs.sweep();
  assert.deepEqual(
    [existsSync(left), existsSync(living), existsSync(other), existsSync(own)],
    [false, true, true, true],
  );
});

test('a looping process of a dead server is ended', {
  skip: !existsSync('/proc/self/cmdline') && 'needs /proc',
}, async (t) => {
  const dir = base(t);
  const left = join(dir, `${deadPid()}-left`);
  mkdirSync(left);
  const loop = spawn(process.execPath, ['-e', 'for (;;);', left], { stdio: 'ignore' });
  writeFileSync(join(left, 'pid'), String(loop.pid));
  const ended = new Promise((resolve) => loop.on('exit', (_code, signal) => resolve(signal)));
  await new Promise((resolve) => loop.on('spawn', resolve));
  await new Workdirs(dir).sweep();
  assert.equal(await ended, 'SIGKILL');
});

test('a process that only has the number is spared', async (t) => {
  const dir = base(t);
  const left = join(dir, `${deadPid()}-left`);
  mkdirSync(left);
  writeFileSync(join(left, 'pid'), String(process.pid));
  await new Workdirs(dir).sweep();
  assert.equal(existsSync(left), false);
});

const isRoot = process.getuid?.() === 0;
const OTHER_USER = { uid: 65_534, gid: 65_534 };
const NEEDS_ROOT = !isRoot && 'needs root: no other server has its folder there';

/** Where the folders of servers lie beside each other. */
function shared(t: TestContext): string {
  const dir = base(t);
  chmodSync(dir, 0o711);
  return dir;
}

const folderOf = (dir: string, n: number): string => join(dir, `errand-${String(n).padStart(16, '0')}`);
const pidSpace = () => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];

test('a server that starts while its old folder is deleted keeps its own', { skip: NEEDS_ROOT }, async (t) => {
  const dir = shared(t);
  const other = new Workdirs(folderOf(dir, 0), OTHER_USER);
  const old = folderOf(dir, 1);
  for (let n = 0; n < 500; n++) mkdirSync(join(old, `${n}-left`, 'code'), { recursive: true });
  mkdirSync(join(old, `${deadPid()}-server-${pidSpace()}`));
  const sweeping = other.sweep();
  const started = new Workdirs(old, OTHER_USER);
  const made = await started.make();
  await sweeping;
  await started.fill(made, { id: 'd_1', ownerId: 'u_1', runnableId: 'p_1', steps: [], createdAtMs: 0 });
  assert.deepEqual(readdirSync(made).sort(), ['child.mjs', 'code', 'tmp']);
  assert.deepEqual(readdirSync(dir).sort(), [basename(folderOf(dir, 0)), basename(old)]);
});

test('folders of servers that are gone are cleared away', { skip: NEEDS_ROOT }, async (t) => {
  const dir = shared(t);
  const own = new Workdirs(folderOf(dir, 0), OTHER_USER);
  const made = await own.make();
  const leave = (n: number, names: readonly string[]): string => {
    for (const name of names) mkdirSync(join(folderOf(dir, n), name), { recursive: true });
    return folderOf(dir, n);
  };
  const dead = deadPid();
  const gone = leave(1, [`${dead}-server-${pidSpace()}`, `${dead}-left`]);
  const stays = [
    leave(2, [`${process.ppid}-server-${pidSpace()}`]),
    leave(3, [`${dead}-server-${pidSpace()}`, `${process.ppid}-server-${pidSpace()}`]),
    leave(4, [`${dead}-server-1`]),
    leave(5, [`${dead}-left`]),
    made,
  ];
  const [foreign, link] = [leave(6, [`${dead}-server-${pidSpace()}`]), folderOf(dir, 7)];
  chownSync(foreign, OTHER_USER.uid, OTHER_USER.gid);
  symlinkSync(gone, link);
  mkdirSync(join(dir, 'unrelated', `${dead}-server-${pidSpace()}`), { recursive: true });
  await own.sweep();
  assert.equal(existsSync(gone), false);
  for (const path of [...stays, foreign, join(dir, 'unrelated')]) assert.equal(existsSync(path), true, path);
  assert.ok(lstatSync(link).isSymbolicLink());
});

test('a folder goes with the last server that uses it', { skip: NEEDS_ROOT }, async (t) => {
  const dir = shared(t);
  const path = folderOf(dir, 0);
  const workdirs = new Workdirs(path, OTHER_USER);
  assert.equal(readdirSync(path).length, 1, 'from the start on it is marked');
  const other = join(path, `${process.ppid}-server-${pidSpace()}`);
  mkdirSync(other);
  workdirs.close();
  assert.deepEqual(readdirSync(path), [basename(other)]);
  const again = new Workdirs(path, OTHER_USER);
  rmSync(other, { recursive: true });
  again.close();
  again.close();
  assert.equal(existsSync(path), false);
});

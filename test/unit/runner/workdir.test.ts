import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Workdirs } from '../../../src/runner/workdir.ts';

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

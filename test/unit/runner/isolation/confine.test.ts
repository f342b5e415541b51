// What a process gives up before it loads any code. Node's permission model is not at work here.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Workdirs } from '../../../../src/runner/isolation/workdir.ts';
import { ISOLATION, kit, returned } from '../kit.ts';

const skip = process.getuid?.() !== 0 && 'needs root: without it, code is the same user as the server';
const HERE = import.meta.dirname;

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'errand-confine-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Runs a module's text in a Node that has been given the descriptor 40 (Node itself sees to those up to 15), and parses what it prints. */
function ran(text: string, given: { argument?: object; file?: string } = {}): unknown {
  const descriptor = given.file === undefined ? 'ignore' : openSync(given.file, 'r');
  const stdio = [
    'ignore',
    'pipe',
    'inherit',
    ...Array.from({ length: 37 }, () => 'ignore' as const),
    descriptor,
  ] as const;
  const args = ['--input-type=module', '-e', text, '-', JSON.stringify(given.argument ?? {})];
  const { stdout } = spawnSync(process.execPath, args, { stdio: [...stdio], encoding: 'utf8', cwd: HERE });
  if (typeof descriptor === 'number') closeSync(descriptor);
  return JSON.parse(stdout);
}

test('descriptors that the server inherited are found', { skip: !existsSync('/proc/self/fdinfo') }, (t) => {
  const file = join(folder(t), 'secret');
  writeFileSync(file, 'secret');
  const found = ran(
    `import { inheritedDescriptors } from '${HERE}/../../../../src/runner/isolation/descriptors.ts';
    console.log(JSON.stringify(inheritedDescriptors()))`,
    { file },
  );
  assert.ok((found as number[]).includes(40), JSON.stringify(found));
});

test('and closed before code is loaded', (t) => {
  const file = join(folder(t), 'secret');
  writeFileSync(file, 'secret');
  const seen = ran(
    `import fs from 'node:fs'; import { confine } from '${HERE}/../../../../src/runner/child/confine/confine.ts';
    const text = () => { try { const bytes = Buffer.alloc(6); fs.readSync(40, bytes, 0, 6, 0); return bytes.toString() } catch { return null } };
    const before = text(); confine(); console.log(JSON.stringify([before, text(), process.argv.length]))`,
    { file, argument: { close: [40, 200], user: null } },
  );
  assert.deepEqual(seen, ['secret', null, 2]);
});

test('as another user it reaches nothing of ours', { skip }, (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'api-key'), 'secret', { mode: 0o644 });
  const seen = ran(
    `import fs from 'node:fs'; import os from 'node:os'; import { confine } from '${HERE}/../../../../src/runner/child/confine/confine.ts';
    confine();
    const tried = (attempt) => { try { attempt(); return 'done' } catch (e) { return e.code } };
    console.log(JSON.stringify({
      ids: [process.getuid(), process.geteuid(), process.getgid(), process.getgroups()],
      file: tried(() => fs.readFileSync(${JSON.stringify(join(dir, 'api-key'))})),
      environ: tried(() => fs.readFileSync('/proc/${process.pid}/environ')),
      memory: tried(() => fs.openSync('/proc/${process.pid}/mem')),
      signal: tried(() => process.kill(${process.pid}, 0)),
      priority: tried(() => os.setPriority(${process.pid}, 1)) === 'done',
      back: tried(() => process.setuid(0)),
      own: tried(() => fs.openSync('/proc/self/mem')),
    }))`,
    { argument: { close: [], user: ISOLATION.user } },
  );
  assert.deepEqual(seen, {
    ids: [65_534, 65_534, 65_534, [65_534]],
    file: 'EACCES',
    environ: 'EACCES',
    memory: 'EACCES',
    signal: 'EPERM',
    priority: false,
    back: 'EPERM',
    own: 'EACCES',
  });
});

test('user code of a root server runs unprivileged', { skip }, async (t) => {
  const { run } = kit(t);
  const code = `import fs from 'node:fs'; export default () => {
    fs.writeFileSync('mine', ''); return [process.getuid(), process.getgid(), fs.statSync('mine').uid] }`;
  assert.deepEqual(returned(await run(code)), [65_534, 65_534, 65_534]);
});

test('folders within reach of others are refused', { skip }, (t) => {
  const dir = folder(t);
  const { user } = ISOLATION;
  mkdirSync(join(dir, 'open'));
  chmodSync(join(dir, 'open'), 0o777);
  assert.throws(() => new Workdirs(join(dir, 'open'), user), /belongs to another user/);
  symlinkSync(tmpdir(), join(dir, 'link'));
  assert.throws(() => new Workdirs(join(dir, 'link'), user), /belongs to another user/);
  mkdirSync(join(dir, 'shut', 'inner'), { recursive: true });
  chmodSync(join(dir, 'shut'), 0o700);
  assert.throws(() => new Workdirs(join(dir, 'shut', 'inner'), user), /may not go through/);
});

test('a shared folder outlives one of its servers', { skip }, async (t) => {
  const base = join(folder(t), 'base');
  const { user } = ISOLATION;
  chmodSync(join(base, '..'), 0o711);
  const [one, two] = [new Workdirs(base, user), new Workdirs(base, user)];
  await one.remove(await one.make());
  one.close();
  assert.equal(existsSync(base), false);
  const dir = await two.make();
  two.close();
  assert.equal(existsSync(dir), true);
  await two.remove(dir);
});

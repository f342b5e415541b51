// One user of the system for each owner: who gets which, and what the system keeps from the others.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createCodeUsers, USER_RANGES } from '../../../../src/runner/isolation/code-users.ts';
import { deploymentOf, ISOLATION, kit, requestOf, returned, signal } from '../kit.ts';
import { noJail } from './jail-kit.ts';

const skip = process.getuid?.() !== 0 && 'needs root: no other user may change users';
const RANGE = { first: 4000, count: 8 };
const OWNERS = ['u_a', 'u_b', 'u_c', 'u_d', 'u_e', 'u_f', 'u_g', 'u_h'];

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'errand-users-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test('no two owners have one user', (t) => {
  const dir = folder(t);
  const userOf = createCodeUsers(dir, RANGE);
  const ids = OWNERS.map((owner) => userOf(owner).uid);
  assert.equal(new Set(ids).size, OWNERS.length);
  for (const id of ids) assert.ok(id >= RANGE.first && id < RANGE.first + RANGE.count);
  assert.throws(() => userOf('u_one_too_many'), /all 8 users from 4000 on belong to owners/);
});

test('an owner has its user for good, at each server', (t) => {
  const dir = folder(t);
  const [one, other] = [createCodeUsers(dir, RANGE), createCodeUsers(dir, RANGE)];
  const ids = OWNERS.slice(0, 4).map((owner) => one(owner).uid);
  const others = OWNERS.slice(4).map((owner) => other(owner).uid);
  assert.equal(new Set([...ids, ...others]).size, OWNERS.length);
  const again = createCodeUsers(dir, RANGE);
  assert.deepEqual(
    OWNERS.map((owner) => again(owner).uid),
    [...ids, ...others],
  );
});

test('a folder that others may write to is refused', (t) => {
  const dir = folder(t);
  chmodSync(dir, 0o777);
  assert.throws(() => createCodeUsers(dir, RANGE)('u_a'), /belongs to another user/);
  const inner = folder(t);
  symlinkSync(tmpdir(), join(inner, 'link'));
  assert.throws(() => createCodeUsers(join(inner, 'link'), RANGE)('u_a'), /belongs to another user/);
});

test('the ranges are free of known users', () => {
  for (const { first, count } of USER_RANGES) {
    assert.ok(first > 60_577, 'users of people, and those of systemd-homed');
    assert.ok(first + count <= 65_520 || first > 0x6fffffff, 'nobody, and containers');
    assert.ok(first + count < 2 ** 31);
  }
});

const HOLDS = `import fs from 'node:fs';
  export default async ({ $ }) => {
    fs.writeFileSync('kept.txt', 'secret', { mode: 0o666 });
    fs.chmodSync('.', 0o777);
    await $.respond({ immediate: true, body: JSON.stringify([process.pid, process.cwd()]) });
    await new Promise(() => {});
  }`;
const TRY = `import fs from 'node:fs';
  const [pid, dir] = JSON.parse(process.argv[2]);
  const tried = (attempt) => { try { attempt(); return 'done' } catch (e) { return e.code } };
  console.log(JSON.stringify({
    signal: tried(() => process.kill(pid, 0)),
    memory: tried(() => fs.openSync('/proc/' + pid + '/mem')),
    environ: tried(() => fs.readFileSync('/proc/' + pid + '/environ')),
    descriptors: tried(() => fs.readdirSync('/proc/' + pid + '/fd')),
    file: tried(() => fs.readFileSync(dir + '/kept.txt')),
    folder: tried(() => fs.readdirSync(dir)),
    code: tried(() => fs.readdirSync(dir + '/../code')),
  }))`;

/** As a plain program of that user: as code that has left Node. */
function triedAs(uid: number, target: string): Record<string, string> {
  const args = ['--input-type=module', '-e', TRY, '-', target];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: '/', uid, gid: uid }));
}

test('the system keeps owners apart', { skip }, async (t) => {
  const userOf = createCodeUsers(folder(t), { first: 0x70000000, count: 65_536 });
  const { runner } = kit(t, { isolation: { ...ISOLATION, userOf } });
  const { came, onAnswer } = signal();
  const deployment = await deploymentOf(HOLDS);
  void runner.run(requestOf({ ...deployment, ownerId: 'u_victim' }, { onAnswer }));
  const target = Buffer.from((await came).body).toString();
  assert.deepEqual(triedAs(userOf('u_other').uid, target), {
    signal: 'EPERM',
    memory: 'EACCES',
    environ: 'EACCES',
    descriptors: 'EACCES',
    file: 'EACCES',
    folder: 'EACCES',
    code: 'EACCES',
  });
  const own = triedAs(userOf('u_victim').uid, target);
  assert.deepEqual([own.signal, own.file], ['done', 'done'], 'its own user may, so it is users that keep them apart');
  assert.equal(own.memory, 'EACCES', 'not even its own');
});

test('a user of whom the system knows nothing has a home folder', { skip }, async (t) => {
  const userOf = createCodeUsers(folder(t), { first: 0x70000000, count: 65_536 });
  const { run } = kit(t, { isolation: { ...ISOLATION, userOf } });
  const code = `import fs from 'node:fs'; import os from 'node:os';
    export default () => { fs.writeFileSync(os.homedir() + '/.kept', ''); return [os.homedir() === os.tmpdir(), os.tmpdir().length > 1]; };`;
  assert.deepEqual(returned(await run({ ...(await deploymentOf(code)), ownerId: 'u_one' })), [true, true]);
});

test('each owner has its own user in a jail, too', { skip: skip || (await noJail()) }, async (t) => {
  const links = folder(t);
  const userOf = createCodeUsers(links, { first: 0x70000000, count: 65_536 });
  const { run } = kit(t, { isolation: { ...ISOLATION, level: 'jail', network: 'none', userOf } });
  const code = `import fs from 'node:fs'; export default () => { fs.writeFileSync('mine', ''); return process.getuid() }`;
  for (const ownerId of ['u_one', 'u_two']) {
    assert.equal(returned(await run({ ...(await deploymentOf(code)), ownerId })), 65_534);
  }
  assert.equal(readdirSync(links).length, 2);
});

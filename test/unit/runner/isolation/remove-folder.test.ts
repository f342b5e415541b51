// Folders that code has left behind, deleted.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { removeFolder } from '../../../../src/runner/isolation/remove-folder.ts';

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'errand-remove-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, 'left'));
  return dir;
}

test('a folder is deleted with all that is in it, and no more', async (t) => {
  const dir = folder(t);
  const left = join(dir, 'left');
  mkdirSync(join(dir, 'other'));
  writeFileSync(join(dir, 'other', 'kept'), '');
  mkdirSync(join(left, 'a', 'b'), { recursive: true });
  symlinkSync(join(dir, 'other'), join(left, 'a', 'link'));
  symlinkSync('nowhere', join(left, 'broken'));
  writeFileSync(Buffer.concat([Buffer.from(`${left}/`), Buffer.from([0xff, 0xfe, 0x0a])]), '');
  for (const mode of [0, 0o400, 0o500, 0o600]) {
    const closed = join(left, `closed-${mode}`);
    mkdirSync(join(closed, 'in'), { recursive: true });
    writeFileSync(join(closed, 'file'), '');
    chmodSync(closed, mode);
  }
  await removeFolder(left);
  assert.deepEqual(readdirSync(dir), ['other']);
  assert.deepEqual(readdirSync(join(dir, 'other')), ['kept']);
});

test('folders are deleted to which no path leads', async (t) => {
  const left = join(folder(t), 'left');
  const deep = `const name = 'd'.repeat(200);
    for (let n = 0; n < 50; n++) { fs.mkdirSync(name); process.chdir(name) }
    fs.writeFileSync('deepest', '')`;
  execFileSync(process.execPath, ['-e', deep], { cwd: left });
  await removeFolder(left);
  assert.equal(existsSync(left), false);
});

test('thousands of entries are deleted a few at a time', async (t) => {
  const left = join(folder(t), 'left');
  for (let n = 0; n < 2000; n++) writeFileSync(join(left, String(n)), '');
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, process.getActiveResourcesInfo().filter((name) => name.startsWith('FSReq')).length);
  });
  await removeFolder(left);
  clearInterval(look);
  assert.ok(most >= 1 && most < 10, String(most));
  assert.equal(existsSync(left), false);
});

test('a folder that is not there is deleted already', async (t) => {
  await removeFolder(join(folder(t), 'none'));
});

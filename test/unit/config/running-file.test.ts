import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { readRunning, removeRunning, writeRunning } from '../../../src/server/running-file.ts';
import { createFolder } from '../../support/folders/folder.ts';

const FIRST = { pid: 1, url: 'http://127.0.0.1:1' };
const SECOND = { pid: 2, url: 'http://127.0.0.1:2' };

test('the running server is found until it stops', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'running.json');
  assert.equal(await readRunning(path), null);
  await writeRunning(path, FIRST);
  assert.deepEqual(await readRunning(path), FIRST);
  await removeRunning(path, FIRST);
  assert.deepEqual([...(await folder.contents()).keys()], []);
  await removeRunning(path, FIRST);
});

test('whoever stops leaves the name of another', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'running.json');
  await writeRunning(path, FIRST);
  await writeRunning(path, SECOND);
  await removeRunning(path, FIRST);
  assert.deepEqual(await readRunning(path), SECOND);
});

test('what cannot be read is nobody', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'running.json');
  for (const text of ['', '{', 'null', '{"pid":1}', '{"url":"x"}', '[]']) {
    await writeFile(path, text);
    assert.equal(await readRunning(path), null, text);
  }
});

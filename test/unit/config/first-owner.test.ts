// Nodes that start at once on an empty store. One store in this process stands in for the shared one.

import assert from 'node:assert/strict';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { createOwners, hashKey } from '../../../src/engine/resources/owners.ts';
import { ConfigError, dataPaths, readConfig } from '../../../src/server/config.ts';
import { ensureFirstOwner, type FirstOwner } from '../../../src/server/first-owner.ts';
import { clock, createIds, random } from '../../../src/server/real-ports.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { createFolder, type Folder } from '../../support/folders/folder.ts';

const ids = createIds(clock, random);
const GIVEN = 'a-key-that-all-the-nodes-were-given';

interface Stage extends AsyncDisposable {
  readonly store: Store;
  /** The start of a node with its own data dir. */
  start(folder: Folder, apiKey?: string): Promise<FirstOwner>;
}

async function createStage(): Promise<Stage> {
  const folder = await createFolder();
  const store = await openSqliteStore({ path: join(folder.path, 'errand.db'), clock, random });
  const actions = createOwners({ store, clock, ids, wake: { notify: () => undefined }, maxOwners: 1 });
  return {
    store,
    start: ({ path }, apiKey = '') => {
      const config = readConfig({ ERRAND_DATA_DIR: path, ERRAND_API_KEY: apiKey });
      return ensureFirstOwner({ store, actions, config, ids, clock });
    },
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function keyIn({ path }: Folder): Promise<string | null> {
  return readFile(dataPaths(path).apiKey, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
}

test('nodes with data dirs of their own make one owner', async () => {
  await using stage = await createStage();
  await using one = await createFolder();
  await using two = await createFolder();
  await using three = await createFolder();
  const folders = [one, two, three];
  const firsts = await Promise.all(folders.map((folder) => stage.start(folder)));
  assert.equal((await stage.store.listOwners()).length, 1);
  const made = firsts.flatMap(({ newKey }) => newKey ?? []);
  assert.equal(made.length, 1);
  assert.ok(await stage.store.keyByHash(hashKey(made[0] as string)));
  const keys = await Promise.all(folders.map(keyIn));
  assert.deepEqual(
    keys.filter((key) => key !== null),
    made,
    'a key that opens nothing is not kept',
  );
  for (const [n, { keyFile }] of firsts.entries()) assert.equal(keyFile !== null, keys[n] !== null);
});

test('a key that a killed start left under another name is removed, one that is being written is not', async () => {
  await using stage = await createStage();
  await using folder = await createFolder();
  const { apiKey } = dataPaths(folder.path);
  const hourAgo = new Date(clock.nowMs() - 3_600_000);
  for (const name of ['old', 'new']) await writeFile(`${apiKey}.${name}.tmp`, GIVEN);
  await writeFile(`${apiKey}.tmp`, 'of another program');
  for (const name of [`${apiKey}.old.tmp`, `${apiKey}.tmp`]) await utimes(name, hourAgo, hourAgo);
  await stage.start(folder);
  assert.deepEqual((await readdir(folder.path)).sort(), ['api-key', 'api-key.new.tmp', 'api-key.tmp']);
});

test('processes on one data dir share the key', async () => {
  await using stage = await createStage();
  await using folder = await createFolder();
  const firsts = await Promise.all(Array.from({ length: 5 }, () => stage.start(folder)));
  assert.equal((await stage.store.listOwners()).length, 1);
  const key = (await keyIn(folder)) as string;
  assert.ok(await stage.store.keyByHash(hashKey(key)));
  assert.deepEqual(
    firsts.flatMap(({ newKey }) => newKey ?? []),
    [key],
  );
  for (const { keyFile } of firsts) assert.equal(keyFile, dataPaths(folder.path).apiKey);
  assert.deepEqual([...(await folder.contents()).keys()], [dataPaths(folder.path).apiKey]);
});

test('a key that all were given is taken once', async () => {
  await using stage = await createStage();
  await using folder = await createFolder();
  const firsts = await Promise.all([1, 2, 3].map(() => stage.start(folder, GIVEN)));
  assert.equal((await stage.store.listOwners()).length, 1);
  assert.ok(await stage.store.keyByHash(hashKey(GIVEN)));
  assert.deepEqual(firsts, Array(3).fill({ keyFile: null, keyHash: hashKey(GIVEN), newKey: null }));
  assert.equal(await keyIn(folder), null);
});

test('a file whose key opens nothing is not named', async () => {
  await using stage = await createStage();
  await using folder = await createFolder();
  await stage.start(folder, GIVEN);
  await writeFile(dataPaths(folder.path).apiKey, 'left by a node that was second\n');
  assert.deepEqual(await stage.start(folder), { keyFile: null, keyHash: null, newKey: null });
});

test('a key file without a key stops the start', async () => {
  await using stage = await createStage();
  await using folder = await createFolder();
  await writeFile(dataPaths(folder.path).apiKey, '\n');
  await assert.rejects(stage.start(folder), ConfigError);
  assert.deepEqual(await stage.store.listOwners(), []);
});

// Nodes that come to a database: several at once, to an empty one, and one too many.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { startErrand } from '../../support/errand.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { newDatabaseOn } from '../../support/postgres/fresh.ts';
import { newDatabase, sharedPostgres } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';
import { spawnErrand } from '../../support/process.ts';
import { seenFrom, startNodes, startNodesOn } from './nodes.ts';

test('nodes may start at once on an empty database', async () => {
  const blank = await newDatabaseOn(await sharedPostgres(), { isBlank: true });
  await using nodes = await startNodesOn(blank, {}, {}, {}, {});
  const [first] = nodes.all;
  const owners = await Promise.all(nodes.all.map(({ client }) => client.get('/v1/owners')));
  const ids = owners.flatMap(({ data }) => data.map(({ id }: { id: string }) => id));
  assert.deepEqual([ids.length, new Set(ids).size], [4, 1]);
  const workflow = await first.workflow('export default () => 1');
  for (const node of nodes.all) await node.send(seenFrom(node, workflow), {});
  assert.equal((await first.settled()).runs.succeeded, 4);
});

test('a made key is known to all that started with it', async () => {
  await using folder = await createFolder();
  // None is given: whoever comes first makes one, and keeps it in its data dir.
  const settings = ['a', 'b', 'c'].map((name) => ({ ERRAND_API_KEY: '', ERRAND_DATA_DIR: `${folder.path}/${name}` }));
  await using nodes = await startNodes(...settings);
  const keys = [...(await folder.contents())].filter(([path]) => path.endsWith('api-key'));
  assert.equal(keys.length, 1);
  for (const { url } of nodes.all) {
    const answer = await fetch(`${url}/v1/users/me`, { headers: { authorization: `Bearer ${keys[0]?.[1].trim()}` } });
    assert.equal(answer.status, 200);
    await answer.body?.cancel();
  }
});

test('a node that comes later takes its part', async () => {
  await using nodes = await startNodes({ ERRAND_ROLES: 'api' });
  const [api] = nodes.all;
  const workflow = await api.workflow('export default () => 1');
  for (let n = 0; n < 5; n++) await api.send(workflow, { n });
  await using _later = await startErrand({ ERRAND_DATABASE_URL: nodes.databaseUrl });
  assert.equal((await api.settled()).runs.succeeded, 5);
});

test('one node too many is refused, and says why', async () => {
  await using folder = await createFolder();
  const { url, drop } = await newDatabase();
  await using opened = new AsyncDisposableStack();
  opened.defer(drop);
  const openOne = async (): Promise<Store> => {
    const store = await openTestStore({ url, clock: null });
    opened.defer(() => store.close());
    return store;
  };
  const first = await openOne();
  for (let n = 1; n < LIMITS.nodes; n++) await openOne();
  await assert.rejects(openOne(), (error: Error) => {
    assert.ok(error instanceof StoreUnavailable);
    assert.match(error.message, /32 Errand processes already; stop one first/);
    return true;
  });
  const settings = { ERRAND_DATA_DIR: folder.path, ERRAND_DATABASE_URL: url };
  await assert.rejects(spawnErrand(settings), /exited with 1.*32 Errand processes already/s);
  assert.equal(await first.check(), true);
  await first.close();
  await openOne();
});

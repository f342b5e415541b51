// Changes of one source at several nodes: one after the other, and what a node that is gone has begun, another one finishes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Json } from '../../../support/client.ts';
import { API_KEY, type Errand } from '../../../support/errand.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { spawnErrand } from '../../../support/process.ts';
import { REGISTERING, type Registry, startRegistry } from '../../../support/sources/registry.ts';
import { until } from '../../../support/wait.ts';
import { shareNodes, startNodes } from '../nodes.ts';

/** More than the lease of a node. */
const GONE_MS = 10_000;
const STEPS = 4;
/** More than the time between two beats of a node. */
const BEAT_MS = 2000;

const propsOf = (registry: Registry, version: string) => ({ to: registry.url, label: 'one', version });

function create(errand: Errand, registry: Registry): Promise<Json> {
  const configured_props = propsOf(registry, 'a');
  return errand.client.post('/v1/sources', { name: 'one', component_code: REGISTERING, configured_props });
}

const hooksOf = ({ answered }: Registry): string[] => answered.filter((call) => !call.endsWith(' tick'));

const versionOf = async (errand: Errand, path: string): Promise<string> =>
  (await errand.client.get(path)).data.configured_props.version;

test('changes at several nodes do not mix their hooks', async () => {
  await using registry = await startRegistry();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const path = `/v1/sources/${(await create(a, registry)).id}`;
  const changes = [a, b, a, b].map((node, i) => node.client.put(path, { configured_props: propsOf(registry, `${i}`) }));
  const versions = (await Promise.all(changes)).map(({ configured_props }) => configured_props.version);
  assert.deepEqual(versions, ['0', '1', '2', '3'], 'each was answered with what it made');
  const each = ['one deactivate', 'one activate'];
  assert.deepEqual(hooksOf(registry), ['one deploy', 'one activate', ...each, ...each, ...each, ...each]);
  assert.deepEqual(registry.registered(), ['one']);
});

test('a change that a killed node began is finished', async () => {
  await using registry = await startRegistry();
  await using folder = await createFolder();
  await using nodes = await startNodes({}, {});
  const [a, b] = nodes.all;
  const path = `/v1/sources/${(await create(a, registry)).id}`;
  const env = { ERRAND_DATA_DIR: folder.path, ERRAND_DATABASE_URL: nodes.databaseUrl, ERRAND_API_KEY: API_KEY };
  await using killed = await spawnErrand({ ...env, ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  registry.hold('one activate');
  const put = createClient(killed.url, API_KEY).request('PUT', path, { configured_props: propsOf(registry, 'b') });
  put.catch(() => undefined);
  await registry.held('one activate');
  killed.child.kill('SIGKILL');
  await killed.exited;
  const next = b.client.put(path, { name: 'next' });
  // Step by step: the nodes that live beat in between, and are not taken for gone themselves.
  for (let step = 0; step < STEPS; step++) {
    await pause(BEAT_MS);
    nodes.forward(GONE_MS / STEPS);
  }
  // Whichever node executed the hook: it is asked for once more, and the one that was held is not waited for.
  assert.equal((await next).name, 'next');
  assert.equal(await versionOf(a, path), 'b', 'it was written');
  const finished = [a, b].flatMap(({ logged }) => logged.filter(({ name }) => /finished a change/.test(name)));
  assert.deepEqual(
    finished.map(({ level, fields }) => [level, (fields as Json).change, (fields as Json).repaired]),
    [['warn', 'update', 'on']],
    'by one of them',
  );
  const each = ['one deactivate', 'one activate'];
  assert.deepEqual(hooksOf(registry), ['one deploy', 'one activate', ...each, ...each]);
  assert.deepEqual(registry.registered(), ['one']);
});

const ONCE = ['one deploy', 'one activate', 'one deactivate', 'one activate'];

for (const [what, isRefused, hooks, status] of [
  ['does not end its change', false, ONCE, 409],
  ['does not go back behind the other one', true, [...ONCE, 'one activate'], 422],
] as const) {
  test(`a node that was taken for gone ${what}`, async () => {
    await using registry = await startRegistry();
    await using nodes = await startNodes({}, { ERRAND_ROLES: 'api' });
    const [a, b] = nodes.all;
    const path = `/v1/sources/${(await create(a, registry)).id}`;
    registry.hold('one activate');
    const changed = b.client.request('PUT', path, { configured_props: propsOf(registry, 'b') });
    await registry.held('one activate');
    const marked = async () => (await queryOn(nodes.databaseUrl, 'SELECT node FROM source_changes'))[0]?.node;
    const mark = await marked();
    await queryOn(nodes.databaseUrl, `UPDATE nodes SET gone_at_ms = beat_at_ms WHERE node = ${mark}`);
    await until('another one takes it', async () => (await marked()) !== mark);
    // The hook runs at that one all the time: its end counts for both.
    if (isRefused) registry.refuse('one activate');
    registry.letGo('one activate');
    const answer = await changed;
    assert.equal(answer.status, status, answer.text);
    await until('another one finishes it', () => a.logged.some(({ name }) => /finished a change/.test(name)));
    const { data } = await a.client.get(path);
    assert.deepEqual([data.active, data.configured_props.version], [!isRefused, 'b']);
    assert.equal(await marked(), undefined);
    assert.deepEqual(hooksOf(registry), hooks);
    assert.deepEqual(registry.registered(), isRefused ? [] : ['one']);
  });
}

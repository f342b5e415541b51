// Sources and steps that are files of the server's, and what they may be made of.

import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Answer, Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { assertProblem } from '../../support/problem.ts';
import { createComponents } from '../../support/sources/components.ts';
import { emissions, post } from '../../support/sources/sources.ts';

const FILES = {
  'components/shop/shop.app.mjs': `import rate from 'rates@^1'; export default { type: 'app', app: 'shop', methods: { rate: () => rate } };`,
  'components/shop/sources/common/base.ts': `export default { props: { http: '$.interface.http' }, dedupe: 'unique' as const };`,
  'components/shop/sources/new-order/new-order.mjs': `import shop from '../../shop.app.mjs';
import base from '../common/base.ts';
import { prefix } from './prefix.json';

export default {
  ...base,
  name: 'New order',
  run({ body }) {
    if (body === 'throw') throw new Error('no order');
    this.$emit({ id: prefix + body.id, rate: shop.methods.rate() }, { id: body.id });
  },
};
`,
  'components/shop/sources/new-order/prefix.json': '{"prefix": "order "}',
  'components/shop/actions/rate.ts': `import rate from 'rates'; export default { type: 'action', run: (): number => rate };`,
  'packages/node_modules/rates/package.json': '{"version":"1.2.3"}',
  'packages/node_modules/rates/index.js': 'module.exports = 19;',
};
const PATH = 'shop/sources/new-order/new-order.mjs';

function tryPath(errand: Errand, path: unknown): Promise<Answer> {
  return errand.client.request('POST', '/v1/sources', { component_path: path });
}

const deploymentOf = async (errand: Errand, source: Json): Promise<string> => {
  const { data } = await errand.client
    .post(`/v1/sources/${source.id}/invoke`, { event: { body: { id: 'probe' } } })
    .then(({ run_id: id }) => errand.client.get(`/v1/runs/${id}`));
  return data.deployment_id;
};

test('a source is deployed from its file', async () => {
  await using folder = await createComponents(FILES);
  await using errand = await startErrand(folder.settings);
  const source = await errand.client.post('/v1/sources', { component_path: PATH });
  assert.deepEqual([source.name, source.component_path], ['New order', PATH]);
  await post(source, { id: 1 });
  await post(source, { id: 1 });
  await post(source, '"throw"');
  const [error] = await errand.errors(source.id, 1);
  assert.match(error?.event.error.stack, /shop\/sources\/new-order\/new-order\.mjs:9:/);
  await errand.restart();
  const [record, ...more] = await emissions(errand, source.id, 1);
  assert.deepEqual([record.event, more], [{ id: 'order 1', rate: 19 }, []]);
  const { data } = await errand.client.get(`/v1/sources/${source.id}`);
  assert.equal(data.component_path, PATH);
  assert.equal(data.component_code, FILES[`components/${PATH}`]);
});

test('the same path deploys what the file is now', async () => {
  await using folder = await createComponents(FILES);
  await using errand = await startErrand(folder.settings);
  const source = await errand.client.post('/v1/sources', { component_path: PATH });
  const put = (body: Json): Promise<Json> => errand.client.put(`/v1/sources/${source.id}`, body);
  const first = await deploymentOf(errand, source);
  await put({ component_path: PATH });
  await put({ name: 'Renamed' });
  assert.equal(await deploymentOf(errand, source), first);
  await folder.write({ 'components/shop/sources/new-order/prefix.json': '{"prefix": "number "}' });
  await put({ name: 'Renamed again' });
  assert.equal(await deploymentOf(errand, source), first);
  const changed = await put({ component_path: PATH });
  assert.deepEqual([changed.id, changed.endpoint_url], [source.id, source.endpoint_url]);
  await post(source, { id: 2 });
  await errand.settled(); // a package that is changed counts for processes that start after it
  await folder.write({ 'packages/node_modules/rates/index.js': 'module.exports = 7;' });
  await put({ component_path: PATH });
  await post(source, { id: 3 });
  const events = (await emissions(errand, source.id, 3)).map(({ event }) => `${event.id} ${event.rate}`);
  assert.deepEqual(events.slice(0, 2), ['number 3 7', 'number 2 19']);
  const coded = await put({ component_code: 'export default { props: { http: "$.interface.http" } };' });
  assert.equal('component_path' in coded, false);
});

test('a path that is not below the folder is refused', async () => {
  await using folder = await createComponents({ ...FILES, 'secret.mjs': 'export default {};' });
  await symlink(join(folder.dir, 'secret.mjs'), join(folder.dir, 'components/linked.mjs'));
  await symlink(folder.dir, join(folder.dir, 'components/above'));
  await folder.write({ 'components/notes.md': 'notes', 'components/bad.mjs': 'export default { a:: 1 };' });
  await using errand = await startErrand(folder.settings);
  for (const path of [
    '../secret.mjs',
    'shop/../../secret.mjs',
    join(folder.dir, 'secret.mjs'),
    'linked.mjs',
    'above/secret.mjs',
    'shop',
    'notes.md',
    'a\\b.mjs',
    'a\0.mjs',
    './bad.mjs',
    '/',
  ]) {
    const refused = await tryPath(errand, path);
    assertProblem(refused, 422);
    assert.equal(refused.json.errors[0].parameter, 'component_path', path);
    assert.doesNotMatch(refused.text, new RegExp(`${folder.dir}/components`), path);
  }
  const missing = await tryPath(errand, 'shop/sources/new-orders.mjs');
  assertProblem(missing, 422);
  assert.match(missing.json.detail, /there is no such file .*; near it are shop\/sources\/new-order\/new-order\.mjs/);
  const broken = await tryPath(errand, 'bad.mjs');
  assertProblem(broken, 422);
  const { parameter, file, line } = broken.json.errors[0];
  assert.deepEqual([parameter, file, line], ['component_path', 'bad.mjs', 1]);
  const app = await tryPath(errand, 'shop/shop.app.mjs');
  assert.match(app.json.detail, /of type app/);
  assertProblem(await tryPath(errand, 7), 400);
  assert.equal((await errand.client.get('/v1/sources')).data.length, 0);
});

test('a step is deployed from its file', async () => {
  await using folder = await createComponents(FILES);
  await using errand = await startErrand(folder.settings);
  const steps = [
    { namespace: 'rate', component_path: 'shop/actions/rate.ts' },
    {
      namespace: 'tell',
      code: `import rates from 'rates@1'; export default ({ steps }) => [steps.rate.$return_value, rates];`,
    },
  ];
  const workflow = await errand.client.post('/v1/workflows', { name: 'paths', steps });
  const run = async (): Promise<string> => {
    await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: {} });
    return '';
  };
  await run();
  const [ended] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${ended?.id}`);
  assert.deepEqual(data.steps[1].return_value, [19, 19]);
  const put = (body: Json): Promise<Json> => errand.client.put(`/v1/workflows/${workflow.id}`, body);
  assert.equal((await put({ steps })).deployment_id, workflow.deployment_id);
  await folder.write({ 'components/shop/actions/rate.ts': `export default { type: 'action', run: () => 1 };` });
  assert.notEqual((await put({ steps })).deployment_id, workflow.deployment_id);
  const none = await errand.client.request('PUT', `/v1/workflows/${workflow.id}`, {
    steps: [{ namespace: 'rate', component_path: 'shop/none.ts' }],
  });
  assert.equal(none.json.errors[0].parameter, 'steps[0].component_path');
  for (const step of [{ namespace: 'a' }, { namespace: 'a', code: 'x', component_path: 'y' }]) {
    assertProblem(await errand.client.request('POST', '/v1/workflows', { name: 'n', steps: [step] }), 400);
  }
});

test('a step of a file that is sent back stays as it was deployed', async () => {
  await using folder = await createComponents({
    ...FILES,
    'components/shop/actions/times.mjs': `import shop from '../shop.app.mjs';
export default { type: 'action', props: { n: 'integer', key: { type: 'string', secret: true } },
  run() { return [this.n * shop.methods.rate(), this.key]; } };`,
  });
  await using errand = await startErrand(folder.settings);
  const plain = { namespace: 'plain', code: 'export default () => 1;' };
  const path = 'shop/actions/times.mjs';
  const times = { namespace: 'times', component_path: path, configured_props: { n: 2, key: 'hidden' } };
  const workflow = await errand.client.post('/v1/workflows', { name: 'paths', steps: [plain, times] });
  const address = `/v1/workflows/${workflow.id}`;
  const read = async (): Promise<Json[]> => (await errand.client.get(address)).data.steps;
  const [, shown] = await read();
  assert.deepEqual([shown?.component_path, shown?.configured_props], [path, { n: 2 }]);
  await folder.write({ 'components/shop/shop.app.mjs': `export default { type: 'app', app: 'shop', methods: {} };` });
  const same = { namespace: 'times', code: shown?.code };
  const put = (steps: Json[]): Promise<Answer> => errand.client.request('PUT', address, { steps });
  const more = { namespace: 'more', code: 'export default ({ steps }) => steps.times.$return_value;' };
  assert.equal((await put([same, plain, more])).status, 200);
  const { run_id: run } = await errand.client.post(`${address}/runs`, { event: {} });
  await errand.settled();
  const { data } = await errand.client.get(`/v1/runs/${run}`);
  assert.deepEqual(data.steps[2].return_value, [38, 'hidden']);
  assert.deepEqual((await read())[0], shown);
  const bare = { namespace: 'bare', code: "export default { type: 'action', run: () => 1 };" };
  assert.equal((await put([same, bare])).json.data.steps[1].component_path, undefined);
  // The code of another workflow's step is not known here.
  const other = await errand.client.post('/v1/workflows', { name: 'other', steps: [plain] });
  const refused = await errand.client.request('PUT', `/v1/workflows/${other.id}`, { steps: [same] });
  assertProblem(refused, 422);
  assert.match(refused.json.detail, /"\.\.\/shop\.app\.mjs" is not available here/);
});

test('without folders there are no files and packages', async () => {
  await using errand = await startErrand();
  const refused = await tryPath(errand, PATH);
  assertProblem(refused, 422);
  assert.match(refused.json.detail, /ERRAND_COMPONENTS_DIR/);
  const code = await errand.client.request('POST', '/v1/sources', {
    component_code: 'import "rates"; export default {}',
  });
  assertProblem(code, 422);
  assert.match(code.json.detail, /"rates" is not available here.*ERRAND_PACKAGES_DIR/);
});

test('many sources of one component are described once', async () => {
  await using folder = await createComponents(FILES);
  await using errand = await startErrand(folder.settings);
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      errand.client.post('/v1/sources', { component_path: PATH, name: `source ${i}` }),
    ),
  );
  assert.equal(new Set(made.map(({ id }) => id)).size, 40);
  await post(made[39], { id: 39 });
  assert.equal((await emissions(errand, made[39].id, 1))[0].event.id, 'order 39');
});

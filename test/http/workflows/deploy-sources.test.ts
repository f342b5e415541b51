// `errand deploy` of source components: bundled on the caller's machine, and known by their paths.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient, type Json } from '../../support/client.ts';
import { API_KEY, type Errand, startErrand } from '../../support/errand.ts';
import { answering, createWorkflowFiles } from '../../support/folders/workflow-files.ts';
import { assertProblem } from '../../support/problem.ts';
import { emissions, post } from '../../support/sources/sources.ts';
import { type Called, call as command } from '../../unit/store/command.ts';

function deploy(errand: Errand, path: string, ...more: string[]): Promise<Called> {
  return command(['deploy', path, '--json', '--url', errand.url, ...more], { ERRAND_API_KEY: API_KEY });
}

function printed({ stdout }: Called): Json[] {
  return JSON.parse(`[${stdout.replaceAll('}\n{', '},{')}]`);
}

const FILES = {
  'shop/shop.app.mjs': `export default { type: 'app', app: 'shop', methods: {} };`,
  'shop/common/base.mjs': `export default { props: { http: '$.interface.http' } };`,
  'shop/actions/refund.mjs': `export default { key: 'refund', type: 'action', run() {} };`,
  'shop/sources/order.mjs': `import base from '../common/base.mjs';
import nine from 'nine@^9.0.0';
export default {
  ...base, key: 'order', name: 'Orders',
  run({ body }) { if (body === 'throw') throw new Error('no'); this.$emit({ nine: nine(), body }); },
};
`,
  'flow.ts': answering('Flow', '1'),
  'node_modules/nine/package.json': '{"version":"9.1.0"}',
  'node_modules/nine/index.js': 'module.exports = () => 9;',
};

const SECRET = `export default { key: 'k', props: { http: '$.interface.http', token: { type: 'string', secret: true } }, run() { this.$emit(this.token.length); } };`;

test('a folder’s sources are deployed, and again', async () => {
  await using errand = await startErrand();
  await using folder = await createWorkflowFiles(FILES);
  const first = await deploy(errand, folder.path);
  assert.equal(first.stderr, '');
  const [flow, order, ...others] = printed(first);
  assert.deepEqual([flow.path, order.path, order.result, others], ['flow.ts', 'shop/sources/order.mjs', 'made', []]);
  const source = { id: order.source_id, endpoint_url: order.endpoint };
  await post(source, { n: 1 });
  await post(source, '"throw"');
  assert.deepEqual((await emissions(errand, source.id, 1))[0].event, { nine: 9, body: { n: 1 } });
  const [error] = await errand.errors(source.id, 1);
  assert.match(error?.event.error.stack, /shop\/sources\/order\.mjs:5:/);
  await errand.restart();
  assert.equal(printed(await deploy(errand, folder.path))[1].result, 'same');
  await folder.write({ 'node_modules/nine/index.js': 'module.exports = () => 99;' });
  const changed = printed(await deploy(errand, folder.path))[1];
  assert.deepEqual([changed.result, changed.source_id], ['changed', source.id]);
  assert.equal(new URL(changed.endpoint).pathname, new URL(source.endpoint_url).pathname);
  await post({ endpoint_url: changed.endpoint }, { n: 2 });
  assert.equal((await emissions(errand, source.id, 2))[0].event.nine, 99);
  assert.equal((await errand.client.get('/v1/sources')).data.length, 1);
});

test('a dry run shows what a deployment would deploy, and nothing else', async () => {
  await using errand = await startErrand();
  await using folder = await createWorkflowFiles(FILES);
  const plan = async () =>
    printed(await deploy(errand, folder.path, '--dry-run')).map(({ path, change }) => [path, change]);
  const [flow, order] = ['flow.ts', 'shop/sources/order.mjs'] as const;
  assert.deepEqual(await plan(), [
    [flow, 'new'],
    [order, 'new'],
  ]);
  assert.deepEqual((await errand.client.get('/v1/sources')).data, [], 'nothing is deployed');
  await deploy(errand, folder.path);
  assert.deepEqual(await plan(), [
    [flow, 'same'],
    [order, 'same'],
  ]);
  await folder.write({ [order]: FILES[order].replace("name: 'Orders'", "name: 'All orders'") });
  assert.deepEqual(await plan(), [
    [flow, 'same'],
    [order, 'changed'],
  ]);
  assert.equal((await errand.client.get('/v1/sources')).data[0].name, 'Orders');
  await using shared = await createWorkflowFiles({
    'shop.app.mjs': FILES['shop/shop.app.mjs'],
    'refund.mjs': FILES['shop/actions/refund.mjs'],
    'nameless.mjs': 'export default { name: "no key", run() {} };',
  });
  const none = await deploy(errand, shared.path, '--dry-run');
  assert.deepEqual([none.status, none.stdout], [1, '']);
  assert.match(none.stderr, /nothing to deploy/);
});

test('props are given with a source, and stay', async () => {
  await using errand = await startErrand();
  await using folder = await createWorkflowFiles({ 'secret.mjs': SECRET });
  const file = join(folder.path, 'secret.mjs');
  const missing = await deploy(errand, file);
  assert.deepEqual([missing.status, missing.stdout], [1, '']);
  assert.match(missing.stderr, /secret\.mjs: prop "token"/);
  await writeFile(join(folder.path, 'props.json'), '{"token": "hunter2"}');
  const [made] = printed(await deploy(errand, file, '--props', `@${join(folder.path, 'props.json')}`));
  await folder.write({ 'secret.mjs': SECRET.replace('.length', '.length + 1') });
  const again = await deploy(errand, file);
  assert.equal(printed(again)[0].result, 'changed');
  assert.doesNotMatch(again.stdout + again.stderr, /hunter2/);
  await post({ endpoint_url: made.endpoint }, {});
  assert.equal((await emissions(errand, made.source_id, 1))[0].event, 8);
  // A prop that the code no longer has goes, although it was not named.
  await folder.write({ 'secret.mjs': SECRET.replace(/, token: .*? } }/, ' }').replace('this.token.length', '1') });
  assert.equal(printed(await deploy(errand, file))[0].result, 'changed');
  for (const props of ['7', '{', '@nowhere.json', '[]']) {
    assert.match((await deploy(errand, file, '--props', props)).stderr, /--props is not a JSON object/);
  }
  assert.match((await deploy(errand, folder.path, '--props', '{}')).stderr, /--props is for one file/);
});

test('what cannot be a source is told', async () => {
  await using errand = await startErrand();
  await using folder = await createWorkflowFiles({
    'app.mjs': `export default { type: 'app' };`,
    'lacks.mjs': `import 'gone@1'; export default { key: 'a' };`,
    'other.mjs': `import 'nine@^8'; export default { key: 'a' };`,
    'throws.mjs': `null.x; export default { key: 'a' };`,
    'node_modules/nine/package.json': '{"version":"9.1.0"}',
    'node_modules/nine/index.js': '',
  });
  const told = async (path: string): Promise<string> => (await deploy(errand, join(folder.path, path))).stderr;
  assert.match(await told('app.mjs'), /the component is of type app/);
  assert.match(await told('lacks.mjs'), /lacks\.mjs:1:8: .*"gone.*npm install gone/);
  assert.match(await told('throws.mjs'), /throws\.mjs.*Cannot read properties of null/);
  const whole = await deploy(errand, folder.path);
  assert.equal(whole.status, 1);
  assert.doesNotMatch(whole.stderr, /app\.mjs/);
  assert.equal((await errand.client.get('/v1/sources')).data.length, 0);
});

test('a folder in which nothing is deployed says so', async () => {
  await using errand = await startErrand();
  await using folder = await createWorkflowFiles({
    'shop.app.mjs': `export default { type: 'app', app: 'shop', methods: {} };`,
    'unnamed.mjs': `export default { run() {} };`,
  });
  const { status: code, stdout, stderr } = await deploy(errand, folder.path);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /nothing to deploy: no file in .* exports a workflow/);
});

test('each owner has a source of that path', async () => {
  await using errand = await startErrand();
  const bundle = 'export default { key: "k", props: { http: "$.interface.http" } };';
  const body = { path: 'a.mjs', source: bundle, bundle, source_map: '{}' };
  const other = await errand.client.post('/v1/owners', { name: 'Other' });
  const theirs = createClient(errand.url, other.api_key);
  const [ours, their] = [await errand.client.put('/v1/source_files', body), await theirs.put('/v1/source_files', body)];
  assert.deepEqual([ours.result, their.result], ['made', 'made']);
  assert.notEqual(ours.source.id, their.source.id);
  assertProblem(await theirs.request('GET', `/v1/sources/${ours.source.id}`), 404);
  assertProblem(await errand.client.request('PUT', '/v1/source_files', { ...body, path: '/a' }), 400);
  assertProblem(await errand.client.request('PUT', '/v1/source_files', { ...body, bundle: 'oops(' }), 422);
  await errand.client.delete(`/v1/sources/${ours.source.id}`);
  assert.equal((await errand.client.put('/v1/source_files', body)).result, 'made');
});

test('a project prunes the sources that it deployed itself', async () => {
  await using errand = await startErrand();
  const source = (key: string) =>
    `export default { key: '${key}', name: '${key}', props: { http: '$.interface.http' }, run() {} };`;
  await using shop = await createWorkflowFiles({
    'package.json': '{"name": "shop"}',
    'one.mjs': source('one'),
    'two.mjs': source('two'),
  });
  await using other = await createWorkflowFiles({ 'package.json': '{"name": "other"}', 'three.mjs': source('three') });
  const [one, two] = printed(await deploy(errand, shop.path));
  assert.equal((await deploy(errand, other.path)).status, 0);
  const shown = (await errand.client.get(`/v1/sources/${one.source_id}`)).data;
  assert.deepEqual([shown.file_path, shown.project], ['one.mjs', 'shop']);
  const ids = async (): Promise<string[]> => (await errand.client.get('/v1/sources')).data.map(({ id }: Json) => id);
  await shop.remove('two.mjs');
  await errand.restart();
  const dry = await deploy(errand, shop.path, '--dry-run', '--prune');
  assert.deepEqual(
    printed(dry).map(({ path, change, source_id: id = null }) => [path, change, id]),
    [
      ['one.mjs', 'same', null],
      ['two.mjs', 'gone', two.source_id],
    ],
  );
  const asked = await deploy(errand, shop.path, '--prune');
  assert.deepEqual([asked.status, (await ids()).length], [2, 3]);
  assert.match(asked.stderr, /Delete the source "two" \(two\.mjs\), whose files are gone\?/);
  const pruned = printed(await deploy(errand, shop.path, '--prune', '--yes'));
  assert.deepEqual(
    pruned.map(({ path, result, source_id: id }) => [path, result, id]),
    [
      ['two.mjs', 'deleted', two.source_id],
      ['one.mjs', 'same', one.source_id],
    ],
  );
  assert.ok(!(await ids()).includes(two.source_id));
  assert.equal((await ids()).length, 2, 'the other project keeps its own');
  // A path belongs to the project that deployed it first.
  await other.write({ 'one.mjs': source('mine') });
  const taken = await deploy(errand, other.path);
  assert.equal(taken.status, 1);
  assert.match(taken.stderr, /one\.mjs was deployed by the project "shop", and this one is "other"/);
  const unnamed = { path: 'one.mjs', source: 'x', bundle: source('one'), source_map: '{}' };
  assertProblem(await errand.client.request('PUT', '/v1/source_files', { ...unnamed, project: 'a b' }), 400);
});

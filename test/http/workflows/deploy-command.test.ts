// `errand deploy`: workflow files bundled on the caller's machine, and what the server makes of them.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { API_KEY, type Errand, startErrand } from '../../support/errand.ts';
import { answering, call, createWorkflowFiles, deploymentsOf, named } from '../../support/folders/workflow-files.ts';
import { freePort } from '../../support/port.ts';
import { assertProblem } from '../../support/problem.ts';
import { type Called, call as command } from '../../unit/store/command.ts';

function deploy(errand: Errand, path: string): Promise<Called> {
  return command(['deploy', path, '--json', '--url', errand.url], { ERRAND_API_KEY: API_KEY });
}

/** It prints one object for each file. */
function printed({ stdout }: Called): Json[] {
  return JSON.parse(`[${stdout.replaceAll('}\n{', '},{')}]`);
}

const bundled = (code: string, more: object = {}): object => ({
  path: 'a.ts',
  source: code,
  bundle: code,
  source_map: '{}',
  ...more,
});

test('a folder is deployed, and again without change', async () => {
  await using errand = await startErrand();
  await using folder = await createWorkflowFiles({
    'a.ts': answering('A', 'price + process.env.CURRENCY', `import { price } from './lib/prices.ts';`),
    'shop/b.ts': answering('B', 'nine()', `import nine from 'nine';`),
    'lib/prices.ts': 'export const price = 5;',
    'node_modules/nine/index.js': 'module.exports = () => 9;',
    '.env': 'CURRENCY=EUR\n',
  });
  const first = await deploy(errand, folder.path);
  assert.equal(first.stderr, '');
  const [a, b] = [await named(errand, 'A'), await named(errand, 'B')];
  assert.deepEqual(
    printed(first),
    [
      ['a.ts', a],
      ['shop/b.ts', b],
    ].map(([path, { id, triggers }]) => ({
      path,
      result: 'made',
      workflow_id: id,
      endpoints: [triggers[0].endpoint_url],
    })),
  );
  assert.deepEqual([await call(a), await call(b)], ['200 5EUR', '200 9']);

  await folder.write({ 'lib/prices.ts': 'export const price = 6;' });
  const again = await deploy(errand, folder.path);
  assert.deepEqual(
    printed(again).map(({ path, result }) => [path, result]),
    [
      ['a.ts', 'changed'],
      ['shop/b.ts', 'same'],
    ],
  );
  assert.equal(await call(a), '200 6EUR');
  assert.equal((await deploymentsOf(errand, b)).length, 1);
  const one = await deploy(errand, join(folder.path, 'a.ts'));
  assert.deepEqual(
    printed(one).map(({ path, result }) => [path, result]),
    [['a.ts', 'same']],
  );
});

test('a server that cannot be reached is named', async () => {
  await using folder = await createWorkflowFiles({
    'good.ts': answering('Good', '1'),
    'too.ts': answering('Too', '1'),
  });
  const url = `http://127.0.0.1:${await freePort()}`;
  const { status, stderr } = await command(['deploy', folder.path, '--url', url], {
    ERRAND_API_KEY: API_KEY,
  });
  assert.equal(status, 5);
  assert.match(stderr, new RegExp(`^errand: ${url} cannot be reached: .*ECONNREFUSED.*\n$`), 'once, not for each file');
});

test('what is wrong is told, and the rest deployed', async () => {
  await using errand = await startErrand();
  await using folder = await createWorkflowFiles({
    'broken.ts': 'import x from "not-there";\nexport default x;',
    'good.ts': answering('Good', '1'),
    'throws.ts': answering('Throws', '1', 'null.x;'),
  });
  const { status, stderr, ...rest } = await deploy(errand, folder.path);
  assert.equal(status, 1);
  assert.match(stderr, /^errand: broken\.ts:1:15: the package "not-there" is not there: run "npm install/m);
  assert.match(stderr, /^errand: throws\.ts:2:6: Cannot read properties of null/m);
  assert.deepEqual(
    printed({ status, stderr, ...rest }).map(({ path }) => path),
    ['good.ts'],
  );
  const none = await command(['deploy', join(folder.path, 'none.ts'), '--url', errand.url], {
    ERRAND_API_KEY: API_KEY,
  });
  assert.match(none.stderr, /^errand: there is no file or folder /);
});

test('deployed files are none of the server’s folder', async () => {
  await using folder = await createWorkflowFiles({ 'a.ts': answering('Theirs', '1') });
  await using own = await createWorkflowFiles({ 'a.ts': answering('Own', '2'), 'b.ts': answering('B', '3') });
  await using errand = await startErrand({ ERRAND_WORKFLOWS_DIR: folder.path });
  await deploy(errand, own.path);
  await errand.restart();
  for (const [name, answer] of [
    ['Theirs', '1'],
    ['Own', '2'],
    ['B', '3'],
  ] as const) {
    assert.equal(await call(await named(errand, name)), `200 ${answer}`);
  }
});

test('a bundle that cannot be is refused', async () => {
  await using errand = await startErrand();
  const put = (body: object) => errand.client.request('PUT', '/v1/workflow_files', body);
  assertProblem(await put(bundled('export default 1;', { path: '/a.ts' })), 400);
  assertProblem(await put(bundled('export default 1;', { path: 'a/../../b//c' })), 400);
  const plain = await put(bundled('export default () => 1;'));
  assertProblem(plain, 400);
  const broken = await put(bundled('export default oops(;'));
  assertProblem(broken, 422);
  assert.deepEqual(broken.json.errors[0].parameter, 'bundle');
  assert.equal((await errand.client.get('/v1/workflows')).data.length, 1);
});

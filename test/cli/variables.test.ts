// What code is given: variables of workflows (errand variables, and what errand deploy sends and says of them), and data stores.

import assert from 'node:assert/strict';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXIT } from '../../src/cli/shell/exit.ts';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { openShell } from './command.ts';

const file = (name: string): string => `import { defineWorkflow } from 'errand/workflow';
export default defineWorkflow({
  name: '${name}',
  settings: { env: { OWN: '1' } },
  steps: (flow) => flow.step('one', () => process.env.OLD),
});
`;

test('variables are set, listed without values, and removed', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  await errand.workflow('export default () => 1;', { name: 'Orders' });
  const run = (input: string, ...args: string[]) => shell.run(['variables', ...args, '--url', errand.url], { input });
  assert.deepEqual(await shell.json('variables', 'list', 'Orders'), []);
  const set = await run('a secret\n', 'set', 'Orders', 'REGION=a=b', 'EMPTY=', 'CARD_KEY');
  assert.equal(set.code, 0, set.stderr);
  const shown = await run('', 'list', 'Orders');
  assert.match(shown.stdout, /REGION\n.*\nCARD_KEY\n/);
  assert.doesNotMatch(set.stdout + shown.stdout, /a secret|a=b/);
  assert.deepEqual(await shell.json('variables', 'list', 'Orders', '--values'), [
    { name: 'REGION', value: 'a=b' },
    { name: 'EMPTY', value: '' },
    { name: 'CARD_KEY', value: 'a secret' },
  ]);
  assert.equal((await run('', 'unset', 'Orders', 'EMPTY', 'REGION')).code, 0);
  assert.deepEqual(await shell.json('variables', 'list', 'Orders'), [{ name: 'CARD_KEY' }]);
  const missing = await run('', 'unset', 'Orders', 'CARD_KEY', 'REGION');
  assert.equal(missing.code, EXIT.notFound);
  assert.match(missing.stderr, /no variable REGION/);
  assert.equal((await run('', 'set', 'Orders', '1A=2')).code, EXIT.usage);
  assert.match((await run('x', 'set', 'Orders', 'A', 'B')).stderr, /standard input is the value of one variable/);
  assert.deepEqual(await shell.json('variables', 'list', 'Orders'), [{ name: 'CARD_KEY' }], 'nothing was changed');
});

test('a deployment tells which variables outlive their line', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const folder = join(shell.home, 'flows');
  await mkdir(folder);
  await writeFile(join(folder, 'a.ts'), file('A'));
  await writeFile(join(folder, '.env'), '\ufeffFIRST=1\r\nOLD=2\r\n');
  const deploy = async (...more: string[]) =>
    shell.run(['deploy', 'flows', '--project', 'shop', '--url', errand.url, ...more]);
  assert.equal((await deploy()).stderr, '');
  const values = { FIRST: '1', OLD: '2', OWN: '1' };
  const listed = async () =>
    Object.fromEntries(
      (await shell.json('variables', 'list', 'A', '--values')).map((one: Json) => [one.name, one.value]),
    );
  assert.deepEqual(await listed(), values, 'a mark before the text, and line ends of Windows, are no part of it');
  await writeFile(join(folder, '.env'), 'FIRST=1\n');
  const { stderr } = await deploy();
  assert.match(
    stderr,
    /^a\.ts: the workflow keeps OLD, which \S+\.env does not name; .*errand variables unset p_\w+ OLD\n$/,
  );
  assert.equal((await deploy()).stderr, '', 'once');
  await writeFile(join(shell.home, 'prod.env'), 'FIRST=3\nOLD=4\n');
  assert.equal((await deploy('--variables', 'prod.env')).stderr, '');
  assert.deepEqual(await listed(), { FIRST: '3', OLD: '4', OWN: '1' });
  assert.equal((await deploy('--variables', 'none.env')).code, EXIT.notFound);
});

test('no value on standard input is told, and changes nothing', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const { id } = await errand.workflow('export default () => 7;', { settings: { env: { CARD_KEY: 'a-key' } } });
  const none = await shell.run(['variables', 'set', id, 'CARD_KEY', '--url', errand.url], { input: '\n' });
  assert.deepEqual(
    [none.code, none.stderr],
    [EXIT.usage, 'errand: no value of CARD_KEY was given: CARD_KEY= sets an empty one\n'],
  );
  const list = ['variables', 'list', id, '--values', '--url', errand.url, '--json'];
  assert.equal(JSON.parse((await shell.run(list)).stdout)[0].value, 'a-key');
  await shell.run(['variables', 'set', id, 'CARD_KEY=', '--url', errand.url]);
  assert.equal(JSON.parse((await shell.run(list)).stdout)[0].value, '');
});

test('a file of variables that is not read is told', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  await mkdir(join(shell.home, 'flows'));
  await writeFile(join(shell.home, 'package.json'), '{}');
  await writeFile(join(shell.home, '.env'), 'A=1');
  await writeFile(join(shell.home, 'flows/a.ts'), file('A'));
  const deploy = async () => shell.run(['deploy', 'flows', '--project', 'shop', '--url', errand.url]);
  assert.match((await deploy()).stderr, /^\S+\/\.env is not read: .*flows\/\.env, or .*--variables names\n$/);
  await rename(join(shell.home, '.env'), join(shell.home, 'flows/.env'));
  assert.equal((await deploy()).stderr, '');
});

test('two files whose workflows have one name are told', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  await mkdir(join(shell.home, 'flows'));
  for (const [path, name] of [
    ['a.ts', 'Orders'],
    ['b.ts', 'Orders'],
    ['c.ts', 'Bills'],
  ] as const)
    await writeFile(join(shell.home, 'flows', path), file(name));
  const { code, stderr } = await shell.run(['deploy', 'flows', '--project', 'shop', '--url', errand.url]);
  assert.deepEqual([code, stderr.match(/same name/g)?.length], [0, 1]);
  assert.match(stderr, /^b\.ts: a\.ts has the same name, "Orders"/);
});

test('records of a data store are written as they are given, listed, read and deleted', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const run = (input: string, ...args: string[]) => shell.run(['data-stores', ...args, '--url', errand.url], { input });
  assert.match((await run('', 'list')).stderr, /no data stores/);
  assert.equal((await run('', 'create', 'Seen orders')).code, 0);
  const [{ id }] = await shell.json('data-stores', 'list');
  const key = 'a/b ?ü#%2F';
  const value = '{"n": 12345678901234567890, "text": "\\u001b[2J"}';
  for (const [name, json, input] of [
    [key, value, ''],
    ['piped', '-', '[1]'],
    ['short', 'null', ''],
  ] as const) {
    const set = await run(input, 'set', 'Seen orders', name, json);
    assert.equal(set.code, 0, set.stderr);
  }
  const path = `/v1/data_stores/${id}/records/${encodeURIComponent(key)}`;
  const headers = { authorization: `Bearer ${errand.client.key}` };
  const kept = await (await fetch(errand.url + path, { headers })).text();
  assert.ok(kept.includes(value), 'the numbers are those that were given');
  assert.deepEqual(JSON.parse((await run('', 'get', id, 'piped')).stdout), [1]);
  for (const more of [[], ['--json']]) {
    assert.match((await run('', 'get', id, key, ...more)).stdout, /"n": 12345678901234567890,/);
  }
  assert.equal((await run('', 'set', id, 'short', '2', '--ttl', '60')).code, 0);
  const records: Json[] = await shell.json('data-stores', 'records', 'Seen');
  assert.deepEqual(
    records.map((one) => [one.key, one.expires_at !== null]),
    [
      [key, false],
      ['piped', false],
      ['short', true],
    ],
  );
  assert.equal((await shell.json('data-stores', 'records', 'Seen', '--after', 'piped')).length, 1);
  for (const more of [[], ['--json']])
    assert.match((await run('', 'records', 'Seen', ...more)).stdout, /"n": ?12345678901234567890,/);
  const table = await run('', 'records', 'Seen', '--limit', '1');
  assert.ok(table.stdout.includes(key) && !table.stdout.includes('\u001b'), table.stdout);
  for (const [code, ...args] of [
    [EXIT.usage, 'set', id, 'bad', '{"n": }'],
    [EXIT.usage, 'set', id, 'bad', '1', '--ttl', '0'],
    [EXIT.usage, 'set', id, 'bad', '@none.json'],
    [EXIT.usage, 'get', id, '..'],
    [EXIT.notFound, 'get', id, 'none'],
    [EXIT.notFound, 'unset', id, 'none'],
    [EXIT.notFound, 'records', 'Other'],
  ] as const) {
    const refused = await run('', ...args);
    assert.equal(refused.code, code, args.join(' '));
    assert.doesNotMatch(refused.stderr, /\n {4}at /);
  }
  assert.equal((await run('', 'unset', id, 'piped')).code, 0);
  assert.equal((await shell.json('data-stores', 'list'))[0].size, 2);
  assert.equal((await run('', 'delete', 'Seen orders', '--yes')).code, 0);
  assert.deepEqual(await shell.json('data-stores', 'list'), []);
});

// errand import that ends in the middle, and again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { openShell } from '../command.ts';
import { cutOff, nthWorkflow } from './cut-off.ts';
import { writeFiles } from './files.ts';

const STORED = `export default { props: { cache: { type: 'data_store' } }, run() {} };`;

function workflow(name: string): string {
  return `name: ${name}\ntriggers: [{ id: hi_1 }]\nsteps: [{ namespace: a, props: { cache: { storeId: ds_n5uXlr } } }]`;
}

test('an import that ends in the middle leaves whole workflows, inactive', async () => {
  await using errand = await startErrand();
  using through = await cutOff(errand.url, nthWorkflow(4));
  await using shell = await openShell({ url: through.url, key: errand.client.key });
  await writeFiles(shell.home, {
    'p/a-p_1/workflow.yaml': workflow('First'),
    'p/a-p_1/a/entry.js': STORED,
    'p/b-p_2/workflow.yaml': workflow('Second'),
    'p/b-p_2/a/entry.js': STORED,
    'p/c-p_3/workflow.yaml': workflow('Third'),
    'p/c-p_3/a/entry.js': STORED,
  });
  const cut = await shell.run(['import', 'p', '--url', through.url, '--json']);
  assert.equal(cut.code, 5, cut.stderr);
  const { data } = await errand.client.get('/v1/workflows?name=Second');
  const { active, triggers } = (await errand.client.get(`/v1/workflows/${data[0].id}`)).data;
  assert.deepEqual([active, triggers.map(({ type }: Json) => type)], [false, ['http']]);

  const again = await shell.run(['import', 'p', '--url', errand.url, '--json']);
  assert.equal(again.code, 0, again.stdout);
  const stores = (await errand.client.get('/v1/data_stores')).data;
  assert.equal(stores.length, 1, 'what was created before is used again');
});

test('what was imported before the connection broke is shown, and again afterwards', async () => {
  await using errand = await startErrand();
  using through = await cutOff(errand.url, nthWorkflow(3));
  await using shell = await openShell({ url: through.url, key: errand.client.key });
  const files = ['a', 'b', 'c', 'd'].flatMap((name) => [
    [`p/${name}-p_1/workflow.yaml`, `name: ${name}\ntriggers: [{ id: hi_1 }, { id: ti_2 }]\nsteps: [{ namespace: x }]`],
    [`p/${name}-p_1/x/entry.js`, 'export default () => 1;'],
  ]);
  await writeFiles(shell.home, Object.fromEntries(files));
  const cut = await shell.run(['import', 'p', '--url', through.url, '--json']);
  assert.equal(cut.code, 5);
  const before = JSON.parse(cut.stdout) as Json[];
  assert.deepEqual(
    before.map(({ name, result }) => [name, result]),
    [
      ['a', 'created'],
      ['b', 'created'],
    ],
  );
  assert.match(cut.stderr, /It ended after 2 of 4 workflows, at c-p_1\. Run the command again/);

  const again = JSON.parse((await shell.run(['import', 'p', '--url', errand.url, '--json'])).stdout) as Json[];
  assert.deepEqual(
    again.map(({ result }) => result),
    ['is there already', 'is there already', 'is there already', 'created'],
  );
  assert.deepEqual([again[0].workflow_id, again[0].endpoint_url], [before[0].workflow_id, before[0].endpoint_url]);
  assert.match(again[2].notes.join('\n'), /the trigger ti_2 is a schedule.*\nis inactive: errand workflows enable p_/s);
});

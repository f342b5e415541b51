// errand import --dry-run says what the import would say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { openShell } from '../command.ts';
import { writeFiles } from './files.ts';

const CODE = 'export default () => 1;';
const STORED = `export default { props: { cache: 'data_store', count: 'integer' }, run() {} };`;

/** Folders, each with what is wrong with it; null: nothing. */
const WORKFLOWS: Record<string, readonly [string, RegExp | null]> = {
  many: [`steps: [${'{ namespace: a, code: x }, '.repeat(70)}]`, /steps must be an array of 1 to 64 items/],
  cron: ['steps: [{ namespace: a }]\ntriggers: [{ id: ti_1, cron: 61 * * * * }]', /cron/],
  interval: ['steps: [{ namespace: a }]\ntriggers: [{ id: ti_1, interval_seconds: 0 }]', /interval_seconds/],
  twice: ['steps: [{ namespace: a }, { namespace: a }]', /"a" is taken by an earlier step/],
  name: [`name: ${'n'.repeat(400)}\nsteps: [{ namespace: a }]`, /name must be/],
  props: ['steps: [{ namespace: stored, props: { cache: ds_x, count: 1 } }]', /the id of a data store/],
  stored: ['steps: [{ namespace: stored, props: { cache: { storeId: ds_n5uXlr }, count: 1 } }]', null],
  cronAndStore: [
    'steps: [{ namespace: stored, props: { cache: { storeId: ds_n5uXlr }, count: 1 } }]\ntriggers: [{ id: ti_1, cron: 61 * * * * }]',
    /cron/,
  ],
};

test('a dry run fails what the import would fail, and creates nothing', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  for (const [folder, [yaml]] of Object.entries(WORKFLOWS)) {
    await writeFiles(shell.home, {
      [`p/${folder}/workflow.yaml`]: yaml,
      [`p/${folder}/a/entry.js`]: CODE,
      [`p/${folder}/stored/entry.js`]: STORED,
    });
  }
  const before = (await errand.client.get('/v1/workflows')).data.length;
  const read = async (...args: string[]): Promise<Json[]> =>
    JSON.parse((await shell.run(['import', 'p', '--url', errand.url, '--json', ...args])).stdout);
  const planned = await read('--dry-run');
  assert.equal((await errand.client.get('/v1/workflows')).data.length, before);
  assert.deepEqual((await errand.client.get('/v1/data_stores')).data, []);
  const imported = await read();
  for (const [folder, [, why]] of Object.entries(WORKFLOWS)) {
    const [plan, result] = [planned, imported].map((list) => list.find((one) => one.folder === folder));
    assert.deepEqual(
      [plan.result, result.result],
      why === null ? ['would be created', 'created'] : ['would fail', 'failed'],
      folder,
    );
    if (why === null) continue;
    assert.match(plan.notes.join('\n'), why);
    assert.match(result.notes.join('\n'), why);
  }
});

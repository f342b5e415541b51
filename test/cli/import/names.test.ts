// errand import: workflows of one name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { openShell } from '../command.ts';
import { writeFiles } from './files.ts';

const YAML = 'name: Untitled Workflow\nsteps: [{ namespace: a }]';

test('workflows of one name are each imported, once, with their ids in their names', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  await writeFiles(shell.home, {
    'p/a-p_a1/workflow.yaml': YAML,
    'p/a-p_a1/a/entry.js': 'export default () => 1;',
    'p/b-p_b2/workflow.yaml': YAML,
    'p/b-p_b2/a/entry.js': 'export default () => 2;',
    'p/c/workflow.yaml': YAML,
    'p/c/a/entry.js': 'export default () => 3;',
  });
  const names = ['Untitled Workflow (p_a1)', 'Untitled Workflow (p_b2)', 'Untitled Workflow (c)'];
  for (const [args, result] of [
    [['--dry-run'], 'would be created'],
    [[], 'created'],
    [[], 'is there already'],
  ] as const) {
    const { code, stdout } = await shell.run(['import', 'p', ...args, '--json', '--url', errand.url]);
    assert.equal(code, 0, stdout);
    const results = JSON.parse(stdout) as Json[];
    assert.deepEqual(
      results.map((one) => [one.name, one.result]),
      names.map((name) => [name, result]),
    );
    assert.match(results[0].notes[0], /its name "Untitled Workflow" is also that of b-p_b2, c/);
  }
  const { data } = await errand.client.get(`/v1/workflows?name=${encodeURIComponent(names[1] ?? '')}`);
  const { steps } = (await errand.client.get(`/v1/workflows/${data[0].id}`)).data;
  assert.equal(steps[0].code, 'export default () => 2;');
});

test('a workflow that has the name, and other code, is told', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const steps = [{ namespace: 'a', code: 'export default () => "mine";' }];
  const { id } = await errand.client.post('/v1/workflows', { name: 'Untitled Workflow', steps });
  await writeFiles(shell.home, { 'p/a-p_a1/workflow.yaml': YAML, 'p/a-p_a1/a/entry.js': 'export default () => 1;' });
  const found = await shell.json('import', 'p');
  assert.deepEqual([found[0].result, found[0].workflow_id], ['is there already', id]);
  assert.match(found[0].notes.join('\n'), /its steps are not those of the folder: it was changed, or is another/);
  const other = await errand.client.post('/v1/workflows', { name: 'Untitled Workflow', steps });
  const several = await shell.json('import', 'p');
  assert.match(several[0].notes.join('\n'), new RegExp(`several workflows have this name: .*${other.id}`));
});

// What errand import reads of a folder.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProject } from '../../../src/cli/import/exported.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { writeFiles } from './files.ts';

const CODE = 'export default () => 1;';
const JSON_ANSWER = JSON.stringify({
  triggers: [
    { id: 'hi_1', custom_response: true },
    { id: 'ti_2', cron: '0 7 * * *', timezone: 'Europe/Berlin' },
  ],
  steps: [{ id: 'c_1', namespace: 'a', lang: 'nodejs20.x', component: true, configured_props_json: '{}' }],
});
const YAML = `
name: Orders & Refunds
settings: { error_notification: false, lambda_timeout: 120 }
triggers: [{ id: hi_1 }, { id: ti_2 }, { id: dc_3 }]
steps: [{ namespace: a }]
`;

test('names and settings come from the YAML, and schedules from the JSON beside it', async () => {
  await using folder = await createFolder();
  await writeFiles(folder.path, {
    'o-p_1/workflow.yaml': YAML,
    'o-p_1/workflow.json': JSON_ANSWER,
    'o-p_1/a/entry.js': CODE,
  });
  const [read] = await readProject(folder.path);
  assert.equal(read?.name, 'Orders & Refunds');
  assert.deepEqual(read?.settings, { timeout_ms: 120_000, notify: false });
  assert.deepEqual(read?.triggers, [
    { type: 'http', custom_response: true },
    { type: 'schedule', cron: '0 7 * * *', timezone: 'Europe/Berlin' },
  ]);
  assert.deepEqual(read?.notes, ['the trigger dc_3 is a source: deploy it here, and subscribe the workflow to it']);
});

test('what the JSON alone does not say is told', async () => {
  await using folder = await createFolder();
  await writeFiles(folder.path, { 'o-p_1/workflow.json': JSON_ANSWER, 'o-p_1/a/entry.js': CODE });
  const [read] = await readProject(folder.path);
  assert.equal(read?.name, 'o');
  assert.match(read?.notes.join('\n') ?? '', /workflow\.json has no name.*\nworkflow\.json has no settings/);
});

test('a fault names its file of the two', async () => {
  await using folder = await createFolder();
  await writeFiles(folder.path, { 'o-p_1/workflow.yaml': YAML, 'o-p_1/workflow.json': '{', 'o-p_1/a/entry.js': CODE });
  assert.match((await readProject(folder.path))[0]?.fault ?? '', /^workflow\.json: /);
});

test('settings that are not read are told, without their texts, and a long time limit is cut', async () => {
  await using folder = await createFolder();
  await writeFiles(folder.path, {
    'o-p_1/workflow.yaml':
      'settings: { lambda_timeout: 900, concurrency: 1, env: { KEY: secret } }\nqueue: 5\nsteps: [{ namespace: a, retry: true, _x: 1 }]',
    'o-p_1/a/entry.js': CODE,
  });
  const [read] = await readProject(folder.path);
  assert.deepEqual(read?.settings, { timeout_ms: 750_000 });
  assert.deepEqual(read?.notes, [
    'members of the step a that are not read: retry: true',
    'settings that are not read: queue: 5, concurrency: 1, env',
    'its time limit of 900 s is cut to 750 s, the longest here',
  ]);
});

test('an expression without quotes is a fault with its line', async () => {
  await using folder = await createFolder();
  await writeFiles(folder.path, {
    'o-p_1/workflow.yaml': 'name: x\nsteps:\n- namespace: a\n  props:\n    extra: {{steps.trigger.event}}',
    'o-p_1/a/entry.js': CODE,
  });
  assert.match((await readProject(folder.path))[0]?.fault ?? '', /^workflow\.yaml: line 5: .*put \{\{…\}\} in quotes/);
});

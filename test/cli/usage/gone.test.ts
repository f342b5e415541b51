// What the command line says of errors whose workflow is gone, of what was never there, and of groups that are quiet for a while.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';
import { openShell } from '../command.ts';

const newErrand = shareErrand();
const THROWS = 'export default () => { throw new Error("no card"); };';

test('errors of a deleted workflow are shown whole', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const failing = await errand.workflow(THROWS, { name: 'Charge orders' });
  await errand.send(failing, { n: 1 });
  const [record] = await errand.errors(failing.id, 1);
  await errand.client.delete(`/v1/workflows/${failing.id}`);
  const whole = await shell.json('errors', 'show', record.id);
  assert.equal(whole.event.original_event.body.n, 1);
  const event = await shell.run(['errors', 'show', record.id, '--event', '--url', errand.client.url]);
  assert.equal(JSON.parse(event.stdout).body.n, 1);
  const replay = await shell.run(['errors', 'replay', record.id, '--url', errand.client.url]);
  assert.equal(replay.code, 3, replay.stderr);
});

test('what was named and is not there is no good news', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const workflow = await errand.workflow('export default () => 1;');
  const other = `${workflow.id.slice(0, -1)}${workflow.id.endsWith('X') ? 'Y' : 'X'}`;
  for (const asked of [
    ['errors', 'list', '--of'],
    ['errors', 'groups', 'list', '--of'],
    ['runs', 'list', '--workflow'],
  ]) {
    const wrong = await shell.run([...asked, other, ...named]);
    assert.deepEqual([wrong.code, wrong.stdout], [3, ''], asked.join(' '));
    assert.equal(
      (await shell.run([...asked, other, '--json', ...named])).code,
      3,
      'scripts take none for good news, too',
    );
    assert.match(wrong.stderr, new RegExp(other));
    assert.equal((await shell.run([...asked, workflow.id, ...named])).code, 0, asked.join(' '));
  }
  const kind = await shell.run(['errors', 'show', workflow.id, ...named]);
  assert.equal(kind.code, 3);
  assert.match(kind.stderr, /p_\w+ is the id of a workflow, and not of an error/);
});

test('a muted group says until when', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const failing = await errand.workflow(THROWS);
  await errand.send(failing, { n: 1 });
  await errand.errors(failing.id, 1);
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  const named = ['--url', errand.client.url];
  const shown = async () => (await shell.run(['errors', 'groups', 'show', group.id, ...named])).stdout;
  assert.doesNotMatch(await shown(), /^until/m);
  const mute = ['errors', 'groups', 'mute', group.id, ...named];
  assert.match(
    (await shell.run([...mute, '--until', '2h', '--errors', '5'])).stdout,
    /^until +\d{4}-.*Z, or 5 more errors$/m,
  );
  assert.match(await shown(), /^until +\d{4}-.*Z, or 5 more errors$/m);
  assert.match((await shell.run([...mute, '--next-deployment'])).stdout, /^until +an error of a later deployment$/m);
});

test('who means errors is told what they are called', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const workflow = await errand.workflow(THROWS, { name: 'Charge orders' });
  const named = ['--url', errand.client.url];
  const made = await shell.run(['webhooks', 'create', 'http://127.0.0.1:9/', ...named]);
  assert.match(made.stderr, /errand subscriptions create <workflow or source> wh_\w+ --event '\$errors'/);
  const [webhook] = (await errand.client.get('/v1/webhooks')).data;
  const create = ['subscriptions', 'create', workflow.id, webhook.id, ...named, '--event'];
  assert.match((await shell.run([...create, 'errors'])).stderr, /errors are --event '\$errors'/);
  assert.equal((await shell.run([...create, '$errors'])).stderr, '');
});

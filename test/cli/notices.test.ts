// errand channels … and errand heartbeats …

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { openShell } from './command.ts';

const newErrand = shareErrand();

test('a channel is made of a secret that no other user sees, and tested', async () => {
  await using errand = await newErrand();
  await using other = await newErrand();
  await using shell = await openShell(errand.client);
  await using receiver = await startReceiver();
  const named = ['--url', errand.client.url];
  const create = ['channels', 'create', 'http', '--config', '-', '--name', 'On call', ...named, '--json'];
  const made = await shell.run(create, { input: JSON.stringify({ url: `${receiver.url}secret-part` }) });
  assert.equal(made.code, 0, made.stderr);
  const { id, config } = JSON.parse(made.stdout);
  assert.match(id, /^ch_/);
  assert.doesNotMatch(JSON.stringify(config), /secret-part/);
  const alone = await shell.run([...create.slice(0, 5), '--name', 'Alone', ...named], {
    input: JSON.stringify({ url: 'https://example.com/' }),
  });
  assert.match(alone.stderr, /^It gets no notices yet: choose it/m);
  assert.equal((await shell.json('channels', 'delete', 'Alone', '--yes')).name, 'Alone');
  const listed = await shell.run(['channels', 'list', ...named]);
  assert.match(listed.stdout, /^ID +KIND +ACTIVE +NAME +TO\nch_\w+ +http +yes +On call +http:/);
  assert.equal((await shell.json('channels', 'test', 'on c')).delivered, true);
  assert.equal((await shell.json('channels', 'disable', 'On call')).active, false);
  const wrong = await shell.run(['channels', 'create', 'fax', '--config', '-', ...named], { input: '{}' });
  assert.deepEqual([wrong.code, /Allowed choices are slack/.test(wrong.stderr)], [2, true]);
  const theirs = ['channels', 'show', id, '--url', other.client.url];
  assert.equal((await shell.run(theirs, { env: { ERRAND_API_KEY: other.client.key } })).code, 3);
  assert.equal((await shell.run(['channels', 'delete', id, ...named])).code, 2, 'it is asked about');
  assert.equal((await shell.json('channels', 'delete', id, '--yes')).id, id);
});

test('a heartbeat is made, pinged and paused', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const made = await shell.json('heartbeats', 'create', 'Backup', '--every', '600', '--grace', '30');
  assert.deepEqual([made.interval_seconds, made.grace_seconds, made.status], [600, 30, 'new']);
  assert.equal((await fetch(made.ping_url, { method: 'POST' })).status, 200);
  const shown = await shell.json('heartbeats', 'show', 'Back');
  assert.deepEqual([shown.status, shown.pings], ['up', 1]);
  assert.equal((await shell.json('heartbeats', 'disable', 'Backup')).status, 'paused');
  const unsaid = await shell.run(['heartbeats', 'create', 'Other', '--url', errand.client.url]);
  assert.deepEqual(
    [unsaid.code, unsaid.stderr],
    [2, 'errand: give one of --every and --cron: when a ping is expected\n'],
  );
});

test('errors of a heartbeat are chosen by its name, and cannot be replayed', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const { id, ping_url: address } = await errand.client.post('/v1/heartbeats', {
    name: 'Backup',
    interval_seconds: 60,
  });
  await errand.client.post('/v1/heartbeats', { name: 'Other', interval_seconds: 60 });
  const listener = await errand.workflow('export default () => 7;', { name: 'Tell a person' });
  const [subscription] = await shell.json('subscriptions', 'create', 'Back', 'Tell', '--event', '$errors');
  assert.deepEqual([subscription.emitter_id, subscription.listener_id], [id, listener.id]);
  assert.equal((await shell.json('subscriptions', 'list', '--from', 'Backup')).length, 1);
  assert.equal((await fetch(`${address}/fail`, { method: 'POST', body: 'disk full' })).status, 200);
  for (const given of [id, 'Backup', id.slice(0, -2)]) {
    const [error, ...others] = await shell.json('errors', 'list', '--of', given);
    assert.deepEqual([error.metadata.emitter_id, others.length], [id, 0], given);
  }
  assert.match((await shell.run(['errors', 'list', ...named])).stdout, / Backup +\w+ +HeartbeatFailed /);
  assert.match((await shell.run(['errors', 'groups', 'list', '--of', 'Backup', ...named])).stdout, / Backup /);
  assert.deepEqual(await shell.json('errors', 'list', '--of', 'Other'), []);
  const replayed = await shell.run(['errors', 'replay', 'last', ...named]);
  assert.equal(replayed.code, 1);
  assert.match(replayed.stderr, /is an error of a heartbeat: no event can be run again/);
  const unsent = await shell.run(['trigger', 'Backup', ...named]);
  assert.deepEqual([unsent.code, unsent.stderr], [3, 'errand: there is no workflow, source or webhook "Backup"\n']);
  const deaf = await shell.run(['subscriptions', 'create', 'Tell', 'Backup', ...named]);
  assert.deepEqual([deaf.code, deaf.stderr], [3, 'errand: there is no workflow, source or webhook "Backup"\n']);
});

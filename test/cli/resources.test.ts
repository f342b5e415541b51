// Workflows, sources, webhooks, subscriptions, deliveries, mails and operations from the command line.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { createSource, ECHO_SOURCE } from '../support/sources/sources.ts';
import { until } from '../support/wait.ts';
import { openShell } from './command.ts';

const newErrand = shareErrand();
const ECHO = 'export default ({ steps, $ }) => { $.send.emit(steps.trigger.event.body); return steps.trigger.event; };';

test('workflows are looked at, run and switched off', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const workflow = await errand.workflow(ECHO, { name: 'Echo orders' });
  const other = await errand.workflow(ECHO, { name: 'Echo others' });
  const listed = await shell.json('workflows', 'list');
  assert.ok([workflow.id, other.id].every((id) => listed.some((one: Json) => one.id === id)));
  const shown = await shell.run(['workflows', 'show', 'echo ord', ...named]);
  assert.ok(shown.stdout.includes(workflow.triggers[0].endpoint_url), shown.stdout + shown.stderr);
  const unclear = await shell.run(['workflows', 'show', 'echo', ...named]);
  assert.equal(unclear.code, 3);
  assert.match(unclear.stderr, /"echo" fits more than one workflow: .*\(Echo o\w+\), .*\(Echo o\w+\)/);
  const first = await shell.run(['workflows', 'list', '--limit', '1', ...named]);
  assert.match(first.stderr, /^There are more: --limit 0 shows all$/m);
  assert.equal((await shell.run(['workflows', 'list', '--limit', '0', ...named])).stderr, '');
  assert.equal((await shell.run(['workflows', 'list', '--limit', '1', '--json', ...named])).stderr, '');
  assert.equal((await shell.run(['workflows', 'code', 'Echo orders', 'step', ...named])).stdout.trim(), ECHO);
  const { run_id: run } = await shell.json('workflows', 'run', workflow.id, '--data', '{"body": 7}');
  await errand.runs(workflow.id, 1);
  const table = (await shell.run(['workflows', 'list', ...named])).stdout;
  assert.match(table, /^ID +ACTIVE +LAST RUN +STATE +FAILED +P95 +NAME$/m);
  assert.match(
    table,
    new RegExp(`^${workflow.id} +yes +20\\d\\d-\\S+Z +succeeded +0 % +[\\d.]+ m?s +Echo orders$`, 'm'),
  );
  assert.match(table, new RegExp(`^${other.id} +yes +Echo others$`, 'm'), 'it has not run');
  assert.equal((await shell.json('runs', 'show', run)).event.body, 7);
  assert.equal((await shell.json('workflows', 'disable', 'Echo orders')).active, false);
  assert.deepEqual(
    (await shell.json('workflows', 'list', '--inactive')).map(({ id }: Json) => id),
    [workflow.id],
  );
  const kept = await shell.run(['workflows', 'delete', 'Echo orders', ...named]);
  assert.equal(kept.code, 2);
  assert.match(kept.stderr, /Delete the workflow "Echo orders" \(p_\w+\) of http.*--yes/);
  const begun = await shell.run(['workflows', 'delete', 'echo ord', '--url', errand.client.url]);
  assert.match(begun.stderr, /Delete the workflow "Echo orders" /, 'its whole name, and not what was typed of it');
  await shell.json('workflows', 'delete', 'Echo orders', '--yes');
  assert.equal((await shell.run(['workflows', 'show', workflow.id, ...named])).code, 3);
});

test('an example event is sent, signed where that is wanted', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const workflow = await errand.workflow(ECHO, { name: 'Echo' });
  const sent = await shell.json('trigger', 'Echo', '--example', 'stripe', '--secret', 'whsec_1');
  assert.equal(sent.status, 200);
  const [run] = await errand.runs(workflow.id, 1);
  const { event } = (await errand.client.get(`/v1/runs/${run.id}`)).data;
  assert.equal(event.body.type, 'charge.failed');
  const [, at, signature] = /^t=(\d+),v1=(\w+)$/.exec(event.headers['stripe-signature']) ?? [];
  const wanted = createHmac('sha256', 'whsec_1')
    .update(`${at}.${JSON.stringify(event.body)}`)
    .digest('hex');
  assert.equal(signature, wanted);
  await shell.json('trigger', workflow.id, '--data', '{"order": 7}');
  await errand.runs(workflow.id, 2);
  const silent = await errand.workflow(ECHO, { name: 'Silent', triggers: [] });
  const refused = await shell.run(['trigger', silent.id, '--url', errand.client.url]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /it has no HTTP trigger/);
});

test('a webhook is made, subscribed, and its deliveries sent again', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  await using receiver = await startReceiver();
  const named = ['--url', errand.client.url];
  const workflow = await errand.workflow(ECHO, { name: 'Echo' });
  const webhook = await shell.json('webhooks', 'create', receiver.url, '--name', 'Receiver');
  assert.match(webhook.secret, /^whsec_/);
  const [subscription] = await shell.json('subscriptions', 'create', 'Echo', 'Receiver');
  assert.deepEqual([subscription.emitter_id, subscription.listener_id], [workflow.id, webhook.id]);
  await errand.send(workflow, { n: 1 });
  await receiver.wait(1);
  const [delivery] = await until('the delivery to end', async () => {
    const found = await shell.json('deliveries', 'list', '--webhook', 'Receiver', '--state', 'delivered');
    return found.length > 0 && found;
  });
  const shown = await shell.run(['deliveries', 'show', delivery.id, ...named]);
  assert.match(shown.stdout, /^1 .*answered 200/m);
  const [sent] = receiver.received;
  assert.match(shown.stdout, new RegExp(`^  POST ${receiver.url}$`, 'm'));
  assert.match(shown.stdout, new RegExp(`^  webhook-id: ${sent?.headers['webhook-id']}$`, 'm'));
  assert.match(shown.stdout, /^ {2}webhook-signature: \(not kept\)$/m);
  assert.ok(shown.stdout.includes(`\n  ${sent?.body}\n`), shown.stdout);
  assert.match(shown.stdout, /^response of attempt 1\n {2}200\n(?:.*\n)*? {2}content-type: text\/plain$/m);
  await shell.json('deliveries', 'resend', delivery.id);
  await receiver.wait(2);
  const asked = ['webhooks', 'resend', webhook.id, '--since', '1h', '--state', 'delivered'] as const;
  const dryRun = await shell.json(...asked, '--dry-run');
  assert.deepEqual([dryRun.dry_run, dryRun.sample.map(({ id }: Json) => id)], [true, [delivery.id]]);
  const operation = await shell.json(...asked);
  assert.deepEqual([operation.state, operation.resent], ['done', 1]);
  assert.equal((await shell.json('operations', 'show', 'last')).id, operation.id);
  assert.equal((await shell.json('webhooks', 'test', 'Receiver')).delivered, true);
  receiver.answer(500);
  assert.equal((await shell.run(['webhooks', 'test', 'Receiver', ...named])).code, 1);
  assert.equal((await shell.json('subscriptions', 'list', '--to', 'Receiver')).length, 1);
  await shell.json('subscriptions', 'delete', subscription.id, '--yes');
  assert.deepEqual(await shell.json('subscriptions', 'list', '--from', 'Echo'), []);
});

test('sources and mails are listed and shown', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const source = await createSource(errand, ECHO_SOURCE);
  const shown = await shell.run(['sources', 'show', source.id, '--url', errand.client.url]);
  assert.ok(shown.stdout.includes(source.endpoint_url));
  assert.equal((await shell.json('sources', 'disable', source.id)).active, false);
  assert.equal((await shell.json('sources', 'list'))[0].id, source.id);
  assert.deepEqual(await shell.json('sources', 'logs', source.id), []);
  const failing = await errand.workflow('export default () => { throw new Error("x"); };');
  await errand.send(failing, {});
  const [mail] = await until('a mail', async () => {
    const mails = await shell.json('mail', 'list');
    return mails.length > 0 && mails;
  });
  assert.equal((await shell.json('mail', 'show', mail.id)).kind, 'mail');
  assert.match(mail.subject, /^\[Errand\] .*Error x$/);
  const table = (await shell.run(['mail', 'list', '--url', errand.client.url])).stdout;
  assert.match(table, /SUBJECT/);
  const webhook = await errand.client.post('/v1/webhooks', {
    url: 'https://example.com/',
    name: 'Chat',
    active: false,
  });
  await errand.subscribe(failing.id, webhook.id, '$errors');
  await errand.send(failing, {});
  await until('a later delivery', async () => (await shell.json('deliveries', 'list', '--webhook', 'Chat')).length > 0);
  assert.equal((await shell.json('mail', 'show', 'last')).kind, 'mail', 'the newest mail, not the newest delivery');
  assert.ok(table.includes(mail.subject), table);
});

test('lists take the filters of the interface', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const { client } = errand;
  const failing = await errand.workflow('export default () => { throw new Error("x"); };', { name: 'Fails' });
  const listed = async (...args: string[]): Promise<string[]> => (await shell.json(...args)).map(({ id }: Json) => id);
  assert.ok((await listed('workflows', 'list', '--active')).includes(failing.id));
  await client.put(`/v1/workflows/${failing.id}`, { active: false });
  assert.ok(!(await listed('workflows', 'list', '--active')).includes(failing.id));
  await client.put(`/v1/workflows/${failing.id}`, { active: true });
  const slack = await client.post('/v1/accounts', { app: 'slack', name: 'Team' });
  await client.post('/v1/accounts', { app: 'github', name: 'Code' });
  assert.deepEqual(await listed('accounts', 'list', '--app', 'slack'), [slack.id]);
  const trigger = await shell.json('subscriptions', 'list', '--via', 'trigger', '--to', 'Fails');
  assert.deepEqual([trigger[0].emitter_id, trigger.length], [failing.triggers[0].id, 1]);
  const toCall = { kind: 'mail', config: { to: 'a@example.com' } };
  const { id: call } = await client.post('/v1/channels', { ...toCall, name: 'On call' });
  await client.post('/v1/channels', { ...toCall, name: 'Silent' });
  await client.put('/v1/users/me', { channels: [call] });
  for (const n of [1, 2]) await errand.send(failing, { n });
  const [newest, oldest] = await errand.errors(failing.id, 2);
  await until('a notice', async () => (await client.get(`/v1/deliveries?channel_id=${call}`)).data.length > 0);
  const [notice] = await shell.json('deliveries', 'list', '--channel', 'On call');
  assert.deepEqual([notice.kind, notice.channel_id], ['channel', call]);
  assert.deepEqual(await listed('deliveries', 'list', '--channel', 'Silent'), []);
  assert.deepEqual(await listed('deliveries', 'list', '--channel', 'ch_mail'), []);
  await shell.json('errors', 'replay', oldest.id);
  await errand.errors(failing.id, 3);
  assert.deepEqual(await listed('errors', 'list', '--of', 'Fails', '--replayed'), [oldest.id]);
  assert.ok((await listed('errors', 'list', '--of', 'Fails', '--not-replayed')).includes(newest.id));
  for (const both of [
    ['errors', 'list', '--replayed', '--not-replayed'],
    ['workflows', 'list', '--active', '--inactive'],
    ['deliveries', 'list', '--channel', 'Silent', '--kind', 'mail'],
  ]) {
    const refused = await shell.run([...both, '--url', client.url]);
    assert.deepEqual([refused.code, /cannot be used with/.test(refused.stderr)], [2, true], refused.stderr);
  }
});

test('another owner sees nothing of it', async () => {
  await using errand = await newErrand();
  await using other = await newErrand();
  await using shell = await openShell(other.client);
  const workflow = await errand.workflow(ECHO, { name: 'Echo' });
  const webhook = await errand.client.post('/v1/webhooks', { url: 'https://example.com/' });
  for (const args of [
    ['workflows', 'show', workflow.id],
    ['workflows', 'show', 'Echo'],
    ['webhooks', 'show', webhook.id],
  ]) {
    assert.equal((await shell.run([...args, '--url', other.client.url])).code, 3, args.join(' '));
  }
});

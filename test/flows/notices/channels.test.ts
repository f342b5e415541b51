// Channels over HTTP: what they show, what is refused, and their tests.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { hintOf } from '../../../src/domain/notices/channel.ts';
import type { Json } from '../../support/client.ts';
import { withScopes } from '../../support/owners.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';

const newErrand = shareErrand();

const SLACK = { kind: 'slack', config: { url: 'https://hooks.slack.com/services/T0/B0/very-private' } };

test('a channel shows its members without secrets', async () => {
  const { client } = await newErrand();
  const made = await client.post('/v1/channels', SLACK);
  const { id, owner_id: ownerId, created_at: createdAt, updated_at: updatedAt, ...shown } = withoutIso(made);
  match(ownerId, /^u_/);
  match(id, /^ch_[0-9A-Za-z]{16}$/);
  ok(createdAt > 0 && updatedAt > 0);
  const config = { url: 'https://hooks.slack.com/(hidden)' };
  deepEqual(shown, { kind: 'slack', name: 'slack', active: true, config });
  const http = await client.post('/v1/channels', {
    kind: 'http',
    name: 'Own',
    config: {
      url: 'https://example.com/a?token=very-private',
      headers: { 'x-key': 'very-private' },
      template: '{{title}}',
    },
  });
  deepEqual(http.config, {
    url: 'https://example.com/(hidden)',
    headers: { 'x-key': '(hidden)' },
    template: '{{title}}',
  });
  const { data } = await client.get('/v1/channels');
  deepEqual(data, [http, made]);
  equal((await client.request('GET', '/v1/channels')).text.includes('very-private'), false);
  deepEqual((await client.get(`/v1/channels/${id}`)).data, made);
  deepEqual(await client.delete(`/v1/channels/${id}`), made);
  equal((await client.request('GET', `/v1/channels/${id}`)).status, 404);
});

test('a template is shown to keys that may write alone, since services take keys in the body', async () => {
  const { client } = await newErrand();
  await using receiver = await startReceiver();
  const template = '{"token": "very-private", "text": "{{title}}"}';
  const { id } = await client.post('/v1/channels', { kind: 'http', config: { url: receiver.url, template } });
  equal((await client.get(`/v1/channels/${id}`)).data.config.template, template);
  const reader = (await withScopes(client, ['read'])).client;
  for (const path of ['/v1/channels', `/v1/channels/${id}`]) {
    const { text } = await reader.request('GET', path);
    ok(text.includes('"template":"(hidden)"') && !text.includes('very-private'), text);
  }
  // What is shown hidden and sent back so stays what it is.
  const changed = await client.put(`/v1/channels/${id}`, { config: { template: '(hidden)' } });
  equal(changed.config.template, template);
  await client.post(`/v1/channels/${id}/test`);
  const [request] = await receiver.wait(1);
  equal(JSON.parse(String(request?.body)).token, 'very-private');
});

test('a channel is changed member by member', async () => {
  const { client } = await newErrand();
  await using receiver = await startReceiver();
  const { id } = await client.post('/v1/channels', { kind: 'http', config: { url: receiver.url, template: 'a' } });
  const config = { headers: { 'x-key': 'k' }, template: null };
  const changed = await client.put(`/v1/channels/${id}`, { name: 'new', active: false, config });
  deepEqual([changed.name, changed.active, changed.config.template], ['new', false, undefined]);
  await client.post(`/v1/channels/${id}/test`);
  const [request] = await receiver.wait(1);
  equal(request?.headers['x-key'], 'k');
  equal(JSON.parse(String(request?.body)).kind, 'test');
});

test('what a kind does not take is refused', async () => {
  const { client } = await newErrand();
  const refused: readonly (readonly [Json, number, RegExp])[] = [
    [{ kind: 'slack', config: {} }, 400, /config\.url is missing/],
    [{ kind: 'pagerduty', config: { url: 'https://events.eu.pagerduty.com' } }, 400, /config\.key is missing/],
    [{ kind: 'mail', config: { to: 'ada@example.com', key: 'very-private' } }, 400, /config\.key is nothing that/],
    [{ kind: 'mail', config: { to: 'ada, bob@example.com' } }, 400, /a mail address/],
    [{ kind: 'slack', config: { ...SLACK.config, template: '{{title}}' } }, 400, /config\.template is nothing that/],
    [
      { kind: 'http', config: { url: 'https://example.com', template: '{{tilte}}' } },
      400,
      /no value for \{\{tilte\}\}/,
    ],
    [{ kind: 'http', config: { url: 'https://example.com', headers: { host: 'a' } } }, 400, /"host" cannot be set/],
    [{ kind: 'http', config: { url: 'http://169.254.169.254/' } }, 422, /config\.url cannot be reached/],
    [{ kind: 'http', config: { url: 'ftp://example.com/' } }, 422, /config\.url cannot be reached/],
    [{ kind: 'opsgenie', config: { key: 'k', url: 'http://10.0.0.1' } }, 422, /config\.url cannot be reached/],
    [{ kind: 'carrier pigeon', config: {} }, 400, /kind/],
    [{ kind: 'slack' }, 400, /config/],
    [{ ...SLACK, sealed: true }, 400, /sealed/],
  ];
  for (const [body, status, message] of refused) {
    const answer = await client.request('POST', '/v1/channels', body);
    equal(answer.status, status, answer.text);
    match(answer.json.detail, message);
    ok(!answer.text.includes('very-private'));
  }
  equal((await client.get('/v1/channels')).page_info.total_count, 0);
});

test('a change to what the kind does not take is refused', async () => {
  const { client } = await newErrand();
  const { id } = await client.post('/v1/channels', SLACK);
  for (const config of [{ url: null }, { key: 'x' }, { url: 'http://127.0.0.1:1/', to: 'a@b.example' }]) {
    equal((await client.request('PUT', `/v1/channels/${id}`, { config })).status, 400);
  }
  equal((await client.request('PUT', `/v1/channels/${id}`, { config: { url: 'http://10.0.0.1/' } })).status, 422);
  equal((await client.request('PUT', `/v1/channels/${id}`, { kind: 'mail' })).status, 400);
});

test('only channels that there are can be named', async () => {
  const { client, workflow } = await newErrand();
  const stranger = await newErrand();
  const foreign = await stranger.client.post('/v1/channels', SLACK);
  const own = await client.post('/v1/channels', SLACK);
  for (const channels of [[foreign.id], [own.id, 'ch_0000000000000000']]) {
    equal((await client.request('PUT', '/v1/users/me', { channels })).status, 422);
    const made = { name: 'w', steps: [{ namespace: 'step', code: 'export default () => {}' }], settings: { channels } };
    const answer = await client.request('POST', '/v1/workflows', made);
    equal(answer.status, 422, answer.text);
    match(answer.json.detail, /settings\.channels: there is no channel/);
  }
  equal((await client.request('PUT', '/v1/users/me', { channels: [own.id, own.id] })).status, 400);
  deepEqual((await client.put('/v1/users/me', { channels: [own.id] })).channels, [own.id]);
  const made = await workflow('export default () => {}', { settings: { channels: [own.id] } });
  deepEqual(made.settings.channels, [own.id]);
});

test('a channel that workflows name is not deleted before they name others', async () => {
  const { client, workflow } = await newErrand();
  const [own, other] = [await client.post('/v1/channels', SLACK), await client.post('/v1/channels', SLACK)];
  await client.put('/v1/users/me', { channels: [own.id, other.id] });
  const code = 'export default () => {}';
  const orders = await workflow(code, { name: 'Orders', settings: { channels: [own.id], notify: false } });
  await workflow(code, { name: 'Stock', settings: { channels: [other.id] } });
  const refused = await client.request('DELETE', `/v1/channels/${own.id}`);
  equal(refused.status, 409, refused.text);
  equal(
    refused.json.detail,
    `${own.id} is in the setting channels of a workflow: "Orders" (${orders.id}). Name other channels there first, or null for those of the owner`,
  );
  deepEqual((await client.get('/v1/users/me')).data.channels, [own.id, other.id]);
  const { settings } = (await client.get(`/v1/workflows/${orders.id}`)).data;
  deepEqual(settings.channels, [own.id]);
  await client.put(`/v1/workflows/${orders.id}`, { settings: { channels: null } });
  equal((await client.delete(`/v1/channels/${own.id}`)).id, own.id);
  deepEqual((await client.get('/v1/users/me')).data.channels, [other.id]);
});

test('a long list of workflows that name a channel is shortened', async () => {
  const { client, workflow } = await newErrand();
  const { id } = await client.post('/v1/channels', SLACK);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    await workflow('export default () => {}', { name, settings: { channels: [id] } });
  const { status, json } = await client.request('DELETE', `/v1/channels/${id}`);
  equal(status, 409);
  match(json.detail, /of 7 workflows: "a" \(p_\w+\), .*"e" \(p_\w+\) and 2 more\. Name/);
});

test('another owner sees and reaches no channel', async () => {
  const { client } = await newErrand();
  const stranger = await newErrand();
  const { id } = await client.post('/v1/channels', SLACK);
  equal((await stranger.client.get('/v1/channels')).data.length, 0);
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/test'],
  ] as const) {
    const body = method === 'PUT' ? { active: false } : undefined;
    equal((await stranger.client.request(method, `/v1/channels/${id}${path}`, body)).status, 404);
  }
  equal((await client.get(`/v1/channels/${id}`)).data.active, true);
});

test('a test shows what came back', async () => {
  const { client } = await newErrand();
  await using receiver = await startReceiver();
  const { id } = await client.post('/v1/channels', { kind: 'discord', config: { url: receiver.url } });
  const good = await client.post(`/v1/channels/${id}/test`);
  deepEqual([good.delivered, good.attempt.status, good.attempt.trigger], [true, 200, 'test']);
  receiver.answer(403, {}, 'invalid token');
  const bad = await client.post(`/v1/channels/${id}/test`);
  deepEqual([bad.delivered, bad.attempt.status, bad.attempt.response_body], [false, 403, 'invalid token']);
  equal((await client.get('/v1/ledger')).data.deliveries.total, 0);
});

test('a test of a chat whose address is of another service says so', async () => {
  const { client } = await newErrand();
  await using receiver = await startReceiver();
  for (const [kind, told] of Object.entries({ slack: /not one of Slack: /, teams: /not one of Microsoft Teams: / })) {
    const { id } = await client.post('/v1/channels', { kind, config: { url: receiver.url } });
    const { delivered, attempt } = await client.post(`/v1/channels/${id}/test`);
    equal(delivered, true);
    match(attempt.detail, told);
  }
  const hosts = ['https://hooks.slack.com/services/T/B/x', 'https://hooks.slack.com.example/x', 'https://1.1.1.1/x'];
  const hints = hosts.map((url) => hintOf({ kind: 'slack', config: { url } }) !== null);
  deepEqual(hints, [false, true, true]);
  const flow = 'https://prod-1.westus.logic.azure.com:443/workflows/1/triggers/manual/paths/invoke';
  equal(hintOf({ kind: 'teams', config: { url: flow } }), null);
  equal(hintOf({ kind: 'http', config: { url: receiver.url } }), null);
});

test('a test of a mailbox sends a mail', async () => {
  const errand = await newErrand();
  const { id } = await errand.client.post('/v1/channels', { kind: 'mail', config: { to: 'oncall@example.com' } });
  equal((await errand.client.post(`/v1/channels/${id}/test`)).delivered, true);
  const mail = (await errand.outbox()).find((one) => one.includes('oncall@example.com'));
  match(mail ?? '', /Subject: \[Errand\] Test notice/);
  match(mail ?? '', /text\/html/);
});

test('changes of channels are in the audit log', async () => {
  const { client } = await newErrand();
  const { id } = await client.post('/v1/channels', SLACK);
  await client.put(`/v1/channels/${id}`, { active: false });
  await client.request('POST', `/v1/channels/${id}/test`);
  await client.delete(`/v1/channels/${id}`);
  const { data } = await client.get(`/v1/audit?target=${id}`);
  const operations = data.map(({ operation }: Json) => operation);
  deepEqual(operations, ['deleteChannel', 'testChannel', 'updateChannel', 'createChannel']);
});

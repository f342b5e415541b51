// The links of notices: what GET shows and never does, what POST does, and which links do nothing.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

const THROW = `export default ({ steps }) => { throw new Error('<b>' + steps.trigger.event.body.text); };`;
const DAY_MS = 86_400_000;

interface Told {
  readonly workflow: Json;
  readonly group: Json;
  readonly link: string;
}

async function told(errand: Pick<Errand, 'client' | 'workflow' | 'send'>, receiver: Receiver): Promise<Told> {
  const channel = await errand.client.post('/v1/channels', { kind: 'http', config: { url: receiver.url } });
  const workflow = await errand.workflow(THROW, { settings: { channels: [channel.id] } });
  const before = receiver.received.length;
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(before + 1);
  const { link, group_id: id } = JSON.parse(String(receiver.received.at(-1)?.body));
  return { workflow, link, group: { id } };
}

const open = (link: string, method = 'GET'): Promise<Response> =>
  fetch(link, { method, headers: { accept: 'text/html' } });

const stateOf = async (errand: Pick<Errand, 'client'>, { id }: Json): Promise<string> =>
  (await errand.client.get(`/v1/error_groups/${id}`)).data.state;

test('a GET shows what may be done and does nothing', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { workflow, group, link } = await told(errand, receiver);
  for (const end of ['', '/mute', '/resolve', '/replay']) {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const answer = await open(link + end, method);
      ok(answer.ok, `${method} ${end} answered ${answer.status}`);
      if (method !== 'GET') continue;
      const page = await answer.text();
      match(answer.headers.get('content-security-policy') ?? '', /form-action 'self'/);
      equal(answer.headers.get('cache-control'), 'no-store');
      ok(page.includes(group.id) && page.includes('method="post"') && !page.includes('<b>'));
    }
  }
  equal((await open(`${link}/mute`, 'PUT')).status, 405);
  equal(await stateOf(errand, group), 'open');
  equal((await errand.client.get(`/v1/workflows/${workflow.id}/runs`)).page_info.total_count, 1);
});

test('the page shows the newest error, and runs nothing of it', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const hostile = '</code></pre><script>alert(1)</script><img src=x onerror=alert(2)>"\'\u202e\u0000{{7*7}}';
  const channel = await errand.client.post('/v1/channels', { kind: 'http', config: { url: receiver.url } });
  const name = `<svg onload=alert(3)> "Orders"`;
  const code = `function check(text) { throw Object.assign(new Error(text), { code: '<i>E</i>' }); }
export default ({ steps }) => check(steps.trigger.event.body.text);`;
  const workflow = await errand.workflow(code, { name, settings: { channels: [channel.id] } });
  const path = new URL(workflow.triggers[0].endpoint_url).pathname;
  await errand.client.request('POST', path, { text: hostile }, { 'x-token': 'secret-of-a-sender' });
  await receiver.wait(1);
  const { link } = JSON.parse(String(receiver.received[0]?.body));
  for (const end of ['', '/mute']) {
    const answer = await open(link + end);
    match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'sha256-[^;]+;/);
    equal(answer.headers.get('referrer-policy'), 'no-referrer');
    equal(answer.headers.get('x-content-type-options'), 'nosniff');
    const page = await answer.text();
    const shown = page.slice(page.indexOf('</style>'));
    deepEqual(shown.match(/<(script|img|svg|i|link|iframe)\b/g), null, shown);
    ok(
      !/[\u202e\0]/.test(shown) && shown.includes('&lt;img src=x onerror=alert(2)&gt;&quot;&#39;\ufffd\ufffd{{7*7}}'),
      shown,
    );
    ok(shown.includes('&lt;svg onload=alert(3)&gt; &quot;Orders&quot;'), shown);
    ok(!shown.includes('secret-of-a-sender'));
  }
  const page = await (await open(link)).text();
  match(page, /check \(step\.ts:1:\d+\)/);
  match(page, /The event begins/);
});

test('the forms of a page lead to its link, whatever a proxy has put before it', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { link } = await told(errand, receiver);
  const { pathname } = new URL(link);
  for (const end of ['', '/', '?utm_source=mail', '/mute', '/mute/']) {
    const page = await (await open(link + end)).text();
    const actions = [...page.matchAll(/<form method="post" action="([^"]+)">/g)].map(([, action = '']) => action);
    const proxied = `https://proxy.example/errand${pathname}`;
    const names = end.startsWith('/mute') ? ['mute'] : ['replay', 'mute', 'resolve'];
    deepEqual(
      actions.map((action) => new URL(action, proxied + end).href),
      names.map((name) => `${proxied}/${name}`),
    );
  }
});

test('a POST mutes, resolves and replays, each in the audit log', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { workflow, group, link } = await told(errand, receiver);
  equal((await open(`${link}/replay`, 'POST')).status, 200);
  await errand.runs(workflow.id, 2);
  equal((await open(`${link}/mute`, 'POST')).status, 200);
  const muted = (await errand.client.get(`/v1/error_groups/${group.id}`)).data;
  equal(muted.state, 'muted');
  ok(
    Math.abs(new Date(muted.muted_until_ms).getTime() - Date.now() - DAY_MS) < DAY_MS / 2,
    String(muted.muted_until_ms),
  );
  match(await (await open(`${link}/resolve`, 'POST')).text(), /resolved/);
  equal(await stateOf(errand, group), 'resolved');
  const { data } = await errand.client.get(`/v1/audit?target=${group.id}`);
  const shown = data.map((record: Json) => [record.operation, record.key_label, record.status]);
  deepEqual(shown, [
    ['updateErrorGroup', 'link of a notice', 200],
    ['updateErrorGroup', 'link of a notice', 200],
    ['replayError', 'link of a notice', 200],
  ]);
  const signature = link.split('.').at(-1) ?? '';
  ok(!JSON.stringify(data).includes(signature), 'the log does not let its readers act');
});

test('a replay by a link runs an event once, however often it is confirmed', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { workflow, link } = await told(errand, receiver);
  const steps = [{ namespace: 'step', code: 'export default () => 1;' }];
  await errand.client.put(`/v1/workflows/${workflow.id}`, { steps });
  const clicked = await Promise.all([1, 2, 3].map(() => open(`${link}/replay`, 'POST')));
  deepEqual(clicked.map(({ status }) => status).toSorted(), [200, 409, 409]);
  await errand.settled();
  const again = await open(`${link}/replay`, 'POST');
  equal(again.status, 409);
  match(await again.text(), /is not replayed: its event was run again by r_\w+ \(succeeded\)/);
  equal((await errand.client.get(`/v1/workflows/${workflow.id}/runs`)).page_info.total_count, 2);
});

test('an error whose event can never run again is not offered for a replay', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await errand.client.post('/v1/channels', { kind: 'http', config: { url: receiver.url } });
  const workflow = await errand.workflow(THROW, { settings: { channels: [channel.id] } });
  const heartbeat = await errand.client.post('/v1/heartbeats', { name: 'Backup', interval_seconds: 3600 });
  await errand.client.put('/v1/users/me', { channels: [channel.id] });
  const reported = { workflow_id: workflow.id, code: 'Elsewhere', message: 'gone' };
  await errand.client.post('/v1/errors', reported);
  await receiver.wait(1);
  await fetch(`${heartbeat.ping_url}/fail`, { method: 'POST' });
  await receiver.wait(2);
  const notices = receiver.received.map(({ body }) => JSON.parse(String(body)) as Json);
  const why = [/cannot be replayed: it was reported by another program/, /cannot be replayed: it is of a watch/];
  for (const [i, { link, replayable }] of notices.entries()) {
    equal(replayable, false);
    const page = await (await open(link)).text();
    ok(page.includes('/mute') && !page.includes('/replay'), page);
    for (const method of ['GET', 'POST']) {
      const refused = await open(`${link}/replay`, method);
      equal(refused.status, 422);
      match(await refused.text(), why[i] as RegExp);
    }
  }
  equal((await errand.client.get(`/v1/workflows/${workflow.id}/runs`)).page_info.total_count, 0);
});

test('a link that is forged or of another group does nothing', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { group, link } = await told(errand, receiver);
  const other = await told(errand, receiver);
  const [, signed = ''] = link.split(`${group.id}/`);
  const [expires = '', mac = ''] = signed.split('.');
  const forged = [
    link.slice(0, -1),
    `${link}A`,
    link.replace(`${expires}.`, `${Number(expires) + 1}.`),
    link.replace(mac, 'A'.repeat(mac.length)),
    other.link.replace(/[^/]+$/, signed),
    link.replace('/n/u_', '/n/u_0'),
  ];
  for (const bad of forged) {
    equal((await open(bad)).status, 404, bad);
    equal((await open(`${bad}/mute`, 'POST')).status, 404, bad);
  }
  equal((await open(link, 'POST')).status, 404);
  for (const one of [group, other.group]) equal(await stateOf(errand, one), 'open');
  equal((await errand.client.get(`/v1/audit?target=${group.id}`)).data.length, 0);
});

test('a link expires, and outlives a restart until then', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { link } = await told(errand, receiver);
  const { url } = errand;
  await errand.restart();
  const moved = link.replace(url, errand.url);
  equal((await open(moved)).status, 200);
  errand.forward(31 * DAY_MS);
  equal((await open(moved)).status, 404);
});

/** Matches links that act. */
const GOOD_LINK = /\/n\/u_\w+\/eg_\w+\/\d+\.[\w-]{20,}/;

test('a key that may not write is shown no link: neither in events of mails and notices, nor in errors about them', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  await using gone = await startReceiver();
  gone.answer(410);
  const channel = await client.post('/v1/channels', { kind: 'http', config: { url: gone.url } });
  const workflow = await errand.workflow(THROW, { settings: { channels: [channel.id] } });
  await errand.send(workflow, { text: 'broken' });
  // The error of the notice is mailed, too.
  const mails = await until('both mails', async () => (await errand.outbox()).length === 2 && errand.outbox());
  equal(mails.length, 2);
  const global = (await client.get('/v1/users/me')).data.global_error_workflow_id;
  const deliveries = (await client.get('/v1/deliveries')).data;
  deepEqual(new Set(deliveries.map(({ kind }: Json) => kind)), new Set(['mail', 'channel']));
  const runs = (await client.get(`/v1/workflows/${global}/runs`)).data;
  const errors = (await client.get('/v1/errors')).data;
  equal(errors.length, 2);
  const paths = [
    `/v1/workflows/${global}/event_summaries?event_name=$email&expand=event`,
    '/v1/errors?expand=event',
    '/v1/errors/export',
    ...deliveries.map(({ emission_id: id }: Json) => `/v1/events/${id}?expand=event`),
    ...runs.map(({ id }: Json) => `/v1/runs/${id}`),
    ...errors.map(({ id }: Json) => `/v1/errors/${id}/fixture`),
  ];
  const reader = (await withScopes(client, ['read'])).client;
  for (const path of paths) {
    const { status, text } = await reader.request('GET', path);
    equal(status, 200, path);
    ok(!GOOD_LINK.test(text), `${path} shows a link: ${text}`);
  }
  const shown = await reader.request('GET', paths[0] as string);
  match(shown.text, /"subject":"\[Errand\] .*"text":"\(hidden\)"/);
  // A key that may write could do the same without a link.
  match((await client.request('GET', paths[0] as string)).text, GOOD_LINK);
});

test('what a receiver repeats of a notice shows no link to a key that may not write', async () => {
  await using errand = await startErrand();
  const echo = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    response.writeHead(200, { 'x-link': JSON.parse(text).link }).end(`got ${text}`);
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  await using _ = { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => echo.close(() => resolve())) };
  const url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  const channel = await errand.client.post('/v1/channels', { kind: 'http', config: { url } });
  await errand.send(await errand.workflow(THROW, { settings: { channels: [channel.id] } }), { text: 'broken' });
  const [{ id }] = (await until('the notice to be delivered', async () => {
    const { data } = await errand.client.get(`/v1/deliveries?channel_id=${channel.id}&state=delivered`);
    return data.length > 0 && data;
  })) as Json[];
  const own = (await errand.client.get(`/v1/deliveries/${id}`)).data.attempts[0];
  ok(GOOD_LINK.test(own.response_body) && GOOD_LINK.test(own.response_headers['x-link']), JSON.stringify(own));
  const reader = (await withScopes(errand.client, ['read'])).client;
  const { text } = await reader.request('GET', `/v1/deliveries/${id}`);
  match(text, /got \{/, 'the rest is shown');
  ok(!GOOD_LINK.test(text), text);
});

test('the link of an owner that is being deleted does nothing', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const other = await createOwner(errand);
  const { workflow, group, link } = await told(other, receiver);
  await errand.client.request('DELETE', `/v1/owners/${other.id}`);
  for (const [method, end] of [
    ['GET', ''],
    ['GET', '/mute'],
    ['POST', '/mute'],
    ['POST', '/resolve'],
    ['POST', '/replay'],
  ] as const) {
    const answer = await open(link + end, method);
    equal(answer.status, 403, `${method} ${end}`);
    ok(!(await answer.text()).includes('broken'), `${method} ${end}`);
  }
  equal((await open(`${link}x`)).status, 404, 'a wrong link does not tell whose it would be');
  await errand.client.request('POST', `/v1/owners/${other.id}/restore`);
  equal(await stateOf(other, group), 'open');
  equal((await other.client.get(`/v1/workflows/${workflow.id}/runs`)).page_info.total_count, 1);
  equal((await open(link)).status, 200);
});

// PATCH beside PUT: parts of members are changed, and nothing that the patch does not name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Client, Json } from '../../support/client.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource } from '../../support/sources/sources.ts';

const newOwner = shareErrand();
const MERGE_PATCH = 'application/merge-patch+json';

function patch(client: Client, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return client.request('PATCH', path, JSON.stringify(body), { 'content-type': MERGE_PATCH, ...headers });
}

/** Returns the record after a patch that is answered with it. */
async function patched(client: Client, path: string, body: unknown): Promise<Json> {
  const answer = await patch(client, path, body);
  assert.equal(answer.status, 200, answer.text);
  const { data } = await client.get(path);
  // Code is shown where a record is read.
  const { steps: _, ...shown } = answer.json.data;
  for (const [name, value] of Object.entries(shown)) assert.deepEqual(data[name], value, name);
  return answer.json.data;
}

test('a part of a workflow’s settings is changed, or taken away', async () => {
  const errand = await newOwner();
  const settings = { env: { A: '1', B: '2' }, throttle: { limit: 5, interval_ms: 1000 }, memory_mb: 300 };
  const workflow = await errand.workflow('export default () => {}', { settings });
  const path = `/v1/workflows/${workflow.id}`;
  const body = { settings: { env: { A: null, C: '3' }, throttle: { limit: 7 } } };
  const { settings: after, name, triggers } = await patched(errand.client, path, body);
  assert.deepEqual(after.env, { B: '2', C: '3' });
  assert.deepEqual(after.throttle, { limit: 7, interval_ms: 1000 });
  assert.deepEqual([after.memory_mb, name], [300, workflow.name]);
  assert.deepEqual(triggers, workflow.triggers);
  const reset = await patched(errand.client, path, { settings: { throttle: null, timeout_ms: 5000 }, name: 'other' });
  assert.deepEqual([reset.settings.throttle, reset.name], [null, 'other']);
  assert.deepEqual([reset.settings.memory_mb, reset.settings.timeout_ms], [300, 5000]);
  assert.deepEqual(reset.settings.env, after.env);
});

test('each kind of record takes a patch', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const webhook = await client.post('/v1/webhooks', {
    url: 'https://example.com/hook',
    headers: { 'x-a': '1', 'x-b': '2' },
    rate_limit: { limit: 5, interval_ms: 1000 },
  });
  const afterWebhook = await patched(client, `/v1/webhooks/${webhook.id}`, {
    headers: { 'x-a': null, 'x-c': '3' },
    rate_limit: { limit: 6 },
    description: 'new',
  });
  assert.deepEqual(afterWebhook.headers, { 'x-b': '2', 'x-c': '3' });
  assert.deepEqual(afterWebhook.rate_limit, { limit: 6, interval_ms: 1000 });
  assert.deepEqual([afterWebhook.url, afterWebhook.description], [webhook.url, 'new']);

  const code = `export default { props: { a: 'string', b: { type: 'string', secret: true }, c: { type: 'string', optional: true } }, run() {} };`;
  const source = await createSource(errand, code, { configured_props: { a: '1', b: 'hidden', c: '3' } });
  const afterSource = await patched(client, `/v1/sources/${source.id}`, { configured_props: { a: '2', c: null } });
  assert.deepEqual(afterSource.configured_props, { a: '2' });

  const workflow = await errand.workflow('export default () => {}', { triggers: [] });
  const filter = { a: { x: [1], y: [2] } };
  const three = { emitter_id: source.id, listener_id: workflow.id };
  const [subscription] = await client.post('/v1/subscriptions', { ...three, filter });
  const changed = await patched(client, `/v1/subscriptions/${subscription.id}`, { filter: { a: { x: null } } });
  assert.deepEqual(changed.filter, { a: { y: [2] } });

  const heartbeat = await client.post('/v1/heartbeats', { name: 'x', interval_seconds: 600 });
  assert.equal((await patched(client, `/v1/heartbeats/${heartbeat.id}`, { name: 'y' })).name, 'y');
  assert.equal((await patched(client, '/v1/users/me', { name: 'Ada' })).name, 'Ada');
  const store = await client.post('/v1/data_stores', { name: 'x' });
  assert.equal((await patched(client, `/v1/data_stores/${store.id}`, { name: 'y' })).name, 'y');
  const account = await client.post('/v1/accounts', { app: 'slack', name: 'x', fields: { token: '1', team: '2' } });
  const afterAccount = await patched(client, `/v1/accounts/${account.id}`, { fields: { team: null, more: '3' } });
  assert.deepEqual(afterAccount.field_names.sort(), ['more', 'token']);
});

test('what a PUT takes whole keeps what the patch leaves out', async () => {
  const { client } = await newOwner();
  const before = await client.put('/v1/users/me/redaction', { keys: ['password', 'iban'] });
  const after = await patched(client, '/v1/users/me/redaction', {});
  assert.deepEqual(after, before);
});

test('a patch that makes no sense is refused, and changes nothing', async () => {
  const errand = await newOwner();
  const stranger = await newOwner();
  const webhook = await errand.client.post('/v1/webhooks', { url: 'https://example.com/hook' });
  const path = `/v1/webhooks/${webhook.id}`;
  const before = await errand.client.get(path);
  assertProblem(await patch(errand.client, path, { rate_limit: { limit: 5 } }), 400, 'rate_limit.interval_ms');
  assertProblem(await patch(errand.client, path, { nam: 'x' }), 400, 'nam');
  assertProblem(await patch(errand.client, path, { url: null }), 400, 'url');
  assertProblem(await patch(errand.client, path, { headers: { 'x-a': 1 } }), 400, 'headers');
  assertProblem(await patch(errand.client, path, []), 400, 'array');
  assertProblem(await patch(errand.client, path, { name: 'x' }, { 'content-type': 'text/plain' }), 415);
  assertProblem(await patch(stranger.client, path, { name: 'x' }), 404, webhook.id);
  assertProblem(await patch(errand.client, path, { name: 'x' }, { 'if-match': '"none"' }), 412);
  const workflow = await errand.workflow('export default () => {}', { triggers: [] });
  const noLimit = { settings: { throttle: { limit: null, interval_ms: 1000 } } };
  assertProblem(await patch(errand.client, `/v1/workflows/${workflow.id}`, noLimit), 400, 'settings.throttle.limit');
  const { api_key } = await errand.client.post('/v1/keys', { label: 'reads', scopes: ['read'] });
  const headers = { authorization: `Bearer ${api_key}` };
  assertProblem(await patch(errand.client, path, { name: 'x' }, headers), 403);
  assert.deepEqual(await errand.client.get(path), before);
});

test('null brings back the default of every setting of a workflow', async () => {
  const errand = await newOwner();
  const code = 'export default () => {}';
  const standard = await errand.workflow(code, { triggers: [] });
  const settings = {
    ...{ timeout_ms: 5000, memory_mb: 300, concurrency: 2, queue_limit: 9, notify: false, global_errors: 'fallback' },
    ...{ throttle: { limit: 1, interval_ms: 1000 }, retry: { attempts: 2 }, env: { A: '1' }, channels: [] },
    ...{ grouping: [{ group: 'x', code: 'X' }], watch: { silent_after_ms: 3_600_000 }, error_retention: { days: 99 } },
  };
  const names = Object.keys(standard.settings);
  assert.deepEqual(Object.keys(settings).sort(), [...names].sort(), 'each of them is tried');
  const none = { settings: Object.fromEntries(names.map((name) => [name, null])) };
  const { id } = await errand.workflow(code, { triggers: [], settings });
  const path = `/v1/workflows/${id}`;
  for (const write of [() => errand.client.put(path, none), () => patched(errand.client, path, none)]) {
    const changed = await errand.client.put(path, { settings });
    for (const name of names) assert.notDeepEqual(changed.settings[name], standard.settings[name], name);
    assert.deepEqual((await write()).settings, standard.settings);
  }
  assert.deepEqual((await errand.workflow(code, { triggers: [], ...none })).settings, standard.settings);
});

test('patches at the same time are all made', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default () => {}', { triggers: [] });
  const path = `/v1/workflows/${workflow.id}`;
  const names = ['A', 'B', 'C', 'D'];
  const answers = await Promise.all(
    names.map((one) => patch(errand.client, path, { settings: { env: { [one]: one } } })),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const { env } = (await errand.client.get(path)).data.settings;
  assert.deepEqual(env, { A: 'A', B: 'B', C: 'C', D: 'D' });
});

test('patches of parts of one member at the same time are all made', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const workflow = await errand.workflow('export default () => {}', { triggers: [] });
  const webhook = await client.post('/v1/webhooks', { url: 'https://example.com/hook' });
  const [subscription] = await errand.subscribe(workflow.id, webhook.id);
  const channel = await client.post('/v1/channels', { kind: 'http', config: { url: 'https://example.com/' } });
  const own = '/v1/users/me/redaction';
  const ofWorkflow = `/v1/workflows/${workflow.id}/redaction`;
  const names = ['a', 'b', 'c'];
  const each = (path: string, bodyOf: (name: string) => object) =>
    names.map(async (name) => assert.equal((await patch(client, path, bodyOf(name))).status, 200, path));
  for (const path of [own, ofWorkflow]) {
    const parts = [{ keys: ['a'] }, { patterns: ['b'] }, ...(path === own ? [] : [{ before_storing: true }])];
    await Promise.all(parts.map(async (body) => assert.equal((await patch(client, path, body)).status, 200, path)));
    assert.deepEqual((await client.get(path)).data, Object.assign({}, ...parts));
  }
  await Promise.all(each(`/v1/subscriptions/${subscription.id}`, (name) => ({ filter: { [name]: [1] } })));
  const { filter } = (await client.get(`/v1/subscriptions/${subscription.id}`)).data;
  assert.deepEqual(filter, { a: [1], b: [1], c: [1] });
  await Promise.all(each(`/v1/channels/${channel.id}`, (name) => ({ config: { headers: { [`x-${name}`]: name } } })));
  const { config } = (await client.get(`/v1/channels/${channel.id}`)).data;
  assert.deepEqual(Object.keys(config.headers).sort(), ['x-a', 'x-b', 'x-c']);
});

test('a change of a content that was replaced is refused', async () => {
  const errand = await newOwner();
  const { client } = errand;
  const workflow = await errand.workflow('export default () => {}', { triggers: [] });
  const webhook = await client.post('/v1/webhooks', { url: 'https://example.com/hook' });
  const [subscription] = await errand.subscribe(workflow.id, webhook.id);
  const records = [
    { path: `/v1/subscriptions/${subscription.id}`, change: (n: number) => ({ filter: { n: [n] } }) },
    { path: '/v1/users/me/redaction', change: (n: number) => ({ keys: [`key${n}`] }) },
    { path: `/v1/workflows/${workflow.id}/redaction`, change: (n: number) => ({ keys: [`key${n}`] }) },
  ];
  for (const { path, change } of records) {
    const tagOf = async () => (await client.request('GET', path)).headers.get('etag') ?? '';
    const put = (n: number, ifMatch: string) => client.request('PUT', path, change(n), { 'if-match': ifMatch });
    const read = await tagOf();
    const first = await put(1, read);
    assert.equal(first.status, 200, first.text);
    assert.notEqual(await tagOf(), read, path);
    assert.equal(first.headers.get('etag'), await tagOf(), path);
    assertProblem(await put(2, read), 412, 'If-Match');
    assertProblem(await patch(client, path, change(2), { 'if-match': read }), 412, 'If-Match');
    assert.equal(await tagOf(), first.headers.get('etag'), 'nothing is changed');
  }
});

test('what is shown hidden stays what it is when it is sent back', async () => {
  const { client } = await newOwner();
  await using receiver = await startReceiver();
  const config = { url: `${receiver.url}/private`, headers: { authorization: 'Bearer 1', 'x-old': '1' } };
  const { id } = await client.post('/v1/channels', { kind: 'http', config });
  const sent = async () => {
    const count = receiver.received.length;
    assert.equal((await client.post(`/v1/channels/${id}/test`)).delivered, true);
    const { headers, path } = (await receiver.wait(count + 1))[count] as Json;
    return [path, headers.authorization, headers['x-old'], headers['x-new']];
  };
  await patched(client, `/v1/channels/${id}`, { config: { headers: { 'x-old': null, 'x-new': '2' } } });
  assert.deepEqual(await sent(), ['/hook/private', 'Bearer 1', undefined, '2']);
  const { config: shown } = (await client.get(`/v1/channels/${id}`)).data;
  assert.deepEqual(shown.headers, { authorization: '(hidden)', 'x-new': '(hidden)' });
  await client.put(`/v1/channels/${id}`, { config: shown });
  assert.deepEqual(await sent(), ['/hook/private', 'Bearer 1', undefined, '2']);
});

test('every PUT says whether it is partial, and those of records have a PATCH', async () => {
  const { client } = await newOwner();
  const { paths } = await client.get('/v1/openapi.json');
  /** They deploy a file, or write a value. */
  const others = ['/v1/workflow_files', '/v1/source_files', '/v1/data_stores/{id}/records/{key}'];
  for (const [path, { put, patch }] of Object.entries<Json>(paths)) {
    if (put === undefined || others.includes(path)) continue;
    assert.match(put.description, /(Partial|whole record): members that are left out/, path);
    assert.deepEqual(Object.keys(patch.requestBody.content), [MERGE_PATCH], path);
  }
});

// The OpenAPI document: valid, complete, and true of what the service answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Errors } from 'typebox/schema';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { failedHeartbeat } from '../support/heartbeats.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { createSource, ECHO_SOURCE, post } from '../support/sources/sources.ts';
import { createWebhook, deliveries } from '../support/webhooks.ts';

const newErrand = shareErrand();

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

function wholeNoun(noun: string): string[] {
  return ['POST ', 'GET ', 'GET /{}', 'PUT /{}', 'DELETE /{}'].map((verb) => verb.replace(' ', ` /v1/${noun}`));
}

/** Addresses that the documentation of the interface names. */
const NAMED = [
  ...wholeNoun('workflows'),
  'GET /v1/workflows/{}/deployments',
  'POST /v1/workflows/{}/deployments/{}/activate',
  'POST /v1/workflows/{}/runs',
  'GET /v1/workflows/{}/runs',
  'GET /v1/runs/{}',
  'POST /v1/runs/{}/cancel',
  'GET /v1/workflows/{}/event_summaries',
  'GET /v1/workflows/{}/$errors/event_summaries',
  'GET /v1/workflows/{}/$errors/event_summaries/{}',
  'POST /v1/workflows/{}/$errors/{}/replay',
  ...wholeNoun('sources'),
  'GET /v1/users/me/sources',
  'DELETE /v1/sources/{}/events',
  'POST /v1/sources/{}/invoke',
  'GET /v1/sources/{}/logs',
  'GET /v1/sources/{}/event_summaries',
  'GET /v1/emitters/{}/events',
  'GET /v1/errors/stream',
  'GET /v1/errors/export',
  'GET /v1/errors/{}/fixture',
  'GET /v1/workflows/{}/$errors/export',
  'GET /sse/dc/{}/emits',
  'GET /v1/sources/{}/$errors/event_summaries',
  ...wholeNoun('channels'),
  'POST /v1/channels/{}/test',
  ...wholeNoun('accounts'),
  'GET /v1/users/me/accounts',
  ...wholeNoun('data_stores'),
  'GET /v1/data_stores/{}/records',
  'DELETE /v1/data_stores/{}/records',
  'GET /v1/data_stores/{}/records/{}',
  'PUT /v1/data_stores/{}/records/{}',
  'DELETE /v1/data_stores/{}/records/{}',
  'POST /v1/webhooks',
  'GET /v1/webhooks',
  'GET /v1/users/me/webhooks',
  'GET /v1/webhooks/{}',
  'PUT /v1/webhooks/{}',
  'DELETE /v1/webhooks/{}',
  'GET /v1/webhooks/{}/deliveries',
  'GET /v1/webhooks/{}/$errors/event_summaries',
  'POST /v1/webhooks/{}/rotate_secret',
  'POST /v1/webhooks/{}/test',
  'POST /v1/webhooks/{}/resend',
  'GET /v1/webhook_keys',
  'GET /v1/deliveries/{}',
  'POST /v1/deliveries/{}/resend',
  'GET /v1/operations',
  'GET /v1/operations/{}',
  'POST /v1/operations/{}/pause',
  'POST /v1/operations/{}/resume',
  'POST /v1/operations/{}/cancel',
  'POST /v1/subscriptions',
  'GET /v1/subscriptions',
  'GET /v1/users/me/subscriptions',
  'GET /v1/subscriptions/{}',
  'DELETE /v1/subscriptions',
  'DELETE /v1/subscriptions/{}',
  'POST /v1/auto_subscriptions',
  'GET /v1/users/me',
  'PUT /v1/users/me',
  'GET /v1/ledger',
  'GET /v1/openapi.json',
  'POST /v1/owners',
];

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly spec: Json;
}

const documentOf = async (errand: Errand): Promise<Json> => errand.client.get('/v1/openapi.json');

const operationsOf = (document: Json): Operation[] =>
  Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => ({ method, path, spec: item[method] })),
  );

const normal = ({ method, path }: Operation): string => `${method.toUpperCase()} ${path.replace(/\{[^}]+\}/g, '{}')}`;

/** All members of a value, also of members, with where they are. */
function* walk(value: Json, where = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  yield [where, value];
  for (const [name, member] of Object.entries(value)) yield* walk(member, `${where}/${name}`);
}

function assertValid(document: Json, schema: Json, value: Json, what: string): void {
  const whole = { ...schema, components: document.components };
  const [ok, errors] = Errors(whole, value);
  assert.ok(ok, `${what}: ${JSON.stringify(errors)} in ${JSON.stringify(value).slice(0, 300)}`);
}

/** The schema, which then allows only members that it names. */
function closed(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const all = Object.fromEntries(Object.entries<Json>(schema).map(([name, value]) => [name, closed(value)]));
  const isOpen = 'additionalProperties' in all || 'patternProperties' in all;
  return all.type === 'object' && all.properties && !isOpen ? { ...all, additionalProperties: false } : all;
}

test('the document is a valid openapi 3.1', async () => {
  await using errand = await newErrand();
  const document = await documentOf(errand);
  assert.match(document.openapi, /^3\.1\.\d+$/);
  assert.ok(document.info.title && document.info.version);
  const ids = new Set<string>();
  for (const { method, path, spec } of operationsOf(document)) {
    const name = `${method} ${path}`;
    assert.match(path, /^\//);
    assert.ok(spec.operationId && !ids.has(spec.operationId), `${name}: an operationId of its own`);
    ids.add(spec.operationId);
    assert.ok(spec.summary, name);
    assert.ok(Object.keys(spec.responses).length > 0, name);
    for (const [status, response] of Object.entries<Json>(spec.responses)) {
      assert.match(status, /^([1-5]\d\d|4XX|default)$/);
      assert.ok(response.$ref ?? response.description, `${name} ${status}: described`);
    }
    const parameters: Json[] = spec.parameters ?? [];
    for (const parameter of parameters) {
      assert.ok(['query', 'path', 'header'].includes(parameter.in), name);
      assert.ok(parameter.schema ?? parameter.content, `${name} ${parameter.name}: has a schema`);
    }
    const inPath = parameters.filter((p) => p.in === 'path');
    assert.ok(inPath.every((p) => p.required === true));
    const holes = [...path.matchAll(/\{([^}]+)\}/g)].map((found) => found[1]);
    assert.deepEqual(inPath.map((p) => p.name).sort(), holes.sort(), name);
  }
  for (const [where, value] of walk(document)) {
    if (typeof value.$ref !== 'string') continue;
    const target = value.$ref
      .slice(2)
      .split('/')
      .reduce((at: Json, part: string) => at?.[part], document);
    assert.ok(target, `${where}: ${value.$ref} leads somewhere`);
  }
});

test('what needs a key says so', async () => {
  await using errand = await newErrand();
  const document = await documentOf(errand);
  const schemes = Object.values<Json>(document.components.securitySchemes);
  assert.ok(schemes.some((scheme) => scheme.type === 'http' && scheme.scheme === 'bearer'));
  for (const operation of operationsOf(document)) {
    const security: Json[] = operation.spec.security ?? document.security ?? [];
    const path = operation.path.replace(/\{[^}]+\}/g, 'x_1');
    const response = await fetch(errand.url + path, { method: operation.method.toUpperCase() });
    if (security.length === 0) assert.notEqual(response.status, 401, normal(operation));
    else if (operation.path.startsWith('/v1')) assert.equal(response.status, 401, normal(operation));
  }
});

test('every named address is documented and answered', async () => {
  await using errand = await newErrand();
  const operations = operationsOf(await documentOf(errand)).map(normal);
  assert.deepEqual(
    NAMED.filter((name) => !operations.includes(name)),
    [],
  );
});

test('what the service answers is in the document', async () => {
  await using errand = await startErrand();
  const operations = operationsOf(await documentOf(errand));
  const paths = new Set(operations.map(({ path }) => path).filter((path) => path.startsWith('/v1/')));
  for (const path of paths) {
    // An address without holes may also be one of those with them: /components/configure of /components/{key}.
    const fits = (other: string): boolean =>
      new RegExp(`^${other.replaceAll('$', '\\$').replace(/\{[^}]+\}/g, '[^/{}]+')}$`).test(path);
    const same = operations.filter((o) => o.path === path || (!path.includes('{') && fits(o.path)));
    const documented = [...new Set(same.map((o) => o.method.toUpperCase()))];
    const answer = await errand.client.request('PURGE', path.replace(/\{[^}]+\}/g, 'x_1'));
    assert.equal(answer.status, 405, path);
    const allowed = (answer.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD');
    assert.deepEqual(allowed.sort(), documented.sort(), path);
  }
  const extended = [
    'events',
    'emits',
    'triggers',
    'errors',
    '$errors',
    'test',
    'resend',
    'rotate_secret',
    'replay',
    'retry',
    'enable',
    'keys',
  ];
  for (const base of [
    '/v1/workflows/x',
    '/v1/sources/x',
    '/v1/webhooks/x',
    '/v1/deliveries/x',
    '/v1/runs/x',
    '/v1/emitters/x',
    '/v1',
    '/v1/users',
    '/v1/users/me',
    // Any name behind /v1/owners is that of an owner.
    '/v1/owners/x',
  ]) {
    for (const end of ['', ...extended.map((name) => `/${name}`)]) {
      const answer = await errand.client.request('PURGE', base + end);
      const shape = (base + end).replaceAll('/x', '/{}');
      const isKnown = [...paths].some((path) => path.replace(/\{[^}]+\}/g, '{}') === shape || path === base + end);
      assert.equal(
        answer.status === 405,
        isKnown,
        `${base + end} answered ${answer.status} (allow: ${answer.headers.get('allow')})`,
      );
    }
  }
});

test('every example fits its schema', async () => {
  await using errand = await newErrand();
  const document = await documentOf(errand);
  let seen = 0;
  for (const [where, value] of walk(document)) {
    const schema = value.schema ?? value;
    const examples: Json[] = [
      ...(Array.isArray(value.examples) ? value.examples : []),
      ...('example' in value ? [value.example] : []),
    ];
    if (where.endsWith('/properties') || where.includes('/example')) continue;
    for (const example of examples) {
      seen += 1;
      assertValid(document, schema, example, where);
    }
  }
  assert.ok(seen > 50, `${seen} examples`);
});

test('real answers fit their documented schemas', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const document = await documentOf(errand);
  const failing = await errand.workflow(
    `export default ({ $ }) => { console.log('x'); $.export('a', 1); throw new Error('x'); };`,
  );
  const echo = 'console.log(1); if (event.body.n === 1) throw new Error("x"); this.$emit';
  const source = await createSource(errand, ECHO_SOURCE.replace('this.$emit', echo));
  const webhook = await createWebhook(errand, receiver);
  const [subscription] = await errand.subscribe(failing.id, webhook.id, '$errors');
  assert.notEqual((await errand.subscribe(source.id, webhook.id))[0].id, subscription.id);
  receiver.answer((n) => (n === 0 ? 410 : 200));
  await errand.send(failing, { n: 1 });
  const [record] = await errand.errors(failing.id, 1);
  const [webhookRecord] = await errand.errors(webhook.id, 1);
  await post(source, { n: 1 });
  const [sourceRecord] = await errand.errors(source.id, 1);
  await post(source, { n: 2 });
  const [held] = await deliveries(errand, webhook.id, 'held');
  const config = { url: receiver.url, headers: { 'x-key': 'k' }, template: '{{title}}' };
  const channel = await errand.client.post('/v1/channels', { kind: 'http', config });
  const dataStore = await errand.client.post('/v1/data_stores', { name: 'seen' });
  await errand.client.put(`/v1/data_stores/${dataStore.id}/records/rss`, { value: { n: 1 }, ttl: 60 });
  const ids: Record<string, string[]> = {
    '/v1/heartbeats/{id}': await failedHeartbeat(errand.client),
    '/v1/data_stores/{id}': [dataStore.id],
    '/v1/accounts/{id}': [(await errand.client.post('/v1/accounts', { app: 'slack', fields: { t: 't' } })).id],
    '/v1/channels/{id}': [channel.id],
    '/v1/workflows/{id}': [failing.id, record.id],
    '/v1/sources/{id}': [source.id, sourceRecord.id],
    '/v1/webhooks/{id}': [webhook.id, webhookRecord.id],
    '/v1/runs/{id}': [(await errand.runs(failing.id, 1))[0].id],
    '/v1/deliveries/{id}': [held.id],
    '/v1/operations/{id}/results': [(await errand.client.post('/v1/replays', { error_ids: record.id })).id],
    '/v1/operations/{id}': [(await errand.client.post(`/v1/webhooks/${webhook.id}/resend`, { since: 0 })).id],
    '/v1/errors/{id}': [record.id],
    '/v1/events/{id}': [record.id],
    '/v1/error_groups/{id}': [(await errand.client.get('/v1/errors')).data[0].metadata.group_id],
    '/v1/subscriptions/{id}': [subscription.id],
    '/v1/owners/{id}': [(await errand.client.get('/v1/users/me')).data.id],
  };
  const strict = closed(document);
  let seen = 0;
  for (const operation of operationsOf(document).filter((o) => o.method === 'get' && o.path.startsWith('/v1'))) {
    const base = Object.keys(ids).find((prefix) => operation.path.startsWith(prefix));
    const [id = '', recordId = ''] = base === undefined ? [] : (ids[base] ?? []);
    if (operation.path.includes('{record_id}') && recordId === '') continue;
    // A stream has no end, and an export is lines.
    const json = operation.spec.responses['200'].content['application/json'];
    if (!json) continue;
    const path = operation.path
      .replace('{id}', id)
      .replace('{record_id}', recordId)
      .replace('{key}', 'rss')
      .replace('{deployment_id}', failing.deployment_id);
    for (const query of operation.path.includes('event_summaries') ? ['', '?expand=event'] : ['']) {
      const answer = await errand.client.request('GET', path + query);
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      assertValid(strict, closed(json.schema), answer.json, path + query);
      seen += 1;
    }
  }
  assert.ok(seen > 25, `${seen} answers`);
});

test('refusals fit the documented problem', async () => {
  await using errand = await newErrand();
  const document = await documentOf(errand);
  const answers = [
    await errand.client.request('GET', '/v1/workflows/p_nothing'),
    await errand.client.request('POST', '/v1/webhooks?url=ftp://x/'),
    await errand.client.request('POST', '/v1/workflows', '{"name":'),
    await errand.client.request('GET', '/v1/workflows?limit=many'),
    await errand.client.request('PATCH', '/v1/workflows'),
    await errand.client.request('POST', '/v1/workflows', {
      name: 'x',
      steps: [{ namespace: 'a', code: 'export default {' }],
    }),
  ];
  for (const answer of answers) {
    assert.ok(answer.status >= 400 && answer.status < 500);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
    assertValid(document, document.components.schemas.Problem, answer.json, answer.text);
    assert.equal(answer.json.status, answer.status);
  }
});

// Query parameters that a route does not have, over every route of the OpenAPI document.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Operation, operationsOf } from '../../support/belongings.ts';
import type { Json } from '../../support/client.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newOwner = shareErrand();
const MISSPELT = /is not a parameter of this request; did you mean /;

function pathOf(path: string): string {
  return path.replace(/\{[^}]+\}/g, 'x_1');
}

/** Returns the names of what the operation takes in its query. */
function parametersOf(document: Json, { method, path }: Pick<Operation, 'method' | 'path'>): string[] {
  const parameters: Json[] = document.paths[path][method.toLowerCase()].parameters ?? [];
  return parameters.filter((one) => one.in === 'query').map(({ name }) => name);
}

test('every list and record is read with an unknown query parameter', async () => {
  const { client } = await newOwner();
  const document = await client.get('/v1/openapi.json');
  const reads = (await operationsOf(client, /^\/(v1|sse)\//)).filter(
    ({ method, path }) => method === 'GET' && !document.paths[path].get.responses['200'].content?.['text/event-stream'],
  );
  assert.ok(reads.length > 50, `${reads.length} operations`);
  for (const { path } of reads) {
    const plain = await client.request('GET', pathOf(path));
    const answer = await client.request('GET', `${pathOf(path)}?zzqq=1&_=2&zzqq=3`);
    assert.equal(answer.status, plain.status, `${path}: ${answer.text}`);
  }
});

test('every route refuses a misspelt query parameter by its name', async () => {
  const { client } = await newOwner();
  const document = await client.get('/v1/openapi.json');
  let seen = 0;
  for (const operation of await operationsOf(client, /^\/(v1|sse)\//)) {
    const { method, path, scope } = operation;
    const names = parametersOf(document, operation);
    const [longest] = [...names].sort((a, b) => b.length - a.length);
    if (scope === null || scope === 'admin' || longest === undefined) continue;
    // Refused for the last one alone, before anything is done.
    const query = [...names, `${longest}z`].map((name) => `${name}=1`).join('&');
    const answer = await client.request(method, `${pathOf(path)}?${query}`);
    assert.equal(answer.status, 400, `${method} ${path}: ${answer.text}`);
    assert.deepEqual(
      answer.json.errors.map((error: Json) => error.parameter),
      [`${longest}z`],
      `${method} ${path}`,
    );
    assert.match(answer.json.errors[0].message, MISSPELT);
    seen += names.length;
  }
  assert.ok(seen > 200, `${seen} parameters`);
});

/** Returns a value that no such parameter takes; null: any text may be one. */
function wrongValue(path: string, { name, schema }: Json): string | null {
  if (['include', 'exclude'].includes(name)) return 'zzqq';
  // Whose errors they are is looked at first.
  if (['since', 'until'].includes(name)) return path.includes('{') ? null : 'zzqq';
  const kinds: Json[] = [schema, ...(schema.anyOf ?? [])];
  if (kinds.some(({ type, enum: words, pattern }) => type === 'string' && !words && !pattern)) return null;
  if (kinds.every(({ type, pattern }) => type === 'null' || pattern)) return '\u0001';
  return 'zzqq';
}

test('an invalid value of a parameter is refused by its name', async () => {
  const { client } = await newOwner();
  const document = await client.get('/v1/openapi.json');
  const seen = new Set<string>();
  for (const { method, path, scope } of await operationsOf(client, /^\/(v1|sse)\//)) {
    if (method !== 'GET' || scope === null || scope === 'admin') continue;
    const parameters: Json[] = document.paths[path].get.parameters ?? [];
    for (const parameter of parameters.filter((one) => one.in === 'query')) {
      const wrong = wrongValue(path, parameter);
      if (wrong === null) continue;
      const answer = await client.request('GET', `${pathOf(path)}?${parameter.name}=${encodeURIComponent(wrong)}`);
      assert.equal(answer.status, 400, `${path} ${parameter.name}: ${answer.text}`);
      assert.equal(answer.json.errors[0].parameter, parameter.name, path);
      seen.add(parameter.name);
    }
  }
  const known = [
    'exclude',
    'expand',
    'include',
    'kind',
    'limit',
    'outcome',
    'replayed',
    'sort',
    'state',
    'told',
    'via',
  ];
  for (const name of [...known, 'since', 'until', 'active', 'code']) assert.ok(seen.has(name), name);
});

test('a query parameter that only other requests have is refused', async () => {
  const { client } = await newOwner();
  const cases = [
    ['GET', '/v1/errors?state=failed', 'state'],
    ['GET', '/v1/runs?emitter_id=p_x', 'emitter_id'],
    ['GET', '/v1/errors/export?limit=3', 'limit'],
    ['DELETE', '/v1/webhooks/wh_x?since=1', 'since'],
  ] as const;
  for (const [method, path, name] of cases) {
    const { status, json } = await client.request(method, path);
    assert.deepEqual([status, json.errors?.map((one: Json) => one.parameter)], [400, [name]], path);
  }
});

test('public operations treat it as others do', async () => {
  const { client, url } = await newOwner();
  const open = (await operationsOf(client, /^\/v1\//)).filter(({ scope }) => scope === null);
  assert.deepEqual(open.map(({ id }) => id).sort(), ['createSession', 'getOpenApi']);
  assert.equal((await fetch(`${url}/v1/openapi.json?_=1`)).status, 200);
  const misspelt = await fetch(`${url}/v1/session?api_kye=1`, { method: 'POST' });
  assert.equal(misspelt.status, 400);
  assert.match(await misspelt.text(), MISSPELT);
});

test('pages and checks take any query', async () => {
  const { client, url } = await newOwner();
  const open = (await operationsOf(client, /^\/(?!v1\/)/)).filter(
    ({ scope, method }) => scope === null && method === 'GET',
  );
  const checks = open.filter(({ path }) => !path.includes('{'));
  assert.deepEqual(checks.map(({ path }) => path).sort(), ['/healthz', '/readyz']);
  const document = await client.get('/v1/openapi.json');
  for (const { path } of checks) assert.match(document.paths[path].get.description, /Any query is taken, and ignored/);
  const paths = [
    ...checks.map(({ path }) => path),
    '/',
    '/docs',
    '/docs/errors',
    '/docs/webhooks',
    '/docs/search.json',
  ];
  for (const path of paths) assert.equal((await fetch(`${url + path}?_=1&utm_source=x`)).status, 200, path);
});

test('an event takes any query, and carries it', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default ({ steps }) => steps.trigger.event.query;');
  const [{ endpoint_url: endpoint }] = workflow.triggers;
  assert.equal((await fetch(`${endpoint}?stat=failed&sentry_key=1`)).status, 200);
  const [run] = await errand.runs(workflow.id, 1);
  const { event } = (await errand.client.get(`/v1/runs/${run.id}`)).data;
  assert.deepEqual(event.query, { stat: 'failed', sentry_key: '1' });
});

test('a misspelt condition changes nothing', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default () => { throw new Error("x"); };');
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  // The global error workflow gets the error, too.
  const before = await errand.settled();
  const replay = `/v1/workflows/${workflow.id}/$errors/${error.id}/replay`;
  const answer = await errand.client.request('POST', `${replay}?evnet=%7B%7D`);
  assert.equal(answer.status, 400, answer.text);
  const list = await errand.client.request('GET', `/v1/workflows/${workflow.id}/runs?stat=failed`);
  assert.equal(list.status, 400);
  assert.match(list.json.detail, /"stat": did you mean state\? known are state, /);
  assert.deepEqual((await errand.client.get('/v1/ledger')).data.runs, before.runs);
});

test('clients of the hosted service may send parameters of theirs', async () => {
  const { client } = await newOwner();
  const made = await client.request('POST', '/v1/webhooks?url=https%3A%2F%2Fexample.com%2Fhook&org_id=o_1&expand=all');
  assert.equal(made.status, 200, made.text);
  for (const path of ['/v1/users/me', '/v1/webhooks', '/v1/subscriptions', `/v1/webhooks/${made.json.data.id}`]) {
    assert.equal((await client.request('GET', `${path}?org_id=o_1`)).status, 200, path);
  }
  assert.equal((await client.request('DELETE', `/v1/webhooks/${made.json.data.id}?org_id=o_1`)).status, 200);
});

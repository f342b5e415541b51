// Endpoints on hosts of their own: where their addresses are shown, who gets the events, and what stays over restarts.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { labelOfKey } from '../../src/domain/endpoint.ts';
import { callAtHost, type Heard, type Told } from '../support/at-host.ts';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { createOwner } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';
import { createSource, ECHO_SOURCE, emissions } from '../support/sources/sources.ts';

const SETTING = { ERRAND_ENDPOINT_URL: 'https://*.hooks.example.com' };
const ENDPOINT = /^https:\/\/[a-z2-7]{29}\.hooks\.example\.com$/;
const JSON_TYPE = { 'content-type': 'application/json' };
const ECHO = 'export default ({ steps }) => steps.trigger.event';

/** Calls an endpoint by its address, which has no path. */
function call(errand: Pick<Errand, 'url'>, endpoint: string, told: Told = {}): Promise<Heard> {
  assert.match(endpoint, ENDPOINT);
  return callAtHost(errand.url, new URL(endpoint).host, told);
}

test('every answer shows the address without a path', async () => {
  await using errand = await startErrand(SETTING);
  const source = await createSource(errand, ECHO_SOURCE);
  const { endpoint_url: endpoint } = source;
  assert.match(endpoint, ENDPOINT);
  const path = `/v1/sources/${source.id}`;
  const listed = await errand.client.get('/v1/sources');
  const shown = [
    source,
    (await errand.client.get(path)).data,
    listed.data[0],
    await errand.client.put(path, { name: 'test' }),
  ];
  for (const one of shown) {
    assert.equal(one.endpoint_url, endpoint);
    assert.equal(one.configured_props.http.endpoint_url, endpoint);
  }
  const workflow = await errand.workflow(ECHO);
  const [trigger] = (await errand.client.get(`/v1/workflows/${workflow.id}`)).data.triggers;
  assert.match(trigger.endpoint_url, ENDPOINT);
  assert.equal(workflow.triggers[0].endpoint_url, trigger.endpoint_url);
  assert.notEqual(trigger.endpoint_url, endpoint);
});

const TELLS = `export default {
  props: {
    http: { type: '$.interface.http', customResponse: true },
    db: '$.service.db',
    choice: { type: 'string', optional: true, options() { return [this.http?.endpoint ?? 'none']; } },
  },
  hooks: { activate() { this.db.set('activated', this.http.endpoint); } },
  run(event) {
    this.http.respond({ status: 200, body: { endpoint: this.http.endpoint, activated: this.db.get('activated') } });
    this.$emit(event);
  },
};`;

test('code gets the address without a path', async () => {
  await using errand = await startErrand(SETTING);
  const source = await createSource(errand, TELLS);
  const { json } = await call(errand, source.endpoint_url);
  assert.deepEqual(json, { endpoint: source.endpoint_url, activated: source.endpoint_url });
  const configured = { source_id: source.id, prop_name: 'choice' };
  const { options } = await errand.client.post('/v1/components/configure', configured);
  assert.deepEqual(options, [source.endpoint_url]);
});

test('the event is what the sender sent', async () => {
  await using errand = await startErrand(SETTING);
  const source = await createSource(errand, TELLS);
  const raw = '{ "n": 1.50 }';
  const host = `${new URL(source.endpoint_url).host.toUpperCase()}:8443`;
  await callAtHost(errand.url, host, { method: 'PUT', path: '/a/%62?x=1', headers: JSON_TYPE, body: raw });
  const [{ event }] = await emissions(errand, source.id, 1);
  const { headers, ...rest } = event;
  assert.equal(headers.host, host);
  assert.deepEqual(rest, {
    method: 'PUT',
    path: '/a/%62',
    query: { x: '1' },
    client_ip: '127.0.0.1',
    url: `https://${host}/a/%62?x=1`,
    body: { n: 1.5 },
    bodyRaw: raw,
  });
});

test('a path of the API starts the workflow', async () => {
  await using errand = await startErrand(SETTING);
  const workflow = await errand.workflow(ECHO);
  const endpoint = workflow.triggers[0].endpoint_url;
  const headers = { authorization: `Bearer ${errand.client.key}` };
  for (const [count, path] of ['/v1/workflows', '/healthz', '/e/key', '/docs'].entries()) {
    const { status, json } = await call(errand, endpoint, { method: 'GET', path, headers });
    assert.deepEqual([status, Object.keys(json)], [200, ['id']], path);
    const [run] = await errand.runs(workflow.id, count + 1);
    const { data } = await errand.client.get(`/v1/runs/${run.id}`);
    assert.equal(data.event.path, path);
  }
});

test('tokens and idempotency keys are honoured', async () => {
  await using errand = await startErrand(SETTING);
  const triggers = [{ type: 'http', auth: { type: 'bearer', token: 'open-sesame' } }];
  const workflow = await errand.workflow(ECHO, { triggers });
  const endpoint = workflow.triggers[0].endpoint_url;
  assert.equal((await call(errand, endpoint)).status, 401);
  const headers = { authorization: 'Bearer open-sesame', 'idempotency-key': 'once' };
  const answers = [];
  for (const path of ['/', '/']) answers.push(await call(errand, endpoint, { headers, path, body: 'x' }));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.equal(answers[0]?.text, answers[1]?.text);
  assert.equal((await call(errand, endpoint, { headers, path: '/other', body: 'x' })).status, 422);
  await errand.settled();
  assert.equal((await errand.client.get(`/v1/workflows/${workflow.id}/runs`)).data.length, 1);
});

test('a host is gone with its source', async () => {
  await using errand = await startErrand(SETTING);
  const [source, other] = [await createSource(errand, ECHO_SOURCE), await createSource(errand, ECHO_SOURCE)];
  const told = { headers: JSON_TYPE, body: '{"n":1}' };
  const status = async (): Promise<number> => (await call(errand, source.endpoint_url, told)).status;
  assert.equal(await status(), 200);
  await errand.client.put(`/v1/sources/${source.id}`, { active: false });
  assert.equal(await status(), 404);
  const again = await errand.client.put(`/v1/sources/${source.id}`, { active: true });
  assert.equal(again.endpoint_url, source.endpoint_url, 'a change keeps the address');
  assert.equal(await status(), 200);
  await errand.client.delete(`/v1/sources/${source.id}`);
  const gone = await call(errand, source.endpoint_url, told);
  assert.equal(gone.status, 404);
  assert.match(gone.headers['content-type'] ?? '', /^application\/problem\+json/);
  assert.equal((await call(errand, other.endpoint_url, told)).status, 200);
});

test('each owner gets its own events', async () => {
  await using errand = await startErrand(SETTING);
  const second = await createOwner(errand);
  const mine = await createSource(errand, ECHO_SOURCE);
  const theirs = await second.client.post('/v1/sources', { component_code: ECHO_SOURCE });
  assert.notEqual(mine.endpoint_url, theirs.endpoint_url);
  for (const [source, to] of [
    [mine, 'first'],
    [theirs, 'second'],
  ]) {
    await call(errand, source.endpoint_url, { headers: JSON_TYPE, body: JSON.stringify({ to }) });
  }
  await errand.settled();
  await second.settled();
  const list = (id: string): string => `/v1/sources/${id}/event_summaries?expand=event`;
  const heard = async (client: Errand['client'], id: string): Promise<Json> => {
    const { data } = await client.get(list(id));
    return data.map((record: Json) => record.event);
  };
  assert.deepEqual(await heard(errand.client, mine.id), [{ to: 'first' }]);
  assert.deepEqual(await heard(second.client, theirs.id), [{ to: 'second' }]);
  assertProblem(await second.client.request('GET', list(mine.id)), 404, mine.id);
  assert.doesNotMatch((await second.client.request('GET', '/v1/sources')).text, new RegExp(mine.endpoint_url));
});

test('addresses last over restarts and both settings', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const key = /\/e\/([\w-]{24})$/.exec(source.endpoint_url)?.[1] ?? '';
  const host = `${labelOfKey(key)}.hooks.example.com`;
  const told = (n: number): Told => ({ path: '/n', headers: JSON_TYPE, body: JSON.stringify({ n }) });
  const byPath = (n: number): Promise<Response> =>
    fetch(`${errand.url}/e/${key}`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ n }) });
  const shown = async (): Promise<string> => (await errand.client.get(`/v1/sources/${source.id}`)).data.endpoint_url;
  assert.equal((await callAtHost(errand.url, host, told(0))).status, 404);

  await errand.restart(SETTING);
  assert.equal(await shown(), `https://${host}`);
  assert.equal((await callAtHost(errand.url, host, told(1))).status, 200);
  assert.equal((await byPath(2)).status, 200, 'the address with a path stays valid');
  await errand.restart(SETTING);
  assert.equal(await shown(), `https://${host}`);
  assert.equal((await callAtHost(errand.url, host, told(3))).status, 200);

  await errand.restart({ ERRAND_ENDPOINT_URL: 'http://*.localhost:4400/' });
  assert.equal(await shown(), `http://${labelOfKey(key)}.localhost:4400`);
  assert.equal((await callAtHost(errand.url, `${labelOfKey(key)}.localhost:4400`, told(4))).status, 200);
  assert.equal((await callAtHost(errand.url, host, told(5))).status, 404);

  await errand.restart({});
  assert.equal(await shown(), `${errand.url}/e/${key}`);
  assert.equal((await byPath(6)).status, 200);
  const records = await emissions(errand, source.id, 5);
  assert.deepEqual(
    records.map(({ event }) => event.n),
    [6, 4, 3, 2, 1],
  );
});

test('a signature over the address in the event holds', async () => {
  await using errand = await startErrand(SETTING);
  const workflow = await errand.workflow(
    `import { createHmac } from 'node:crypto';
    export default ({ steps }) => {
      const { url, headers } = steps.trigger.event;
      return createHmac('sha1', 'secret').update(url).digest('base64') === headers['x-signature'];
    }`,
  );
  const endpoint = workflow.triggers[0].endpoint_url;
  const signature = createHmac('sha1', 'secret').update(`${endpoint}/path?a=%20b`).digest('base64');
  await call(errand, endpoint, { method: 'GET', path: '/path?a=%20b', headers: { 'x-signature': signature } });
  const [run] = await errand.runs(workflow.id, 1);
  assert.equal((await errand.client.get(`/v1/runs/${run.id}`)).data.steps[0].return_value, true);
});

// Errors at the address of a trigger, and what quotas and the audit log make of reports.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { type OwnerOn, sharedErrand } from '../../support/owners.ts';
import { until } from '../../support/wait.ts';

const newOwner = sharedErrand();

/** Bytes that no parser gives back as they were. */
const ODD = '{"n":12345678901234567890,"a":1,"a":2,"nul":"\\u0000","half":"\\ud800","e":1e400, "spaced" : [ ]}';

async function ingestKey(errand: OwnerOn, more: Json = {}): Promise<Json> {
  const key = await errand.client.post('/v1/keys', { label: 'reports', scopes: ['ingest'], ...more });
  return { ...key, client: createClient(errand.client.url, key.api_key) };
}

const shown = async (client: Client, id: string, query = '?expand=event'): Promise<Json> =>
  client.get(`/v1/workflows/${id}/$errors/event_summaries${query}`);

test('an errors trigger takes errors of its workflow', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default () => 1;', {
    triggers: [{ type: 'errors' }, { type: 'http' }],
  });
  const [trigger, http] = workflow.triggers;
  deepEqual([trigger.type, trigger.auth, 'custom_response' in trigger], ['errors', { type: 'none' }, false]);
  const send = (body: string | Uint8Array, headers = {}, method = 'POST') =>
    fetch(trigger.endpoint_url, { method, headers, ...(method === 'POST' ? { body: body as string } : {}) });
  const whole = `{"message":"m","code":"C","original_event":${ODD}}`;
  const bodies: [string | Uint8Array, Json][] = [
    [whole, { 'content-type': 'application/json' }],
    [whole, { 'content-type': 'text/plain' }],
    [gzipSync(whole), { 'content-encoding': 'gzip' }],
    [deflateSync(whole), { 'content-encoding': 'deflate' }],
  ];
  for (const [body, headers] of bodies) {
    const answer = await send(body, headers);
    equal(answer.status, 200);
    equal(answer.headers.get('access-control-allow-origin'), '*');
    match(((await answer.json()) as Json).id, /^[0-9a-z]{15}/i);
  }
  const { text } = await errand.client.request(
    'GET',
    `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`,
  );
  equal(text.split(`"original_event":${ODD}`).length, 5);
  const [{ event }] = (await shown(errand.client, workflow.id)).data;
  deepEqual(
    [event.original_context.source_type, event.original_context.emitter_id, event.original_context.verified],
    ['HTTP', trigger.id, false],
  );
  equal((await errand.client.get(`/v1/workflows/${workflow.id}/runs`)).data.length, 0, 'it starts no run');
  const preflight = await send(
    '',
    { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    'OPTIONS',
  );
  deepEqual([preflight.status, preflight.headers.get('access-control-allow-methods')], [204, 'POST']);
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const answer = await send('', {}, method);
    deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST, OPTIONS']);
  }
  for (const body of ['', '{}', 'no', '{"message":"x","workflow_id":"p_1"}', '{"message":"x","service":"s"}']) {
    const answer = await send(body);
    deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [400, '*'], body);
  }
  const again = await errand.client.put(`/v1/workflows/${workflow.id}`, {
    triggers: [{ type: 'http' }, { type: 'errors', auth: { type: 'bearer', token: 'secret' } }],
  });
  deepEqual(
    again.triggers.map((one: Json) => [one.type, one.endpoint_url]),
    [
      ['http', http.endpoint_url],
      ['errors', trigger.endpoint_url],
    ],
  );
  equal((await send(whole)).status, 401);
  equal((await send(whole, { authorization: 'Bearer secret' })).status, 200);
  equal((await shown(errand.client, workflow.id)).data[0].event.original_context.verified, true);
  await errand.client.put(`/v1/workflows/${workflow.id}`, { active: false });
  equal((await send(whole, { authorization: 'Bearer secret' })).status, 404);
});

test('quotas of the owner hold for reports', async () => {
  await using errand = await startErrand();
  const me = (await errand.client.get('/v1/users/me')).data;
  const key = await errand.client.post('/v1/keys', { label: 'x', scopes: ['ingest'], service: 's' });
  await errand.client.put(`/v1/owners/${me.id}/quotas`, { requests_per_second: 5 });
  const client = createClient(errand.url, key.api_key);
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => client.request('POST', '/v1/errors', { message: 'x' })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  ok(refused.length > 0 && answers.every(({ status }) => status === 200 || status === 429));
  ok(Number(refused[0]?.headers.get('retry-after')) >= 1);
});

test('the making of a service is in the audit log', async () => {
  const errand = await newOwner();
  const { client, id: keyId } = await ingestKey(errand);
  for (let n = 0; n < 3; n++) await client.post('/v1/errors', { service: 'new', message: 'x' });
  const answer = await client.request('POST', '/v1/errors', { message: 'x' });
  equal(answer.status, 400);
  const records = await until('both', async () => {
    const { data } = await errand.client.get(`/v1/audit?key=${keyId}`);
    return data.length === 2 && data.every((one: Json) => one.status !== null) && data;
  });
  deepEqual(
    records.map((one: Json) => [one.operation, one.status]),
    [
      ['reportError', 400],
      ['reportError', 200],
    ],
  );
});

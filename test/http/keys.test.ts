// Keys and owners: what a key may do, and that nobody sees what is another's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, MINUTE_MS } from '../../src/domain/limits.ts';
import { createClient, type Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner, withScopes } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';
import { until } from '../support/wait.ts';

const FAIL = `export default () => { throw new Error('private') }`;

test('a second key works until it is revoked', async () => {
  await using errand = await startErrand();
  const made = await errand.client.post('/v1/keys', { label: 'laptop' });
  const other = createClient(errand.url, made.api_key);
  const { data: me } = await other.get('/v1/users/me');
  assert.equal(me.id, made.owner_id);
  await errand.restart();
  const later = createClient(errand.url, made.api_key);
  await later.get('/v1/users/me');
  const { text } = await errand.client.request('GET', '/v1/keys');
  assert.ok(text.includes('laptop'));
  assert.equal(text.includes(made.api_key), false, 'a key is shown once');
  await errand.client.delete(`/v1/keys/${made.id}`);
  assertProblem(await later.request('GET', '/v1/users/me'), 401);
  await errand.client.get('/v1/users/me');
});

test('a key for reading cannot write', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(FAIL);
  const made = await errand.client.post('/v1/keys', { label: 'dashboard', scopes: ['read'] });
  const reader = createClient(errand.url, made.api_key);
  await reader.get(`/v1/workflows/${workflow.id}`);
  await reader.get(`/v1/workflows/${workflow.id}/$errors/event_summaries`);
  const calls: [string, string, Json?][] = [
    ['POST', '/v1/workflows', { name: 'x', steps: [{ namespace: 'a', code: 'export default () => 1' }] }],
    ['PUT', `/v1/workflows/${workflow.id}`, { name: 'changed' }],
    ['DELETE', `/v1/workflows/${workflow.id}`],
    ['POST', `/v1/workflows/${workflow.id}/runs`, { event: {} }],
    ['POST', `/v1/subscriptions?emitter_id=*&listener_id=${workflow.id}`],
    ['POST', '/v1/webhooks?url=https://example.com/'],
    ['POST', '/v1/keys', { label: 'more', scopes: ['read', 'write'] }],
    ['PUT', '/v1/users/me', { name: 'changed' }],
  ];
  for (const [method, path, body] of calls) assertProblem(await reader.request(method, path, body), 403);
  const { data } = await errand.client.get('/v1/ledger');
  assert.equal(data.emissions, 0);
});

test('another owner sees nothing of it', async () => {
  await using errand = await startErrand();
  const [workflow, listener] = [await errand.workflow(FAIL), await errand.workflow(FAIL, { triggers: [] })];
  const webhook = await errand.client.post('/v1/webhooks?url=https://example.com/');
  const [subscription] = await errand.subscribe(workflow.id, listener.id, '$errors');
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  const [run] = await errand.runs(workflow.id, 1);

  const owner = await errand.client.post('/v1/owners', { name: 'Other', email: 'other@example.com' });
  const other = createClient(errand.url, owner.api_key);
  const { data: me } = await other.get('/v1/users/me');
  assert.notEqual(me.global_error_workflow_id, (await errand.client.get('/v1/users/me')).data.global_error_workflow_id);
  const paths = [
    `/v1/workflows/${workflow.id}`,
    `/v1/workflows/${workflow.id}/runs`,
    `/v1/workflows/${workflow.id}/deployments`,
    `/v1/workflows/${workflow.id}/$errors/event_summaries`,
    `/v1/workflows/${workflow.id}/$errors/event_summaries/${error.id}`,
    `/v1/runs/${run.id}`,
    `/v1/webhooks/${webhook.id}`,
    `/v1/subscriptions/${subscription.id}`,
  ];
  for (const path of paths) assertProblem(await other.request('GET', path), 404);
  const calls: [string, string, Json?][] = [
    ['PUT', `/v1/workflows/${workflow.id}`, { name: 'stolen' }],
    ['DELETE', `/v1/workflows/${workflow.id}`],
    ['POST', `/v1/workflows/${workflow.id}/runs`, { event: {} }],
    ['POST', `/v1/workflows/${workflow.id}/$errors/${error.id}/replay`],
    ['POST', `/v1/runs/${run.id}/cancel`],
    ['DELETE', `/v1/webhooks/${webhook.id}`],
    ['DELETE', `/v1/subscriptions/${subscription.id}`],
    ['PUT', '/v1/users/me', { global_error_workflow_id: workflow.id }],
    ['POST', `/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${me.global_error_workflow_id}`],
    ['POST', `/v1/subscriptions?emitter_id=${me.global_error_workflow_id}&listener_id=${webhook.id}`],
  ];
  for (const [method, path, body] of calls) assertProblem(await other.request(method, path, body), 404);
  for (const list of ['/v1/subscriptions', '/v1/webhooks']) assert.deepEqual((await other.get(list)).data, []);
  const { data: ledger } = await other.get('/v1/ledger');
  assert.deepEqual([ledger.emissions, ledger.errors.captured], [0, 0]);
});

test('a key gives no more than it has', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const b = await createOwner(errand);
  assert.deepEqual(b.data.key.scopes, ['ingest', 'read', 'write', 'keys', 'account']);
  const { client: keys, key } = await withScopes(client, ['keys', 'read']);
  const { client: admin } = await withScopes(client, ['admin', 'read', 'keys']);
  const refused: [typeof client, string, Json][] = [
    [keys, '/v1/keys', { label: 'x' }],
    [keys, '/v1/keys', { label: 'x', scopes: ['write'] }],
    [keys, '/v1/keys', { label: 'x', scopes: ['read', 'account'] }],
    [b.client, '/v1/keys', { label: 'x', scopes: ['read', 'admin'] }],
    [admin, `/v1/owners/${b.id}/keys`, { label: 'x', scopes: ['write'] }],
    [admin, `/v1/owners/${b.id}/keys`, { label: 'x' }],
    [admin, `/v1/owners/${b.id}/keys`, { label: 'x', scopes: ['account'] }],
  ];
  for (const [by, path, body] of refused) {
    const answer = await by.request('POST', path, body);
    assertProblem(answer, 403);
    assert.match(answer.json.detail, /can only be made by one that has it/);
  }
  const made = await keys.post('/v1/keys', { label: 'x', scopes: ['read', 'keys'] });
  assert.equal(made.created_by, key.id);
  const crossing = await admin.post(`/v1/owners/${b.id}/keys`, { label: 'x', scopes: ['read'] });
  assert.deepEqual([crossing.owner_id, (await b.client.get('/v1/keys')).data.length], [b.id, 2]);
});

test('a key revokes none that has more', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const b = await createOwner(errand);
  const first = (await client.get('/v1/keys')).data.at(-1);
  assert.deepEqual(first.scopes, ['ingest', 'read', 'write', 'keys', 'account', 'admin']);
  const { client: keys, key } = await withScopes(client, ['keys', 'read']);
  const { client: admin } = await withScopes(client, ['admin', 'read']);
  const { key: lower } = await withScopes(client, ['read']);
  for (const [by, path] of [
    [keys, `/v1/keys/${first.id}`],
    [admin, `/v1/owners/${b.id}/keys/${b.data.key.id}`],
    [admin, `/v1/owners/${first.owner_id}/keys/${first.id}`],
  ] as const) {
    const answer = await by.request('DELETE', path);
    assertProblem(answer, 403);
    assert.match(answer.json.detail, /can only be revoked by one that has it/);
  }
  await client.get('/v1/users/me');
  await b.client.get('/v1/users/me');
  await keys.delete(`/v1/keys/${lower.id}`);
  await keys.delete(`/v1/keys/${key.id}`);
  assertProblem(await keys.request('GET', '/v1/keys'), 401);
  await client.delete(`/v1/owners/${b.id}/keys/${b.data.key.id}`);
  assertProblem(await b.client.request('GET', '/v1/users/me'), 401);
});

test('keys expire, and give nothing that lasts longer', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const seconds = (ms: number) => Math.floor(ms / 1000);
  const soon = seconds(Date.now() + DAY_MS);
  const made = await client.post('/v1/keys', { label: 'day', scopes: ['read', 'keys', 'admin'], expires_at: soon });
  assert.equal(made.expires_at, soon);
  const day = createClient(errand.url, made.api_key);
  for (const body of [{ expires_at: soon + 1 }, { expires_at: soon + 999_999 }]) {
    assertProblem(await day.request('POST', '/v1/keys', { label: 'x', scopes: ['read'], ...body }), 403);
  }
  for (const body of [{}, { expires_at: null }]) {
    assert.equal((await day.post('/v1/keys', { label: 'x', scopes: ['read'], ...body })).expires_at, soon);
  }
  const owner = await day.post('/v1/owners', { name: 'of a day' });
  assert.equal(owner.key.expires_at, soon, 'an owner’s first key, too');
  assertProblem(await client.request('POST', '/v1/keys', { label: 'x', expires_at: seconds(Date.now()) - 60 }), 422);
  await errand.restart();
  const later = createClient(errand.url, made.api_key);
  await later.get('/v1/users/me');
  errand.forward(DAY_MS + 1000);
  const answer = await later.request('GET', '/v1/users/me');
  assertProblem(answer, 401);
  assert.match(answer.json.detail, /expired at \d{4}-/);
  assertProblem(await createClient(errand.url, owner.api_key).request('GET', '/v1/users/me'), 401);
});

test('the latest use of a key is kept', async () => {
  await using errand = await startErrand();
  const { client, key } = await withScopes(errand.client, ['read']);
  const lastUse = async (): Promise<number | null> =>
    (await errand.client.get('/v1/keys')).data.find(({ id }: Json) => id === key.id).last_used_at;
  assert.equal(await lastUse(), null);
  await client.get('/v1/users/me');
  const first = await until('it is written', async () => (await lastUse()) ?? false);
  errand.forward(2 * MINUTE_MS);
  await client.get('/v1/users/me');
  const second = await until('it is written again', async () => {
    const at = await lastUse();
    return at !== null && at !== first && at;
  });
  assert.ok(second >= first + 119, `${first} ${second}`);
  await errand.restart();
  assert.equal(await lastUse(), second);
});

// Keys and owners: what a key may do, and that nobody sees what is another's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createErrandOn } from '../support/flows.ts';
import { assertProblem } from '../support/problem.ts';

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

test('wildcards stop at the owner', async () => {
  await using errand = await startErrand();
  const owner = await errand.client.post('/v1/owners', { name: 'Other', email: 'other@example.com' });
  const client = createClient(errand.url, owner.api_key);
  const other = createErrandOn(() => client);
  const spy = await other.workflow('export default () => 1', { triggers: [] });
  for (const emitter of ['*', 'p_*']) await other.subscribe(emitter, spy.id, '$errors');
  const [mine, theirs] = [await errand.workflow(FAIL), await other.workflow(FAIL)];
  await errand.send(mine, {});
  await errand.errors(mine.id, 1);
  await errand.settled();
  await other.send(theirs, {});
  const runs = await other.runs(spy.id, 1);
  await other.settled();
  assert.deepEqual([...new Set(runs.map((run) => run.emitter_id))], [theirs.id]);
});

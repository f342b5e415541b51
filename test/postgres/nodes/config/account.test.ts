// Keys and owners made, changed and revoked at one node, as the next request at another one finds them; and that an
// owner sees nothing of another one, whichever nodes the two of them use.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../../../support/client.ts';
import { timesOf } from '../../../support/data/thorough.ts';
import { createErrandOn } from '../../../support/flows.ts';
import { createOwner } from '../../../support/owners.ts';
import { assertProblem } from '../../../support/problem.ts';
import { startReceiver } from '../../../support/receiver.ts';
import { createSource, ECHO_SOURCE } from '../../../support/sources/sources.ts';
import { EMIT_BODY } from '../../../support/webhooks.ts';
import { seenFrom, shareNodes, startNodes } from '../nodes.ts';

const ROUNDS = timesOf(20, 6);
const FAIL = `export default () => { throw new Error('private') }`;

test('a key counts at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const { data: me } = await a.client.get('/v1/users/me');
  for (let n = 0; n < ROUNDS; n++) {
    const made = await a.client.post('/v1/keys', { label: `key ${n}` });
    const there = createClient(b.url, made.api_key);
    assert.equal((await there.get('/v1/users/me')).data.id, me.id);
    await a.client.delete(`/v1/keys/${made.id}`);
    assertProblem(await there.request('GET', '/v1/users/me'), 401);
  }
});

test('the scopes of a key hold elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const made = await a.client.post('/v1/keys', { label: 'reader', scopes: ['read'] });
  const reader = createClient(b.url, made.api_key);
  await reader.get('/v1/workflows');
  assertProblem(await reader.request('POST', '/v1/webhooks?url=https://example.com/'), 403);
});

test('an owner is there at once elsewhere', async () => {
  await using nodes = await startNodes({}, {});
  const [a, b] = nodes.all;
  for (let n = 0; n < 5; n++) {
    const made = await a.client.post('/v1/owners', { name: `owner ${n}`, email: `owner${n}@example.com` });
    const there = createClient(b.url, made.api_key);
    assert.equal((await there.get('/v1/users/me')).data.id, made.id);
    await createClient(a.url, made.api_key).put('/v1/users/me', { name: `changed ${n}` });
    assert.equal((await there.get('/v1/users/me')).data.name, `changed ${n}`);
    const listed = await b.client.get('/v1/owners');
    assert.equal(listed.data[0].id, made.id);
  }
});

test('the global error workflow changes at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const failing = seenFrom(b, await a.workflow(FAIL));
  const listeners = [await a.workflow('export default () => 1'), await a.workflow('export default () => 2')];
  for (let n = 0; n < ROUNDS; n++) {
    const listener = listeners[n % 2];
    await a.client.put('/v1/users/me', { global_error_workflow_id: listener.id });
    await b.send(failing, { n });
    // Routed when the run ends, and that must be before the next change.
    await b.errors(failing.id, n + 1);
    await b.runs(listener.id, Math.floor(n / 2) + 1);
  }
  await a.settled();
  for (const { id } of listeners) assert.equal((await a.runs(id, ROUNDS / 2)).length, ROUNDS / 2);
});

test('an owner sees nothing of another elsewhere', async () => {
  await using receiver = await startReceiver();
  await using nodes = await startNodes({}, {});
  const [a, b] = nodes.all;
  const workflow = await a.workflow(FAIL);
  const source = await createSource(a, ECHO_SOURCE);
  const webhook = await a.client.post('/v1/webhooks', { url: receiver.url });
  const subscription = await a.subscribe(workflow.id, webhook.id, '$errors');
  await a.send(workflow, { n: 1 });
  const [error] = await a.errors(workflow.id, 1);
  await receiver.wait(1);
  await a.settled();
  const [run] = await a.runs(workflow.id, 1);
  const { data: me } = await a.client.get('/v1/users/me');
  const { data: sent } = await a.client.get(`/v1/webhooks/${webhook.id}/deliveries`);

  const second = await createOwner(a);
  const client = createClient(b.url, second.client.key);
  const { id: ownGlobal } = (await client.get('/v1/workflows')).data[0] ?? { id: null };
  for (const list of ['/v1/workflows', '/v1/sources', '/v1/webhooks', '/v1/subscriptions']) {
    const { data } = await client.get(list);
    assert.deepEqual(
      data.filter(({ id }: Json) => id !== ownGlobal),
      [],
      list,
    );
  }
  const direct = [
    `/v1/workflows/${workflow.id}`,
    `/v1/workflows/${workflow.id}/runs`,
    `/v1/workflows/${workflow.id}/$errors/event_summaries`,
    `/v1/workflows/${workflow.id}/$errors/event_summaries/${error.id}`,
    `/v1/runs/${run.id}`,
    `/v1/sources/${source.id}`,
    `/v1/sources/${source.id}/event_summaries`,
    `/v1/webhooks/${webhook.id}`,
    `/v1/webhooks/${webhook.id}/deliveries`,
    `/v1/deliveries/${sent[0].id}`,
    `/v1/subscriptions/${subscription[0].id}`,
    `/v1/workflows/${me.global_error_workflow_id}`,
  ];
  for (const path of direct) {
    await b.client.get(path);
    assertProblem(await client.request('GET', path), 404);
  }
  const changing: [string, string, Json?][] = [
    ['PUT', `/v1/workflows/${workflow.id}`, { name: 'stolen' }],
    ['DELETE', `/v1/workflows/${workflow.id}`],
    ['POST', `/v1/workflows/${workflow.id}/runs`, { event: {} }],
    ['POST', `/v1/workflows/${workflow.id}/$errors/${error.id}/replay`],
    ['POST', `/v1/runs/${run.id}/cancel`],
    ['PUT', `/v1/webhooks/${webhook.id}`, { active: false }],
    ['DELETE', `/v1/webhooks/${webhook.id}`],
    ['DELETE', `/v1/sources/${source.id}`],
    ['DELETE', `/v1/subscriptions/${subscription[0].id}`],
    ['PUT', '/v1/users/me', { global_error_workflow_id: workflow.id }],
  ];
  for (const [method, path, body] of changing) assertProblem(await client.request(method, path, body), 404);
  const { data: ledger } = await client.get('/v1/ledger');
  assert.deepEqual(
    [ledger.emissions, ledger.runs.total, ledger.deliveries.total, ledger.errors.captured],
    [0, 0, 0, 0],
  );
});

test('wildcards stop at the owner elsewhere', async () => {
  await using receiver = await startReceiver();
  await using nodes = await startNodes({}, {});
  const [a, b] = nodes.all;
  const made = await createOwner(a);
  const client = createClient(b.url, made.client.key);
  const second = createErrandOn(() => client);
  const spy = await client.post('/v1/webhooks', { url: receiver.url });
  for (const emitter of ['*', 'p_*', made.id]) {
    for (const name of [undefined, '*', '$errors']) await second.subscribe(emitter, spy.id, name);
  }
  for (const code of [FAIL, EMIT_BODY]) {
    const workflow = await a.workflow(code);
    for (const node of [a, b]) await node.send(seenFrom(node, workflow), { of: 'the first' });
  }
  await a.settled();
  const own = await second.workflow(EMIT_BODY);
  await second.send(own, { of: 'the second' });
  await receiver.wait(1);
  await second.settled();
  assert.deepEqual(
    receiver.received.map(({ body }) => body.toString()),
    ['{"of":"the second"}'],
  );
});

// The ledger adds up after everything that can happen to an event.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { startReceiver } from '../support/receiver.ts';
import { createSource, ECHO_SOURCE, emissions, post, trySource } from '../support/sources/sources.ts';
import { createWebhook, deliveries, emitterWithWebhook } from '../support/webhooks.ts';

const RUN_STATES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'];
const DELIVERY_STATES = ['pending', 'sending', 'retrying', 'held', 'delivered', 'exhausted', 'cancelled'];
const THROW = `export default () => { throw new Error('counted'); };`;

const sum = (counts: Json, names: string[]): number => names.reduce((total, name) => total + counts[name], 0);

/** Asserts that the ledger adds up, and returns it. */
async function ledger(errand: Errand): Promise<Json> {
  const { data } = await errand.client.get('/v1/ledger');
  assert.deepEqual(Object.keys(data).sort(), ['deliveries', 'emissions', 'errors', 'runs']);
  assert.deepEqual(Object.keys(data.runs).sort(), [...RUN_STATES, 'total'].sort());
  assert.deepEqual(Object.keys(data.deliveries).sort(), [...DELIVERY_STATES, 'total'].sort());
  assert.equal(sum(data.runs, RUN_STATES), data.runs.total, JSON.stringify(data));
  assert.equal(sum(data.deliveries, DELIVERY_STATES), data.deliveries.total, JSON.stringify(data));
  return data;
}

async function settledLedger(errand: Errand): Promise<Json> {
  await errand.settled();
  return ledger(errand);
}

test('a new store has an empty ledger', async () => {
  await using errand = await startErrand();
  const { emissions: count, runs, deliveries: sent, errors } = await ledger(errand);
  assert.deepEqual([count, runs.total, sent.total, errors.captured], [0, 0, 0, 0]);
});

test('a successful run counts once', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow('export default () => 1;');
  for (let n = 0; n < 3; n += 1) await errand.send(workflow, { n });
  await errand.runs(workflow.id, 3);
  const data = await settledLedger(errand);
  assert.equal(data.emissions, 3);
  assert.equal(data.runs.succeeded, 3);
  assert.equal(data.runs.total, 3);
  assert.equal(data.errors.captured, 0);
});

test('a failure counts with all it causes', async () => {
  await using errand = await startErrand();
  const failing = await errand.workflow(THROW);
  const listener = await errand.workflow('export default () => 1;', { triggers: [] });
  await errand.subscribe(failing.id, listener.id, '$errors');
  await errand.send(failing, {});
  await errand.runs(listener.id, 1);
  const data = await settledLedger(errand);
  assert.equal(data.errors.captured, 1);
  assert.equal(data.runs.failed, 1);
  assert.equal(data.runs.succeeded, 2, 'the listener and the global error workflow');
  assert.ok(data.emissions >= 2, 'the event and its error');
  assert.equal(data.deliveries.total, 1, 'the mail');
});

test('a burst counts each event once', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { emitter } = await emitterWithWebhook(errand, receiver);
  const sending = Array.from({ length: 100 }, (_, n) => errand.send(emitter, { n }));
  await Promise.all([...sending, ledger(errand), ledger(errand), ledger(errand)]);
  await receiver.wait(100);
  const data = await settledLedger(errand);
  assert.equal(data.runs.succeeded, 100);
  assert.equal(data.deliveries.delivered, 100);
  assert.equal(data.emissions, 200);
});

test('source runs and their emissions count', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const before = await settledLedger(errand);
  await post(source, { n: 1 });
  await emissions(errand, source.id, 1);
  const data = await settledLedger(errand);
  assert.equal(data.emissions - before.emissions, 2, 'what came in and what went out');
  assert.equal(data.runs.succeeded - before.runs.succeeded, 1);
  await errand.client.request('DELETE', `/v1/sources/${source.id}/events`);
  assert.ok((await settledLedger(errand)).emissions >= data.emissions - 1);
});

test('a refused source counts no open run', async () => {
  await using errand = await startErrand();
  const code = `export default { hooks: { deploy() { throw new Error('no'); } }, run() {} };`;
  assert.equal((await trySource(errand, code)).status, 422);
  const data = await settledLedger(errand);
  assert.equal(data.runs.queued + data.runs.running + data.runs.waiting, 0);
});

test('retrying, held and exhausted deliveries count', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  receiver.answer(500);
  await errand.send(emitter, { n: 1 });
  await deliveries(errand, webhook.id, 'retrying');
  assert.equal((await settledLedger(errand)).deliveries.retrying, 1);
  receiver.answer(410);
  errand.forward(10_000);
  await deliveries(errand, webhook.id, 'exhausted');
  await errand.send(emitter, { n: 2 });
  await deliveries(errand, webhook.id, 'held');
  const data = await settledLedger(errand);
  assert.equal(data.deliveries.exhausted, 1);
  assert.equal(data.deliveries.held, 1);
  assert.equal(data.deliveries.retrying, 0);
  assert.equal(data.errors.captured, 1, 'the exhausted delivery');
  receiver.answer(200);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  await deliveries(errand, webhook.id, 'delivered');
  const after = await settledLedger(errand);
  assert.equal(after.deliveries.held, 0);
  assert.equal(after.deliveries.total, data.deliveries.total);
});

test('withheld errors add nothing to it', async () => {
  await using errand = await startErrand();
  const [a, b] = [await errand.workflow(THROW), await errand.workflow(THROW)];
  await errand.subscribe(a.id, b.id, '$errors');
  await errand.subscribe(b.id, a.id, '$errors');
  await errand.send(a, {});
  await errand.errors(b.id, 1);
  const data = await settledLedger(errand);
  assert.equal(data.runs.failed, 2);
  assert.equal(data.errors.captured, 2);
});

test('replays count as new events', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, {});
  const [record] = await errand.errors(workflow.id, 1);
  const before = await settledLedger(errand);
  await errand.client.post(`/v1/workflows/${workflow.id}/$errors/${record.id}/replay`);
  await errand.errors(workflow.id, 2);
  const data = await settledLedger(errand);
  assert.equal(data.runs.failed - before.runs.failed, 1);
  assert.equal(data.errors.captured - before.errors.captured, 1);
});

test('cancelled runs count as cancelled', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow('export default () => new Promise(() => {});', {
    settings: { concurrency: 1, timeout_ms: 60_000 },
  });
  for (let n = 0; n < 2; n += 1) await errand.send(workflow, { n });
  const { data: runs } = await errand.client.get(`/v1/workflows/${workflow.id}/runs`);
  assert.equal(runs.length, 2);
  await ledger(errand);
  for (const run of runs) await errand.client.post(`/v1/runs/${run.id}/cancel`);
  await errand.runs(workflow.id, 2);
  const data = await settledLedger(errand);
  assert.equal(data.runs.cancelled, 2);
  assert.equal(data.runs.total, 2);
});

test('deleting leaves a ledger that adds up', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(500);
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  await deliveries(errand, webhook.id, 'retrying');
  await errand.client.delete(`/v1/webhooks/${webhook.id}`);
  const data = await settledLedger(errand);
  assert.equal(data.deliveries.retrying, 0, 'nothing waits for a webhook that is gone');
  await errand.client.delete(`/v1/workflows/${emitter.id}`);
  await settledLedger(errand);
});

test('the ledger is the same after a restart', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const failing = await errand.workflow(THROW);
  const webhook = await createWebhook(errand, receiver);
  await errand.subscribe(failing.id, webhook.id, '$errors');
  for (let n = 0; n < 5; n += 1) await errand.send(failing, { n });
  await errand.errors(failing.id, 5);
  await receiver.wait(5);
  const before = await settledLedger(errand);
  await errand.restart();
  assert.deepEqual(await settledLedger(errand), before);
});

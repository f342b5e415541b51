// One webhook, and several nodes that send to it: how much at once, when it is changed, and when it wants no more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/client.ts';
import type { Errand } from '../../../support/errand.ts';
import { startGate } from '../../../support/gate.ts';
import { type Receiver, startReceiver } from '../../../support/receiver.ts';
import { until } from '../../../support/wait.ts';
import { deliveries } from '../../../support/webhooks.ts';
import { seenFrom, shareNodes, startNodes } from '../nodes.ts';

const NOTHING = 'export default () => 1';
const IN_FLIGHT = 8;
/** What a node may have claimed for a webhook that answers fast, and not sent yet. */
const AHEAD = 32;
const STOPS_WITHIN_MS = 1000;

interface Heard {
  readonly workflow: Json;
  readonly webhook: Json;
}

/** A webhook that hears each event at a workflow's endpoint. */
async function heardAt(url: string, node: Errand): Promise<Heard> {
  const workflow = await node.workflow(NOTHING);
  const webhook = await node.client.post('/v1/webhooks', { url });
  await node.subscribe(workflow.triggers[0].id, webhook.id);
  return { workflow, webhook };
}

/** A webhook that hears what a workflow emits, as many events as it is told. */
async function heardMany(receiver: Pick<Receiver, 'url'>, node: Errand): Promise<Heard> {
  const workflow = await node.workflow(
    'export default ({ steps, $ }) => { for (let n = 0; n < steps.trigger.event.body.count; n++) $.send.emit({ n }); };',
  );
  const webhook = await node.client.post('/v1/webhooks', { url: receiver.url });
  await node.subscribe(workflow.id, webhook.id);
  return { workflow, webhook };
}

async function spread(nodes: readonly Errand[], workflow: Json, count: number): Promise<void> {
  const sent = Array.from({ length: count }, (_, n) => {
    const node = nodes[n % nodes.length] as Errand;
    return node.send(seenFrom(node, workflow), { n });
  });
  await Promise.all(sent);
}

/** Every node has sent something since: what they might do wrongly has had its time. */
async function othersDelivered(nodes: readonly Errand[]): Promise<void> {
  await using receiver = await startReceiver();
  const { workflow } = await heardAt(receiver.url, nodes[0] as Errand);
  await spread(nodes, workflow, 3 * nodes.length);
  await receiver.wait(3 * nodes.length);
}

function ids({ received }: Receiver): string[] {
  return received.map(({ headers }) => String(headers['webhook-id']));
}

async function count(node: Errand, webhook: Json, state: string): Promise<number> {
  return (await node.client.get(`/v1/webhooks/${webhook.id}/deliveries?state=${state}`)).page_info.total_count;
}

/** Waits until none of its deliveries is under way at any node. */
function nothingSending(node: Errand, webhook: Json): Promise<boolean> {
  return until('nothing is being sent', async () => (await count(node, webhook, 'sending')) === 0);
}

test('all nodes together keep to eight in flight', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  const { workflow, webhook } = await heardAt(gate.url, a);
  await spread(nodes.all, workflow, 48);
  await gate.wait(IN_FLIGHT);
  await othersDelivered(nodes.all);
  assert.equal(gate.holding, IN_FLIGHT);
  for (let n = IN_FLIGHT + 1; n <= 48; n++) {
    gate.letOne();
    await gate.wait(n);
    assert.ok(gate.holding <= IN_FLIGHT);
  }
  gate.open();
  await b.settled();
  assert.equal(gate.most, IN_FLIGHT);
  assert.equal(gate.asked.length, 48);
  assert.equal(await count(b, webhook, 'delivered'), 48);
});

test('a stream from all nodes arrives once', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  const { workflow, webhook } = await heardAt(receiver.url, a);
  for (let round = 0; round < 10; round++) await spread(nodes.all, workflow, 30);
  await receiver.wait(300);
  await b.settled();
  assert.equal(new Set(ids(receiver)).size, 300);
  assert.deepEqual([receiver.received.length, await count(a, webhook, 'delivered')], [300, 300]);
});

test('a changed address counts at once elsewhere', async () => {
  await using one = await startReceiver();
  await using two = await startReceiver();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const { workflow, webhook } = await heardAt(one.url, a);
  for (let n = 0; n < 20; n++) {
    const now = n % 2 === 0 ? two : one;
    await a.client.put(`/v1/webhooks/${webhook.id}`, { url: now.url });
    await b.send(seenFrom(b, workflow), { n });
    await now.wait(Math.floor(n / 2) + 1);
  }
  assert.deepEqual([one.received.length, two.received.length], [10, 10]);
});

test('a deleted webhook hears nothing elsewhere', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  for (let n = 0; n < 10; n++) {
    const { workflow, webhook } = await heardAt(receiver.url, a);
    await b.send(seenFrom(b, workflow), { n });
    await receiver.wait(n + 1);
    await a.client.delete(`/v1/webhooks/${webhook.id}`);
    await b.send(seenFrom(b, workflow), { n: -1 });
  }
  await b.settled();
  assert.equal(receiver.received.length, 10);
  assert.equal((await b.client.get('/v1/ledger')).data.deliveries.total, 10);
});

test('what is open is held at all nodes', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(3);
  const [a, b, c] = nodes.all;
  const { workflow, webhook } = await heardAt(gate.url, a);
  await spread(nodes.all, workflow, 30);
  await gate.wait(IN_FLIGHT);
  await a.client.put(`/v1/webhooks/${webhook.id}`, { active: false });
  for (const node of nodes.all) {
    assert.deepEqual([await count(node, webhook, 'sending'), await count(node, webhook, 'held')], [IN_FLIGHT, 22]);
  }
  await spread(nodes.all, workflow, 6);
  assert.equal(await count(b, webhook, 'held'), 28);
  gate.open();
  await nothingSending(b, webhook);
  await othersDelivered(nodes.all);
  assert.equal(gate.asked.length, IN_FLIGHT);
  await c.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  await gate.wait(36);
  await b.settled();
  assert.deepEqual([gate.asked.length, await count(a, webhook, 'delivered')], [36, 36]);
});

test('a fast sender stops for a webhook disabled elsewhere', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const { workflow, webhook } = await heardMany(receiver, a);
  await b.send(seenFrom(b, workflow), { count: 900 });
  await receiver.wait(20);
  await a.client.put(`/v1/webhooks/${webhook.id}`, { active: false });
  const before = receiver.received.length;
  await nothingSending(a, webhook);
  const after = receiver.received.length;
  assert.ok(after - before <= IN_FLIGHT + AHEAD, `${after - before} were sent after the answer`);
  const held = await count(a, webhook, 'held');
  assert.deepEqual([after + held, held > 0], [900, true]);
  await othersDelivered(nodes.all);
  assert.equal(receiver.received.length, after);
  await a.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  await receiver.wait(900);
  await b.settled();
  assert.deepEqual([new Set(ids(receiver)).size, receiver.received.length], [900, 900]);
});

const MANY = 600;

/** Answers fast at first, so that some are claimed ahead, and then holds what comes. */
async function stuckWithMany(
  nodes: readonly [Errand, Errand],
  gate: { letOne(): void; wait(n: number): Promise<unknown>; url: string },
) {
  const [a, b] = nodes;
  const { workflow, webhook } = await heardMany(gate, a);
  await b.send(seenFrom(b, workflow), { count: MANY });
  const stand = async (): Promise<boolean> => (await count(a, webhook, 'sending')) > IN_FLIGHT;
  // On a busy machine no answer is fast for a while.
  for (let n = 1; n < MANY - 100 && !(n % 40 === 0 && (await stand())); n++) {
    await gate.wait(n);
    gate.letOne();
  }
  await until('some stand in line', stand);
  return webhook;
}

for (const [how, state] of [
  ['disabled', 'held'],
  ['deleted', 'cancelled'],
] as const) {
  test(`what stands in line is not sent once ${how}`, async () => {
    await using gate = await startGate();
    await using nodes = await shareNodes(2);
    const [a, b] = nodes.all;
    const webhook = await stuckWithMany([a, b], gate);
    const path = `/v1/webhooks/${webhook.id}`;
    if (how === 'disabled') await a.client.put(path, { active: false });
    else await a.client.delete(path);
    const sinceMs = performance.now();
    await until('the time is over in which it may go on', () => performance.now() - sinceMs > STOPS_WITHIN_MS);
    const { length } = gate.asked;
    gate.open();
    const { deliveries: counts } = await b.settled();
    assert.equal(gate.asked.length, length);
    assert.deepEqual([counts.delivered, counts[state], counts.total], [length, MANY - length, MANY]);
  });
}

test('410 at one node stops all of them', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(3);
  const [a, b, c] = nodes.all;
  receiver.answer(410);
  const { workflow, webhook } = await heardAt(receiver.url, a);
  await spread(nodes.all, workflow, 60);
  await deliveries(b, webhook.id, 'exhausted');
  await nothingSending(b, webhook);
  for (const { client } of nodes.all) {
    assert.equal((await client.get(`/v1/webhooks/${webhook.id}`)).data.active, false);
  }
  const tried = receiver.received.length;
  // Until the first of them is recorded, some may follow.
  assert.ok(tried <= IN_FLIGHT + AHEAD, `${tried} requests`);
  await spread(nodes.all, workflow, 6);
  // What a node accepted beside the change is held by the next claim.
  await until('all others are held', async () => (await count(a, webhook, 'held')) === 66 - tried);
  assert.equal(await count(a, webhook, 'exhausted'), tried);
  const errors = await c.errors(webhook.id, tried);
  assert.deepEqual([...new Set(errors.map(({ event }) => event.error.code))], ['WebhookGone']);
  assert.equal(errors.length, tried);
  receiver.answer(200);
  await c.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  await receiver.wait(66);
  await b.settled();
  assert.deepEqual([receiver.received.length, await count(b, webhook, 'delivered')], [66, 66 - tried]);
});

test('a refused delivery may be retried elsewhere', async () => {
  await using receiver = await startReceiver();
  await using nodes = await startNodes({}, { ERRAND_ROLES: 'deliver' });
  const [a, b] = nodes.all;
  receiver.answer((n) => (n === 0 ? 500 : 200));
  const { workflow, webhook } = await heardAt(receiver.url, a);
  await b.stop();
  await a.send(workflow, { n: 1 });
  const [refused] = await deliveries(a, webhook.id, 'retrying');
  await b.restart();
  await a.restart({ ERRAND_ROLES: 'api,run' });
  nodes.forward(10_000);
  const [delivered] = await deliveries(a, webhook.id, 'delivered');
  assert.deepEqual([delivered.id, delivered.attempts_made], [refused.id, 2]);
  assert.equal(new Set(ids(receiver)).size, 1);
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['errand-attempt']),
    ['1', '2'],
  );
});

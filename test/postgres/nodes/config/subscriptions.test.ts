// A subscription made or deleted at one node counts for the very next event that another one accepts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, Json } from '../../../support/client.ts';
import { timesOf } from '../../../support/data/thorough.ts';
import type { Errand } from '../../../support/errand.ts';
import { type Receiver, startReceiver } from '../../../support/receiver.ts';
import { ECHO_SOURCE, post } from '../../../support/sources/sources.ts';
import { EMIT_BODY } from '../../../support/webhooks.ts';
import { seenFrom, shareNodes } from '../nodes.ts';

const ROUNDS = timesOf(30, 8);
const NOTHING = 'export default () => 1';

function unsubscribe(client: Client, emitterId: string, listenerId: string, eventName = ''): Promise<Json> {
  const query = new URLSearchParams({ emitter_id: emitterId, listener_id: listenerId, event_name: eventName });
  return client.delete(`/v1/subscriptions?${query}`);
}

/** The numbers that were delivered, in order; each request must be one of its own. */
function heard({ received }: Receiver, of: (body: Json) => number): number[] {
  const ids = received.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, ids.length, 'nothing is delivered twice');
  return received.map(({ body }) => of(JSON.parse(body.toString()))).sort((x, y) => x - y);
}

const evens = (count: number): number[] => Array.from({ length: count }, (_, n) => 2 * n);

test('the next event elsewhere is heard, or not', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(NOTHING);
  const webhook = await a.client.post('/v1/webhooks', { url: receiver.url });
  const [emitterId, there] = [workflow.triggers[0].id, seenFrom(b, workflow)];
  for (const n of evens(ROUNDS)) {
    await a.subscribe(emitterId, webhook.id);
    await b.send(there, { n });
    await unsubscribe(a.client, emitterId, webhook.id);
    await b.send(there, { n: n + 1 });
  }
  await receiver.wait(ROUNDS);
  await a.settled();
  assert.deepEqual(
    heard(receiver, ({ body }) => body.n),
    evens(ROUNDS),
  );
});

test('it does not matter which node is told', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(3);
  const { all } = nodes;
  const workflow = await all[0].workflow(NOTHING);
  const webhook = await all[1].client.post('/v1/webhooks', { url: receiver.url });
  const emitterId = workflow.triggers[0].id;
  const node = (n: number): Errand => all[n % all.length] as Errand;
  for (const n of evens(ROUNDS)) {
    await node(n).subscribe(emitterId, webhook.id);
    await node(n + 1).send(seenFrom(node(n + 1), workflow), { n });
    await unsubscribe(node(n + 2).client, emitterId, webhook.id);
    await node(n).send(seenFrom(node(n), workflow), { n: n + 1 });
  }
  await receiver.wait(ROUNDS);
  await all[2].settled();
  assert.deepEqual(
    heard(receiver, ({ body }) => body.n),
    evens(ROUNDS),
  );
});

for (const emitterId of ['*', 'p_*']) {
  test(`the wildcard ${emitterId} counts at once elsewhere`, async () => {
    await using receiver = await startReceiver();
    await using nodes = await shareNodes(2);
    const [a, b] = nodes.all;
    const workflow = await a.workflow(EMIT_BODY);
    const webhook = await a.client.post('/v1/webhooks', { url: receiver.url });
    const there = seenFrom(b, workflow);
    for (const n of evens(ROUNDS / 2)) {
      await a.subscribe(emitterId, webhook.id);
      await b.send(there, { n });
      await receiver.wait(n / 2 + 1);
      await unsubscribe(a.client, emitterId, webhook.id);
      await b.send(there, { n: n + 1 });
      await b.runs(workflow.id, n + 2);
    }
    await a.settled();
    assert.deepEqual(
      heard(receiver, ({ n }) => n),
      evens(ROUNDS / 2),
    );
  });
}

test('a source is heard at once elsewhere', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const source = await a.client.post('/v1/sources', { name: 'echo', component_code: ECHO_SOURCE });
  const webhook = await a.client.post('/v1/webhooks', { url: receiver.url });
  for (const n of evens(ROUNDS / 2)) {
    await a.subscribe('dc_*', webhook.id);
    await post(seenFrom(b, source), { n });
    await receiver.wait(n / 2 + 1);
    await unsubscribe(a.client, 'dc_*', webhook.id);
    await post(seenFrom(b, source), { n: n + 1 });
    await b.settled();
  }
  await a.settled();
  assert.deepEqual(
    heard(receiver, ({ n }) => n),
    evens(ROUNDS / 2),
  );
});

test('forwarded errors begin and end at once', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const failing = await a.workflow('export default () => { throw new Error("always"); }');
  const listener = await a.workflow('export default ({ steps }) => steps.trigger.event.original_event.body.n', {
    triggers: [],
  });
  const there = seenFrom(b, failing);
  for (const n of evens(8)) {
    await a.subscribe(failing.id, listener.id, '$errors');
    await b.send(there, { n });
    await b.runs(listener.id, n / 2 + 1);
    await unsubscribe(a.client, failing.id, listener.id, '$errors');
    await b.send(there, { n: n + 1 });
    await b.errors(failing.id, n + 2);
  }
  await a.settled();
  const runs = await a.runs(listener.id, 8);
  const whole = await Promise.all(runs.map((run) => a.client.get(`/v1/runs/${run.id}`)));
  assert.deepEqual(
    whole.map(({ data }) => data.steps[0].return_value).toSorted((x, y) => x - y),
    evens(8),
  );
});

test('an emitter trigger counts at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const emitter = await a.workflow(NOTHING);
  const listener = await a.workflow('export default ({ steps }) => steps.trigger.event.body.n', { triggers: [] });
  const trigger = { type: 'emitter', emitter_id: emitter.triggers[0].id };
  for (const n of evens(ROUNDS)) {
    await a.client.put(`/v1/workflows/${listener.id}`, { triggers: [trigger] });
    await b.send(seenFrom(b, emitter), { n });
    await a.client.put(`/v1/workflows/${listener.id}`, { triggers: [] });
    await b.send(seenFrom(b, emitter), { n: n + 1 });
  }
  await a.settled();
  const runs = await b.runs(listener.id, ROUNDS);
  const whole = await Promise.all(runs.map((run) => b.client.get(`/v1/runs/${run.id}`)));
  assert.deepEqual(
    whole.map(({ data }) => data.steps[0].return_value).toSorted((x, y) => x - y),
    evens(ROUNDS),
  );
});

test('the same subscription everywhere is one', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(NOTHING);
  const webhook = await a.client.post('/v1/webhooks', { url: receiver.url });
  for (let n = 0; n < 10; n++) {
    const name = `name ${n}`;
    const made = await Promise.all(
      [...nodes.all, ...nodes.all].map((node) => node.subscribe(workflow.id, webhook.id, name)),
    );
    assert.equal(new Set(made.map(([subscription]) => subscription.id)).size, 1);
    const query = new URLSearchParams({ listener_id: webhook.id, event_name: name });
    assert.equal((await b.client.get(`/v1/subscriptions?${query}`)).page_info.total_count, 1);
  }
});

test('no subscription outlives its listener', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const emitter = await a.workflow(NOTHING);
  for (let n = 0; n < 15; n++) {
    const listener = await a.client.post('/v1/webhooks?url=https://example.com/');
    const query = new URLSearchParams({ emitter_id: emitter.id, listener_id: listener.id });
    const [made] = await Promise.all([
      b.client.request('POST', `/v1/subscriptions?${query}`),
      a.client.delete(`/v1/webhooks/${listener.id}`),
    ]);
    assert.ok([200, 404].includes(made.status), made.text);
    assert.deepEqual((await b.client.get(`/v1/subscriptions?listener_id=${listener.id}`)).data, []);
  }
});

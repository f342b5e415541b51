// Routing by content: which events of an emitter go to whom, and what is told of those that do not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';

const newOwner = shareErrand();

/** As Stripe's events, which begin with their id. */
const stripe = (type: string, n: number): Json => ({ id: `evt_${n}`, type, data: { object: { amount: n } } });
const ofType = (prefix: string): Json => ({ body: { type: [{ prefix }] } });

async function receiptsOf(client: Client, emitId: string): Promise<Json[]> {
  return (await client.get(`/v1/events/${emitId}`)).data.receipts;
}

test('invoices go to one webhook, charges to another', async () => {
  const errand = await newOwner();
  await using invoices = await startReceiver();
  await using charges = await startReceiver();
  const workflow = await errand.workflow('export default () => {}');
  const emitter_id = workflow.triggers[0].id;
  const subscribed: Record<string, Json> = {};
  for (const [receiver, prefix] of [
    [invoices, 'invoice.'],
    [charges, 'charge.'],
  ] as const) {
    const { id } = await errand.client.post('/v1/webhooks', { url: receiver.url });
    const body = { emitter_id, listener_id: id, filter: ofType(prefix) };
    const [made] = await errand.client.post('/v1/subscriptions', body);
    assert.deepEqual(made.filter, body.filter);
    subscribed[prefix] = made;
  }
  const emitted: string[] = [];
  for (const [n, type] of ['invoice.paid', 'charge.failed', 'invoice.sent', 'ping'].entries()) {
    emitted.push(await errand.send(workflow, stripe(type, n)));
  }
  const typesAt = async (receiver: typeof invoices, count: number): Promise<string[]> =>
    (await receiver.wait(count)).map(({ body }) => JSON.parse(String(body)).body.type).sort();
  assert.deepEqual(await typesAt(charges, 1), ['charge.failed']);
  assert.deepEqual(await typesAt(invoices, 2), ['invoice.paid', 'invoice.sent']);
  await errand.settled();
  assert.deepEqual([charges.received.length, invoices.received.length], [1, 2]);
  const receipts = await receiptsOf(errand.client, emitted[0] ?? '');
  const withheld = receipts.filter(({ kind }) => kind === 'withheld');
  assert.deepEqual(
    withheld.map(({ subscription_id, reason }) => [subscription_id, reason]),
    [[subscribed['charge.'].id, 'the filter does not match at body.type']],
  );
  assert.equal(receipts.filter(({ kind }) => kind === 'delivery').length, 1);
  const none = await receiptsOf(errand.client, emitted[3] ?? '');
  assert.deepEqual(none.map(({ kind }) => kind).sort(), ['run', 'withheld', 'withheld']);
});

test('errors are filtered by what they say', async () => {
  const errand = await newOwner();
  const failing = await errand.workflow(`export default ({ steps }) => {
    throw Object.assign(new Error('no'), { code: steps.trigger.event.body.code });
  }`);
  const listener = await errand.workflow('export default () => {}', { triggers: [] });
  const filter = { error: { code: [{ 'anything-but': ['Declined'] }] }, original_event: { body: { live: [true] } } };
  const body = { emitter_id: 'p_*', listener_id: listener.id, event_name: '$errors', filter };
  await errand.client.post('/v1/subscriptions', body);
  for (const event of [
    { code: 'Declined', live: true },
    { code: 'Broken', live: false },
    { code: 'Broken', live: true },
  ]) {
    await errand.send(failing, event);
    await errand.settled();
  }
  const [newest, ...others] = await errand.errors(failing.id, 3);
  await errand.runs(listener.id, 1);
  const toldOf = async ({ id }: Json): Promise<string[]> => {
    const { data } = await errand.client.get(`/v1/workflows/${failing.id}/$errors/event_summaries/${id}`);
    return data.receipts
      .filter(({ listener_id }: Json) => listener_id === listener.id)
      .map(({ kind, reason }: Json) => `${kind} ${reason ?? ''}`);
  };
  assert.deepEqual(await toldOf(newest), ['run ']);
  assert.deepEqual((await Promise.all(others.map(toldOf))).flat().sort(), [
    'withheld the filter does not match at error.code',
    'withheld the filter does not match at original_event.body.live',
  ]);
});

test('a filter is changed, taken away, and outlives a restart', async () => {
  await using errand = await startErrand();
  let workflow = await errand.workflow('export default () => {}');
  const listener = await errand.workflow('export default () => {}', { triggers: [] });
  const three = { emitter_id: workflow.triggers[0].id, listener_id: listener.id };
  const first = { body: { n: [1] } };
  const [made] = await errand.client.post('/v1/subscriptions', { ...three, filter: first });
  const heard = async (n: number): Promise<boolean> => {
    const id = await errand.send(workflow, { n });
    const receipts = await receiptsOf(errand.client, id);
    return receipts.some(({ kind, listener_id }) => kind === 'run' && listener_id === listener.id);
  };
  assert.deepEqual([await heard(1), await heard(2)], [true, false]);
  await errand.restart();
  workflow = (await errand.client.get(`/v1/workflows/${workflow.id}`)).data;
  assert.deepEqual([await heard(1), await heard(2)], [true, false]);
  const path = `/v1/subscriptions/${made.id}`;
  const change = (filter: unknown) => errand.client.request('PUT', path, { filter });
  assert.deepEqual((await change({ body: { n: [2] } })).json.data, { ...made, filter: { body: { n: [2] } } });
  assert.deepEqual([await heard(1), await heard(2)], [false, true]);
  const second = await createOwner(errand);
  assertProblem(await second.client.request('PUT', path, { filter: null }), 404);
  assert.deepEqual((await change(null)).json.data, { ...made, filter: null });
  assert.deepEqual([await heard(1), await heard(2)], [true, true]);
  const { data } = await errand.client.get('/v1/subscriptions?via=trigger');
  assertProblem(
    await errand.client.request('PUT', `/v1/subscriptions/${data[0].id}`, { filter: first }),
    409,
    'trigger',
  );
});

test('the same three with another filter are refused', async () => {
  const errand = await newOwner();
  const [emitter, listener] = await Promise.all(
    ['a', 'b'].map((name) => errand.workflow('export default () => {}', { name, triggers: [] })),
  );
  const three = { emitter_id: emitter?.id, listener_id: listener?.id };
  const filter = { a: [1] };
  const [made] = await errand.client.post('/v1/subscriptions', { ...three, filter });
  const again = async (more: object) => errand.client.request('POST', '/v1/subscriptions', { ...three, ...more });
  for (const same of [{}, { filter }]) assert.deepEqual((await again(same)).json.data, [made]);
  for (const other of [{ filter: null }, { filter: { a: [2] } }]) {
    assertProblem(await again(other), 409, 'filter');
  }
  const query = new URLSearchParams({ event_name: 'x', ...three, filter: JSON.stringify(filter) } as Record<
    string,
    string
  >);
  const queried = await errand.client.request('POST', `/v1/subscriptions?${query}`);
  assert.deepEqual(queried.json.data[0].filter, filter);
});

test('what is no filter is refused with its place', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default () => {}');
  const three = { emitter_id: workflow.id, listener_id: workflow.id };
  for (const [filter, parameter] of [
    [{}, 'filter'],
    [{ body: { type: [{ prefx: 'x' }] } }, 'filter.body.type[0]'],
    [{ body: 'invoice' }, 'filter.body'],
    ['body', 'filter'],
    [[1], 'filter'],
    [{ a: ['x'.repeat(10_000)] }, 'filter'],
  ] as const) {
    const refused = await errand.client.request('POST', '/v1/subscriptions', { ...three, filter });
    assertProblem(refused, 400);
    assert.equal(refused.json.errors[0].parameter, parameter, refused.text);
  }
  const { total_count } = (await errand.client.get('/v1/subscriptions')).page_info;
  assert.equal(total_count, 0);
});

test('events of every shape pass beside filters', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default () => {}');
  const listener = await errand.workflow('export default () => {}', { triggers: [] });
  const emitter_id = workflow.triggers[0].id;
  const filter = { body: { n: [{ exists: false }] } };
  await errand.client.post('/v1/subscriptions', { emitter_id, listener_id: listener.id, filter });
  const bodies = ['null', '"text"', '[]', '0', '{"n":null}', '{"m":{"n":1}}', '[{"n":1}]'];
  for (const body of bodies) await errand.send(workflow, body);
  await until('all that lack n', async () => (await errand.runs(listener.id, 4)).length === 4);
  await errand.settled();
  assert.equal((await errand.runs(workflow.id, bodies.length)).length, bodies.length);
  assert.equal((await errand.runs(listener.id, 4)).length, 4);
});

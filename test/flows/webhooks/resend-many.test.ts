// Sending again what a webhook was sent: operations, their progress, and what stops them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { createWebhook, deliveries, emitterWithWebhook } from '../../support/webhooks.ts';

const newErrand = shareErrand();

const HOUR_MS = 3_600_000;
/** That many wait at a time because of an operation, and 8 more are on their way. */
const WAITING = 256;
const MOST = WAITING + 8;

/** Waits until an operation is so, and returns it. */
function operation(errand: Errand, id: string, isSo: (operation: Json) => boolean): Promise<Json> {
  return until(`operation ${id} to be so`, async () => {
    const { data } = await errand.client.get(`/v1/operations/${id}`);
    return isSo(data) && data;
  });
}

const isDone = ({ state }: Json): boolean => state === 'done';

/** A webhook to which `count` events were delivered, one workflow run having emitted them all. */
async function delivered(errand: Errand, receiver: Receiver, count: number): Promise<Json> {
  const emitter = await errand.workflow(
    `export default ({ $ }) => { for (let n = 0; n < ${count}; n += 1) $.send.emit({ n }); };`,
  );
  const webhook = await createWebhook(errand, receiver);
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, {});
  await until(`${count} delivered`, async () => {
    const page = await errand.client.get(`/v1/webhooks/${webhook.id}/deliveries?state=delivered&limit=1`);
    return page.page_info.total_count === count;
  });
  return webhook;
}

test('what was given up is sent again, oldest first', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { retry: { delays_ms: [] }, max_in_flight: 1 });
  receiver.answer((n) => (n % 2 === 0 ? 500 : 200));
  for (let n = 0; n < 6; n += 1) {
    await errand.send(emitter, { n });
    await receiver.wait(n + 1);
  }
  await deliveries(errand, webhook.id, 'exhausted', 3);
  await deliveries(errand, webhook.id, 'delivered', 3);
  receiver.answer(200);
  const begun = await errand.client.post(`/v1/webhooks/${webhook.id}/resend`, { since: Date.now() - HOUR_MS });
  assert.match(begun.id, /^op_/);
  assert.deepEqual([begun.kind, begun.webhook_id, begun.state], ['resend', webhook.id, 'running']);
  assert.deepEqual([begun.states, begun.total, begun.progress], [['exhausted'], null, null]);
  const done = await operation(errand, begun.id, isDone);
  assert.deepEqual([done.total, done.resent, done.passed_over, done.progress], [3, 3, 0, 1]);
  assert.ok(done.ended_at_ms >= done.created_at_ms);
  const all = await deliveries(errand, webhook.id, 'delivered', 6);
  assert.equal(all.filter((d) => d.attempts.at(-1).trigger === 'resend').length, 3);
  assert.deepEqual(
    receiver.received.slice(6).map((r) => String(r.body)),
    [0, 2, 4].map((n) => `{"n":${n}}`),
  );
  assert.deepEqual((await errand.client.get('/v1/operations')).data, [done]);
  assert.deepEqual((await errand.client.get(`/v1/operations?webhook_id=${webhook.id}&include=id`)).data, [
    { id: done.id },
  ]);
  assert.deepEqual((await errand.client.get('/v1/operations?webhook_id=wh_x')).data, []);
});

test('only what fits time and state is sent', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  const sent: Json[] = [];
  for (let n = 0; n < 3; n += 1) {
    await errand.send(emitter, { n });
    const [newest] = await deliveries(errand, webhook.id, 'delivered', n + 1);
    sent.push(newest);
    errand.forward(HOUR_MS);
  }
  const path = `/v1/webhooks/${webhook.id}/resend`;
  const run = async (input: Json): Promise<Json> =>
    operation(errand, (await errand.client.post(path, input)).id, isDone);
  const [first, second, third] = sent;
  const middle = { since: second.created_at_ms, until: new Date(third.created_at_ms).toISOString() };
  assert.equal((await run(middle)).total, 0, 'nothing was given up');
  const done = await run({ ...middle, state: 'delivered,exhausted' });
  assert.deepEqual([done.total, done.resent, done.states], [1, 1, ['exhausted', 'delivered']]);
  assert.deepEqual([done.since_ms, done.until_ms], [second.created_at_ms, third.created_at_ms]);
  await receiver.wait(4);
  assert.equal(String(receiver.received[3]?.body), '{"n":1}');
  assert.equal(
    (await run({ since: first.created_at_ms, until: second.created_at_ms, state: ['delivered'] })).resent,
    1,
  );
  await receiver.wait(5);
  assert.equal(String(receiver.received[4]?.body), '{"n":0}');
});

test('a dry run says what would be sent again, and sends nothing', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { retry: { delays_ms: [] } });
  receiver.answer((n) => (n === 1 ? 500 : 200));
  for (let n = 0; n < 7; n += 1) {
    await errand.send(emitter, { n });
    await receiver.wait(n + 1);
    await errand.settled();
    errand.forward(HOUR_MS);
  }
  const all = (await deliveries(errand, webhook.id, 'delivered', 6)).toReversed();
  const [failed] = await deliveries(errand, webhook.id, 'exhausted', 1);
  const path = `/v1/webhooks/${webhook.id}/resend`;
  const dry = (input: Json): Promise<Json> => errand.client.post(path, { ...input, dry_run: true });
  const found = await dry({ since: 0, state: 'delivered,exhausted' });
  assert.deepEqual([found.dry_run, found.count, found.at_least], [true, 7, false]);
  assert.deepEqual(found.by_state, [
    { state: 'exhausted', count: 1 },
    { state: 'delivered', count: 6 },
  ]);
  const oldest = [all[0], failed, ...all.slice(1, 4)].map((one) => one.id);
  assert.deepEqual(
    found.sample.map(({ id }: Json) => id),
    oldest,
    'what would go first',
  );
  assert.deepEqual(found.sample[1], {
    id: failed.id,
    state: 'exhausted',
    emitter_id: emitter.id,
    event_name: '',
    attempts_made: 1,
    created_at_ms: failed.created_at_ms,
    created_at_iso: failed.created_at_iso,
  });
  assert.equal((await dry({ since: 0 })).count, 1, 'exhausted when not given');
  const within = { since: all[1].created_at_ms, until: all[3].created_at_ms, state: 'delivered' };
  const part = await dry(within);
  assert.deepEqual([part.count, part.sample.map(({ id }: Json) => id)], [2, [all[1].id, all[2].id]]);
  await errand.settled();
  assert.deepEqual((await errand.client.get('/v1/operations')).data, []);
  assert.equal(receiver.received.length, 7, 'nothing was sent');
  const begun = await errand.client.post(path, { ...within, dry_run: false });
  assert.equal((await operation(errand, begun.id, isDone)).total, part.count, 'as the dry run said');
  await errand.restart();
  // What was sent again is on its way for a moment, and then delivered once more.
  await until('both are delivered again', async () => (await dry(within)).count === 2);
  const other = await createOwner(errand);
  assertProblem(await other.client.request('POST', path, { since: 0, dry_run: true }), 404, webhook.id);
  for (const [input, parameter] of [
    [{ since: 0, dry_run: 'yes' }, 'dry_run'],
    [{ since: 0, dry_run: true, state: 'lost' }, 'state'],
    [{ dry_run: true }, 'since'],
  ] as const)
    assertProblem(await errand.client.request('POST', path, input), 400, parameter);
});

test('an operation is paused, outlives a restart, and goes on', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using gate = await startGate();
  const webhook = await delivered(errand, receiver, 300);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { url: gate.url, timeout_ms: 60_000 });
  const { id } = await errand.client.post(`/v1/webhooks/${webhook.id}/resend`, { since: 0, state: 'delivered' });
  const path = `/v1/operations/${id}`;
  const waiting = await operation(errand, id, ({ resent }) => resent >= WAITING);
  assert.deepEqual([waiting.state, waiting.total], ['running', 300]);
  assert.ok(waiting.progress > 0.8 && waiting.progress < 0.9);
  const paused = await errand.client.post(`${path}/pause`);
  assert.equal(paused.state, 'paused');
  assert.ok(paused.resent <= MOST, `not more than ${MOST}: ${paused.resent}`);
  assert.equal((await errand.client.post(`${path}/pause`)).state, 'paused', 'twice is no mistake');
  gate.open();
  await gate.wait(paused.resent);
  await errand.settled();
  await errand.restart();
  const after = (await errand.client.get(path)).data;
  assert.deepEqual([after.state, after.resent], ['paused', paused.resent]);
  assert.equal(gate.asked.length, paused.resent);
  assert.equal((await errand.client.post(`${path}/resume`)).state, 'running');
  const done = await operation(errand, id, isDone);
  assert.deepEqual([done.resent, done.passed_over, done.progress], [300, 0, 1]);
  await gate.wait(300);
  await errand.settled();
  assert.equal(gate.asked.length, 300, 'each once');
  assertProblem(await errand.client.request('POST', `${path}/pause`), 409, id);
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.equal(ledger.deliveries.delivered, 300);
});

test('an operation under way goes on after a restart', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using gate = await startGate();
  const webhook = await delivered(errand, receiver, 280);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { url: gate.url, timeout_ms: 2000 });
  const { id } = await errand.client.post(`/v1/webhooks/${webhook.id}/resend`, { since: 0, state: 'delivered' });
  await operation(errand, id, ({ resent }) => resent >= WAITING);
  await gate.wait(1);
  await errand.restart();
  gate.open();
  const done = await operation(errand, id, isDone);
  assert.deepEqual([done.total, done.resent], [280, 280]);
  await gate.wait(280);
});

test('a cancelled operation sends nothing more', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await using gate = await startGate();
  const webhook = await delivered(errand, receiver, 270);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { url: gate.url, timeout_ms: 60_000 });
  const { id } = await errand.client.post(`/v1/webhooks/${webhook.id}/resend`, { since: 0, state: 'delivered' });
  await operation(errand, id, ({ resent }) => resent >= WAITING);
  const cancelled = await errand.client.post(`/v1/operations/${id}/cancel`);
  assert.deepEqual([cancelled.state, cancelled.total], ['cancelled', 270]);
  const { resent } = cancelled;
  assert.ok(resent <= MOST, `not more than ${MOST}: ${resent}`);
  gate.open();
  await gate.wait(resent);
  await errand.settled();
  // A second one takes the rest: nothing is left behind by the first.
  const rest = await errand.client.post(`/v1/webhooks/${webhook.id}/resend`, { since: 0, state: 'delivered' });
  const done = await operation(errand, rest.id, isDone);
  assert.deepEqual([done.total, done.resent], [270, 270]);
  await gate.wait(resent + 270);
  await errand.settled();
  assert.equal(gate.asked.length, resent + 270);
  assert.deepEqual((await errand.client.get(`/v1/operations/${id}`)).data, cancelled);
});

test('an operation waits for its webhook, or is cancelled', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  for (const n of [0, 1, 2]) await errand.send(emitter, { n });
  await deliveries(errand, webhook.id, 'delivered', 3);
  const path = `/v1/webhooks/${webhook.id}`;
  await errand.client.put(path, { active: false });
  const begin = (): Promise<Json> => errand.client.post(`${path}/resend`, { since: 0, state: 'delivered' });
  const standing = await operation(errand, (await begin()).id, ({ reason }) => reason !== null);
  assert.deepEqual([standing.state, standing.resent], ['running', 0]);
  assert.match(standing.reason, /not active|disabled|enabled/);
  const cancelled = await errand.client.post(`/v1/operations/${standing.id}/cancel`);
  assert.equal(cancelled.state, 'cancelled');
  assert.ok(cancelled.ended_at_ms > 0);
  const waiting = await begin();
  await errand.client.put(path, { active: true });
  await operation(errand, waiting.id, isDone);
  await receiver.wait(6);
  await errand.settled();
  assert.equal(receiver.received.length, 6, 'by the one that was not cancelled');
  for (const order of ['pause', 'resume']) {
    assertProblem(await errand.client.request('POST', `/v1/operations/${standing.id}/${order}`), 409, standing.id);
  }
  assert.deepEqual(await errand.client.post(`/v1/operations/${standing.id}/cancel`), cancelled, 'twice is no mistake');
  const third = await begin();
  await errand.client.put(path, { active: false });
  await errand.client.delete(path);
  const ended = await operation(errand, third.id, ({ state }) => state !== 'running');
  assert.ok(['cancelled', 'done'].includes(ended.state), ended.state);
});

test('operations are their owner’s alone', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { webhook } = await emitterWithWebhook(errand, receiver);
  const path = `/v1/webhooks/${webhook.id}/resend`;
  const { id } = await errand.client.post(path, { since: 0 });
  const b = await createOwner(errand);
  const reader = await withScopes(errand.client, ['read']);
  assert.deepEqual((await b.client.get('/v1/operations')).data, []);
  assert.deepEqual((await b.client.get(`/v1/operations?webhook_id=${webhook.id}`)).data, []);
  assertProblem(await b.client.request('GET', `/v1/operations/${id}`), 404, id);
  assert.equal((await reader.client.get(`/v1/operations/${id}`)).data.id, id);
  for (const order of ['pause', 'resume', 'cancel']) {
    assertProblem(await b.client.request('POST', `/v1/operations/${id}/${order}`), 404, id);
    assertProblem(await reader.client.request('POST', `/v1/operations/${id}/${order}`), 403, 'write');
  }
  assertProblem(await reader.client.request('POST', path, { since: 0 }), 403, 'write');
  const wrong: [Json, string][] = [
    [{}, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2026-02-30' }, 'since'],
    [{ since: 5, until: 5 }, 'until'],
    [{ since: Date.now() + HOUR_MS }, 'since'],
    [{ since: 0, state: 'pending' }, 'state'],
    [{ since: 0, all: true }, 'all'],
  ];
  for (const [input, parameter] of wrong) {
    assertProblem(await errand.client.request('POST', path, input), 400, parameter);
  }
});

test('what was accepted before the clock was set back is sent again', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const webhook = await delivered(errand, receiver, 3);
  errand.forward(-HOUR_MS);
  await until('it is noticed', () => errand.logged.some(({ name }) => name.startsWith('the clock was set back')));
  const asked = { since: Date.now() - 2 * HOUR_MS, state: 'delivered' };
  const path = `/v1/webhooks/${webhook.id}/resend`;
  assert.equal((await errand.client.post(path, { ...asked, dry_run: true })).count, 3);
  const begun = await errand.client.post(path, asked);
  assert.equal((await operation(errand, begun.id, isDone)).resent, 3);
  await receiver.wait(6);
});

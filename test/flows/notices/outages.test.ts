// Notices when things go wrong: services that are down or ask for patience, channels that are deleted, errors by the hundred, and
// what is secret of a channel.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

const THROW = `export default ({ steps }) => {
  const { code = 'E', text } = steps.trigger.event.body;
  throw Object.assign(new Error(text), { code });
};`;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

async function channel(errand: Errand, url: string, more: Json = {}): Promise<Json> {
  return errand.client.post('/v1/channels', { kind: 'http', config: { url, ...more } });
}

const bodiesOf = (received: readonly { body: Buffer }[]): Json[] =>
  received.map(({ body }) => JSON.parse(String(body)));

/** The delivery of the notice of the first error. */
async function delivery(errand: Errand, workflowId: string): Promise<Json> {
  const first = (await errand.errors(workflowId, 1)).at(-1);
  const path = `/v1/workflows/${workflowId}/$errors/event_summaries/${first?.id}`;
  const receipt = await until('the receipt of the notice', async () => {
    const { data } = await errand.client.get(path);
    return data.receipts.find(({ via, id }: Json) => via === 'channel' && id !== null);
  });
  return (await errand.client.get(`/v1/deliveries/${receipt.id}`)).data;
}

const inState = (errand: Errand, workflowId: string, state: string): Promise<Json> =>
  until(`the notice to be ${state}`, async () => {
    const one = await delivery(errand, workflowId);
    return one.state === state && one;
  });

test('a service that was down for hours gets the notice once it is back', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n < 4 ? 503 : 200));
  const { id } = await channel(errand, receiver.url);
  const workflow = await errand.workflow(THROW, { settings: { channels: [id] } });
  await errand.send(workflow, { text: 'broken' });
  for (let tries = 1; tries <= 4; tries++) {
    await receiver.wait(tries);
    const { attempts, next_attempt_at_ms: nextMs } = await inState(errand, workflow.id, 'retrying');
    // Errors that come meanwhile are counted.
    await errand.send(workflow, { text: 'broken' });
    errand.forward(nextMs - attempts.at(-1).started_at_ms);
  }
  await receiver.wait(5);
  const { attempts } = await inState(errand, workflow.id, 'delivered');
  deepEqual(
    attempts.map(({ status }: Json) => status),
    [503, 503, 503, 503, 200],
  );
  deepEqual(
    bodiesOf(receiver.received).map(({ kind, count }) => [kind, count]),
    Array.from({ length: 5 }, () => ['error', 1]),
  );
});

test('a service that asks for patience is not asked before', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 429 : 200), { 'retry-after': '7200' });
  const { id } = await channel(errand, receiver.url);
  const workflow = await errand.workflow(THROW, { settings: { channels: [id] } });
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  const waiting = await inState(errand, workflow.id, 'retrying');
  const asked = waiting.next_attempt_at_ms - waiting.attempts[0].started_at_ms;
  ok(asked >= 2 * HOUR_MS, `the next attempt comes ${asked} ms behind the first one`);
  errand.forward(3 * HOUR_MS);
  await receiver.wait(2);
  await inState(errand, workflow.id, 'delivered');
});

test('a channel that is deleted gets none of its notices', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  receiver.answer(503);
  const [gone, kept] = [await channel(errand, receiver.url), await channel(errand, other.url)];
  await errand.client.put('/v1/users/me', { channels: [gone.id, kept.id] });
  const workflow = await errand.workflow(THROW, { settings: { channels: [gone.id] } });
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  await inState(errand, workflow.id, 'retrying');
  await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { channels: [] } });
  await errand.client.delete(`/v1/channels/${gone.id}`);
  errand.forward(24 * HOUR_MS);
  const { attempts } = await inState(errand, workflow.id, 'exhausted');
  equal(attempts.at(-1).detail, 'The channel was deleted.');
  equal(receiver.received.length, 1);
  // Its workflow has no channel left, and errors go on.
  await errand.send(workflow, { text: 'broken otherwise', code: 'OTHER' });
  await errand.errors(workflow.id, 2);
  await errand.settled();
  equal(receiver.received.length, 1);
  equal(other.received.length, 0, 'the lost notice is no news for other channels');
});

test('an address that may not be reached any more is not reached', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const named = receiver.url.replace('127.0.0.1', 'localhost');
  const [byAddress, byName] = [await channel(errand, receiver.url), await channel(errand, named)];
  await errand.restart({ ERRAND_ALLOW_TARGETS: '' });
  for (const { id } of [byAddress, byName]) {
    const { delivered, attempt } = await errand.client.post(`/v1/channels/${id}/test`);
    deepEqual([delivered, attempt.outcome], [false, 'forbidden']);
  }
  const workflow = await errand.workflow(THROW, { settings: { channels: [byName.id] } });
  await errand.send(workflow, { text: 'broken' });
  const { attempts } = await inState(errand, workflow.id, 'exhausted');
  equal(attempts[0].outcome, 'forbidden');
  equal(receiver.received.length, 0);
});

/** Returns of each error the one receipt of its channel, and whether a listener was told. */
async function receiptsOf(errand: Errand, workflowId: string): Promise<Json[]> {
  const all: Json[] = [];
  for (const { id } of await errand.errors(workflowId, 100)) {
    const { data } = await errand.client.get(`/v1/workflows/${workflowId}/$errors/event_summaries/${id}`);
    const ofChannel = data.receipts.filter(({ via }: Json) => via === 'channel');
    equal(ofChannel.length, 1);
    const { data: found } = await errand.client.get(`/v1/errors?emitter_id=${workflowId}&limit=100`);
    const { told } = found.find((error: Json) => error.id === id);
    all.push({ ...ofChannel[0], told });
  }
  return all;
}

test('a hundred kinds of errors are twenty notices, and one of all others', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { id } = await channel(errand, receiver.url);
  const workflow = await errand.workflow(THROW, { name: 'Orders', settings: { channels: [id] } });
  const texts = Array.from({ length: 100 }, (_, n) => ({ code: `E${n}`, text: `kind ${n}` }));
  await Promise.all(texts.map((event) => errand.send(workflow, event)));
  await errand.errors(workflow.id, 100);
  await receiver.wait(20);
  await errand.settled();
  equal(receiver.received.length, 20);
  const { global_error_workflow_id: globalId } = (await errand.client.get('/v1/users/me')).data;
  await errand.runs(globalId, 100);
  await errand.settled();
  equal((await errand.outbox()).length, 20);
  const waiting = await receiptsOf(errand, workflow.id);
  equal(waiting.filter(({ state, told }) => state === 'delivered' && told === 'told').length, 20);
  const folded = waiting.filter(({ state, told, reason }) => {
    return state === 'withheld' && told === 'counted' && /told in the summary of 20/.test(reason);
  });
  equal(folded.length, 80);
  await errand.restart();
  errand.forward(11 * MINUTE_MS);
  await receiver.wait(21);
  const told = await until('all to be told', async () => {
    const all = await receiptsOf(errand, workflow.id);
    return all.every(({ state, told }) => state === 'delivered' && told === 'told') && all;
  });
  deepEqual([...new Set(told.map(({ listener_id: of }) => of))], [id]);
  equal(new Set(told.map((receipt) => receipt.id)).size, 21, 'one delivery for each notice, and one for the summary');
  const summary = bodiesOf(receiver.received)[20];
  deepEqual([summary.kind, summary.groups, summary.count], ['summary', 80, 80]);
  errand.forward(24 * HOUR_MS);
  const mails = await until('the digest of the other kinds', async () => {
    const all = await errand.outbox();
    return all.length > 20 && all;
  });
  match(`${mails[20]}`, /\+80 more of other kinds/);
  await errand.settled();
  equal(receiver.received.length, 21);
});

test('a subscriber to errors that fails itself floods nobody', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { id } = await channel(errand, receiver.url);
  await errand.client.put('/v1/users/me', { channels: [id] });
  const [workflow, handler] = [await errand.workflow(THROW), await errand.workflow(`export default () => missing();`)];
  await errand.subscribe(workflow.id, handler.id, '$errors');
  for (let n = 0; n < 10; n++) await errand.send(workflow, { text: 'broken' });
  const { global_error_workflow_id: globalId } = (await errand.client.get('/v1/users/me')).data;
  await errand.runs(globalId, 20);
  await receiver.wait(2);
  await errand.settled();
  equal(receiver.received.length, 2);
  equal((await errand.outbox()).length, 2);
});

test('what is secret of a channel is nowhere but at its service', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 500 : 302), { location: 'http://127.0.0.1:1/elsewhere' });
  const secret = 'very-private-4711';
  const made = await channel(errand, `${receiver.url}/${secret}?token=${secret}`, { headers: { 'x-key': secret } });
  const down = await channel(errand, `http://127.0.0.1:1/${secret}`);
  const alert = { kind: 'pagerduty', config: { key: secret, url: receiver.url } };
  const called = await errand.client.post('/v1/channels', alert);
  await errand.client.put('/v1/users/me', { channels: [made.id, down.id, called.id] });
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(2);
  for (let n = 0; n < 30; n++) {
    errand.forward(24 * HOUR_MS);
    await errand.settled();
    const { data } = await errand.client.get('/v1/error_groups?code=DeliveryExhausted');
    if (data.length >= 2) break;
  }
  const [{ id }] = await errand.errors(workflow.id, 1);
  const paths = ['/v1/channels', '/v1/audit', '/v1/errors', '/v1/error_groups', '/v1/runs', '/v1/subscriptions'];
  paths.push(`/v1/workflows/${workflow.id}/$errors/event_summaries/${id}?expand=event`);
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries/${id}`);
  for (const receipt of data.receipts) if (receipt.kind === 'delivery') paths.push(`/v1/deliveries/${receipt.id}`);
  ok(paths.length >= 10, paths.join(' '));
  for (const path of paths) {
    const { text, status } = await errand.client.request('GET', path);
    equal(status, 200, path);
    ok(!text.includes(secret), path);
  }
  ok(!JSON.stringify(errand.logged).includes(secret), 'the log');
  ok(!(await errand.outbox()).join('').includes(secret), 'mails');
  ok(receiver.received.some(({ path }) => path.includes(secret)));
  await errand.stop();
  for (const name of await readdir(errand.dataDir)) {
    if (!name.startsWith('errand.db')) continue;
    ok(!(await readFile(join(errand.dataDir, name))).includes(secret), name);
  }
});

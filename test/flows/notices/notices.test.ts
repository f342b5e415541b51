// Notices of errors over channels: who hears of what, when, and what the receipts show.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

const THROW = `export default ({ steps }) => { throw new Error(steps.trigger.event.body.text); };`;
const DAY_MS = 86_400_000;

const bodiesOf = (received: readonly { body: Buffer }[]): Json[] =>
  received.map(({ body }) => JSON.parse(String(body)));

async function httpChannel(errand: Errand, url: string, more: Json = {}): Promise<Json> {
  return errand.client.post('/v1/channels', { kind: 'http', config: { url, ...more } });
}

async function groupOf(errand: Errand, workflowId: string): Promise<Json> {
  await errand.errors(workflowId, 1);
  return (await errand.client.get(`/v1/error_groups?emitter_id=${workflowId}`)).data[0];
}

test('the first error of a group is told at once, repeats in one digest', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await httpChannel(errand, receiver.url);
  await errand.client.put('/v1/users/me', { channels: [channel.id] });
  const workflow = await errand.workflow(THROW, { name: 'Orders' });
  await errand.send(workflow, { text: 'card 4711 declined' });
  await receiver.wait(1);
  const [first] = bodiesOf(receiver.received);
  equal(first.kind, 'error');
  equal(first.name, 'Orders');
  equal(first.message, 'card 4711 declined');
  equal(first.count, 1);
  match(first.event, /card 4711 declined/);
  for (const number of [4712, 4713, 4714]) await errand.send(workflow, { text: `card ${number} declined` });
  await errand.errors(workflow.id, 4);
  await errand.settled();
  equal(receiver.received.length, 1);
  errand.forward(DAY_MS);
  await receiver.wait(2);
  const digest = bodiesOf(receiver.received)[1];
  equal(digest.kind, 'digest');
  equal(digest.more, 3);
  equal(digest.count, 4);
  equal(digest.group_id, first.group_id);
});

test('a group that is resolved is told as recovered to those who heard of it', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const config = { url: receiver.url.replace('/hook', ''), key: 'routing-key' };
  const channel = await errand.client.post('/v1/channels', { kind: 'pagerduty', config });
  const workflow = await errand.workflow(THROW, { settings: { channels: [channel.id] } });
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  const group = await groupOf(errand, workflow.id);
  // The setting is gone by now: the incident is closed all the same.
  await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { channels: [] } });
  await errand.client.put(`/v1/error_groups/${group.id}`, { state: 'resolved' });
  await receiver.wait(2);
  const [opened, closed] = bodiesOf(receiver.received);
  equal(receiver.received[0]?.path, '/v2/enqueue');
  equal(opened.event_action, 'trigger');
  deepEqual(closed, { routing_key: 'routing-key', dedup_key: group.id, event_action: 'resolve' });
  equal(opened.dedup_key, group.id);
});

test('a recovery says how many of the errors were replayed', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await httpChannel(errand, receiver.url);
  const code = `export default ({ steps, $ }) => { if (!$.context.replay) throw new Error('broken'); };`;
  const workflow = await errand.workflow(code, { settings: { channels: [channel.id] } });
  for (let n = 0; n < 3; n++) await errand.send(workflow, { n });
  await errand.errors(workflow.id, 3);
  await receiver.wait(1);
  const group = await groupOf(errand, workflow.id);
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries`);
  for (const { id } of data.slice(1)) {
    await errand.client.post(`/v1/workflows/${workflow.id}/$errors/${id}/replay`);
  }
  await errand.settled();
  await errand.client.put(`/v1/error_groups/${group.id}`, { state: 'resolved' });
  await receiver.wait(2);
  deepEqual(bodiesOf(receiver.received)[1].replayed, { succeeded: 2, of: 3 });
});

test('a replay of all errors of a group is told as a recovery, by channel and by mail', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await httpChannel(errand, receiver.url);
  const workflow = await errand.workflow(THROW, { name: 'Orders', settings: { channels: [channel.id] } });
  for (const text of ['card 1 declined', 'card 2 declined']) await errand.send(workflow, { text });
  await receiver.wait(1);
  const [group] = [await groupOf(errand, workflow.id)];
  await errand.errors(workflow.id, 2);
  await until('the mail', async () => (await errand.outbox()).length === 1);
  const steps = [{ namespace: 'step', code: 'export default () => 1;' }];
  await errand.client.put(`/v1/workflows/${workflow.id}`, { steps });
  await errand.client.post('/v1/replays', { group_id: group.id });
  await receiver.wait(2);
  const [, recovered] = bodiesOf(receiver.received);
  deepEqual([recovered.kind, recovered.replayed], ['recovered', { succeeded: 2, of: 2 }]);
  const mails = await until('the mail of the recovery', async () => {
    const all = await errand.outbox();
    return all.length === 2 && all;
  });
  const { subject, text, html, to } = await PostalMime.parse(`${mails[1]}`);
  equal(to?.[0]?.address, 'owner@example.com');
  match(`${subject}`, /Orders recovered \(2 of 2 replayed\)/);
  match(`${text}`, /Replayed: +2 of 2/);
  match(`${html}`, /2 of 2/);
  await errand.settled();
  equal((await errand.outbox()).length, 2);
});

test('a recovery is mailed only to owners who were mailed of the error', async () => {
  await using errand = await startErrand();
  const quiet = await errand.workflow(THROW, { settings: { notify: false } });
  await errand.send(quiet, { text: 'broken' });
  const group = await groupOf(errand, quiet.id);
  await errand.client.put(`/v1/error_groups/${group.id}`, { state: 'resolved' });
  await errand.settled();
  const loud = await errand.workflow(THROW);
  await errand.send(loud, { text: 'broken' });
  await until('the mail', async () => (await errand.outbox()).length === 1);
  const other = await groupOf(errand, loud.id);
  await errand.client.put(`/v1/error_groups/${other.id}`, { state: 'resolved' });
  const mails = await until('the mail of the recovery', async () => {
    const all = await errand.outbox();
    return all.length === 2 && all;
  });
  match(`${mails[1]}`, /recovered/);
});

test('a group that errors open again is told at once', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await httpChannel(errand, receiver.url);
  const workflow = await errand.workflow(THROW, { settings: { channels: [channel.id] } });
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  const group = await groupOf(errand, workflow.id);
  await errand.client.put(`/v1/error_groups/${group.id}`, { state: 'resolved' });
  await receiver.wait(2);
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(3);
  const kinds = bodiesOf(receiver.received).map(({ kind }) => kind);
  deepEqual(kinds, ['error', 'recovered', 'error']);
  match(bodiesOf(receiver.received)[2].reopened, /resolved/);
});

test('nobody is told of a muted group, and all once it is not', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await httpChannel(errand, receiver.url);
  const workflow = await errand.workflow(THROW, { settings: { channels: [channel.id] } });
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  const group = await groupOf(errand, workflow.id);
  await errand.client.put(`/v1/error_groups/${group.id}`, { state: 'muted', muted_errors: 3 });
  for (let n = 0; n < 2; n++) await errand.send(workflow, { text: 'broken' });
  await errand.errors(workflow.id, 3);
  errand.forward(2 * DAY_MS);
  await errand.settled();
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(2);
  const [, again] = bodiesOf(receiver.received);
  equal(again.kind, 'error');
  equal(again.more, 3);
  match(again.reopened, /muted/);
});

test('receipts of each error show the notice that tells of it', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const channel = await httpChannel(errand, receiver.url);
  const workflow = await errand.workflow(THROW, { settings: { channels: [channel.id], notify: false } });
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  const receipts = await until('the delivery to end', async () => {
    const [record] = await errand.errors(workflow.id, 1);
    const path = `/v1/workflows/${workflow.id}/$errors/event_summaries/${record.id}`;
    const { data } = await errand.client.get(path);
    const told = data.receipts.filter(({ via }: Json) => via === 'channel');
    return told[0]?.state === 'delivered' && told;
  });
  equal(receipts.length, 1);
  equal(receipts[0].listener_id, channel.id);
  equal(receipts[0].reason, undefined);
  // Its digest comes later: the receipt of the next error says when.
  await errand.send(workflow, { text: 'broken' });
  const [next] = await errand.errors(workflow.id, 2);
  const nextPath = `/v1/workflows/${workflow.id}/$errors/event_summaries/${next.id}`;
  const waiting = (await errand.client.get(nextPath)).data;
  const [counted] = waiting.receipts.filter(({ via }: Json) => via === 'channel');
  deepEqual([counted.id, counted.state, waiting.told], [null, 'withheld', 'counted']);
  match(counted.reason, /^counted, and told in the digest of 20.*Z$/);
  await errand.restart();
  errand.forward(DAY_MS);
  await receiver.wait(2);
  await until('the digest to be told', async () => {
    const { data } = await errand.client.get(nextPath);
    const told = data.receipts.filter(({ via }: Json) => via === 'channel');
    return told.length === 1 && told[0].state === 'delivered' && data.told === 'told';
  });
  const { data: delivery } = await errand.client.get(`/v1/deliveries/${receipts[0].id}`);
  equal(delivery.kind, 'channel');
  equal(delivery.channel_id, channel.id);
  equal(delivery.request, undefined);
  equal(delivery.attempts[0].status, 200);
});

test('receipts say of a channel that is not active that it gets no notice', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const [active, inactive] = [await httpChannel(errand, receiver.url), await httpChannel(errand, receiver.url)];
  await errand.client.put(`/v1/channels/${inactive.id}`, { active: false });
  const settings = { channels: [inactive.id], notify: false };
  const workflow = await errand.workflow(THROW, { settings });
  const toldOf = async (count: number): Promise<Json> => {
    const [{ id }] = await errand.errors(workflow.id, count);
    await errand.settled();
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries/${id}`);
    const told = data.receipts.filter(({ via }: Json) => via === 'channel');
    return [data.told, told.map((one: Json) => [one.listener_id, one.id, one.state, one.reason])];
  };
  const withheld = [inactive.id, null, 'withheld', 'the channel is not active'];
  await errand.send(workflow, { text: 'broken' });
  deepEqual(await toldOf(1), ['withheld', [withheld]]);
  // No digest will count the next one, either.
  await errand.send(workflow, { text: 'broken' });
  deepEqual(await toldOf(2), ['withheld', [withheld]]);
  await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { channels: [active.id, inactive.id] } });
  await errand.send(workflow, { text: 'broken otherwise' });
  await receiver.wait(1);
  await until('the delivery to end', async () => {
    const [told, receipts] = await toldOf(3);
    return told === 'told' && receipts.length === 2 && receipts[0][2] === 'delivered' && receipts[1];
  }).then((receipt) => deepEqual(receipt, withheld));
});

test('a notice that cannot be delivered is an error without a notice', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(410);
  const channel = await httpChannel(errand, receiver.url);
  await errand.client.put(`/v1/channels/${channel.id}`, { name: 'Team chat' });
  await errand.client.put('/v1/users/me', { name: 'Shop', channels: [channel.id] });
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  const group = await until('the error of the notice', async () => {
    const { data } = await errand.client.get('/v1/error_groups?code=DeliveryExhausted');
    return data[0];
  });
  match(group.template ?? group.message ?? JSON.stringify(group), /Notice to/);
  const [{ id }] = await errand.errors(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries/${id}`);
  const [told] = data.receipts.filter(({ via }: Json) => via === 'channel');
  deepEqual(
    [told.state, /^given up after 1 attempt: The receiver answered 410/.test(told.reason)],
    ['exhausted', true],
  );
  // The mail about it says which channel it was, and whose.
  const mail = await until('the mail', async () => (await errand.outbox()).find((one) => /Team chat/.test(`${one}`)));
  const { subject, text } = await PostalMime.parse(`${mail}`);
  const title = `Shop: DeliveryExhausted Notice to "Team chat" (${channel.id}) not delivered after 1 attempt: `;
  ok(subject?.startsWith(`[Errand] ${title}`), `${subject}`);
  match(`${text}`, /^Owner: +Shop \(u_\w+\)$/m);
  ok(!/replay/i.test(`${text}`), `${text}`);
  errand.forward(2 * DAY_MS);
  await errand.settled();
  equal(receiver.received.length, 1);
});

test('a notice of what the global error workflow threw that cannot be delivered is told to it', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(410);
  const channel = await httpChannel(errand, receiver.url);
  const me = await errand.client.put('/v1/users/me', { channels: [channel.id] });
  const handler = `/v1/workflows/${me.global_error_workflow_id}`;
  const code = `export default ({ steps }) => {
    if (steps.trigger.event.error.code !== 'DeliveryExhausted') throw new Error('broken handler');
  };`;
  await errand.client.put(handler, { steps: [{ namespace: 'handle', code }] });
  await errand.send(await errand.workflow(THROW), { text: 'broken' });
  // Of the notice of the workflow's error, and of that of the handler's own.
  await receiver.wait(2);
  await until('the handler heard of both', async () => {
    const { data } = await errand.client.get(`${handler}/runs`);
    return data.filter(({ state }: Json) => state === 'succeeded').length === 2;
  });
  await errand.settled();
  equal(receiver.received.length, 2);
});

test('a notice outlives a restart between its error and its delivery', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 500 : 200));
  const channel = await httpChannel(errand, receiver.url);
  const workflow = await errand.workflow(THROW, { settings: { channels: [channel.id] } });
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  await errand.restart();
  errand.forward(60_000);
  await receiver.wait(2);
  const [first, second] = receiver.received;
  deepEqual(first?.body, second?.body);
  equal(first?.headers['idempotency-key'], second?.headers['idempotency-key']);
  ok(first?.headers['idempotency-key']);
});

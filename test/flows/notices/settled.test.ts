// Errors that somebody resolves while nobody can be told of them: what waits is withheld, says so, and the next one is told.

import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { freePort } from '../../support/port.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startMailServer } from '../../support/sources/mail-server.ts';
import { until } from '../../support/wait.ts';

const THROW = `export default ({ steps }) => {
  const { code = 'E', text } = steps.trigger.event.body;
  throw Object.assign(new Error(text), { code });
};`;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const bodiesOf = (received: readonly { body: Buffer }[]): Json[] =>
  received.map(({ body }) => JSON.parse(String(body)));

/** The newest error of the workflow, whole, once its only delivery of a kind is in that state. */
async function errorWith(errand: Errand, workflowId: string, kind: string, state: string): Promise<Json> {
  const [{ id }] = (await errand.errors(workflowId, 1)) as [Json];
  let receipts: Json[] = [];
  const found = until(`its ${kind} to be ${state}`, async () => {
    const { data } = await errand.client.get(`/v1/workflows/${workflowId}/$errors/event_summaries/${id}`);
    receipts = data.receipts;
    const receipt = receipts.find((each) => each.kind === kind);
    return receipt?.state === state && { ...data, receipt };
  });
  return found.catch(async (error) => {
    const { data } = await errand.client.get('/v1/deliveries');
    throw new Error(`of error ${id}: ${JSON.stringify({ receipts, deliveries: data }, null, 1)}`, { cause: error });
  });
}

async function resolve(errand: Errand, state = 'resolved'): Promise<void> {
  const { data } = await errand.client.get('/v1/error_groups?state=open');
  for (const { id } of data) await errand.client.put(`/v1/error_groups/${id}`, { state });
}

test('a mail that waited while its errors were resolved is withheld, and the next is sent at once', async () => {
  const port = await freePort();
  await using errand = await startErrand({ ERRAND_SMTP_URL: `smtp://127.0.0.1:${port}` });
  const workflow = await errand.workflow(THROW, { name: 'Orders' });
  await errand.send(workflow, { text: 'the first' });
  await errorWith(errand, workflow.id, 'mail', 'retrying');
  await resolve(errand);
  await errand.settled();
  await using server = await startMailServer({}, port);
  await errand.restart();
  errand.forward(MINUTE_MS);
  const { receipt, told } = await errorWith(errand, workflow.id, 'mail', 'cancelled');
  equal(told, 'told');
  match(receipt.reason, /^Withheld: its group of errors was resolved before/);
  const { data: delivery } = await errand.client.get(`/v1/deliveries/${receipt.id}`);
  deepEqual(
    delivery.attempts.map(({ outcome }: Json) => outcome),
    ['refused', 'withheld'],
  );
  equal((await errand.client.get('/v1/errors?told=false')).data.length, 0);
  const { data: now } = await errand.client.get(`/v1/workflows/${workflow.id}`);
  await errand.send(now, { text: 'the first' });
  const [mail] = await server.wait(1);
  match(mail?.subject ?? '', /Orders/);
  await errorWith(errand, workflow.id, 'mail', 'delivered');
  // Now somebody knows, and hears of the end.
  await resolve(errand);
  await until('its end', () => server.mails.some(({ subject }) => /Orders recovered/.test(subject ?? '')));
  // A mail whose answer is late on a busy machine is sent again: as the same.
  equal(new Set(server.mails.map(({ messageId }) => messageId)).size, 2);
});

test('a mail that was withheld is sent when it is resent by hand', async () => {
  const port = await freePort();
  await using errand = await startErrand({ ERRAND_SMTP_URL: `smtp://127.0.0.1:${port}` });
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, { text: 'broken' });
  await errorWith(errand, workflow.id, 'mail', 'retrying');
  await resolve(errand);
  errand.forward(MINUTE_MS);
  const { receipt } = await errorWith(errand, workflow.id, 'mail', 'cancelled');
  await errand.client.post(`/v1/deliveries/${receipt.id}/resend`);
  await errorWith(errand, workflow.id, 'mail', 'retrying');
  await using server = await startMailServer({}, port);
  errand.forward(MINUTE_MS);
  await server.wait(1);
  await errorWith(errand, workflow.id, 'mail', 'delivered');
});

test('errors of a workflow that is deleted are mailed when the mail server is back', async () => {
  const port = await freePort();
  await using errand = await startErrand({ ERRAND_SMTP_URL: `smtp://127.0.0.1:${port}` });
  const workflow = await errand.workflow(THROW, { name: 'Orders' });
  await errand.send(workflow, { text: 'broken' });
  await errorWith(errand, workflow.id, 'mail', 'retrying');
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  await using server = await startMailServer({}, port);
  errand.forward(MINUTE_MS);
  const [mail] = await server.wait(1);
  match(mail?.text ?? '', /broken/);
});

test('a channel that was down hears nothing of what was resolved meanwhile, and of its return at once', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(503);
  const config = { url: receiver.url };
  const { id } = await errand.client.post('/v1/channels', { kind: 'discord', config });
  const workflow = await errand.workflow(THROW, { name: 'Orders', settings: { channels: [id], notify: false } });
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(1);
  await errorWith(errand, workflow.id, 'delivery', 'retrying');
  await resolve(errand);
  receiver.answer(200);
  errand.forward(MINUTE_MS);
  const { receipt, told } = await errorWith(errand, workflow.id, 'delivery', 'cancelled');
  equal(told, 'told');
  match(receipt.reason, /^Withheld/);
  await errand.settled();
  equal(receiver.received.length, 1, 'no recovery of what nobody heard of');
  await errand.send(workflow, { text: 'broken' });
  await receiver.wait(2);
  match(bodiesOf(receiver.received)[1].embeds[0].title, /Orders failed again/);
});

test('an incident of many kinds of errors is closed with the last of them', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const config = { url: receiver.url.replace('/hook', ''), key: 'routing-key' };
  const { id } = await errand.client.post('/v1/channels', { kind: 'pagerduty', config });
  const workflow = await errand.workflow(THROW, { settings: { channels: [id], notify: false } });
  for (let n = 0; n < 23; n++) await errand.send(workflow, { code: `E${n}`, text: `kind ${n}` });
  const errors = await errand.errors(workflow.id, 23);
  await receiver.wait(20);
  await errand.settled();
  await until('three kinds of errors to wait for the summary', async () => {
    const all: Json[] = await Promise.all(
      errors.map(({ id: error }) => errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries/${error}`)),
    );
    return all.filter((each) => JSON.stringify(each).includes('told in the summary of')).length === 3;
  });
  errand.forward(11 * MINUTE_MS);
  const key = `${workflow.id}-more`;
  const ofSummary = (): string[] =>
    bodiesOf(receiver.received).flatMap((each) => (each.dedup_key === key ? [each.event_action] : []));
  await until('the summary', () => ofSummary().length > 0);
  deepEqual(ofSummary(), ['trigger']);
  await errand.settled();
  await errand.restart();
  await resolve(errand);
  const keysOf = (action: string): string[] =>
    bodiesOf(receiver.received).flatMap((each) => (each.event_action === action ? [each.dedup_key] : []));
  // One for each that was told alone, and for the newest of the summary; and that of the summary.
  await until('all incidents to be closed', () => keysOf('trigger').every((one) => keysOf('resolve').includes(one)));
  await errand.settled();
  errand.forward(HOUR_MS);
  await errand.settled();
  deepEqual(ofSummary(), ['trigger', 'resolve']);
});

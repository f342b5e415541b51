// What differs between failures and successes over HTTP: the fields of events, the code, the last good and the first bad run.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type OwnerOn, sharedErrand } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';

const newOwner = sharedErrand();

const GOOD = `export default ({ steps }) => {\n  const { currency } = steps.trigger.event.body;\n  return currency;\n};`;
const BAD = GOOD.replace('return currency', 'return currency.toLowerCase()');
const SETTINGS = { settings: { notify: false } };

const differences = async ({ client }: OwnerOn, groupId: string): Promise<Json> =>
  (await client.get(`/v1/error_groups/${groupId}/differences`)).data;

const groupOf = async ({ client }: OwnerOn, { id }: Json): Promise<Json> =>
  (await client.get(`/v1/error_groups?emitter_id=${id}`)).data[0];

async function failed(errand: OwnerOn): Promise<{ workflow: Json; group: Json; deployed: Json }> {
  const workflow = await errand.workflow(GOOD, SETTINGS);
  for (let n = 0; n < 12; n++) await errand.send(workflow, { n, currency: 'EUR' });
  await errand.settled();
  const deployed = await errand.client.put(`/v1/workflows/${workflow.id}`, {
    steps: [{ namespace: workflow.steps[0].namespace, code: BAD }],
  });
  for (let n = 0; n < 5; n++) await errand.send(workflow, { n: n + 20, currency: null });
  await errand.errors(workflow.id, 5);
  return { workflow, group: await groupOf(errand, workflow), deployed };
}

test('a group says which field separates its errors, and what was deployed', async () => {
  const errand = await newOwner();
  const { workflow, group, deployed } = await failed(errand);
  const told = await differences(errand, group.id);
  deepEqual(told.looked_at, { failures: { count: 5, part: false }, successes: { count: 12, part: false } });
  const [field] = told.fields;
  equal(field.text, '`body.currency` is null in 5 of 5 failures, in 0 of 12 successes');
  deepEqual([field.path, field.type, field.failures, field.successes], ['body.currency', 'null', 5, 0]);
  deepEqual(told.last_good.deployment_id, workflow.deployment_id);
  deepEqual([told.first_bad.error_id, told.first_bad.deployment_id], [group.first_error_id, deployed.deployment_id]);
  const { data: run } = await errand.client.get(`/v1/runs/${told.last_good.run_id}`);
  equal(run.state, 'succeeded');
  ok(told.code[0].lines.includes('-  return currency;'));
  ok(told.code[0].lines.includes('+  return currency.toLowerCase();'));
  ok(told.shape.some((one: Json) => one.path === 'body.currency' && one.after[0] === 'null'));
});

test('what comes through later, or again, is not taken for a success', async () => {
  const errand = await newOwner();
  const { workflow, group } = await failed(errand);
  const before = await differences(errand, group.id);
  await errand.client.put(`/v1/workflows/${workflow.id}`, {
    steps: [{ namespace: workflow.steps[0].namespace, code: GOOD }],
  });
  await errand.client.post('/v1/replays', { group_id: group.id, canary: 0 });
  for (let n = 0; n < 9; n++) await errand.send(workflow, { n, currency: null });
  await errand.settled();
  deepEqual((await differences(errand, group.id)).fields, before.fields);
});

test('what comes through later with the same code is a success', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(BAD, SETTINGS);
  for (let n = 0; n < 5; n++) await errand.send(workflow, { n, currency: null });
  await errand.errors(workflow.id, 5);
  for (let n = 0; n < 7; n++) await errand.send(workflow, { n, currency: 'EUR' });
  await errand.settled();
  const told = await differences(errand, (await groupOf(errand, workflow)).id);
  deepEqual(told.looked_at.successes, { count: 7, part: false });
  equal(told.fields[0].text, '`body.currency` is null in 5 of 5 failures, in 0 of 7 successes');
});

test('a group without runs, or without successes, has nothing to compare', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default () => { throw new Error("no") }', SETTINGS);
  await errand.send(workflow, '"\\ud800"');
  await errand.errors(workflow.id, 1);
  const told = await differences(errand, (await groupOf(errand, workflow)).id);
  deepEqual([told.fields, told.last_good, told.code, told.shape], [[], null, null, null]);
  await using receiver = await startReceiver();
  receiver.answer(410);
  const emitter = await errand.workflow('export default ({ $ }) => $.send.emit({ n: 1 })');
  const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, {});
  await errand.errors(webhook.id, 1);
  const ofWebhook = await differences(errand, (await groupOf(errand, webhook)).id);
  deepEqual([ofWebhook.looked_at.successes.count, ofWebhook.fields], [0, []]);
});

test('another owner sees nothing of it', async () => {
  const [errand, stranger] = [await newOwner(), await newOwner()];
  const { group } = await failed(errand);
  for (const id of [group.id, 'eg_0000000000000000', "eg_' OR 1=1"]) {
    const path = `/v1/error_groups/${encodeURIComponent(id)}/differences`;
    assertProblem(await stranger.client.request('GET', path), 404);
  }
});

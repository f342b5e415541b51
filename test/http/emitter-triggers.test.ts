// Workflows that other emitters trigger: what a workflow emits, and what a source emits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startGate } from '../support/gate.ts';
import { type OwnerOn, sharedErrand } from '../support/owners.ts';

const newOwner = sharedErrand();

const ECHO = 'export default ({ steps }) => steps.trigger.event';
/** Emits `body.event` on `body.channel`. */
const EMITTING = `export default async ({ steps, $ }) => {
  const { event, channel } = steps.trigger.event.body;
  await $.send.emit(event, ...(channel === undefined ? [] : [channel]));
};`;

function hearing(errand: OwnerOn, trigger: Json, code = ECHO): Promise<Json> {
  return errand.workflow(code, { triggers: [trigger] });
}

async function eventsOf(errand: OwnerOn, workflow: Json, count: number): Promise<Json[]> {
  const runs = await errand.runs(workflow.id, count);
  const found = await Promise.all(runs.map((run) => errand.client.get(`/v1/runs/${run.id}`)));
  return found.map(({ data }) => data.event).reverse();
}

test('an emission triggers another workflow', async () => {
  const errand = await newOwner();
  const emitter = await errand.workflow(EMITTING);
  const listener = await hearing(errand, { type: 'emitter', emitter_id: emitter.id });
  assert.deepEqual(
    [listener.triggers.length, listener.triggers[0].type, listener.triggers[0].emitter_id],
    [1, 'emitter', emitter.id],
  );
  await errand.send(emitter, { event: { order: 7 } });
  assert.deepEqual(await eventsOf(errand, listener, 1), [{ order: 7 }]);
  const [run] = await errand.runs(listener.id, 1);
  assert.deepEqual([run.emitter_id, run.event_name], [emitter.id, '']);
});

test('a channel is heard by its name', async () => {
  const errand = await newOwner();
  const emitter = await errand.workflow(EMITTING);
  const listen = (event_name?: string) => hearing(errand, { type: 'emitter', emitter_id: emitter.id, event_name });
  const [plain, paid, every] = [await listen(), await listen('paid'), await listen('*')];
  await errand.send(emitter, { event: { n: 1 } });
  await errand.send(emitter, { event: { n: 2 }, channel: 'paid' });
  await errand.send(emitter, { event: { n: 3 }, channel: 'Paid' });
  assert.deepEqual(await eventsOf(errand, every, 3), [{ n: 1 }, { n: 2 }, { n: 3 }]);
  assert.deepEqual(await eventsOf(errand, plain, 1), [{ n: 1 }]);
  assert.deepEqual(await eventsOf(errand, paid, 1), [{ n: 2 }]);
});

test('a trigger may hear all of a kind', async () => {
  const errand = await newOwner();
  const all = await hearing(errand, { type: 'emitter', emitter_id: '*' });
  const workflows = await hearing(errand, { type: 'emitter', emitter_id: 'p_*', event_name: 'paid' });
  assert.deepEqual([all.triggers[0].emitter_id, workflows.triggers[0].emitter_id], ['*', 'p_*']);
  const later = await errand.workflow(EMITTING);
  await errand.send(later, { event: { n: 1 } });
  await errand.send(later, { event: { n: 2 }, channel: 'paid' });
  assert.deepEqual(await eventsOf(errand, workflows, 1), [{ n: 2 }]);
  assert.deepEqual(await eventsOf(errand, all, 1), [{ n: 1 }]);
});

test('a send waits for the end of its run', async () => {
  const errand = await newOwner();
  await using gate = await startGate();
  const code = `export default async ({ steps, $ }) => {
    await $.send.emit({ n: 1 });
    await (await fetch(process.env.GATE)).text();
  };`;
  const slow = await errand.workflow(code, { settings: { env: { GATE: gate.url } } });
  const quick = await errand.workflow(EMITTING);
  const triggers = [slow, quick].map((workflow) => ({ type: 'emitter', emitter_id: workflow.id }));
  const listener = await errand.workflow(ECHO, { triggers });
  await errand.send(slow, {});
  await gate.wait(1);
  await errand.send(quick, { event: { n: 2 } });
  assert.deepEqual(await eventsOf(errand, listener, 1), [{ n: 2 }]);
  gate.open();
  assert.deepEqual(await eventsOf(errand, listener, 2), [{ n: 2 }, { n: 1 }]);
});

test('emissions of a workflow are listed', async () => {
  const errand = await newOwner();
  const emitter = await errand.workflow(EMITTING);
  await errand.send(emitter, { event: { n: 1 } });
  await errand.runs(emitter.id, 1);
  const failing = await errand.workflow(`export default () => { throw new Error('no emission of its own') }`);
  await errand.send(failing, {});
  await errand.errors(failing.id, 1);
  const none = await errand.client.get(`/v1/workflows/${failing.id}/event_summaries`);
  assert.deepEqual(none.data, []);
  const { page_info, data } = await errand.client.get(`/v1/workflows/${emitter.id}/event_summaries?expand=event`);
  assert.deepEqual([page_info.total_count, page_info.count], [1, 1]);
  assert.deepEqual(data[0].event, { n: 1 });
  assert.deepEqual([data[0].metadata.emitter_id, data[0].metadata.name], [emitter.id, '']);
});

test('several emissions trigger one run each', async () => {
  const errand = await newOwner();
  const emitter = await errand.workflow(`export default async ({ $ }) => {
    for (const n of [1, 2, 3]) await $.send.emit({ n });
  };`);
  const listener = await hearing(errand, { type: 'emitter', emitter_id: emitter.id });
  await errand.send(emitter, {});
  const events = await eventsOf(errand, listener, 3);
  assert.deepEqual(
    events.map((event) => event.n),
    [1, 2, 3],
  );
});

test('an error downstream says WORKFLOW', async () => {
  const errand = await newOwner();
  const emitter = await errand.workflow(EMITTING);
  const listener = await hearing(
    errand,
    { type: 'emitter', emitter_id: emitter.id },
    `export default () => { throw new Error('downstream') }`,
  );
  await errand.send(emitter, { event: { n: 1 } });
  const [error] = await errand.errors(listener.id, 1);
  const { original_event: event, original_context: context } = error.event;
  assert.deepEqual(event, { n: 1 });
  assert.deepEqual([context.source_type, context.emitter_id], ['WORKFLOW', emitter.id]);
  const [run] = await errand.runs(emitter.id, 1);
  const { data: cause } = await errand.client.get(`/v1/runs/${run.id}`);
  const [heard] = await errand.runs(listener.id, 1);
  assert.deepEqual(
    cause.causes.map((receipt: Json) => [receipt.kind, receipt.id, receipt.listener_id, receipt.via, receipt.state]),
    [['run', heard.id, listener.id, 'trigger', 'failed']],
  );
  const { data: effect } = await errand.client.get(`/v1/runs/${heard.id}`);
  assert.equal(effect.caused_by.run_id, run.id);
});

test('a workflow may hear itself', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(`export default async ({ steps, $ }) => {
    const n = steps.trigger.event.body?.n ?? steps.trigger.event.n;
    if (n < 3) await $.send.emit({ n: n + 1 });
    return n;
  };`);
  await errand.client.put(`/v1/workflows/${workflow.id}`, {
    triggers: [{ type: 'http' }, { type: 'emitter', emitter_id: workflow.id }],
  });
  await errand.send(workflow, { n: 1 });
  assert.equal((await errand.runs(workflow.id, 3)).length, 3);
});

test('a source triggers a workflow', async () => {
  const errand = await newOwner();
  const source = await errand.client.post('/v1/sources', {
    name: 'Orders',
    component_code: `export default {
      props: { http: '$.interface.http' },
      run(event) { this.$emit(event.body, { summary: 'an order' }); },
    };`,
  });
  const listener = await hearing(errand, { type: 'source', source_id: source.id });
  assert.deepEqual([listener.triggers[0].type, listener.triggers[0].source_id], ['source', source.id]);
  const failing = await hearing(
    errand,
    { type: 'source', source_id: source.id },
    `export default () => { throw new Error('of a source') }`,
  );
  const answer = await fetch(source.endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"order":"7"}',
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(await eventsOf(errand, listener, 1), [{ order: '7' }]);
  const [error] = await errand.errors(failing.id, 1);
  const { source_type, emitter_id } = error.event.original_context;
  assert.deepEqual([source_type, emitter_id], ['SOURCE', source.id]);
});

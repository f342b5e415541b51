// Errors that cause errors: every circle ends by itself, and the receipts say where and why.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createWebhook } from '../../support/webhooks.ts';

const newErrand = shareErrand();

const THROW = `export default ({ steps }) => { throw new Error('always'); };`;
const MAX_HOPS = 16;

async function receiptsOf(errand: Errand, workflowId: string, recordId: string): Promise<Json[]> {
  const path = `/v1/workflows/${workflowId}/$errors/event_summaries/${recordId}`;
  return (await errand.client.get(path)).data.receipts;
}

const listed = async (errand: Errand, id: string): Promise<Json[]> =>
  (await errand.client.get(`/v1/workflows/${id}/$errors/event_summaries`)).data;

test('two workflows hearing each other end', async () => {
  await using errand = await newErrand();
  const [a, b] = [await errand.workflow(THROW, { name: 'a' }), await errand.workflow(THROW, { name: 'b' })];
  await errand.subscribe(a.id, b.id, '$errors');
  await errand.subscribe(b.id, a.id, '$errors');
  await errand.send(a, { n: 1 });
  await errand.errors(b.id, 1);
  await errand.settled();
  const [ofA, ofB] = [await listed(errand, a.id), await listed(errand, b.id)];
  assert.equal(ofA.length, 1, 'a failed once, by the event');
  assert.equal(ofB.length, 1, 'b failed once, by the error of a');
  const told = await receiptsOf(errand, a.id, ofA[0].id);
  const run = told.find((r) => r.listener_id === b.id);
  assert.equal(run.kind, 'run');
  assert.equal(run.state, 'failed');
  assert.equal(run.via, 'subscription');
  const withheld = (await receiptsOf(errand, b.id, ofB[0].id)).find((r) => r.listener_id === a.id);
  assert.equal(withheld.kind, 'withheld');
  assert.ok(withheld.reason.length > 5, withheld.reason);
});

test('a circle of three ends as well', async () => {
  await using errand = await newErrand();
  const circle: Json[] = [];
  for (const name of ['a', 'b', 'c']) circle.push(await errand.workflow(THROW, { name }));
  for (const [n, workflow] of circle.entries()) await errand.subscribe(workflow.id, circle[(n + 1) % 3].id, '$errors');
  for (const workflow of circle) await errand.send(workflow, {});
  for (const workflow of circle) await errand.errors(workflow.id, 3);
  await errand.settled();
  for (const workflow of circle) assert.equal((await listed(errand, workflow.id)).length, 3);
});

test('a chain of twenty stops after sixteen hops', async () => {
  await using errand = await newErrand();
  const chain: Json[] = [];
  for (let n = 0; n < 20; n += 1) chain.push(await errand.workflow(THROW, { name: `link ${n}` }));
  for (const [n, workflow] of chain.slice(1).entries()) await errand.subscribe(chain[n].id, workflow.id, '$errors');
  await errand.send(chain[0], { n: 1 });
  await errand.errors(chain[10].id, 1);
  await errand.settled();
  const counts = await Promise.all(chain.map(async (link) => (await listed(errand, link.id)).length));
  const failed = counts.filter((count) => count === 1).length;
  assert.deepEqual(counts, [...Array(failed).fill(1), ...Array(20 - failed).fill(0)]);
  assert.equal(failed, MAX_HOPS + 1, 'the first error and 16 hops');
  const [last] = await listed(errand, chain[failed - 1].id);
  const withheld = (await receiptsOf(errand, chain[failed - 1].id, last.id)).find(
    (r) => r.listener_id === chain[failed].id,
  );
  assert.equal(withheld.kind, 'withheld');
  assert.match(withheld.reason, /16|hop/);
});

test('every error of a chain is told globally', async () => {
  await using errand = await startErrand();
  const me = (await errand.client.get('/v1/users/me')).data;
  const [a, b] = [await errand.workflow(THROW), await errand.workflow(THROW)];
  await errand.subscribe(a.id, b.id, '$errors');
  await errand.send(a, {});
  const runs = await errand.runs(me.global_error_workflow_id, 2);
  assert.equal(runs.length, 2);
  for (const workflow of [a, b]) {
    const [record] = await listed(errand, workflow.id);
    const receipts = await receiptsOf(errand, workflow.id, record.id);
    const globally = receipts.find((r) => r.via === 'global');
    assert.equal(globally.kind, 'run');
    assert.equal(globally.listener_id, me.global_error_workflow_id);
    assert.equal(globally.state, 'succeeded');
  }
});

test('an error behind many emissions is told globally', async () => {
  await using errand = await newErrand();
  const me = (await errand.client.get('/v1/users/me')).data;
  const pages = await errand.workflow(`export default ({ steps, $ }) => {
    const { page } = steps.trigger.event.body ?? steps.trigger.event;
    if (page === 20) throw new Error('page 20');
    $.send.emit({ page: page + 1 });
  };`);
  await errand.subscribe(pages.id, pages.id);
  await errand.send(pages, { page: 1 });
  const [record] = await errand.errors(pages.id, 1);
  await errand.settled();
  const globally = (await receiptsOf(errand, pages.id, record.id)).find((r) => r.via === 'global');
  assert.deepEqual([globally.kind, globally.state, globally.reason], ['run', 'succeeded', undefined]);
  assert.equal((await errand.runs(me.global_error_workflow_id, 1)).length, 1);
});

test('one trace runs through a chain', async () => {
  await using errand = await newErrand();
  const [a, b] = [await errand.workflow(THROW), await errand.workflow(THROW)];
  await errand.subscribe(a.id, b.id, '$errors');
  await errand.send(a, { first: true });
  const [[first], [second]] = [await errand.errors(a.id, 1), await errand.errors(b.id, 1)];
  assert.equal(second.event.original_context.source_type, 'ERROR');
  assert.equal(second.event.original_context.trace_id, first.event.original_context.trace_id);
  const { error, original_event, original_context } = second.event.original_event;
  assert.deepEqual(error, first.event.error, 'the listener got the flat object');
  assert.deepEqual(original_event, first.event.original_event);
  assert.deepEqual(original_context, first.event.original_context);
});

test('a failing global workflow never hears itself', async () => {
  await using errand = await startErrand();
  const failing = await errand.workflow(THROW, { name: 'my global workflow' });
  const me = await errand.client.put('/v1/users/me', { global_error_workflow_id: failing.id });
  assert.equal(me.global_error_workflow_id, failing.id);
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, {});
  const [record] = await errand.errors(failing.id, 1);
  await errand.settled();
  assert.equal((await listed(errand, failing.id)).length, 1, 'listed, and never sent to itself');
  assert.equal((await errand.runs(failing.id, 1)).length, 1);
  const receipts = await receiptsOf(errand, failing.id, record.id);
  assert.ok(receipts.every((r) => r.kind === 'withheld' || r.listener_id !== failing.id));
});

test('wildcards bring no workflow its own errors', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(THROW);
  for (const emitter of ['*', 'p_*']) await errand.subscribe(emitter, workflow.id, '$errors');
  const webhook = await createWebhook(errand, receiver);
  await errand.subscribe(workflow.id, webhook.id, '$errors');
  await errand.send(workflow, {});
  await receiver.wait(1);
  await errand.settled();
  assert.equal((await listed(errand, workflow.id)).length, 1);
});

test('a wildcard listener does not hear itself forever', async () => {
  await using errand = await newErrand();
  const echo = `export default ({ steps, $ }) => {
    const n = steps.trigger.event.body?.n ?? steps.trigger.event.n;
    $.send.emit({ n: n + 1 });
  };`;
  for (const [emitter, name] of [
    ['*', undefined],
    ['p_*', '*'],
  ] as const) {
    const workflow = await errand.workflow(echo);
    const [subscription] = await errand.subscribe(emitter, workflow.id, name);
    await errand.send(workflow, { n: 0 });
    await errand.runs(workflow.id, 1);
    const { runs } = await errand.settled();
    assert.ok(runs.total < 100, `${runs.total} runs`);
    await errand.client.delete(`/v1/subscriptions/${subscription.id}`);
  }
});

test('two wildcard listeners echo to an end', async () => {
  await using errand = await newErrand();
  const echo = `export default ({ steps, $ }) => { $.send.emit({ of: steps.trigger.context.workflow_id }); };`;
  const [a, b] = [await errand.workflow(echo), await errand.workflow(echo)];
  await errand.subscribe('p_*', a.id);
  await errand.subscribe('p_*', b.id);
  await errand.send(a, {});
  await errand.runs(b.id, 1);
  const { runs } = await errand.settled();
  assert.ok(runs.total < 200, `${runs.total} runs`);
});

test('failing webhooks hearing each other end', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer(410);
  const workflow = await errand.workflow(THROW);
  const [a, b] = [await createWebhook(errand, receiver), await createWebhook(errand, receiver)];
  await errand.subscribe(workflow.id, a.id, '$errors');
  await errand.subscribe(a.id, b.id, '$errors');
  await errand.subscribe(b.id, a.id, '$errors');
  await errand.send(workflow, {});
  await errand.errors(b.id, 1);
  await errand.settled();
  assert.equal((await errand.errors(a.id, 1)).length, 1);
  assert.equal((await errand.errors(b.id, 1)).length, 1);
});

const LINEAGE_HEADER = 'errand-lineage';

test('a webhook at an endpoint of its own emitter brings it one error', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(THROW);
  const webhook = await createWebhook(errand, { url: workflow.triggers[0].endpoint_url });
  await errand.subscribe(workflow.id, webhook.id, '$errors');
  await errand.send(workflow, { n: 1 });
  const [last] = (await errand.errors(workflow.id, 2)) as [Json];
  await errand.settled();
  assert.equal((await listed(errand, workflow.id)).length, 2, 'by the event, and by the webhook');
  const withheld = (await receiptsOf(errand, workflow.id, last.id)).find((r) => r.listener_id === webhook.id);
  assert.match(withheld.reason, /^loop: /);
  assert.ok(!(LINEAGE_HEADER in last.event.original_event.headers));
});

test('a handler of errors that calls what failed is not called again', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(THROW);
  const url = JSON.stringify(workflow.triggers[0].endpoint_url);
  const handler = await errand.workflow(`export default ({ $ }) => $.send.http({ method: 'POST', url: ${url} });`);
  await errand.subscribe(workflow.id, handler.id, '$errors');
  await errand.send(workflow, { n: 1 });
  await errand.errors(workflow.id, 2);
  await errand.settled();
  assert.equal((await listed(errand, workflow.id)).length, 2, 'by the event, and by the handler');
  assert.equal((await errand.runs(handler.id, 1)).length, 1);
  // What another caller says of the lineage counts for nothing, and is not in the event.
  const headers = { [LINEAGE_HEADER]: `${handler.id}.AAAAAAAAAAAAAAAAAAAAAAAA` };
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers });
  const [last] = (await errand.errors(workflow.id, 4)) as [Json];
  await errand.settled();
  assert.equal((await errand.runs(handler.id, 2)).length, 2);
  assert.ok(!(LINEAGE_HEADER in last.event.original_event.headers));
});

test('a handler that reports an error elsewhere in Errand is not told of that', async () => {
  await using errand = await newErrand();
  const failing = await errand.workflow(THROW);
  const reported = await errand.workflow(THROW, { triggers: [{ type: 'errors' }] });
  const request = JSON.stringify({
    method: 'POST',
    url: reported.triggers[0].endpoint_url,
    data: { message: 'failed' },
  });
  const handler = await errand.workflow(`export default ({ $ }) => $.send.http(${request});`);
  for (const { id } of [failing, reported]) await errand.subscribe(id, handler.id, '$errors');
  await errand.send(failing, {});
  await errand.errors(reported.id, 1);
  await errand.settled();
  assert.equal((await listed(errand, reported.id)).length, 1);
  assert.equal((await errand.runs(handler.id, 1)).length, 1);
});

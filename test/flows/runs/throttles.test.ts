// Throttled workflows: what may not begin yet waits in the queue, and nothing is lost.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { until } from '../../support/wait.ts';
import { expectLedger, pass, stepped } from '../../support/waits.ts';

const HOUR_MS = 3_600_000;
const QUICK = 'export default ({ steps }) => steps.trigger.event.body.n';

const throttled = (errand: Errand, limit: number, interval_ms = HOUR_MS): Promise<Json> =>
  errand.workflow(QUICK, { settings: { throttle: { limit, interval_ms } } });

async function countOf(errand: Errand, workflow: Json, state: string): Promise<number> {
  return (await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=${state}`)).data.length;
}

test('no more begin in an interval than allowed', async () => {
  await using errand = await startErrand();
  const workflow = await throttled(errand, 2);
  for (let n = 1; n <= 5; n++) await errand.send(workflow, { n });
  await errand.runs(workflow.id, 2);
  const other = await errand.workflow(QUICK);
  await errand.send(other, { n: 1 });
  await errand.runs(other.id, 1);
  assert.equal(await countOf(errand, workflow, 'queued'), 3);
  await pass(errand, HOUR_MS);
  await errand.runs(workflow.id, 4);
  assert.equal(await countOf(errand, workflow, 'queued'), 1);
  await expectLedger(errand, { queued: 1, succeeded: 5 });
  await pass(errand, HOUR_MS);
  const runs = await errand.runs(workflow.id, 5);
  const values = await Promise.all(
    runs.map(async ({ id }) => (await errand.client.get(`/v1/runs/${id}`)).data.event.body.n),
  );
  assert.deepEqual(values, [5, 4, 3, 2, 1]);
});

test('a short interval goes by itself', async () => {
  await using errand = await startErrand();
  const workflow = await throttled(errand, 1, 150);
  for (let n = 1; n <= 4; n++) await errand.send(workflow, { n });
  const runs = await errand.runs(workflow.id, 4);
  const starts = runs.map((run) => run.started_at_ms).reverse();
  for (const [i, start] of starts.entries()) {
    if (i > 0) assert.ok(start - starts[i - 1] >= 150, `${start - starts[i - 1]} ms between two`);
  }
});

test('what its queue has no room for is RateLimited', async () => {
  await using errand = await startErrand();
  const settings = { throttle: { limit: 1, interval_ms: HOUR_MS }, queue_limit: 1, retry: { attempts: 3 } };
  const triggers = [{ type: 'http', custom_response: true }];
  const workflow = await errand.workflow(QUICK, { settings, triggers });
  const send = (n: number): Promise<Response> =>
    fetch(workflow.triggers[0].endpoint_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ n }),
    });
  await send(1);
  const second = send(2);
  await until('the second waits', async () => (await countOf(errand, workflow, 'queued')) === 1);
  const refused = await send(3);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  const [record] = await errand.errors(workflow.id, 1);
  assert.equal(record.event.error.code, 'RateLimited');
  assert.match(record.event.error.msg, /settings\.throttle.*1 run waits already/);
  assert.equal(record.event.original_event.body.n, 3);
  await pass(errand, HOUR_MS);
  await second;
  await pass(errand, HOUR_MS);
  const path = `/v1/workflows/${workflow.id}/$errors/${record.id}/replay`;
  assert.equal((await errand.client.request('POST', path)).status, 200);
  await errand.runs(workflow.id, 4);
  assert.equal((await errand.errors(workflow.id, 1)).length, 1);
});

test('a throttle holds over a restart', async () => {
  await using errand = await startErrand();
  const workflow = await throttled(errand, 2);
  for (let n = 1; n <= 3; n++) await errand.send(workflow, { n });
  await errand.runs(workflow.id, 2);
  await errand.restart();
  const other = await errand.workflow(QUICK);
  await errand.send(other, { n: 1 });
  await errand.runs(other.id, 1);
  assert.equal(await countOf(errand, workflow, 'queued'), 1);
  await pass(errand, HOUR_MS);
  await errand.runs(workflow.id, 3);
});

test('a throttle can be taken off', async () => {
  await using errand = await startErrand();
  const workflow = await throttled(errand, 1);
  assert.deepEqual(workflow.settings.throttle, { limit: 1, interval_ms: HOUR_MS });
  for (let n = 1; n <= 3; n++) await errand.send(workflow, { n });
  await errand.runs(workflow.id, 1);
  const changed = await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { throttle: null } });
  assert.equal(changed.settings.throttle, null);
  await errand.runs(workflow.id, 3);
});

test('what goes on counts as a start, too', async () => {
  await using errand = await startErrand();
  const steps = { wait: `$.flow.delay(5);`, end: `return 1;` };
  const workflow = await stepped(errand, steps, { settings: { throttle: { limit: 1, interval_ms: HOUR_MS } } });
  await errand.send(workflow, {});
  await until('the run is queued again', async () => (await countOf(errand, workflow, 'queued')) === 1);
  await pass(errand, HOUR_MS);
  await errand.runs(workflow.id, 1);
});

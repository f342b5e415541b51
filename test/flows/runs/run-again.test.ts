// Failed runs that are tried again by hand: from the step that failed, with what the steps before it gave.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { expectLedger, onlyRun, overRun, pass, stepped, urlsOf, waitingRun } from '../../support/waits.ts';

const newErrand = shareErrand();

const FIRST = `console.log('first'); $.export('a"b', { x: [1] }); return { big: 1.5, text: 'é' };`;
const FIXED = `return { first: steps.first, context: $.context, raw: steps.trigger.raw };`;
const BODY = '{"n":1.0, "n":2,"text":"é"}';

interface Failed {
  readonly workflow: Json;
  readonly run: Json;
}

async function failed(errand: Errand, steps: Record<string, string> = {}): Promise<Failed> {
  const workflow = await stepped(errand, { first: FIRST, second: `throw new Error('no');`, ...steps });
  await errand.send(workflow, BODY);
  return { workflow, run: await onlyRun(errand, workflow) };
}

/** Gives the workflow other steps. */
function change(errand: Errand, workflow: Json, steps: Record<string, string>): Promise<Json> {
  const list = Object.entries(steps).map(([namespace, body]) => ({
    namespace,
    code: `export default async ({ steps, $ }) => { ${body} };`,
  }));
  return errand.client.put(`/v1/workflows/${workflow.id}`, { steps: list });
}

const retry = (errand: Errand, run: Json) => errand.client.request('POST', `/v1/runs/${run.id}/retry`);

test('a failed run goes on from its failed step', async () => {
  await using errand = await newErrand();
  const { workflow, run } = await failed(errand);
  const changed = await change(errand, workflow, { first: FIRST, second: FIXED });
  const answer = await retry(errand, run);
  assert.equal(answer.status, 200, answer.text);
  const over = await overRun(errand, answer.json.data.run_id);
  assert.deepEqual(
    [over.state, over.attempt, over.replay, over.deployment_id, over.emission_id],
    ['succeeded', 2, true, changed.deployment_id, answer.json.data.emit_id],
  );
  assert.deepEqual(over.logs, [], 'the first step was not executed again');
  const [first, second] = over.steps;
  assert.deepEqual(
    [first.id, first.exports, first.return_value],
    [run.steps[0].id, { 'a"b': { x: [1] } }, { big: 1.5, text: 'é' }],
  );
  const seen = second.return_value;
  assert.deepEqual(seen.first, { 'a"b': { x: [1] }, $return_value: { big: 1.5, text: 'é' } });
  assert.ok(seen.raw.includes(BODY), 'the event is the same, byte for byte');
  const { trace_id, replay, attempt, emitter_id, source_type } = seen.context;
  assert.deepEqual(
    [trace_id, replay, attempt, emitter_id, source_type],
    [run.emission_id, true, 2, workflow.triggers[0].id, 'HTTP'],
  );
  assert.equal((await errand.client.get(`/v1/runs/${run.id}`)).data.state, 'failed');
  await errand.settled();
  await expectLedger(errand, { succeeded: 2, failed: 1, waiting: 0 }, 1);
});

test('cause and effect are shown on both sides', async () => {
  await using errand = await newErrand();
  const { workflow, run } = await failed(errand);
  await change(errand, workflow, { first: FIRST, second: FIXED });
  const { run_id: id } = (await retry(errand, run)).json.data;
  const over = await overRun(errand, id);
  assert.equal(over.caused_by.run_id, run.id);
  const { data: before } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.ok(before.causes.some((receipt: Json) => receipt.id === id && receipt.state === 'succeeded'));
});

test('a retry may fail, and be retried', async () => {
  await using errand = await newErrand();
  const { workflow, run } = await failed(errand);
  const second = (await retry(errand, run)).json.data.run_id;
  const again = await overRun(errand, second);
  assert.deepEqual([again.state, again.attempt, again.steps.length, again.error.msg], ['failed', 2, 2, 'no']);
  assert.equal((await errand.errors(workflow.id, 2)).length, 2);
  await change(errand, workflow, { first: FIRST, second: FIXED, third: `return 3;` });
  const third = await overRun(errand, (await retry(errand, again)).json.data.run_id);
  assert.deepEqual([third.state, third.attempt, third.steps.length], ['succeeded', 3, 3]);
});

test('a run is tried again once, unless asked for again', async () => {
  await using errand = await newErrand();
  const { workflow, run } = await failed(errand);
  await change(errand, workflow, { first: FIRST, second: FIXED });
  const { run_id: id } = (await retry(errand, run)).json.data;
  await overRun(errand, id);
  const refused = await retry(errand, run);
  assert.equal(refused.status, 409);
  for (const word of [run.id, id, 'succeeded', '"again": true']) assert.ok(refused.json.detail.includes(word), word);
  const path = `/v1/runs/${run.id}/retry`;
  assert.equal((await errand.client.request('POST', path, { again: 'perhaps' })).status, 400);
  assert.equal((await errand.client.request('POST', path, { again: false })).status, 409);
  const again = await errand.client.request('POST', path, { again: true });
  assert.equal((await overRun(errand, again.json.data.run_id)).state, 'succeeded');
  await errand.settled();
  await expectLedger(errand, { succeeded: 3, failed: 1, waiting: 0 }, 1);
});

test('of retries at the same moment one is made', async () => {
  await using errand = await newErrand();
  const { workflow, run } = await failed(errand);
  await change(errand, workflow, { first: FIRST, second: FIXED });
  const answers = await Promise.all(Array.from({ length: 6 }, () => retry(errand, run)));
  const made = answers.filter(({ status }) => status === 200);
  assert.deepEqual([made.length, answers.filter(({ status }) => status === 409).length], [1, 5]);
  const id = made[0]?.json.data.run_id;
  for (const { status, json } of answers) assert.ok(status === 200 || json.detail.includes(id));
  assert.equal((await overRun(errand, id)).state, 'succeeded');
  await errand.settled();
  await expectLedger(errand, { succeeded: 2, failed: 1, waiting: 0 }, 1);
});

test('a replay of its error counts as a try, and one that was cancelled does not', async () => {
  await using errand = await newErrand();
  const { workflow, run } = await failed(errand);
  await change(errand, workflow, { first: `return $.flow.delay(3600000);`, second: FIXED });
  const [error] = await errand.errors(workflow.id, 1);
  const replay = await errand.client.post(`/v1/workflows/${workflow.id}/$errors/${error?.id}/replay`);
  const refused = await retry(errand, run);
  assert.deepEqual([refused.status, refused.json.detail.includes(replay.run_id)], [409, true]);
  await errand.client.post(`/v1/runs/${replay.run_id}/cancel`);
  await until('it to be cancelled', async () => {
    return (await errand.client.get(`/v1/runs/${replay.run_id}`)).data.state === 'cancelled';
  });
  assert.equal((await retry(errand, run)).status, 200);
});

test('only failed runs are tried again', async () => {
  await using errand = await newErrand();
  const fine = await errand.workflow('export default () => 1');
  await errand.send(fine, {});
  const [run] = await errand.runs(fine.id, 1);
  const answer = await retry(errand, run);
  assert.equal(answer.status, 409);
  assert.match(answer.json.detail, /"succeeded"/);
  for (const id of ['r_zzzzzzzzzz', 'nothing']) assert.equal((await retry(errand, { id })).status, 404);
});

test('other steps before the failed one are refused', async () => {
  await using errand = await newErrand();
  const { workflow, run } = await failed(errand);
  const others: Record<string, string>[] = [
    { other: FIRST, second: FIXED },
    { second: FIXED, first: FIRST },
    { first: FIRST },
  ];
  for (const steps of others) {
    await change(errand, workflow, steps);
    const answer = await retry(errand, run);
    assert.equal(answer.status, 422, JSON.stringify(Object.keys(steps)));
    assert.match(answer.json.detail, /first/);
  }
  await change(errand, workflow, { first: FIRST, renamed: FIXED });
  assert.equal((await overRun(errand, (await retry(errand, run)).json.data.run_id)).state, 'succeeded');
});

test('a deleted workflow is not tried again', async () => {
  await using errand = await newErrand();
  const { workflow, run } = await failed(errand);
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  assert.equal((await retry(errand, run)).status, 404);
});

test('another owner cannot try it again', async () => {
  await using errand = await startErrand();
  const { run } = await failed(errand);
  const second = await createOwner(errand);
  assert.equal((await second.client.request('POST', `/v1/runs/${run.id}/retry`)).status, 404);
});

test('a run that fails behind a wait keeps its data', async () => {
  await using errand = await startErrand();
  const steps = { first: `$.export('urls', $.flow.suspend());`, second: `throw new Error('no');` };
  const workflow = await stepped(errand, steps);
  await errand.send(workflow, {});
  const waiting = await waitingRun(errand, workflow);
  await fetch(urlsOf(waiting, 'first').resume_url, { method: 'POST', body: 'yes' });
  const run = await overRun(errand, waiting.id);
  assert.equal(run.state, 'failed');
  await change(errand, workflow, {
    ...steps,
    second: `return steps.first.$resume_data;`,
    third: `$.flow.delay(3_600_000);`,
    last: `return 'end';`,
  });
  const { run_id: id } = (await retry(errand, run)).json.data;
  await waitingRun(errand, workflow, 'delay');
  await errand.restart();
  await pass(errand, 3_600_000);
  const over = await overRun(errand, id);
  assert.deepEqual(
    [over.state, over.steps[0].resume_data, over.steps[1].return_value, over.steps.length],
    ['succeeded', 'yes', 'yes', 4],
  );
});

test('a run without room is tried from its start', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(`export default () => 1`, {
    settings: { concurrency: 1, queue_limit: 1, throttle: { limit: 1, interval_ms: 60_000 } },
  });
  for (let n = 0; n < 3; n++) await errand.send(workflow, { n });
  const [record] = await errand.errors(workflow.id, 1);
  assert.equal(record?.event.error.code, 'RateLimited');
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=failed`);
  await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { throttle: null } });
  await errand.runs(workflow.id, 3);
  const over = await overRun(errand, (await retry(errand, data[0])).json.data.run_id);
  assert.deepEqual([over.state, over.attempt], ['succeeded', 2]);
});

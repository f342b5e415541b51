// Replaying an error: the original event again, byte for byte, against the deployment that is active now.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, ECHO_SOURCE, post } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';

const newErrand = shareErrand();

const BROKEN = `export default () => { throw new Error('not fixed yet'); };`;
const FIXED = `export default ({ steps, $ }) => ({ raw: steps.trigger.raw, event: steps.trigger.event, context: $.context });`;
const HARD_BODY = '{ "n":12345678901234567890, "n":1,"__proto__":{"x":1e400}, "s":"\\ud800\\u0000" }';

const deploy = (errand: Errand, id: string, code: string): Promise<Json> =>
  errand.client.put(`/v1/workflows/${id}`, { steps: [{ namespace: 'step', code }] });

const replay = (errand: Errand, id: string, recordId: string, body?: unknown): Promise<Json> =>
  errand.client.post(`/v1/workflows/${id}/$errors/${recordId}/replay`, body);

/** Waits until a run is over; returns it whole, with the text of the answer. */
function over(errand: Errand, runId: string): Promise<{ run: Json; text: string }> {
  return until(`the end of ${runId}`, async () => {
    const answer = await errand.client.request('GET', `/v1/runs/${runId}`);
    assert.equal(answer.status, 200, answer.text);
    const { data } = answer.json;
    return ['succeeded', 'failed', 'cancelled'].includes(data.state) && { run: data, text: answer.text };
  });
}

test('replay runs the original event, fixed', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(BROKEN);
  await errand.send(workflow, HARD_BODY);
  const [record] = await errand.errors(workflow.id, 1);
  const listed = await errand.client.request(
    'GET',
    `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`,
  );
  const deployed = await deploy(errand, workflow.id, FIXED);
  assert.notEqual(deployed.deployment_id, workflow.deployment_id);
  const started = await replay(errand, workflow.id, record.id);
  const { run, text } = await over(errand, started.run_id);
  assert.equal(run.state, 'succeeded');
  assert.equal(run.deployment_id, deployed.deployment_id, 'the active deployment');
  assert.equal(run.replay, true);
  const { raw } = run.steps[0].return_value;
  assert.ok(raw.includes(`"body":${HARD_BODY}`), raw);
  assert.ok(listed.text.includes(`"original_event":${raw}`), 'the bytes of the listing');
  assert.ok(text.includes(`"event":${raw}`), 'and of the run');
});

test('a replay keeps the trace under new ids', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(BROKEN);
  await errand.send(workflow, { n: 1 });
  const [record] = await errand.errors(workflow.id, 1);
  const before = record.event.original_context;
  assert.equal(before.replay, false);
  await deploy(errand, workflow.id, FIXED);
  errand.forward(60_000);
  const started = await replay(errand, workflow.id, record.id);
  const { run } = await over(errand, started.run_id);
  const { context } = run.steps[0].return_value;
  assert.notEqual(context.id, before.id);
  assert.equal(context.id, started.emit_id);
  assert.ok(Date.parse(context.ts) >= Date.parse(before.ts) + 60_000);
  assert.equal(context.trace_id, before.trace_id);
  assert.equal(context.replay, true);
  assert.equal(context.workflow_id, workflow.id);
});

test('a replay that fails is an error again', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(BROKEN);
  await errand.send(workflow, HARD_BODY);
  const [first] = await errand.errors(workflow.id, 1);
  await replay(errand, workflow.id, first.id);
  const [second] = await errand.errors(workflow.id, 2);
  assert.notEqual(second.id, first.id);
  assert.equal(second.event.original_context.replay, true);
  assert.equal(second.event.original_context.trace_id, first.event.original_context.trace_id);
  await errand.settled();
  await deploy(errand, workflow.id, FIXED);
  const started = await replay(errand, workflow.id, second.id);
  const { run } = await over(errand, started.run_id);
  const { raw, context } = run.steps[0].return_value;
  assert.ok(raw.includes(`"body":${HARD_BODY}`), 'a replay of a replay has the first bytes');
  assert.equal(context.trace_id, first.event.original_context.trace_id);
  assert.equal(context.replay, true);
  assert.equal((await errand.errors(workflow.id, 2)).length, 2);
});

test('one error can be replayed many times', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(BROKEN);
  await errand.send(workflow, { n: 1 });
  const [record] = await errand.errors(workflow.id, 1);
  await deploy(errand, workflow.id, FIXED);
  const started = [await replay(errand, workflow.id, record.id), await replay(errand, workflow.id, record.id)];
  assert.notEqual(started[0].run_id, started[1].run_id);
  assert.notEqual(started[0].emit_id, started[1].emit_id);
  for (const { run_id } of started) assert.equal((await over(errand, run_id)).run.state, 'succeeded');
});

test('an edited event replays as sent', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(BROKEN);
  await errand.send(workflow, { n: 1 });
  const [record] = await errand.errors(workflow.id, 1);
  await deploy(errand, workflow.id, FIXED);
  const edited = '{"method": "EDITED",  "big":12345678901234567890}';
  const started = await replay(errand, workflow.id, record.id, `{"event": ${edited}}`);
  const { run } = await over(errand, started.run_id);
  const { raw, context } = run.steps[0].return_value;
  assert.equal(run.caused_by.summary, `replay of ${record.id}, edited`);
  assert.equal(raw, edited);
  assert.equal(context.replay, true);
  assert.equal(context.trace_id, record.event.original_context.trace_id);
  const [kept] = await errand.errors(workflow.id, 1);
  assert.deepEqual(kept.event.original_event, record.event.original_event, 'the record keeps the original');
});

test('only runs of the replayed workflow start', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  const trigger = { triggers: [{ type: 'source', source_id: source.id }] };
  const failing = await errand.workflow(BROKEN, trigger);
  const other = await errand.workflow(FIXED, trigger);
  await post(source, { n: 1 });
  await errand.runs(other.id, 1);
  const [record] = await errand.errors(failing.id, 1);
  assert.equal(record.event.original_context.source_type, 'SOURCE');
  await deploy(errand, failing.id, FIXED);
  const started = await replay(errand, failing.id, record.id);
  const { run } = await over(errand, started.run_id);
  assert.deepEqual(run.steps[0].return_value.event, { n: 1 });
  assert.equal(run.steps[0].return_value.context.source_type, 'SOURCE');
  await errand.settled();
  assert.equal((await errand.runs(other.id, 1)).length, 1);
});

test('unknown records and workflows are 404', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(BROKEN);
  const other = await errand.workflow(BROKEN);
  await errand.send(workflow, {});
  const [record] = await errand.errors(workflow.id, 1);
  const paths = [
    `/v1/workflows/${workflow.id}/$errors/1-0/replay`,
    `/v1/workflows/${other.id}/$errors/${record.id}/replay`,
    `/v1/workflows/p_nothing/$errors/${record.id}/replay`,
  ];
  for (const path of paths) {
    const answer = await errand.client.request('POST', path);
    assert.equal(answer.status, 404, `${path}: ${answer.status} ${answer.text}`);
    assert.ok(answer.json.error.length > 5);
  }
  const escaped = `/v1/workflows/${workflow.id}/%24errors/${record.id}/replay`;
  assert.equal((await errand.client.request('POST', escaped)).status, 200);
});

test('an error of a rolled back deployment replays', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FIXED);
  const broken = await deploy(errand, workflow.id, BROKEN);
  await errand.send(broken, HARD_BODY);
  const [record] = await errand.errors(workflow.id, 1);
  assert.equal(record.event.original_context.deployment_id, broken.deployment_id);
  const path = `/v1/workflows/${workflow.id}/deployments/${workflow.deployment_id}/activate`;
  const back = await errand.client.post(path);
  assert.equal(back.deployment_id, workflow.deployment_id);
  const started = await replay(errand, workflow.id, record.id);
  const { run } = await over(errand, started.run_id);
  assert.equal(run.state, 'succeeded');
  assert.equal(run.deployment_id, workflow.deployment_id);
  assert.ok(run.steps[0].return_value.raw.includes(`"body":${HARD_BODY}`));
});

test('a forwarded error replays in its listener', async () => {
  await using errand = await newErrand();
  const failing = await errand.workflow(BROKEN, { name: 'first' });
  const listener = await errand.workflow(BROKEN, { name: 'listener' });
  await errand.subscribe(failing.id, listener.id, '$errors');
  await errand.send(failing, HARD_BODY);
  const [record] = await errand.errors(listener.id, 1);
  await deploy(errand, listener.id, FIXED);
  const started = await replay(errand, listener.id, record.id);
  const { run } = await over(errand, started.run_id);
  const { event, raw } = run.steps[0].return_value;
  assert.equal(event.error.msg, 'not fixed yet');
  assert.equal(event.original_context.workflow_id, failing.id);
  assert.ok(raw.includes(`"body":${HARD_BODY}`));
});

test('replay outlasts a restart of the service', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(BROKEN);
  await errand.send(workflow, HARD_BODY);
  const [record] = await errand.errors(workflow.id, 1);
  await deploy(errand, workflow.id, FIXED);
  await errand.restart();
  const started = await replay(errand, workflow.id, record.id);
  const { run } = await over(errand, started.run_id);
  assert.ok(run.steps[0].return_value.raw.includes(`"body":${HARD_BODY}`));
});

test('a deleted workflow replays nothing', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(BROKEN);
  await errand.send(workflow, {});
  const [record] = await errand.errors(workflow.id, 1);
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  const answer = await errand.client.request('POST', `/v1/workflows/${workflow.id}/$errors/${record.id}/replay`);
  assert.equal(answer.status, 404);
});

test('an error of a source is replayed, one of a hook is not', async () => {
  await using errand = await startErrand();
  const coded = (run: string): string =>
    `export default { props: { http: '$.interface.http' }, hooks: { deactivate() { throw new Error('no') } }, ${run} };`;
  const source = await createSource(errand, coded(`run() { throw new Error('not yet') }`));
  await post(source, { n: 1 });
  const [record] = await errand.errors(source.id, 1);
  const paused = { component_code: coded('run(event, $) { this.$emit([event.body, $.context]) }') };
  assert.equal((await errand.client.request('PUT', `/v1/sources/${source.id}`, paused)).status, 422);
  const [ofHook] = await errand.errors(source.id, 2);
  const at = (id: string): string => `/v1/sources/${source.id}/$errors/${id}/replay`;
  const refused = await errand.client.request('POST', at(ofHook?.id));
  assert.deepEqual([refused.status, /of a hook/.test(refused.json.detail)], [422, true]);
  errand.forward(60_000);
  const started = await errand.client.post(at(record?.id));
  await over(errand, started.run_id);
  const again = (await errand.errors(source.id, 3))[0]?.event;
  const { original_context: first } = record.event;
  assert.deepEqual([again.original_event.body, again.original_context.replay], [{ n: 1 }, true]);
  assert.equal(again.original_context.trace_id, first.trace_id);
  assert.equal((await errand.client.request('POST', at('1-0'))).status, 404);
});

test('a replay tells when the event arrived first', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(BROKEN);
  await errand.send(workflow, { n: 1 });
  const [record] = await errand.errors(workflow.id, 1);
  const { ts } = record.event.original_context;
  await deploy(errand, workflow.id, FIXED);
  await errand.send(workflow, { n: 2 });
  const [plain] = await errand.runs(workflow.id, 2);
  const { run: fresh } = await over(errand, plain?.id);
  const { context } = fresh.steps[0].return_value;
  assert.equal(context.original_ts, context.ts);
  errand.forward(600_000);
  const { run } = await over(errand, (await replay(errand, workflow.id, record?.id)).run_id);
  const replayed = run.steps[0].return_value.context;
  assert.equal(replayed.original_ts, ts);
  assert.ok(Date.parse(replayed.ts) >= Date.parse(ts) + 600_000);
});

test('a workflow that is switched off goes on with its runs, and replays', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await errand.workflow(BROKEN, { settings: { concurrency: 1, env: { GATE: gate.url } } });
  for (const n of [1, 2]) await errand.send(workflow, { n });
  const [newest, oldest] = await errand.errors(workflow.id, 2);
  await deploy(errand, workflow.id, 'export default async () => { await fetch(process.env.GATE); };');
  for (const n of [3, 4]) await errand.send(workflow, { n });
  await gate.wait(1);
  await errand.client.put(`/v1/workflows/${workflow.id}`, { active: false });
  const byHand = await replay(errand, workflow.id, oldest.id);
  const { id } = await errand.client.post('/v1/replays', { error_ids: [newest.id] });
  gate.open();
  assert.equal((await over(errand, byHand.run_id)).run.state, 'succeeded');
  const done = await until('the operation to end', async () => {
    const { data } = await errand.client.get(`/v1/operations/${id}`);
    return data.state === 'done' && data;
  });
  assert.equal(done.replay.fixed, 1);
  const runs = await errand.runs(workflow.id, 6);
  assert.equal(runs.filter(({ state }: Json) => state === 'succeeded').length, 4, 'two of them waited');
});

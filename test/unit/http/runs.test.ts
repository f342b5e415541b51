import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RUN } from '../../../src/domain/emission.ts';
import { recordId } from '../../../src/domain/ids.ts';
import type { ClaimedRun } from '../../../src/domain/run/run.ts';
import { all, aStep, emit, failed, succeeded } from '../../contract/fixtures.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';
import { appended, OTHER_KEY, startServer } from './harness.ts';
import { entryAt, idOf, OWNER_ID, source, subscription, T0_MS, workflow } from './records.ts';

const P1 = idOf('p_', 1);
const EVENT = '{"n":12345678901234567890, "a":1,"a":2}';
const RETURNED = '{"x":1.0,"x":2}';
const RUN_ID = `r_${entryAt(4).toString(36)}`;

const idOfRun = ({ run }: Pick<ClaimedRun, 'run'>): string => `r_${run.toString(36)}`;

test('a run shows what the wire agrees', async (t) => {
  const { stage, seed, call } = await startServer(t);
  await seed.workflows(workflow(1));
  const run = await stage.started(workflow(1));
  await stage.end(run);
  const failing = await stage.started(workflow(1));
  stage.clock.advance(5);
  const { errorEntry } = await stage.end(failing, failed());
  const { json } = await call('GET', `/v1/workflows/${P1}/runs`);
  const shown = (claimed: ClaimedRun) => ({
    id: idOfRun(claimed),
    workflow_id: P1,
    deployment_id: idOf('d_', 1),
    attempt: 1,
    replay: false,
    emission_id: claimed.emission.emitId,
    emitter_id: OWNER_ID,
    event_name: RUN,
    summary: null,
    created_at_ms: T0_MS,
    started_at_ms: T0_MS,
    retried_by: null,
  });
  const error = { code: 'TypeError', msg: 'it went wrong: TypeError' };
  const failure = { error_id: recordId(errorEntry ?? 0), error };
  assert.deepEqual(withoutIso(json.data), [
    { ...shown(failing), state: 'failed', ended_at_ms: T0_MS + 5, ...failure },
    { ...shown(run), state: 'succeeded', ended_at_ms: T0_MS, error_id: null },
  ]);
});

test('one run comes with bytes as stored', async (t) => {
  const { stage, seed, call } = await startServer(t);
  await seed.workflows(workflow(1), workflow(2));
  await seed.subscriptions(subscription(1, { emitterId: P1, listenerId: idOf('p_', 2), eventName: '' }));
  const causing = await stage.started(workflow(1));
  const { claims } = await stage.end(causing, succeeded({ outgoing: [emit('', {}, { summary: 'Order 3' })] }), all());
  const heard = claims.runs.find(({ runnable }) => runnable.id === idOf('p_', 2)) as ClaimedRun;
  await stage.end(heard);
  const ofHeard = await call('GET', `/v1/runs/${idOfRun(heard)}`);
  const causedBy = { emission_id: heard.emission.emitId, run_id: idOfRun(causing), summary: 'Order 3' };
  assert.deepEqual(ofHeard.json.data.caused_by, causedBy);
  const run = await stage.started(workflow(1), { body: Buffer.from(EVENT) });
  const line = { tsMs: T0_MS, level: 'info', namespace: 'charge', text: 'hi' } as const;
  await stage.end(run, failed('TypeError', { steps: [aStep('charge', { returnValue: RETURNED })], logs: [line] }));
  const { json, text } = await call('GET', `/v1/runs/${idOfRun(run)}`);
  assert.equal(json.data.error.msg, 'it went wrong: TypeError');
  assert.equal(json.data.logs[0].text, 'hi');
  assert.ok(text.includes(`"event":${EVENT},`), text);
  assert.ok(text.includes(`"return_value":${RETURNED},`), text);
});

test('a run that waits has empty parts', async (t) => {
  const { stage, seed, call } = await startServer(t);
  await seed.source(source(1));
  const { firstRun } = await stage.appendFor(idOf('dc_', 1));
  const { json } = await call('GET', `/v1/runs/${idOfRun({ run: firstRun ?? 0 })}`);
  assert.deepEqual([json.data.state, json.data.steps, json.data.logs, json.data.error_id], ['queued', [], [], null]);
  assert.equal(json.data.source_id, idOf('dc_', 1));
  assert.equal('workflow_id' in json.data, false);
  assert.equal(json.data.caused_by.run_id, null);
});

test('runs that are not there answer 404', async (t) => {
  const { stage, seed, call } = await startServer(t);
  await seed.workflows(workflow(1));
  const run = await stage.started(workflow(1));
  assert.equal((await call('GET', `/v1/runs/${idOfRun(run)}`)).status, 200);
  assert.equal((await call('GET', `/v1/runs/${idOfRun(run)}`, { key: OTHER_KEY })).status, 404);
  for (const id of [idOfRun({ run: run.run + 1 }), 'r_x', 'nonsense', P1]) {
    assert.equal((await call('GET', `/v1/runs/${id}`)).status, 404);
  }
  assert.equal((await call('GET', `/v1/workflows/${idOf('p_', 2)}/runs`)).status, 404);
});

test('a run starts with the exact event', async (t) => {
  const { call, calls } = await startServer(t, { actions: { runWorkflow: () => appended(1) } });
  const headers = { 'content-type': 'application/json' };
  const body = `{"event" : ${EVENT} }`;
  const { json } = await call('POST', `/v1/workflows/${P1}/runs`, { headers, body });
  assert.equal(json.data.emit_id, 'tag421');
  assert.equal(Buffer.from(calls[0]?.args[2] as Uint8Array).toString(), EVENT);
  await call('POST', `/v1/workflows/${P1}/runs?event=${encodeURIComponent(EVENT)}`);
  assert.equal(Buffer.from(calls[1]?.args[2] as Uint8Array).toString(), EVENT);
});

test('a run may have the event null', async (t) => {
  const { call, calls } = await startServer(t, { actions: { runWorkflow: () => appended(1, { firstRun: null }) } });
  const { json } = await call('POST', `/v1/workflows/${P1}/runs`, { json: { event: null } });
  assert.equal(Buffer.from(calls[0]?.args[2] as Uint8Array).toString(), 'null');
  assert.equal(json.data.run_id, null);
});

test('a run without an event is refused', async (t) => {
  const { call, calls } = await startServer(t, { maxBodyBytes: 1000 });
  for (const json of [{}, { evnt: 1 }]) {
    assert.equal((await call('POST', `/v1/workflows/${P1}/runs`, { json })).status, 400);
  }
  assert.equal((await call('POST', `/v1/workflows/${P1}/runs?event={`)).status, 400);
  const large = await call('POST', `/v1/workflows/${P1}/runs`, { json: { event: 'x'.repeat(1000) } });
  assert.equal(large.status, 413);
  assert.deepEqual(calls, []);
});

test('a cancelled run answers its state', async (t) => {
  const { call, calls } = await startServer(t, { actions: { cancelRun: () => 'cancelled' } });
  const { json } = await call('POST', `/v1/runs/${RUN_ID}/cancel`);
  assert.deepEqual(json, { data: { id: RUN_ID, state: 'cancelled' } });
  assert.deepEqual(calls[0]?.args, [OWNER_ID, entryAt(4)]);
  assert.equal((await call('POST', '/v1/runs/nonsense/cancel')).status, 404);
});

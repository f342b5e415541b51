import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordId } from '../../../src/domain/ids.ts';
import type { RunWhole } from '../../../src/store/contract/records.ts';
import { entryAt, idOf, OTHER_ID, OWNER_ID, T0_MS, workflow } from './fake-store.ts';
import { appended, connect, KEY, startServer } from './harness.ts';

const P1 = idOf('p_', 1);
const EVENT = '{"n":12345678901234567890, "a":1,"a":2}';
const RETURNED = '{"x":1.0,"x":2}';
const DETAIL = `{"steps":[{"id":"c_1","namespace":"charge","state":"failed","started_at_ms":1,"took_ms":2,"return_value":${RETURNED},"exports":{"$summary":"s"}}],"logs":[{"ts_ms":3,"level":"info","namespace":"charge","text":"hi"}]}`;

function run(n: number, more: Partial<RunWhole> & { ownerId?: string } = {}): RunWhole & { ownerId: string } {
  return {
    ownerId: OWNER_ID,
    run: entryAt(n),
    runnableId: P1,
    deploymentId: idOf('d_', 1),
    state: 'failed',
    attempt: 1,
    replay: false,
    entry: entryAt(n - 1),
    emitId: `abcde${n - 1}`,
    emitterId: idOf('hi_', 1),
    eventName: '',
    startedAtMs: T0_MS + 5,
    endedAtMs: null,
    summary: null,
    errorEntry: entryAt(n + 1),
    errorCode: 'TypeError',
    waiting: null,
    event: Buffer.from(EVENT),
    detail: DETAIL,
    errorBody: Buffer.from('{"code":"TypeError","msg":"m","cellId":"c_1","ts":"t","stack":"","namespace":"charge"}'),
    causedByRun: entryAt(3),
    causeSummary: 'Order 3',
    causes: [],
    ...more,
  };
}

function idOfRun(n: number): string {
  return `r_${entryAt(n).toString(36)}`;
}

test('a run shows what the wire agrees', async (t) => {
  const { data, call } = await startServer(t);
  data.workflows.push(workflow(1));
  data.runs.push(run(10));
  const { json } = await call('GET', `/v1/workflows/${P1}/runs`);
  assert.deepEqual(json.data, [
    {
      id: idOfRun(10),
      workflow_id: P1,
      deployment_id: idOf('d_', 1),
      state: 'failed',
      attempt: 1,
      replay: false,
      emission_id: 'abcde9',
      emitter_id: idOf('hi_', 1),
      event_name: '',
      summary: null,
      created_at_ms: T0_MS + 10,
      started_at_ms: T0_MS + 5,
      ended_at_ms: null,
      error_id: recordId(entryAt(11)),
      error: { code: 'TypeError' },
    },
  ]);
});

test('runs are filtered by a known state', async (t) => {
  const { data, call } = await startServer(t);
  data.workflows.push(workflow(1));
  data.runs.push(run(10), run(11, { state: 'succeeded', errorCode: null, errorEntry: null }));
  const { json } = await call('GET', `/v1/workflows/${P1}/runs?state=succeeded`);
  assert.deepEqual(
    json.data.map(({ id }: { id: string }) => id),
    [idOfRun(11)],
  );
  assert.equal('error' in json.data[0], false);
  const refused = await call('GET', `/v1/workflows/${P1}/runs?state=done`);
  assert.equal(refused.status, 400);
  assert.match(refused.json.error, /state must be one of "queued", "running".* but was "done"/);
});

test('one run comes with bytes as stored', async (t) => {
  const { data, call, port } = await startServer(t);
  data.runs.push(run(10));
  const { json } = await call('GET', `/v1/runs/${idOfRun(10)}`);
  assert.equal(json.data.error.msg, 'm');
  assert.deepEqual(json.data.caused_by, { emission_id: 'abcde9', run_id: idOfRun(3), summary: 'Order 3' });
  assert.equal(json.data.logs[0].text, 'hi');
  const raw = connect(t, port);
  raw.send(`GET /v1/runs/${idOfRun(10)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n\r\n`);
  const { body } = await raw.answer();
  assert.ok(body.includes(`"event":${EVENT},`), body);
  assert.ok(body.includes(`"return_value":${RETURNED},`), body);
});

test('a run that waits has empty parts', async (t) => {
  const { data, call } = await startServer(t);
  const waiting = { state: 'queued', detail: null, errorBody: null, errorEntry: null, errorCode: null } as const;
  data.runs.push(run(10, { ...waiting, causedByRun: null, runnableId: idOf('dc_', 1) }));
  const { json } = await call('GET', `/v1/runs/${idOfRun(10)}`);
  assert.deepEqual([json.data.steps, json.data.logs, json.data.error_id], [[], [], null]);
  assert.equal(json.data.source_id, idOf('dc_', 1));
  assert.equal('workflow_id' in json.data, false);
  assert.equal(json.data.caused_by.run_id, null);
});

test('runs that are not there answer 404', async (t) => {
  const { data, call } = await startServer(t);
  data.runs.push(run(10, { ownerId: OTHER_ID }));
  for (const id of [idOfRun(10), idOfRun(11), 'r_x', 'nonsense', P1]) {
    assert.equal((await call('GET', `/v1/runs/${id}`)).status, 404);
  }
  assert.equal((await call('GET', `/v1/workflows/${P1}/runs`)).status, 404);
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
  const { json } = await call('POST', `/v1/runs/${idOfRun(4)}/cancel`);
  assert.deepEqual(json, { data: { id: idOfRun(4), state: 'cancelled' } });
  assert.deepEqual(calls[0]?.args, [OWNER_ID, entryAt(4)]);
  assert.equal((await call('POST', '/v1/runs/nonsense/cancel')).status, 404);
});

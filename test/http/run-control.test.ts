// How many run at once, what is cancelled, and what a crash leaves of its neighbours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import type { Errand } from '../support/errand.ts';
import { type Gate, startGate } from '../support/gate.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';

const newErrand = shareErrand();

const PATIENT = `export default async ({ steps }) => {
  const { n, last } = steps.trigger.event.body;
  await (await fetch(process.env.GATE + '/' + n)).text();
  if (last) process.kill(process.pid, 'SIGKILL');
  return n;
};`;

function patient(errand: Errand, gate: Gate, settings: Json = {}): Promise<Json> {
  return errand.workflow(PATIENT, { settings: { env: { GATE: gate.url }, ...settings } });
}

async function inState(errand: Errand, workflow: Json, state: string): Promise<Json[]> {
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=${state}`);
  return data;
}

test('no more run at once than allowed', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await patient(errand, gate, { concurrency: 2 });
  for (let n = 1; n <= 6; n++) await errand.send(workflow, { n });
  for (let count = 2; count <= 6; count++) {
    await gate.wait(count);
    gate.letOne();
  }
  gate.open();
  const runs = await errand.runs(workflow.id, 6);
  assert.equal(gate.most, 2);
  assert.deepEqual(gate.asked.toSorted(), ['/1', '/2', '/3', '/4', '/5', '/6']);
  assert.deepEqual([...new Set(runs.map((run) => run.state))], ['succeeded']);
});

test('eight run at once unless told otherwise', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await patient(errand, gate);
  for (let n = 1; n <= 10; n++) await errand.send(workflow, { n });
  await gate.wait(8);
  gate.letOne();
  await gate.wait(9);
  gate.open();
  await errand.runs(workflow.id, 10);
  assert.equal(gate.most, 8);
});

test('runs that are leased ahead of their slot wait for it, and can be cancelled', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const code = `export default async ({ steps }) => {
    const { n } = steps.trigger.event.body;
    if (n) await (await fetch(process.env.GATE + '/' + n)).text();
  };`;
  const workflow = await errand.workflow(code, { settings: { env: { GATE: gate.url }, concurrency: 2 } });
  // Runs this short are leased ahead from now on.
  await Promise.all(Array.from({ length: 80 }, () => errand.send(workflow, {})));
  await errand.runs(workflow.id, 80);
  for (let n = 1; n <= 8; n++) await errand.send(workflow, { n });
  await gate.wait(2);
  const open = [...(await inState(errand, workflow, 'running')), ...(await inState(errand, workflow, 'queued'))];
  const last = open.toSorted((a, b) => a.id.localeCompare(b.id)).at(-1);
  await errand.client.post(`/v1/runs/${last.id}/cancel`);
  gate.open();
  const runs = await errand.runs(workflow.id, 88);
  assert.equal(gate.most, 2);
  assert.deepEqual(gate.asked.toSorted(), ['/1', '/2', '/3', '/4', '/5', '/6', '/7']);
  assert.deepEqual(
    runs.filter(({ state }: Json) => state !== 'succeeded').map(({ id, state }: Json) => [id, state]),
    [[last.id, 'cancelled']],
  );
});

test('one waiting workflow holds up no other', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const slow = await patient(errand, gate);
  for (let n = 1; n <= 20; n++) await errand.send(slow, { n });
  await gate.wait(8);
  const quick = await errand.workflow('export default () => 1');
  await errand.send(quick, {});
  await errand.runs(quick.id, 1);
  assert.deepEqual(await inState(errand, slow, 'succeeded'), []);
  gate.open();
  await errand.runs(slow.id, 20);
});

test('a queued run can be cancelled', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await patient(errand, gate, { concurrency: 1 });
  await errand.send(workflow, { n: 1 });
  await gate.wait(1);
  await errand.send(workflow, { n: 2 });
  await errand.send(workflow, { n: 3 });
  const queued = await inState(errand, workflow, 'queued');
  assert.equal(queued.length, 2);
  const second = queued.at(-1);
  const answered = await errand.client.post(`/v1/runs/${second.id}/cancel`);
  assert.deepEqual([answered.id, answered.state], [second.id, 'cancelled']);
  gate.open();
  const runs = await errand.runs(workflow.id, 3);
  assert.deepEqual(
    runs.map((run) => run.state),
    ['succeeded', 'cancelled', 'succeeded'],
  );
  assert.deepEqual(gate.asked, ['/1', '/3']);
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.deepEqual([ledger.runs.cancelled, ledger.runs.succeeded, ledger.errors.captured], [1, 2, 0]);
});

test('a running run can be cancelled', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await patient(errand, gate, { concurrency: 1 });
  await errand.send(workflow, { n: 1 });
  await gate.wait(1);
  const [running] = await inState(errand, workflow, 'running');
  await errand.client.post(`/v1/runs/${running.id}/cancel`);
  const [cancelled] = await errand.runs(workflow.id, 1);
  assert.deepEqual([cancelled.id, cancelled.state, cancelled.error_id], [running.id, 'cancelled', null]);
  await until('its code is stopped', () => gate.holding === 0);
  gate.open();
  await errand.send(workflow, { n: 2 });
  const runs = await errand.runs(workflow.id, 2);
  assert.deepEqual(
    runs.map((run) => run.state),
    ['succeeded', 'cancelled'],
  );
  assert.deepEqual(await errand.errors(workflow.id, 0), []);
});

test('a cancelled run leaves its neighbours alone', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await patient(errand, gate);
  for (const n of [1, 2, 3]) await errand.send(workflow, { n });
  await gate.wait(3);
  const [, middle] = await inState(errand, workflow, 'running');
  await errand.client.post(`/v1/runs/${middle.id}/cancel`);
  await errand.runs(workflow.id, 1);
  gate.open();
  const runs = await errand.runs(workflow.id, 3);
  const states = runs.map((run) => [run.id === middle.id, run.state]);
  for (const [isMiddle, state] of states) assert.equal(state, isMiddle ? 'cancelled' : 'succeeded');
  assert.deepEqual(await errand.errors(workflow.id, 0), []);
});

test('an ended run is not cancelled', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow('export default () => 1');
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  const answer = await errand.client.request('POST', `/v1/runs/${run.id}/cancel`);
  assert.ok([200, 409, 422].includes(answer.status), answer.text);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.equal(data.state, 'succeeded');
});

test('a waiting caller hears of the cancel', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await errand.workflow(PATIENT, {
    triggers: [{ type: 'http', custom_response: true }],
    settings: { env: { GATE: gate.url } },
  });
  const call = fetch(workflow.triggers[0].endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"n":1}',
  });
  await gate.wait(1);
  const [running] = await inState(errand, workflow, 'running');
  await errand.client.post(`/v1/runs/${running.id}/cancel`);
  const answer = await call;
  assert.ok(answer.status >= 400, `${answer.status}`);
  await answer.body?.cancel();
});

test('neighbours of a crash end exactly once', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await patient(errand, gate);
  for (let n = 1; n <= 5; n++) await errand.send(workflow, { n });
  await errand.send(workflow, { n: 6, last: true });
  await gate.wait(6);
  gate.open();
  const runs = await errand.runs(workflow.id, 6);
  assert.equal(runs.length, 6);
  const failed = runs.filter((run) => run.state === 'failed');
  const succeeded = runs.filter((run) => run.state === 'succeeded');
  assert.equal(failed.length + succeeded.length, 6);
  const errors = await errand.errors(workflow.id, failed.length);
  assert.deepEqual(errors.map((error) => error.id).toSorted(), failed.map((run) => run.error_id).toSorted());
  for (const { event } of errors) assert.match(event.error.code, /^Worker(Lost|Exit)$/);
  const crashed = errors.filter((error) => error.event.original_event.body.last);
  assert.equal(crashed.length, 1);
  await errand.send(workflow, { n: 7 });
  const [after] = await errand.runs(workflow.id, 7);
  assert.equal(after.state, 'succeeded');
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.equal(ledger.errors.captured, failed.length);
});

test('a run that is repeated because of another says so', async () => {
  await using errand = await newErrand();
  await using held = await startGate();
  await using poison = await startGate();
  const code = `export default async ({ steps }) => {
    const { gate, isPoison } = steps.trigger.event.body;
    await fetch(gate);
    for (const kept = []; isPoison; ) kept.push(new Array(100_000).fill({ n: kept.length }));
  }`;
  const workflow = await errand.workflow(code, { settings: { memory_mb: 64 } });
  await errand.send(workflow, { gate: held.url });
  await errand.send(workflow, { gate: poison.url, isPoison: true });
  await held.wait(1);
  await poison.wait(1);
  poison.open();
  await errand.errors(workflow.id, 1);
  held.open();
  const runs = await errand.runs(workflow.id, 2);
  assert.deepEqual(runs.map(({ state, attempt }) => [state, attempt]).toSorted(), [
    ['failed', 2],
    ['succeeded', 2],
  ]);
  for (const { id } of runs) {
    const { data } = await errand.client.get(`/v1/runs/${id}`);
    const [{ level, text }] = data.logs;
    assert.deepEqual([data.logs.length, level], [1, 'warn']);
    assert.match(text, /^started again, alone in its process/);
  }
});

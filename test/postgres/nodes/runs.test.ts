// One node executes a run; what is asked of another one about it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { type Gate, startGate } from '../../support/gate.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';
import { seenFrom, shareNodes, startNodes } from './nodes.ts';

const PATIENT = `export default async ({ steps }) => {
  const { n } = steps.trigger.event.body;
  await (await fetch(process.env.GATE + '/' + n)).text();
  return n;
};`;
const FAIL = `export default ({ steps }) => { throw Object.assign(new Error('no stock'), { code: 'STOCK' }); };`;
/** Digits, duplicate keys and spaces that no parser would give back. */
const HARD = '{"b":12345678901234567890,  "a":1e400, "a":"\\u0000"}';

function patient(node: Errand, gate: Gate, settings: Json = {}): Promise<Json> {
  return node.workflow(PATIENT, { settings: { env: { GATE: gate.url }, ...settings } });
}

async function inState(node: Errand, workflow: Json, state: string): Promise<Json[]> {
  return (await node.client.get(`/v1/workflows/${workflow.id}/runs?state=${state}`)).data;
}

function addsUp({ runs, deliveries }: Json): void {
  for (const { total, ...states } of [runs, deliveries]) {
    const sum = (Object.values(states) as number[]).reduce((a, b) => a + b, 0);
    assert.equal(sum, total);
  }
}

test('a run is cancelled from elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await patient(a, gate);
  for (const n of [1, 2, 3]) await b.send(seenFrom(b, workflow), { n });
  await gate.wait(3);
  const [, middle] = await inState(a, workflow, 'running');
  await a.client.post(`/v1/runs/${middle.id}/cancel`);
  const [cancelled] = await b.runs(workflow.id, 1);
  assert.deepEqual([cancelled.id, cancelled.state, cancelled.error_id], [middle.id, 'cancelled', null]);
  gate.open();
  await b.runs(workflow.id, 3);
  const { runs } = await a.settled();
  assert.deepEqual([runs.succeeded, runs.cancelled, runs.failed], [2, 1, 0]);
});

test('its code is stopped, and its caller told', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(PATIENT, {
    triggers: [{ type: 'http', custom_response: true }],
    settings: { env: { GATE: gate.url } },
  });
  const { endpoint_url: url } = seenFrom(b, workflow).triggers[0];
  const call = fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":1}' });
  await gate.wait(1);
  const [running] = await inState(a, workflow, 'running');
  await a.client.post(`/v1/runs/${running.id}/cancel`);
  await until('its code is stopped', () => gate.holding === 0);
  assert.equal((await call).status, 400);
  assert.equal((await b.settled()).runs.cancelled, 1);
});

test('a cancel and an end have one outcome', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(3);
  const [a, b, c] = nodes.all;
  const workflow = await patient(a, gate, { concurrency: 4 });
  for (let n = 0; n < 24; n++) await b.send(seenFrom(b, workflow), { n });
  await gate.wait(4);
  const all = (await a.client.get(`/v1/workflows/${workflow.id}/runs`)).data as Json[];
  gate.open();
  const answers = await Promise.all(
    all.flatMap(({ id }) => [a, c].map((node) => node.client.request('POST', `/v1/runs/${id}/cancel`))),
  );
  for (const { status, text } of answers) assert.ok([200, 409, 422].includes(status), text);
  const ledger = await b.settled();
  addsUp(ledger);
  const over = await c.runs(workflow.id, 24);
  const count = (state: string): number => over.filter((run) => run.state === state).length;
  assert.deepEqual(
    [ledger.runs.succeeded, ledger.runs.cancelled, ledger.runs.total],
    [count('succeeded'), count('cancelled'), 24],
  );
  assert.equal(ledger.errors.captured, 0);
});

test('a run outlives its workflow that is deleted elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await patient(a, gate, { concurrency: 1 });
  for (const n of [1, 2, 3]) await b.send(seenFrom(b, workflow), { n });
  await gate.wait(1);
  await a.client.delete(`/v1/workflows/${workflow.id}`);
  gate.open();
  const ledger = await b.settled();
  addsUp(ledger);
  assert.deepEqual([ledger.runs.succeeded, ledger.runs.cancelled, ledger.runs.total], [1, 2, 3]);
  assert.deepEqual(gate.asked, ['/1']);
  for (const { client } of [a, b]) {
    assertProblem(await client.request('GET', `/v1/workflows/${workflow.id}/runs`), 404);
  }
});

test('what a deleted workflow emits at its end is heard by nobody', async () => {
  await using gate = await startGate();
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(
    `export default async ({ $ }) => { await (await fetch(process.env.GATE)).text(); $.send.emit({ late: true }); };`,
    { settings: { env: { GATE: gate.url } } },
  );
  const webhook = await a.client.post('/v1/webhooks', { url: receiver.url });
  await a.subscribe(workflow.id, webhook.id);
  await b.send(seenFrom(b, workflow), {});
  await gate.wait(1);
  await a.client.delete(`/v1/workflows/${workflow.id}`);
  gate.open();
  const ledger = await b.settled();
  assert.deepEqual([ledger.runs.succeeded, ledger.deliveries.total], [1, 0]);
});

test('events that meet a delete are all accounted for', async () => {
  await using nodes = await shareNodes(3);
  const [a, b] = nodes.all;
  let accepted = 0;
  for (let round = 0; round < 8; round++) {
    const workflow = await a.workflow('export default () => 1', { settings: { concurrency: 1 } });
    const sent = Array.from({ length: 12 }, (_, n) => {
      const { triggers } = seenFrom(nodes.all[n % 3] as Errand, workflow);
      return fetch(triggers[0].endpoint_url, { method: 'POST' });
    });
    const deleted = a.client.delete(`/v1/workflows/${workflow.id}`);
    const answers = await Promise.all(sent);
    await deleted;
    for (const answer of answers) {
      await answer.body?.cancel();
      assert.ok([200, 404].includes(answer.status), `${answer.status}`);
      if (answer.status === 200) accepted++;
    }
  }
  const ledger = await b.settled();
  addsUp(ledger);
  assert.equal(ledger.emissions, accepted);
  assert.deepEqual([ledger.runs.failed, ledger.runs.total <= accepted], [0, true]);
});

test('an error is replayed from elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(FAIL);
  await b.send(seenFrom(b, workflow), HARD);
  const [error] = await a.errors(workflow.id, 1);
  const made = await a.client.post(`/v1/workflows/${workflow.id}/$errors/${error.id}/replay`);
  const [second] = await b.errors(workflow.id, 2);
  const [first, again] = [error, second].map((record: Json) => record.event.original_context);
  assert.deepEqual([again.trace_id, again.replay, first.replay], [first.trace_id, true, false]);
  assert.notEqual(again.id, first.id);
  const { data: run } = await b.client.get(`/v1/runs/${made.run_id}`);
  assert.deepEqual([run.error_id, run.replay], [second.id, true]);
  const { text } = await b.client.request('GET', `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`);
  assert.equal(text.split(HARD).length - 1, 2, 'both hold the bytes that arrived');
});

test('a workflow deployed elsewhere since then is replayed', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(FAIL);
  await b.send(seenFrom(b, workflow), { n: 5 });
  const [error] = await a.errors(workflow.id, 1);
  const steps = [{ namespace: 'step', code: 'export default ({ steps }) => steps.trigger.event.body.n' }];
  await a.client.put(`/v1/workflows/${workflow.id}`, { steps });
  const made = await b.client.post(`/v1/workflows/${workflow.id}/$errors/${error.id}/replay`);
  await a.runs(workflow.id, 2);
  const { data } = await a.client.get(`/v1/runs/${made.run_id}`);
  assert.deepEqual([data.state, data.steps[0].return_value], ['succeeded', 5]);
});

test('all nodes tell the same', async () => {
  await using receiver = await startReceiver();
  await using nodes = await shareNodes(3);
  const [a, b, c] = nodes.all;
  const workflow = await a.workflow(FAIL);
  const listener = await b.workflow('export default ({ $ }) => { console.log("heard"); $.send.emit({ heard: 1 }); };', {
    triggers: [{ type: 'emitter', emitter_id: workflow.id, event_name: '$errors' }],
  });
  const webhook = await c.client.post('/v1/webhooks', { url: receiver.url });
  await c.subscribe(workflow.id, webhook.id, '$errors');
  await c.subscribe(listener.id, webhook.id);
  for (const node of nodes.all) await node.send(seenFrom(node, workflow), HARD);
  await receiver.wait(6);
  await b.runs(listener.id, 3);
  await a.settled();
  const errors = await a.errors(workflow.id, 3);
  const runs = [...(await a.runs(workflow.id, 3)), ...(await a.runs(listener.id, 3))];
  const { data: sent } = await a.client.get(`/v1/webhooks/${webhook.id}/deliveries`);
  const paths = [
    '/v1/ledger',
    '/v1/users/me',
    `/v1/workflows/${workflow.id}/runs`,
    `/v1/workflows/${listener.id}/runs?state=succeeded`,
    `/v1/workflows/${listener.id}/event_summaries?expand=event`,
    `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`,
    `/v1/subscriptions?listener_id=${webhook.id}`,
    `/v1/webhooks/${webhook.id}/deliveries`,
    ...errors.map(({ id }) => `/v1/workflows/${workflow.id}/$errors/event_summaries/${id}?expand=event`),
    ...runs.map(({ id }) => `/v1/runs/${id}`),
    ...sent.map(({ id }: Json) => `/v1/deliveries/${id}`),
  ];
  for (const path of paths) {
    const told = await Promise.all(nodes.all.map(({ client }) => client.request('GET', path)));
    assert.deepEqual([...new Set(told.map(({ status }) => status))], [200], path);
    assert.equal(new Set(told.map(({ text }) => text)).size, 1, path);
  }
  const { data: error } = await b.client.get(
    `/v1/workflows/${workflow.id}/$errors/event_summaries/${errors[0].id}?expand=event`,
  );
  assert.deepEqual(error.receipts.map(({ kind, state }: Json) => `${kind} ${state}`).toSorted(), [
    'delivery delivered',
    'run succeeded',
    'run succeeded',
    // Its mail repeats one that was sent.
    'withheld withheld',
  ]);
});

test('a page begun at one node goes on at another', async () => {
  await using nodes = await shareNodes(3);
  const [a] = nodes.all;
  const workflow = await a.workflow(FAIL);
  for (let n = 0; n < 21; n++)
    await (nodes.all[n % 3] as Errand).send(seenFrom(nodes.all[n % 3] as Errand, workflow), { n });
  await a.settled();
  const path = `/v1/workflows/${workflow.id}/$errors/event_summaries`;
  const whole = (await a.client.get(path)).data.map(({ id }: Json) => id);
  const paged: string[] = [];
  for (let page = 0, after = ''; page < 7; page++) {
    const { client } = nodes.all[page % 3] as Errand;
    const { data, page_info } = await client.get(`${path}?limit=3${after && `&after=${after}`}`);
    paged.push(...data.map(({ id }: Json) => id));
    after = page_info.end_cursor;
  }
  assert.deepEqual(paged, whole);
  // `<ms>-<n>`, both numbers.
  const byNumber = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });
  assert.deepEqual(whole, whole.toSorted(byNumber).toReversed());
});

test('what comes after a burst elsewhere is listed after it', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(
    `export default ({ steps, $ }) => {
      const { count, from } = steps.trigger.event.body;
      for (let n = 0; n < count; n++) $.send.emit({ from });
    };`,
    { settings: { timeout_ms: 600_000 } },
  );
  // Five deliveries of each, which wait: more rows at once than there are numbers for in so short a time.
  for (let n = 0; n < 5; n++) {
    const webhook = await a.client.post('/v1/webhooks', { url: 'https://example.com/' });
    await a.client.put(`/v1/webhooks/${webhook.id}`, { active: false });
    await a.subscribe(workflow.id, webhook.id);
  }
  await a.send(workflow, { count: 9000, from: 'a' });
  await a.runs(workflow.id, 1);
  await b.send(seenFrom(b, workflow), { count: 1, from: 'b' });
  const [second, first] = await b.runs(workflow.id, 2);
  assert.ok(first.created_at_ms < second.created_at_ms);
  for (const run of [first, second]) assert.ok(run.started_at_ms <= run.ended_at_ms);
  for (const { client } of nodes.all) {
    const { data } = await client.get(`/v1/workflows/${workflow.id}/event_summaries?expand=event&limit=2`);
    assert.deepEqual(
      data.map(({ event }: Json) => event.from),
      ['b', 'a'],
    );
  }
});

test('many errors are replayed where no node delivers', async () => {
  await using nodes = await startNodes({ ERRAND_ROLES: 'api' }, { ERRAND_ROLES: 'run' });
  const [a] = nodes.all;
  const workflow = await a.workflow(FAIL);
  for (let n = 0; n < 3; n++) await a.send(workflow, { n });
  await until('three errors', async () => (await a.client.get('/v1/errors')).data.length === 3);
  await a.client.put(`/v1/workflows/${workflow.id}`, {
    steps: [{ namespace: 'step', code: 'export default () => 1' }],
  });
  const operation = await a.client.post('/v1/replays', { workflow_id: workflow.id, ordered: true });
  const { replay } = await until('the end of the operation', async () => {
    const { data } = await a.client.get(`/v1/operations/${operation.id}`);
    return data.state === 'done' && data;
  });
  assert.equal(replay.fixed, 3);
});

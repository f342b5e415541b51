// A node that is stopped in order finishes what it can, and hands the rest to the others: nothing is lost, nothing happens
// twice but what had been begun and could not be finished.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../../support/client.ts';
import { API_KEY, type Errand } from '../../support/errand.ts';
import { createErrandOn } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { type Gate, startGate } from '../../support/gate.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { type ErrandProcess, spawnErrand } from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';
import { seenFrom, startNodes } from './nodes.ts';

const PATIENT = `export default async ({ steps, $ }) => {
  const { n } = steps.trigger.event.body;
  await (await fetch(process.env.GATE + '/' + n)).text();
  await $.respond({ status: 200, body: String(n) });
  return n;
};`;
const IN_FLIGHT = 8;

function patient(node: Errand, gate: Gate, more: Json = {}): Promise<Json> {
  const { settings = {}, ...rest } = more;
  return node.workflow(PATIENT, { settings: { env: { GATE: gate.url }, ...settings }, ...rest });
}

/** It takes nothing new from now on. */
function draining(node: { readonly url: string }): Promise<boolean> {
  return until('new requests are refused', () =>
    fetch(`${node.url}/readyz`, { headers: { connection: 'close' } }).then(
      (answer) => answer.status === 503,
      () => true,
    ),
  );
}

test('what waits goes on elsewhere, what runs is finished', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes({}, {});
  const [a, b] = nodes.all;
  const workflow = await patient(a, gate, { settings: { concurrency: 4 } });
  for (let n = 0; n < 20; n++) await b.send(seenFrom(b, workflow), { n });
  await gate.wait(4);
  const stopped = b.stop();
  await draining(b);
  gate.open();
  await stopped;
  const { runs } = await a.settled();
  assert.deepEqual([runs.succeeded, runs.total], [20, 20]);
  assert.equal(new Set(gate.asked).size, 20);
  assert.equal(gate.asked.length, 20);
});

test('what does not end in time runs again elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes({ ERRAND_ROLES: 'api' }, {}, { ERRAND_ROLES: 'run' });
  const [a, b, c] = nodes.all;
  await c.stop();
  const workflow = await patient(a, gate, { triggers: [{ type: 'http', custom_response: true }] });
  const { endpoint_url: url } = workflow.triggers[0];
  const calls = [1, 2, 3].map(async (n) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ n }) })).text();
  });
  await gate.wait(3);
  await b.stop();
  await c.restart();
  await gate.wait(6);
  gate.open();
  assert.deepEqual(await Promise.all(calls), ['1', '2', '3']);
  const runs = await a.runs(workflow.id, 3);
  assert.deepEqual(
    runs.map(({ state, attempt }) => `${state} ${attempt}`),
    ['succeeded 1', 'succeeded 1', 'succeeded 1'],
  );
  assert.equal((await a.settled()).errors.captured, 0);
});

test('deliveries on their way are sent again elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes({}, {});
  const [a, b] = nodes.all;
  const workflow = await a.workflow('export default () => 1');
  // Of attempts that stand at the gate, also while a busy machine stops a node.
  const webhook = await a.client.post('/v1/webhooks', { url: gate.url, timeout_ms: 60_000 });
  await a.subscribe(workflow.triggers[0].id, webhook.id);
  for (let n = 0; n < 20; n++) await b.send(seenFrom(b, workflow), { n });
  await gate.wait(IN_FLIGHT);
  await b.stop();
  await gate.wait(2 * IN_FLIGHT);
  gate.open();
  const { deliveries } = await a.settled();
  assert.deepEqual([deliveries.delivered, deliveries.total], [20, 20]);
  assert.equal(gate.asked.length, 20 + IN_FLIGHT);
  const { data } = await a.client.get(`/v1/webhooks/${webhook.id}/deliveries`);
  // To be stopped is no failed attempt.
  assert.deepEqual([...new Set(data.map(({ attempts_made }: Json) => attempts_made))], [1]);
});

test('what stood in line is sent elsewhere', async () => {
  await using receiver = await startReceiver();
  await using nodes = await startNodes({}, {});
  const [a, b] = nodes.all;
  const workflow = await b.workflow('export default ({ $ }) => { for (let n = 0; n < 600; n++) $.send.emit({ n }); };');
  const webhook = await b.client.post('/v1/webhooks', { url: receiver.url });
  await b.subscribe(workflow.id, webhook.id);
  await b.send(workflow, {});
  await receiver.wait(20);
  await b.stop();
  await receiver.wait(600);
  const { deliveries } = await a.settled();
  assert.deepEqual([deliveries.delivered, deliveries.total, receiver.received.length], [600, 600, 600]);
});

test('a caller hears of a run elsewhere while draining', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes({ ERRAND_ROLES: 'api' }, {});
  const [api] = nodes.all;
  const workflow = await patient(api, gate, { triggers: [{ type: 'http', custom_response: true }] });
  const call = fetch(workflow.triggers[0].endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"n":7}',
  });
  await gate.wait(1);
  const stopped = api.stop();
  await draining(api);
  gate.open();
  const answer = await call;
  assert.deepEqual([answer.status, await answer.text()], [200, '7']);
  await stopped;
});

test('processes are replaced one after the other under load', async () => {
  await using folder = await createFolder();
  await using receiver = await startReceiver();
  const { url, drop } = await newDatabase();
  await using started = new AsyncDisposableStack();
  started.defer(drop);
  let count = 0;
  const start = async (): Promise<ErrandProcess> => {
    const process = await spawnErrand({
      ERRAND_DATABASE_URL: url,
      ERRAND_DATA_DIR: `${folder.path}/${count++}`,
      ERRAND_API_KEY: API_KEY,
      ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
    });
    return started.use(process);
  };
  const processes = await Promise.all([start(), start(), start()]);
  const on = (process: ErrandProcess) => createErrandOn(() => createClient(process.url, API_KEY));
  const first = processes[0] as ErrandProcess;
  const workflow = await on(first).workflow(
    'export default ({ steps, $ }) => { $.send.emit(steps.trigger.event.body); };',
  );
  const webhook = await createClient(first.url, API_KEY).post('/v1/webhooks', { url: receiver.url });
  await on(first).subscribe(workflow.id, webhook.id);

  let sent = 0;
  let isOver = false;
  /** Sends to whoever is there, as a load balancer would: who is refused tries the next one. */
  const sender = async (): Promise<void> => {
    while (!isOver) {
      const n = sent++;
      for (let at = n; ; at++) {
        const process = processes[at % processes.length] as ErrandProcess;
        const answer = await fetch(seenFrom(process, workflow).triggers[0].endpoint_url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ n }),
        }).catch(() => undefined);
        await answer?.body?.cancel();
        if (answer?.status === 200) break;
      }
    }
  };
  const senders = [sender(), sender(), sender()];
  for (let at = 0; at < 3; at++) {
    await receiver.wait(receiver.received.length + 50);
    const old = processes[at] as ErrandProcess;
    old.child.kill('SIGTERM');
    assert.deepEqual(await old.exited, { code: 0, signal: null });
    processes[at] = await start();
  }
  isOver = true;
  await Promise.all(senders);
  const { runs, deliveries, emissions } = await on(processes[0] as ErrandProcess).settled();
  const numbers = receiver.received.map(({ body }) => JSON.parse(body.toString()).n);
  assert.equal(new Set(numbers).size, sent, 'nothing is lost');
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, ids.length, 'nothing is sent twice');
  assert.deepEqual([runs.succeeded, runs.total], [runs.total, deliveries.delivered]);
  assert.equal(emissions, 2 * runs.total);
});

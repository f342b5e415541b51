// How the service stops: what was accepted is finished, handed back, or there again after the next start.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createErrandOn, type ErrandActions } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { type Gate, startGate } from '../../support/gate.ts';
import { freePort } from '../../support/port.ts';
import { type ErrandProcess, spawnErrand } from '../../support/process.ts';
import { until } from '../../support/wait.ts';

const KEY = 'a-key-that-only-this-test-knows';
const PROMPT_MS = 5000;

/** Asks the gate, then gives back what came in. */
const PATIENT = `export default async ({ steps, $ }) => {
  await (await fetch(process.env.GATE + '/' + steps.trigger.event.body.n)).text();
  return { n: steps.trigger.event.body.n };
}`;

interface Started extends ErrandActions, AsyncDisposable {
  readonly errand: ErrandProcess;
  readonly client: Client;
}

async function start(dataDir: string, more: Record<string, string> = {}): Promise<Started> {
  const errand = await spawnErrand({ ERRAND_DATA_DIR: dataDir, ERRAND_API_KEY: KEY, ...more });
  const client = createClient(errand.url, KEY);
  return { errand, client, ...createErrandOn(() => client), [Symbol.asyncDispose]: errand[Symbol.asyncDispose] };
}

function patient(service: Started, gate: Gate, more: Json = {}): Promise<Json> {
  const { settings = {}, ...rest } = more;
  return service.workflow(PATIENT, { settings: { env: { GATE: gate.url }, ...settings }, ...rest });
}

/** Resolves when new requests are refused. */
function draining({ errand }: Started): Promise<true> {
  return until('new requests are refused', () =>
    fetch(`${errand.url}/readyz`, { headers: { connection: 'close' } }).then(
      (answer) => answer.status === 503,
      () => true,
    ),
  ) as Promise<true>;
}

test('what runs at SIGTERM is finished', async () => {
  await using folder = await createFolder();
  await using gate = await startGate();
  await using first = await start(folder.path);
  const workflow = await patient(first, gate);
  await first.send(workflow, { n: 1 });
  await gate.wait(1);
  first.errand.child.kill('SIGTERM');
  await draining(first);
  gate.open();
  assert.deepEqual(await first.errand.exited, { code: 0, signal: null });

  await using second = await start(folder.path);
  const [run] = await second.runs(workflow.id, 1);
  const { data } = await second.client.get(`/v1/runs/${run.id}`);
  assert.deepEqual([data.state, data.attempt, data.steps[0].return_value], ['succeeded', 1, { n: 1 }]);
  assert.deepEqual(gate.asked, ['/1']);
});

test('until a load balancer has seen that it stops, everything is accepted and done', async () => {
  await using folder = await createFolder();
  await using service = await start(folder.path, { ERRAND_STOP_DELAY_SECONDS: '4' });
  const workflow = await service.workflow('export default () => 1;');
  await service.send(workflow, { n: 1 });
  service.errand.child.kill('SIGTERM');
  const ready = await until('it is not ready', async () => {
    const answer = await fetch(`${service.errand.url}/readyz`);
    return answer.status === 503 && answer;
  });
  assert.equal(ready.headers.get('retry-after'), '1');
  assert.equal((await service.client.request('GET', '/healthz')).status, 200);
  await service.send(workflow, { n: 2 });
  await service.runs(workflow.id, 2);
  const { data: runs } = await service.client.get(`/v1/workflows/${workflow.id}/runs`);
  assert.deepEqual(
    runs.map(({ state }: Json) => state),
    ['succeeded', 'succeeded'],
  );
  assert.equal(service.errand.child.exitCode, null);
  assert.deepEqual(await service.errand.exited, { code: 0, signal: null });
});

test('a second signal ends the delay, and Ctrl-C knows none', async () => {
  await using folder = await createFolder();
  const more = { ERRAND_STOP_DELAY_SECONDS: '10' };
  await using service = await start(folder.path, more);
  service.errand.child.kill('SIGTERM');
  await draining(service);
  // At once it would be taken for the same one.
  await setTimeout(1000);
  service.errand.child.kill('SIGTERM');
  assert.deepEqual(await service.errand.exited, { code: 1, signal: null });
  await using again = await start(folder.path, more);
  again.errand.child.kill('SIGINT');
  assert.deepEqual(await again.errand.exited, { code: 0, signal: null });
  assert.match(again.errand.stderr(), /"signal":"SIGINT","delay_ms":0/);
});

test('a terminal that closes stops the server in order', async () => {
  await using folder = await createFolder();
  await using gate = await startGate();
  await using service = await start(folder.path);
  const workflow = await patient(service, gate);
  await service.send(workflow, { n: 1 });
  await gate.wait(1);
  service.errand.child.kill('SIGHUP');
  await draining(service);
  gate.open();
  assert.deepEqual(await service.errand.exited, { code: 0, signal: null });
});

test('a waiting caller still gets its answer', async () => {
  await using folder = await createFolder();
  await using gate = await startGate();
  await using service = await start(folder.path);
  const workflow = await service.workflow(
    `export default async ({ $ }) => {
      await (await fetch(process.env.GATE)).text();
      await $.respond({ status: 201, body: 'here it is' });
    }`,
    { settings: { env: { GATE: gate.url } }, triggers: [{ type: 'http', custom_response: true }] },
  );
  const call = fetch(workflow.triggers[0].endpoint_url, { method: 'POST' });
  await gate.wait(1);
  service.errand.child.kill('SIGTERM');
  await draining(service);
  gate.open();
  const answer = await call;
  assert.deepEqual([answer.status, await answer.text()], [201, 'here it is']);
  assert.deepEqual(await service.errand.exited, { code: 0, signal: null });
});

test('a caller whose run is handed back is told so, and gets its answer after the next start', async () => {
  await using folder = await createFolder();
  await using gate = await startGate();
  const call = (url: string) => fetch(url, { method: 'POST', headers: { 'idempotency-key': 'order-7' } });
  const answering = `export default async ({ $ }) => {
    await (await fetch(process.env.GATE)).text();
    await $.respond({ status: 201, body: 'here it is' });
  }`;
  const settings = { env: { GATE: gate.url }, timeout_ms: 120_000 };
  await using first = await start(folder.path);
  const workflow = await first.workflow(answering, { settings, triggers: [{ type: 'http', custom_response: true }] });
  const path = new URL(workflow.triggers[0].endpoint_url).pathname;
  const waiting = call(first.errand.url + path);
  await gate.wait(1);
  first.errand.child.kill('SIGTERM');
  const told = await waiting;
  assert.deepEqual([told.status, told.headers.has('retry-after')], [503, true]);
  assert.match(((await told.json()) as Json).detail, /This process stops before the run has answered/);
  assert.deepEqual(await first.errand.exited, { code: 0, signal: null });
  gate.open();
  await using second = await start(folder.path);
  const answer = await call(second.errand.url + path);
  assert.deepEqual([answer.status, await answer.text()], [201, 'here it is']);
  assert.equal((await second.runs(workflow.id, 1)).length, 1, 'the same run');
});

test('new requests are refused while draining', async () => {
  await using folder = await createFolder();
  await using gate = await startGate();
  await using first = await start(folder.path);
  const workflow = await patient(first, gate);
  await first.send(workflow, { n: 1 });
  await gate.wait(1);
  first.errand.child.kill('SIGTERM');
  await draining(first);
  const outcomes = await Promise.all(
    [workflow.triggers[0].endpoint_url, `${first.errand.url}/v1/users/me`].map(async (url) => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${KEY}` } });
      return [answer.status, answer.headers.has('retry-after')];
    }),
  );
  for (const outcome of outcomes) assert.deepEqual(outcome, [503, true]);
  // For as long as something runs, and not only until the stop has begun.
  for (let n = 0; n < 20; n++) {
    const { status } = await fetch(`${first.errand.url}/readyz`, { headers: { connection: 'close' } });
    assert.equal(status, 503);
    await setTimeout(50);
  }
  assert.equal((await fetch(`${first.errand.url}/healthz`)).status, 200, 'it is alive');
  gate.open();
  await first.errand.exited;
  await using second = await start(folder.path);
  await second.client.post(`/v1/workflows/${workflow.id}/runs`, { event: { body: { n: 2 } } });
  assert.equal((await second.runs(workflow.id, 2)).length, 2);
});

test('what is queued outlives a stop', async () => {
  await using folder = await createFolder();
  await using gate = await startGate();
  await using first = await start(folder.path);
  const workflow = await patient(first, gate, { settings: { concurrency: 1 } });
  for (const n of [1, 2, 3]) await first.send(workflow, { n });
  await gate.wait(1);
  first.errand.child.kill('SIGTERM');
  await draining(first);
  gate.open();
  assert.deepEqual(await first.errand.exited, { code: 0, signal: null });
  await using second = await start(folder.path);
  const runs = await second.runs(workflow.id, 3);
  assert.deepEqual(
    runs.map((run) => run.state),
    ['succeeded', 'succeeded', 'succeeded'],
  );
  assert.deepEqual(gate.asked.toSorted(), ['/1', '/2', '/3']);
});

test('a second signal exits at once', async () => {
  await using folder = await createFolder();
  await using gate = await startGate();
  await using first = await start(folder.path);
  const workflow = await patient(first, gate);
  await first.send(workflow, { n: 1 });
  await gate.wait(1);
  first.errand.child.kill('SIGTERM');
  await draining(first);
  const askedAtMs = Date.now();
  // What comes at once with the first is one signal with it.
  await until('it has exited', () => {
    first.errand.child.kill('SIGTERM');
    return first.errand.child.exitCode !== null;
  });
  assert.deepEqual(await first.errand.exited, { code: 1, signal: null });
  assert.ok(Date.now() - askedAtMs < PROMPT_MS, 'it did not wait for the run');
  assert.equal(gate.holding <= 1, true);

  gate.open();
  await using second = await start(folder.path);
  const [run] = await second.runs(workflow.id, 1);
  const errors = await second.errors(workflow.id, run.state === 'failed' ? 1 : 0);
  assert.deepEqual(
    errors.map(({ event }) => event.error.code),
    run.state === 'failed' ? ['WorkerLost'] : [],
  );
  const { runs } = await second.settled();
  assert.equal(runs.total, runs.succeeded + runs.failed + runs.cancelled);
});

test('a kill loses nothing that was accepted', async () => {
  await using folder = await createFolder();
  await using gate = await startGate();
  await using first = await start(folder.path);
  const workflow = await patient(first, gate, { settings: { concurrency: 2 } });
  await Promise.all([1, 2, 3, 4].map((n) => first.send(workflow, { n })));
  await gate.wait(2);
  first.errand.child.kill('SIGKILL');
  await first.errand.exited;
  gate.open();

  await using second = await start(folder.path);
  const runs = await second.runs(workflow.id, 4);
  assert.equal(runs.length, 4);
  const failed = runs.filter((run) => run.state === 'failed');
  const errors = await second.errors(workflow.id, failed.length);
  assert.deepEqual(errors.map((error) => error.id).toSorted(), failed.map((run) => run.error_id).toSorted());
  for (const { event } of errors) assert.equal(event.error.code, 'WorkerLost');
  const { data: ledger } = await second.client.get('/v1/ledger');
  assert.equal(ledger.errors.captured, failed.length);
});

test('a restart keeps everything that was made', async () => {
  await using errand = await startErrand({ ERRAND_PORT: `${await freePort()}` });
  const failing = await errand.workflow(`export default () => { throw new Error('kept') }`);
  const listening = await errand.workflow('export default () => {}', { triggers: [] });
  await errand.subscribe(failing.id, listening.id, '$errors');
  await errand.client.post(`/v1/workflows/${failing.id}/runs`, { event: { n: 1 } });
  await errand.errors(failing.id, 1);
  await errand.settled();
  const pages = [
    `/v1/workflows?limit=100`,
    `/v1/workflows/${failing.id}`,
    `/v1/workflows/${failing.id}/deployments`,
    `/v1/workflows/${failing.id}/runs`,
    `/v1/workflows/${failing.id}/$errors/event_summaries?expand=event`,
    `/v1/workflows/${listening.id}/runs`,
    '/v1/subscriptions',
    '/v1/users/me',
    '/v1/ledger',
  ];
  const read = () => Promise.all(pages.map(async (path) => (await errand.client.request('GET', path)).text));
  const before = await read();
  await errand.restart();
  assert.deepEqual(await read(), before);
});

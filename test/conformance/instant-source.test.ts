// A source that registers a hook at its vendor, and takes signed calls: as most public "instant" sources are written.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startGate } from '../support/gate.ts';
import { type Acme, startAcme } from '../support/sources/acme.ts';
import { emissions } from '../support/sources/sources.ts';
import { until } from '../support/wait.ts';

const PATH = 'acme/sources/new-task-instant/new-task-instant.mjs';

/** Task n, created n minutes after the first. */
const task = (n: number): Json => ({
  id: `t${n}`,
  name: `Task ${n}`,
  created_at: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
});

/** Pages of tasks, newest first, as vendors list them. */
function listTasks(acme: Acme, count: number, perPage = 20): void {
  const newestFirst = Array.from({ length: count }, (_, n) => task(count - n));
  acme.vendor.on('GET /tasks', ({ query }) => {
    const page = Number(query.page ?? 1);
    return { body: { tasks: newestFirst.slice((page - 1) * perPage, page * perPage) } };
  });
}

/** Hooks h1, h2 and so on. */
function takeHooks(acme: Acme): void {
  let count = 0;
  acme.vendor.on('POST /hooks', () => {
    count++;
    acme.vendor.on(`DELETE /hooks/h${count}`, { status: 204 });
    return { status: 201, body: { id: `h${count}` } };
  });
}

async function deployed(acme: Acme, count = 0): Promise<Json> {
  listTasks(acme, count);
  takeHooks(acme);
  return acme.source('new-task-instant', { app: acme.account, projectId: 'p1' });
}

/** What the vendor was asked, without reads. */
const writes = (acme: Acme): string[] =>
  acme.vendor.calls.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);

/** Calls the source as the vendor would, signed with the secret of its last hook. */
function call(acme: Acme, source: Json, raw: string, signature?: string): Promise<Response> {
  const { secret } = acme.vendor.of('POST /hooks').at(-1)?.body ?? {};
  const signed = signature ?? createHmac('sha256', secret).update(raw).digest('hex');
  return fetch(`${source.endpoint_url}/path?q=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Acme-Signature': signed },
    body: raw,
  });
}

test('deploy emits fifty past events', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme, 70);
  const records = await emissions(acme.errand, source.id, 50);
  assert.deepEqual(
    records.map(({ event }) => event.id),
    Array.from({ length: 50 }, (_, n) => `t${70 - n}`),
    'listed newest first, so emitted oldest first, although the vendor lists the newest first',
  );
  assert.equal(records[0].metadata.summary, 'New Task: Task 70');
  assert.equal(acme.vendor.of('GET /tasks')[0]?.headers.authorization, 'Bearer acme-token-1');
});

test('activate registers the endpoint', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme);
  const [hook] = acme.vendor.of('POST /hooks');
  assert.equal(hook?.body.url, source.endpoint_url);
  assert.equal(hook?.body.project, 'p1');
  assert.deepEqual(hook?.body.events, ['task.created']);
});

const HANDSHAKE = 'acme/sources/handshake/handshake.mjs';

/** Calls the address first, as Asana and others do, and makes the hook only when it got its secret back. */
function shakeHands(acme: Acme): void {
  acme.vendor.on('POST /hooks', async ({ body }) => {
    const answer = await fetch(body.url, { method: 'POST', headers: { 'X-Hook-Secret': body.project } });
    const isRight = answer.status === 200 && answer.headers.get('x-hook-secret') === body.project;
    return isRight ? { body: { id: `h-${body.project}` } } : { status: 400, body: { message: 'no handshake' } };
  });
}

test('handshakes are answered inside activate', async () => {
  await using acme = await startAcme();
  shakeHands(acme);
  const source = await acme.source('handshake', { app: acme.account, projectIds: ['p1', 'p2'] });
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":1}' };
  await fetch(source.endpoint_url, call);
  const [first] = await emissions(acme.errand, source.id, 1);
  const both = { body: { n: 1 }, hookIds: ['h-p1', 'h-p2'], secrets: ['p1', 'p2'] };
  assert.deepEqual(first.event, both, 'what the hook and what the calls wrote to the db is there');

  await acme.errand.client.put(`/v1/sources/${source.id}`, {
    configured_props: { app: acme.account, projectIds: ['p2'] },
  });
  await fetch(source.endpoint_url, call);
  const [second] = await emissions(acme.errand, source.id, 2);
  assert.deepEqual(second.event, { ...both, hookIds: ['h-p2'] });
});

test('a refusal after a handshake leaves nothing', async () => {
  await using acme = await startAcme();
  acme.vendor.on('POST /hooks', async ({ body }) => {
    const answer = await fetch(body.url, { method: 'POST', headers: { 'X-Hook-Secret': body.project } });
    return { status: 403, body: { message: `not today, ${answer.headers.get('x-hook-secret')}` } };
  });
  const refused = await acme.trySource(HANDSHAKE, { app: acme.account, projectIds: ['p1'] });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /not today, p1/);
  assert.deepEqual((await acme.errand.client.get('/v1/sources')).data, []);
  const { runs } = await acme.errand.settled();
  assert.deepEqual([runs.queued, runs.running], [0, 0]);
});

test('runs overlap only while hooks run', async () => {
  await using acme = await startAcme();
  await using gate = await startGate();
  shakeHands(acme);
  const source = await acme.errand.client.post('/v1/sources', {
    component_code: `export default {
      props: { http: { type: '$.interface.http', customResponse: true }, db: '$.service.db' },
      async run({ body }) {
        const count = this.db.get('count') ?? 0;
        this.http.respond({ status: 200 });
        await fetch('${gate.url}/' + count);
        this.db.set('count', count + 1);
        this.$emit({ count });
      },
    };`,
  });
  const calls = [1, 2, 3].map(() => fetch(source.endpoint_url, { method: 'POST' }));
  await gate.wait(1);
  gate.open();
  await Promise.all(calls);
  await emissions(acme.errand, source.id, 3);
  assert.equal(gate.most, 1);
  assert.deepEqual(gate.asked, ['/0', '/1', '/2']);
});

test('a signed call is answered and emitted', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme);
  const raw = JSON.stringify({ ...task(1), note: 'größer ☃', n: 1.0 }, null, 2).replace('1.0', '1.00');
  const answer = await call(acme, source, raw);
  assert.equal(answer.status, 202, 'a status that is a string');
  assert.equal(answer.headers.get('x-taken'), 'yes');
  assert.deepEqual(await answer.json(), { ok: true });
  const [record] = await emissions(acme.errand, source.id, 1);
  assert.equal(record.event.note, 'größer ☃');
});

test('a wrong signature is answered 401', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme);
  const refused = await call(acme, source, JSON.stringify(task(1)), 'forged');
  assert.equal(refused.status, 401);
  const taken = await call(acme, source, JSON.stringify(task(2)));
  assert.equal(taken.status, 202);
  const records = await emissions(acme.errand, source.id, 1);
  assert.deepEqual(
    records.map(({ event }) => event.id),
    ['t2'],
  );
  const { data: lines } = await acme.errand.client.get(`/v1/sources/${source.id}/logs`);
  assert.ok(lines.some(({ text }: Json) => text === 'Invalid signature!'));
});

test('what deploy emitted is not emitted again', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme, 3);
  await emissions(acme.errand, source.id, 3);
  for (const n of [3, 2, 4]) assert.equal((await call(acme, source, JSON.stringify(task(n)))).status, 202);
  const records = await emissions(acme.errand, source.id, 4);
  assert.deepEqual(
    records.map(({ event }) => event.id),
    ['t4', 't3', 't2', 't1'],
  );
});

test('a failing activate leaves nothing', async () => {
  await using acme = await startAcme();
  const { errand, vendor } = acme;
  const listener = await errand.workflow('export default ({ steps }) => steps.trigger.event;', { triggers: [] });
  await errand.subscribe('dc_*', listener.id);
  listTasks(acme, 3);
  vendor.on('POST /hooks', { status: 403, body: { message: 'not your project' } });
  const refused = await acme.trySource(PATH, { app: acme.account, projectId: 'p1' });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /not your project/, 'the message is in the answer');
  assert.match(refused.text, /activate/, 'the stack is in the answer');
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);

  // Alive: the same again, with a vendor that agrees, is heard, and only what that one emits.
  const source = await deployed(acme, 2);
  await emissions(errand, source.id, 2);
  const runs = await errand.runs(listener.id, 2);
  await errand.settled();
  assert.equal((await errand.runs(listener.id, 2)).length, runs.length);
  assert.deepEqual(
    runs.map(({ emitter_id }) => emitter_id),
    [source.id, source.id],
  );
});

test('a failing deploy leaves nothing', async () => {
  await using acme = await startAcme();
  takeHooks(acme);
  acme.vendor.on('GET /tasks', ({ query }) =>
    query.page === '1' ? { body: { tasks: [task(1)] } } : { status: 500, body: { message: 'page two broke' } },
  );
  const refused = await acme.trySource(PATH, { app: acme.account, projectId: 'p1' });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /page two broke/);
  assert.deepEqual(writes(acme), [], 'activate did not run');
  assert.deepEqual((await acme.errand.client.get('/v1/sources')).data, []);
});

test('an update moves the hook', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme, 2);
  const path = `/v1/sources/${source.id}`;
  const changed = await acme.errand.client.put(path, { configured_props: { app: acme.account, projectId: 'p2' } });
  assert.equal(changed.id, source.id);
  assert.equal(changed.endpoint_url, source.endpoint_url);
  assert.deepEqual(writes(acme), ['POST /hooks', 'DELETE /hooks/h1', 'POST /hooks']);
  assert.equal(acme.vendor.of('POST /hooks')[1]?.body.project, 'p2');
  // deploy runs once: no past events again; dedupe and db remember.
  assert.equal((await call(acme, source, JSON.stringify(task(2)))).status, 202);
  assert.equal((await call(acme, source, JSON.stringify(task(3)))).status, 202);
  assert.equal((await emissions(acme.errand, source.id, 3)).length, 3);
});

test('a failing update changes nothing', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme);
  const path = `/v1/sources/${source.id}`;
  acme.vendor.on('POST /hooks', ({ body }) =>
    body.project === 'p1' ? { body: { id: 'again' } } : { status: 400, body: { message: 'no such project' } },
  );
  const refused = await acme.errand.client.request('PUT', path, {
    configured_props: { app: acme.account, projectId: 'p2' },
  });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /no such project/);
  const { data } = await acme.errand.client.get(path);
  assert.equal(data.configured_props.projectId, 'p1');
  const hooks = acme.vendor.of('POST /hooks');
  assert.equal(hooks.at(-1)?.body.project, 'p1', 'it is registered again as it was');
  assert.equal((await call(acme, source, JSON.stringify(task(9)))).status, 202);
  await emissions(acme.errand, source.id, 1);
});

test('pausing deactivates and resuming activates', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme, 1);
  const path = `/v1/sources/${source.id}`;
  assert.equal((await acme.errand.client.put(path, { active: false })).active, false);
  assert.deepEqual(writes(acme), ['POST /hooks', 'DELETE /hooks/h1']);
  assert.equal((await call(acme, source, JSON.stringify(task(5)))).status, 404);
  await acme.errand.restart();
  assert.equal((await acme.errand.client.put(path, { active: true })).active, true);
  assert.deepEqual(writes(acme), ['POST /hooks', 'DELETE /hooks/h1', 'POST /hooks']);
  const { endpoint_url } = (await acme.errand.client.get(path)).data;
  assert.equal((await call(acme, { endpoint_url }, JSON.stringify(task(6)))).status, 202);
  const records = await emissions(acme.errand, source.id, 2);
  assert.deepEqual(
    records.map(({ event }) => event.id),
    ['t6', 't1'],
  );
});

test('deletion deactivates', async () => {
  await using acme = await startAcme();
  const source = await deployed(acme);
  await acme.errand.client.delete(`/v1/sources/${source.id}`);
  assert.deepEqual(writes(acme), ['POST /hooks', 'DELETE /hooks/h1']);
  assert.equal((await acme.errand.client.request('GET', `/v1/sources/${source.id}`)).status, 404);
  assert.equal((await call(acme, source, '{}')).status, 404);
});

test('deletion goes on when deactivate fails', async () => {
  await using acme = await startAcme();
  const { errand, vendor } = acme;
  const desk = await errand.workflow('export default ({ steps }) => steps.trigger.event.error.msg;', { triggers: [] });
  await errand.client.post('/v1/auto_subscriptions', { event_name: '$errors', listener_id: desk.id });
  const source = await deployed(acme);
  vendor.on('DELETE /hooks/h1', { status: 500, body: { message: 'the vendor is down' } });
  await errand.client.delete(`/v1/sources/${source.id}`);
  assert.equal((await errand.client.request('GET', `/v1/sources/${source.id}`)).status, 404);
  const [heard] = await errand.runs(desk.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${heard.id}`);
  assert.match(data.steps[0].return_value, /the vendor is down/);
  assert.equal(
    (
      await until('the error in the ledger', async () => {
        const { data: ledger } = await errand.client.get('/v1/ledger');
        return ledger.errors.captured > 0 && ledger;
      })
    ).errors.captured,
    1,
  );
});

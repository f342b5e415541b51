// Errors that other programs report, over the API: each is an error like all others.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { type OwnerOn, sharedErrand, withScopes } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { until } from '../../support/wait.ts';

const newOwner = sharedErrand();

/** Bytes that no parser gives back as they were. */
const ODD = '{"n":12345678901234567890,"a":1,"a":2,"nul":"\\u0000","half":"\\ud800","e":1e400, "spaced" : [ ]}';
const STACK = 'TypeError: order 7 has no total\n    at charge (/srv/shop/charge.js:41:13)\n    at node:internal/x:1:2';

async function ingestKey(errand: OwnerOn, more: Json = {}): Promise<Json> {
  const key = await errand.client.post('/v1/keys', { label: 'reports', scopes: ['ingest'], ...more });
  return { ...key, client: createClient(errand.client.url, key.api_key) };
}

const shown = async (client: Client, id: string, query = '?expand=event'): Promise<Json> =>
  client.get(`/v1/workflows/${id}/$errors/event_summaries${query}`);

test('a reported error is listed as it was told', async () => {
  const errand = await newOwner();
  const { client } = await ingestKey(errand);
  const body = `{"service":"checkout","message":"order 7 has no total","code":"TypeError","stack":${JSON.stringify(STACK)},"step":"charge","ts":"2026-01-31T12:00:00.5Z","context":{"release" : 4.10},"original_event":${ODD}}`;
  const answer = await client.request('POST', '/v1/errors', body);
  equal(answer.status, 200, answer.text);
  const { id, emit_id: emitId, workflow_id: workflowId } = answer.json.data;
  const { text } = await errand.client.request(
    'GET',
    `/v1/workflows/${workflowId}/$errors/event_summaries?expand=event`,
  );
  ok(text.includes(`"original_event":${ODD},`), 'byte for byte');
  ok(text.includes('"context":{"release" : 4.10}'));
  const [record] = (await shown(errand.client, workflowId)).data;
  deepEqual([record.id, record.metadata.emit_id, record.metadata.emitter_id], [id, emitId, workflowId]);
  const { context: _told, ...error } = record.event.error;
  deepEqual(error, {
    code: 'TypeError',
    msg: 'order 7 has no total',
    cellId: '',
    ts: '2026-01-31T12:00:00.500Z',
    stack: '    at charge (/srv/shop/charge.js:41:13)\n    at node:internal/x:1:2',
    namespace: 'charge',
  });
  const context = record.event.original_context;
  match(context.id, /^ev_[0-9A-Za-z]{16}$/);
  equal(context.trace_id, context.id);
  deepEqual(
    [context.workflow_id, context.workflow_name, context.source_type, context.verified, context.reported],
    [workflowId, 'checkout', 'API', true, true],
  );
  const found = (await errand.client.get('/v1/errors?text=has%20no%20total')).data;
  deepEqual(
    found.map((one: Json) => one.id),
    [id],
  );
});

test('errors of a service are one group of one workflow', async () => {
  const errand = await newOwner();
  const { client } = await ingestKey(errand);
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      client.post('/v1/errors', {
        service: 'shop',
        message: `order ${n} has no total`,
        code: 'TypeError',
        stack: STACK,
      }),
    ),
  );
  equal(new Set(made.map((one: Json) => one.workflow_id)).size, 1);
  const [group, ...others] = (await errand.client.get('/v1/error_groups')).data;
  deepEqual([group.count, group.emitter_id, others], [20, made[0].workflow_id, []]);
  equal(group.fingerprint.template, 'order {n} has no total');
  match(group.fingerprint.frame, /^charge \(\/srv\/shop\/charge\.js\)$/);
  await client.post('/v1/errors', { service: 'other', message: 'order 1 has no total' });
  equal((await errand.client.get('/v1/workflows?name=shop')).data.length, 1);
});

test('a subscription and the global workflow are told', async () => {
  await using errand = await startErrand();
  const { client } = await withScopes(errand.client, ['ingest']);
  const listener = await errand.workflow('export default ({ steps }) => steps.trigger.event.original_event.order;');
  const first = await client.post('/v1/errors', { service: 'shop', message: 'no 1000', code: 'E1' });
  await errand.subscribe(first.workflow_id, listener.id, '$errors');
  for (let n = 0; n < 30; n++) {
    await client.post('/v1/errors', { service: 'shop', message: `no ${n}`, code: 'E1', original_event: { order: n } });
  }
  const runs = await errand.runs(listener.id, 30);
  deepEqual(
    runs.map(({ state }: Json) => state),
    Array(30).fill('succeeded'),
  );
  await errand.settled();
  const mails = await until('a mail', async () => (await errand.outbox()).length > 0 && errand.outbox());
  equal(mails.length, 1, 'repeats are counted');
  match(mails[0] as string, /shop: E1 no 1000/);
  ok(!mails[0]?.includes('/replay'), 'nothing here could run again');
});

test('a burst of one group is one mail and one digest', async () => {
  await using errand = await startErrand();
  const { client } = await withScopes(errand.client, ['ingest']);
  await client.post('/v1/errors', { service: 'storm', message: 'no 1000', code: 'Storm' });
  await Promise.all(
    Array.from({ length: 400 }, (_, n) =>
      client.post('/v1/errors', { service: 'storm', message: `no ${n}`, code: 'Storm' }),
    ),
  );
  const ledger = await errand.settled();
  equal(ledger.errors.captured, 401);
  equal((await errand.outbox()).length, 1);
  errand.forward(25 * 3_600_000);
  await errand.restart();
  const mails = await until('the digest', async () => (await errand.outbox()).length > 1 && errand.outbox());
  equal(mails.length, 2);
  match(mails[1] as string, /400 more/);
});

test('an error stays over a restart and is counted', async () => {
  await using errand = await startErrand();
  const key = await errand.client.post('/v1/keys', { label: 'x', scopes: ['ingest'], service: 'kept' });
  await createClient(errand.url, key.api_key).post('/v1/errors', { message: 'kept' });
  await errand.restart();
  equal((await shown(errand.client, key.workflow_id)).page_info.total_count, 1);
  await createClient(errand.url, key.api_key).post('/v1/errors', { message: 'kept' });
  equal((await shown(errand.client, key.workflow_id)).page_info.total_count, 2);
  equal((await errand.client.get('/v1/ledger')).data.errors.captured, 2);
});

test('another owner sees and reports nothing', async () => {
  const [a, b] = [await newOwner(), await newOwner()];
  const { client } = await ingestKey(a);
  const { workflow_id: workflowId } = await client.post('/v1/errors', { service: 'shop', message: 'of a' });
  const theirs = await ingestKey(b);
  assertProblem(await theirs.client.request('POST', '/v1/errors', { workflow_id: workflowId, message: 'x' }), 404);
  const own = await theirs.client.post('/v1/errors', { service: 'shop', message: 'of b' });
  notEqual(own.workflow_id, workflowId);
  assertProblem(await b.client.request('GET', `/v1/workflows/${workflowId}/$errors/event_summaries`), 404);
  equal((await shown(a.client, workflowId)).page_info.total_count, 1);
  assertProblem(
    await b.client.request('POST', '/v1/keys', { label: 'x', scopes: ['ingest'], workflow_id: workflowId }),
    404,
  );
});

test('a key of a workflow reports of it alone', async () => {
  const errand = await newOwner();
  const other = await errand.workflow('export default () => 1;');
  const { client, ...key } = await ingestKey(errand, { service: 'shop' });
  const { workflow_id: own } = await client.post('/v1/errors', { message: 'x' });
  equal(own, key.workflow_id);
  await client.post('/v1/errors', { message: 'x', workflow_id: own });
  for (const to of [{ workflow_id: other.id }, { service: 'shop' }, { service: 'more' }]) {
    assertProblem(await client.request('POST', '/v1/errors', { message: 'x', ...to }), 403);
  }
  equal((await errand.client.get('/v1/workflows?name=more')).data.length, 0);
  for (const scopes of [['read'], ['ingest', 'read'], undefined]) {
    const answer = await errand.client.request('POST', '/v1/keys', { label: 'x', scopes, service: 'shop' });
    assertProblem(answer, 400);
  }
  const both = { label: 'x', scopes: ['ingest'], service: 'shop', workflow_id: other.id };
  assertProblem(await errand.client.request('POST', '/v1/keys', both), 400);
});

test('a report with the same key is taken once', async () => {
  const errand = await newOwner();
  const { client } = await ingestKey(errand);
  const send = (body: Json) => client.request('POST', '/v1/errors', body, { 'idempotency-key': 'once' });
  const [first, second] = [await send({ service: 's', message: 'x' }), await send({ service: 's', message: 'x' })];
  deepEqual(second.json, first.json);
  equal((await shown(errand.client, first.json.data.workflow_id)).page_info.total_count, 1);
  assertProblem(await send({ service: 's', message: 'y' }), 422);
  equal((await send({ service: 'another', message: 'y' })).status, 200, 'keys are those of a workflow');
  assertProblem(
    await client.request('POST', '/v1/errors', { service: 's', message: 'x' }, { 'idempotency-key': 'x'.repeat(256) }),
    400,
  );
});

test('what is odd or too long is kept within bounds', async () => {
  const errand = await newOwner();
  const { client } = await ingestKey(errand);
  const odd = await client.post('/v1/errors', {
    service: 'odd',
    message: `\u0000\ud800${'ü'.repeat(20_000)}`,
    code: `\u0000${'c\n'.repeat(500)}\ud800`,
    step: `\u0000step${'s'.repeat(500)}`,
    stack: Array.from({ length: 500 }, (_, n) => `    at f${n} (/a/${'x'.repeat(3000)}.js:1:1)`)
      .join('\n')
      .slice(0, 400_000),
    ts: 1,
  });
  const [{ event }] = (await shown(errand.client, odd.workflow_id)).data;
  ok(Buffer.byteLength(event.error.msg) <= 8192 && event.error.msg.startsWith('\u0000\ufffdü'));
  ok(event.error.code.length <= 128 && event.error.namespace.length <= 64);
  ok(event.error.stack.split('\n').length <= 50);
  for (const line of event.error.stack.split('\n')) ok(line.length <= 1024);
  deepEqual([event.error.ts, event.original_event], ['1970-01-01T00:00:00.001Z', null]);
  const empty = await client.post('/v1/errors', { service: 'odd', message: '' });
  equal((await shown(errand.client, odd.workflow_id)).data[0].id, empty.id);
  // Microseconds, say, of a program that means milliseconds.
  await client.post('/v1/errors', { service: 'odd', message: 'later', ts: Date.now() * 1000 });
  const [later] = (await shown(errand.client, odd.workflow_id)).data;
  ok(Math.abs(Date.parse(later.event.error.ts) - later.indexed_at_ms) < 3_600_000, later.event.error.ts);
});

test('bad reports are refused by name', async () => {
  const errand = await newOwner();
  const { client } = await ingestKey(errand);
  const deep = '['.repeat(300) + ']'.repeat(300);
  const cases: [unknown, number, RegExp][] = [
    [{ message: 'x' }, 400, /workflow_id and service are both missing/],
    [{ message: 'x', service: 'a', workflow_id: 'p_1' }, 400, /both given/],
    [{ message: 'x', workflow_id: 'p_0000000000000000' }, 404, /there is no workflow p_0/],
    [{ service: 'a' }, 400, /message is missing/],
    [{ service: 'a', message: 7 }, 400, /message must be a string/],
    [{ service: '', message: 'x' }, 400, /service/],
    [{ service: 'x'.repeat(300), message: 'x' }, 400, /service/],
    [{ service: 'a', message: 'x', ts: 'soon' }, 400, /ts must be/],
    [{ service: 'a', message: 'x', context: [1] }, 400, /context must be a JSON object/],
    [{ service: 'a', message: 'x', context: 'x' }, 400, /context must be a JSON object/],
    [{ service: 'a', message: 'x', context: { x: 'x'.repeat(70_000) } }, 413, /context has/],
    [{ service: 'a', message: 'x', level: 'error' }, 400, /level/],
    [`{"service":"a","message":"x","original_event":${deep}}`, 400, /nested deeper/],
    [`{"service":"a","message":"x","original_event":"${'x'.repeat(530_000)}"}`, 413, /original_event has/],
    [`{"service":"a","message":"${'x'.repeat(10_000_000)}"}`, 413, /larger than/],
    ['{"service":"a","message":"x"', 400, /not valid JSON/],
    [Buffer.from([0x7b, 0xff, 0x7d]), 400, /UTF-8/],
    ['[]', 400, /JSON object/],
  ];
  for (const [body, status, told] of cases) {
    const answer = await client.request('POST', '/v1/errors', body);
    assertProblem(answer, status);
    match(answer.json.detail, told);
  }
  equal((await errand.client.get('/v1/workflows?name=a')).data.length, 0, 'no service for what is refused');
  const { json } = await errand.client.request('POST', '/v1/errors', { service: 'own', message: 'x' });
  match(json.data.id, /^\d+-\d+$/, 'the first key has all scopes');
});

test('an inactive workflow takes no errors', async () => {
  const errand = await newOwner();
  const { client } = await ingestKey(errand);
  const { workflow_id: id } = await client.post('/v1/errors', { service: 'off', message: 'x' });
  await errand.client.put(`/v1/workflows/${id}`, { active: false });
  const answer = await client.request('POST', '/v1/errors', { service: 'off', message: 'x' });
  assertProblem(answer, 409);
  await errand.client.put(`/v1/workflows/${id}`, { active: true, name: 'renamed' });
  equal((await client.post('/v1/errors', { service: 'off', message: 'x' })).workflow_id, id);
  await errand.client.delete(`/v1/workflows/${id}`);
  equal((await client.post('/v1/errors', { service: 'off', message: 'x' })).workflow_id, id, 'made again');
});

test('a reported error is not replayed', async () => {
  const errand = await newOwner();
  const { client } = await ingestKey(errand);
  const { workflow_id: id, id: record } = await client.post('/v1/errors', { service: 's', message: 'x' });
  const answer = await errand.client.request('POST', `/v1/workflows/${id}/$errors/${record}/replay`);
  assertProblem(answer, 422);
  match(answer.json.detail, /reported by another program/);
  const one = (await errand.client.get(`/v1/workflows/${id}/$errors/event_summaries/${record}`)).data;
  deepEqual(one.replays, []);
  // The global error workflow was told, and its mail may have been sent by now.
  ok(
    one.receipts.length > 0 && one.receipts.every(({ listener_id: to }: Json) => to !== id),
    JSON.stringify(one.receipts),
  );
});

test('a replay of many leaves reported errors out, and says why', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(`export default () => { throw new Error('lost') }`, {
    settings: { notify: false },
  });
  await errand.send(workflow, {});
  await errand.errors(workflow.id, 1);
  await errand.client.post('/v1/errors', { workflow_id: workflow.id, message: 'reported' });
  const { sample, ...dry } = await errand.client.post('/v1/replays', { workflow_id: workflow.id, dry_run: true });
  deepEqual([dry.to_replay, dry.passed_over, dry.reasons[0].reason], [1, 1, sample[1].reason]);
  deepEqual(
    sample.map(({ msg, reason }: Json) => [msg, reason]),
    [
      ['lost', null],
      ['reported', 'it was reported by another program: there is nothing here to run again'],
    ],
  );
});

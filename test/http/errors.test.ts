// The listing of a workflow's errors, shape by shape and page by page.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY_MS } from '../../src/domain/limits.ts';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { type OwnerOn, sharedErrand } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';
import { until } from '../support/wait.ts';
import { withoutIso } from '../support/wire/iso-times.ts';

const newOwner = sharedErrand();

const FAIL = `export default ({ steps }) => { throw new Error('error ' + steps.trigger.event.body.n) }`;
const ISO_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const EMPTY = { page_info: { total_count: 0, count: 0, start_cursor: null, end_cursor: null }, data: [] };

const listOf = (workflow: Json) => `/v1/workflows/${workflow.id}/$errors/event_summaries`;

async function failing(errand: OwnerOn, count: number): Promise<{ workflow: Json; ids: string[] }> {
  const workflow = await errand.workflow(FAIL, { settings: { concurrency: 1 } });
  for (let n = 1; n <= count; n++) {
    await errand.send(workflow, { n });
    // One after the other, so that their order is known.
    await errand.errors(workflow.id, Math.min(n, 100));
  }
  const { data } = await errand.client.get(listOf(workflow));
  return { workflow, ids: data.map((record: Json) => record.id) };
}

test('a record has its documented members', async () => {
  const errand = await newOwner();
  const { workflow } = await failing(errand, 1);
  const { page_info, data, ...rest } = await errand.client.get(`${listOf(workflow)}?expand=event`);
  const [record] = data;
  assert.deepEqual(rest, {});
  assert.deepEqual(page_info, { total_count: 1, count: 1, start_cursor: record.id, end_cursor: record.id });
  assert.deepEqual(Object.keys(record).toSorted(), ['event', 'id', 'indexed_at_ms', 'metadata']);
  assert.match(record.id, /^\d+-\d+$/);
  assert.ok(Number.isInteger(record.indexed_at_ms) && Math.abs(record.indexed_at_ms - Date.now()) < 60_000);
  assert.deepEqual(Object.keys(record.metadata).toSorted(), ['emit_id', 'emitter_id', 'name']);
  assert.deepEqual([record.metadata.emitter_id, record.metadata.name], [workflow.id, '$errors']);
  assert.deepEqual(Object.keys(record.event).toSorted(), ['error', 'original_context', 'original_event']);
});

test('an expanded error has its documented members', async () => {
  const errand = await newOwner();
  const { workflow } = await failing(errand, 1);
  const [record] = (await errand.client.get(`${listOf(workflow)}?expand=event`)).data;
  const { error, original_event: event, original_context: context } = record.event;
  assert.deepEqual(Object.keys(error).toSorted(), ['cellId', 'code', 'msg', 'namespace', 'stack', 'ts']);
  assert.deepEqual(
    [error.code, error.msg, error.cellId, error.namespace],
    ['Error', 'error 1', workflow.steps[0].id, 'step'],
  );
  assert.match(error.ts, ISO_MS);
  assert.match(error.stack, /^\s*at .*step/);
  assert.deepEqual([event.method, event.body], ['POST', { n: 1 }]);
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
  const [run] = await errand.runs(workflow.id, 1);
  assert.deepEqual(context, {
    id: context.id,
    ts: context.ts,
    workflow_id: workflow.id,
    deployment_id: workflow.deployment_id,
    source_type: 'HTTP',
    verified: false,
    owner_id: workflow.owner_id,
    platform_version: version,
    workflow_name: 'test',
    emitter_id: workflow.triggers[0].id,
    trace_id: context.trace_id,
    replay: false,
    attempt: 1,
    test: false,
  });
  assert.match(context.ts, ISO_MS);
  assert.equal(run.error_id, record.id);
});

test('without expand there is no event', async () => {
  const errand = await newOwner();
  const { workflow } = await failing(errand, 1);
  const [record] = (await errand.client.get(listOf(workflow))).data;
  assert.deepEqual(Object.keys(record).toSorted(), ['id', 'indexed_at_ms', 'metadata']);
  for (const expand of ['everything', 'event,error', 'Event', '']) {
    const answer = await errand.client.request('GET', `${listOf(workflow)}?expand=${expand}`);
    assertProblem(answer, 400, 'expand');
  }
});

test('the dollar may be escaped', async () => {
  const errand = await newOwner();
  const { workflow } = await failing(errand, 1);
  const raw = await errand.client.request('GET', `${listOf(workflow)}?expand=event`);
  const escaped = await errand.client.request('GET', `${listOf(workflow).replace('$', '%24')}?expand=event`);
  assert.deepEqual([escaped.status, escaped.text], [200, raw.text]);
  const { id } = raw.json.data[0];
  const one = await errand.client.request('GET', `${listOf(workflow).replace('$', '%24')}/${id}`);
  assert.deepEqual([one.status, one.json.data.id], [200, id]);
});

test('an empty page has null cursors', async () => {
  const errand = await newOwner();
  const { workflow, ids } = await failing(errand, 2);
  const quiet = await errand.workflow('export default () => 1');
  assert.deepEqual(await errand.client.get(listOf(quiet)), EMPTY);
  assert.deepEqual(await errand.client.get(`${listOf(quiet)}?expand=event&limit=5`), EMPTY);
  const { page_info, data } = await errand.client.get(`${listOf(workflow)}?after=${ids[1]}`);
  assert.deepEqual(data, []);
  assert.deepEqual([page_info.count, page_info.start_cursor, page_info.end_cursor], [0, null, null]);
});

test('cursors walk the errors both ways', async () => {
  const errand = await newOwner();
  const { workflow, ids } = await failing(errand, 5);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => Number(b.split('-')[0]) - Number(a.split('-')[0])),
    'newest first',
  );
  const page = async (query: string) => {
    const { page_info, data } = await errand.client.get(`${listOf(workflow)}?${query}`);
    const found = data.map((record: Json) => record.id);
    assert.deepEqual(
      page_info,
      { total_count: 5, count: found.length, start_cursor: found[0] ?? null, end_cursor: found.at(-1) ?? null },
      query,
    );
    return found;
  };
  assert.deepEqual(await page('limit=2'), ids.slice(0, 2));
  assert.deepEqual(await page(`limit=2&after=${ids[1]}`), ids.slice(2, 4));
  assert.deepEqual(await page(`limit=2&after=${ids[3]}`), ids.slice(4));
  assert.deepEqual(await page(`before=${ids[2]}`), ids.slice(0, 2));
  assert.deepEqual(await page(`limit=1&before=${ids[2]}`), ids.slice(1, 2));
  assert.deepEqual(await page(`after=${ids[0]}&before=${ids[4]}`), ids.slice(1, 4));
});

test('only the newest hundred are listed', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL, { settings: { concurrency: 1, notify: false } });
  for (let n = 1; n <= 130; n++) await errand.send(workflow, { n });
  await errand.settled();
  const whole = await errand.client.get(`${listOf(workflow)}?expand=event`);
  const numbers = whole.data.map((record: Json) => record.event.original_event.body.n);
  assert.deepEqual(
    numbers,
    Array.from({ length: 100 }, (_, n) => 130 - n),
  );
  assert.deepEqual([whole.page_info.total_count, whole.page_info.count], [100, 100]);
  const clamped = await errand.client.get(`${listOf(workflow)}?expand=event&limit=1000`);
  assert.deepEqual(clamped, whole);
  const last = whole.page_info.end_cursor;
  const beyond = await errand.client.get(`${listOf(workflow)}?after=${last}`);
  assert.deepEqual([beyond.data, beyond.page_info.total_count], [[], 100]);
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.equal(ledger.errors.captured, 130);
});

test('one record shows who was told', async () => {
  const errand = await newOwner();
  const { workflow } = await failing(errand, 0);
  const listener = await errand.workflow('export default () => 1', { triggers: [] });
  const subscribed = await errand.subscribe(workflow.id, listener.id, '$errors');
  await errand.send(workflow, { n: 1 });
  const [listed] = await errand.errors(workflow.id, 1);
  const [heard] = await errand.runs(listener.id, 1);
  await errand.settled();
  const { data: plain } = await errand.client.get(`${listOf(workflow)}/${listed.id}`);
  assert.deepEqual(Object.keys(withoutIso(plain)).toSorted(), [
    'delivery_id',
    'id',
    'indexed_at_ms',
    'metadata',
    'receipts',
    'replays',
    'run_id',
    'run_retained',
    'told',
  ]);
  assert.deepEqual([plain.told, plain.replays], ['told', []]);
  const { data: record } = await errand.client.get(`${listOf(workflow)}/${listed.id}?expand=event`);
  assert.deepEqual(record.event, listed.event);
  const { data: me } = await errand.client.get('/v1/users/me');
  const [globalRun] = await errand.runs(me.global_error_workflow_id, 1);
  const told = record.receipts.map((receipt: Json) => [receipt.kind, receipt.id, receipt.via, receipt.state].join(' '));
  const [mail] = record.receipts.filter((receipt: Json) => receipt.kind === 'mail');
  assert.deepEqual(told.toSorted(), [
    `mail ${mail.id} global delivered`,
    ...[`run ${heard.id} subscription succeeded`, `run ${globalRun.id} global succeeded`].toSorted(),
  ]);
  const receipt = record.receipts.find((each: Json) => each.id === heard.id);
  assert.deepEqual([receipt.listener_id, receipt.subscription_id], [listener.id, subscribed[0].id]);
});

test('receipts keep to their documented words', async () => {
  const errand = await newOwner();
  const { workflow, ids } = await failing(errand, 1);
  const receipts = await until('the receipt of the mail', async () => {
    const { data } = await errand.client.get(`${listOf(workflow)}/${ids[0]}`);
    return data.receipts.some((receipt: Json) => receipt.kind === 'mail') && data.receipts;
  });
  const members = ['kind', 'id', 'listener_id', 'subscription_id', 'via', 'state'];
  for (const { reason: _, ...receipt } of receipts) {
    assert.deepEqual(Object.keys(receipt), members);
    assert.ok(['run', 'delivery', 'mail', 'withheld'].includes(receipt.kind), receipt.kind);
    assert.ok(['trigger', 'subscription', 'global'].includes(receipt.via), `via ${receipt.via}`);
  }
});

test('errors stay with their own workflow', async () => {
  const errand = await newOwner();
  const [one, other] = [await failing(errand, 2), await failing(errand, 1)];
  assert.equal((await errand.client.get(listOf(one.workflow))).page_info.total_count, 2);
  assert.equal((await errand.client.get(listOf(other.workflow))).page_info.total_count, 1);
  for (const path of [`${listOf(other.workflow)}/${one.ids[0]}`, `${listOf(one.workflow)}/1-0`]) {
    assertProblem(await errand.client.request('GET', path), 404);
  }
  const replay = `/v1/workflows/${other.workflow.id}/$errors/${one.ids[0]}/replay`;
  assertProblem(await errand.client.request('POST', replay), 404);
  assertProblem(await errand.client.request('POST', `/v1/workflows/${one.workflow.id}/$errors/nonsense/replay`), 404);
  const foreign = await errand.client.request('GET', `${listOf(other.workflow)}?after=${one.ids[0]}`);
  assert.ok([200, 400].includes(foreign.status), foreign.text);
});

test('a listing needs a key', async () => {
  const errand = await newOwner();
  const { workflow } = await failing(errand, 1);
  for (const authorization of [
    undefined,
    '',
    'Bearer',
    'Bearer wrong',
    errand.client.key,
    `Basic ${errand.client.key}`,
  ]) {
    const answer = await fetch(errand.client.url + listOf(workflow), {
      headers: authorization ? { authorization } : {},
    });
    const text = await answer.text();
    assertProblem({ status: answer.status, headers: answer.headers, text, json: JSON.parse(text) }, 401);
    assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
    assert.equal(text.includes('event_summaries'), false);
  }
  const small = await fetch(errand.client.url + listOf(workflow), {
    headers: { authorization: `bearer ${errand.client.key}` },
  });
  assert.equal(small.status, 200, 'the scheme is a word in any case');
  await small.body?.cancel();
});

test('an unknown workflow has no listing', async () => {
  const errand = await newOwner();
  const webhook = await errand.client.post('/v1/webhooks', { url: 'https://example.com/hook' });
  for (const id of ['p_nobody1', 'dc_nobody1', webhook.id, 'nonsense', '%00']) {
    for (const list of ['$errors/event_summaries', 'event_summaries']) {
      assertProblem(await errand.client.request('GET', `/v1/workflows/${id}/${list}`), [400, 404]);
    }
  }
  assertProblem(
    await errand.client.request('GET', '/v1/workflows/p_nobody1/$errors/event_summaries'),
    404,
    'p_nobody1',
  );
});

test('a listed event can be sent again', async () => {
  const errand = await newOwner();
  const { workflow } = await failing(errand, 1);
  const [record] = await errand.errors(workflow.id, 1);
  await errand.client.put(`/v1/workflows/${workflow.id}`, {
    steps: [{ namespace: 'step', code: 'export default ({ steps }) => steps.trigger.event.body' }],
  });
  await errand.send(workflow, record.event.original_event.body);
  const [run] = await errand.runs(workflow.id, 2);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.deepEqual([data.state, data.steps[0].return_value], ['succeeded', { n: 1 }]);
});

test('an error that is kept longer than its run says so', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(
    'export default ({ steps }) => { if (steps.trigger.event.body.bad) throw new Error("bad"); }',
    { settings: { error_retention: { days: 365 }, notify: false } },
  );
  await errand.send(workflow, { bad: true });
  const [{ id }] = await errand.errors(workflow.id, 1);
  const path = `${listOf(workflow)}/${id}`;
  const { run_id: runId, run_retained: isRetained } = (await errand.client.get(path)).data;
  assert.equal(isRetained, true);
  assert.equal((await errand.client.get(`/v1/runs/${runId}`)).data.error_id, id);
  // The newest hundred events of a trigger stay in any case, with their runs.
  for (let n = 0; n < 101; n++) await errand.send(workflow, { bad: false });
  await errand.settled();
  errand.forward(40 * DAY_MS);
  await errand.restart();
  await until('the run is gone', async () => (await errand.client.request('GET', `/v1/runs/${runId}`)).status === 404);
  const { data } = await errand.client.get(`${path}?expand=event`);
  assert.deepEqual([data.run_id, data.run_retained, data.event.error.msg], [runId, false, 'bad']);
  const { data: found } = await errand.client.get(`/v1/errors?emitter_id=${workflow.id}`);
  assert.deepEqual(
    found.map((one: Json) => [one.run_id, one.run_retained]),
    [[runId, false]],
  );
  const replay = await errand.client.post(`/v1/workflows/${workflow.id}/$errors/${id}/replay`);
  assert.match(replay.run_id, /^r_/);
  const replays = async () => (await errand.client.get(path)).data.replays;
  await until('the replay', async () => (await replays())[0]?.outcome === 'failed_same');
  const [{ error_id: errorId }] = await replays();
  const { data: again } = await errand.client.get(`${listOf(workflow)}/${errorId}`);
  assert.deepEqual([again.run_id, again.run_retained], [replay.run_id, true]);
});

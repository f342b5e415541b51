// Sources that poll with a cursor in their db, as most public ones do, and the rules by which emissions are taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { startAcme } from '../support/sources/acme.ts';
import { runNow } from '../support/sources/own-sources.ts';
import { createSource, emissions, post } from '../support/sources/sources.ts';
import { until } from '../support/wait.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const tasks = (...ids: number[]): Json[] => ids.map((id) => ({ id, name: `n${id}`, created_at: at(id) }));
const ids = (records: Json[]): string[] => records.map(({ metadata }) => metadata.id).reverse();

/** Emits what it is called with: a list of `[event, meta]`. */
const scripted = (dedupe?: string): string => `export default {
  ${dedupe === undefined ? '' : `dedupe: '${dedupe}',`}
  props: { http: '$.interface.http', db: '$.service.db' },
  run({ body }) {
    for (const [event, meta] of body) this.$emit(event, meta);
  },
};`;

/** Calls a source and waits for the end of that run. */
async function called(errand: Errand, source: Json, list: Json[]): Promise<Json> {
  const { run_id } = await errand.client.post(`/v1/sources/${source.id}/invoke`, { event: { body: list } });
  return until(`the end of ${run_id}`, async () => {
    const { data } = await errand.client.get(`/v1/runs/${run_id}`);
    return ['succeeded', 'failed', 'cancelled'].includes(data.state) && data;
  });
}

const withIds = (...list: Json[]): Json[] => list.map((id) => [{ id }, { id, summary: `s${id}` }]);

test('a cursor in db moves on', async () => {
  await using acme = await startAcme();
  const { errand, vendor } = acme;
  vendor.on('GET /tasks', { body: { tasks: tasks(3, 2, 1) } });
  const source = await acme.source('new-task', { acme: acme.account });
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  vendor.on('GET /tasks', { body: { tasks: tasks(5, 4, 3) } });
  await errand.restart();
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  vendor.on('GET /tasks', { body: { tasks: [] } });
  assert.equal((await runNow(errand, source)).state, 'succeeded');

  const queries = vendor.of('GET /tasks').map(({ query }) => query);
  assert.deepEqual(queries, [
    { since: '1970-01-01T00:00:00.000Z', order: 'desc' },
    { since: at(3), order: 'desc' },
    { since: at(5), order: 'desc' },
  ]);
  assert.deepEqual(
    ids(await emissions(errand, source.id, 5)),
    ['1', '2', '3', '4', '5'],
    'greatest, although newest came first',
  );
});

test('a failed poll moves no cursor', async () => {
  await using acme = await startAcme();
  const { errand, vendor } = acme;
  vendor.on('GET /tasks', { body: { tasks: tasks(1) } });
  const source = await acme.source('new-task', { acme: acme.account });
  await runNow(errand, source);
  vendor.on('GET /tasks', { status: 502, body: { message: 'bad gateway' } });
  assert.equal((await runNow(errand, source)).state, 'failed');
  const [error] = await errand.errors(source.id, 1);
  assert.match(error.event.error.msg, /bad gateway/);
  vendor.on('GET /tasks', { body: { tasks: tasks(2) } });
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  assert.equal(vendor.of('GET /tasks').at(-1)?.query.since, at(1));
  assert.deepEqual(ids(await emissions(errand, source.id, 2)), ['1', '2']);
});

test('an app writes the db it is handed', async () => {
  await using acme = await startAcme();
  const { errand, vendor } = acme;
  vendor.on('GET /tasks', ({ query }) => ({ body: { tasks: tasks(1), token: `${query.token}+` } }));
  const source = await acme.source('task-synced', { acme: acme.account });
  for (let poll = 0; poll < 3; poll++) {
    const run = await runNow(errand, source);
    assert.equal(run.state, 'succeeded', JSON.stringify(run.error));
  }
  assert.deepEqual(
    vendor.of('GET /tasks').map(({ query }) => query.token),
    ['*', '*+', '*++'],
  );
  assert.deepEqual(ids(await emissions(errand, source.id, 1)), ['1'], 'also with a Date as ts');
});

test('unique remembers the last hundred ids', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted('unique'));
  const hundred = Array.from({ length: 100 }, (_, n) => `i${n}`);
  await called(errand, source, withIds(...hundred));
  assert.equal((await called(errand, source, withIds('i0', 'i99'))).suppressed, 2);
  await errand.restart();
  assert.equal((await called(errand, source, withIds('new', 'new', 'i99'))).suppressed, 2);
  const run = await called(errand, source, withIds('i0', 'i99'));
  assert.equal(run.suppressed, 1, 'i0 is no longer among the last 100');
  const records = await emissions(errand, source.id, 100);
  assert.deepEqual(ids(records).slice(-2), ['new', 'i0']);
});

test('zero is an id', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted('unique'));
  const run = await called(errand, source, withIds(0, 1, 0));
  assert.deepEqual([run.state, run.suppressed], ['succeeded', 1]);
  assert.deepEqual(ids(await emissions(errand, source.id, 2)), ['0', '1']);
});

test('greatest takes only larger numbers', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted('greatest'));
  await called(errand, source, withIds(3, 1, 5));
  await called(errand, source, withIds(4, '10', 9, 11));
  assert.deepEqual(ids(await emissions(errand, source.id, 4)), ['3', '5', '10', '11']);
});

test('last takes what follows the last', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted('last'));
  await called(errand, source, withIds('a', 'b', 'c'));
  await called(errand, source, withIds('b', 'c', 'd', 'e'));
  await called(errand, source, withIds('e'));
  await called(errand, source, withIds('x', 'b'));
  assert.deepEqual(ids(await emissions(errand, source.id, 7)), ['a', 'b', 'c', 'd', 'e', 'x', 'b']);
});

test('emissions are sorted before dedupe', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted('greatest'));
  const newestFirst = [4, 3, 2, 1].map((id) => [{ id }, { id, ts: 1_700_000_000_000 + id }]);
  const run = await called(errand, source, newestFirst);
  assert.equal(run.suppressed ?? 0, 0);
  const records = await emissions(errand, source.id, 4);
  assert.deepEqual(ids(records), ['1', '2', '3', '4']);
  assert.equal(records[0].metadata.ts, 1_700_000_000_004);
});

test('an emission without id is an error', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted('unique'));
  await called(errand, source, [[{ n: 1 }, { summary: 'no id' }]]);
  const [error] = await errand.errors(source.id, 1);
  assert.match(error.event.error.msg, /\bid\b/);
  const { data: lines } = await errand.client.get(`/v1/sources/${source.id}/logs`);
  assert.ok(
    lines.some(({ text }: Json) => /\bid\b/.test(text)),
    JSON.stringify(lines),
  );
});

test('an id that is no number is an error under greatest', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted('greatest'));
  await called(errand, source, withIds(7));
  await called(errand, source, withIds(8, '0035-1700000000'));
  const [error] = await errand.errors(source.id, 1);
  assert.match(error.event.error.msg, /"greatest", and emitted an event whose id is no number: "0035-1700000000"/);
  await called(errand, source, withIds('8.5'));
  assert.deepEqual(ids(await emissions(errand, source.id, 2)), ['7', '8.5'], 'nothing of the failed run');
});

test('without dedupe no id is needed', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted());
  await called(errand, source, [
    [{ n: 1 }],
    [{ n: 2 }, {}],
    [{ n: 2 }, { id: 'a' }],
    [{ n: 2 }, { id: 'a' }],
    ['text'],
  ]);
  const records = await emissions(errand, source.id, 5);
  assert.equal(records.length, 5);
  assert.equal(records[0].event, 'text');
});

test('channels are heard by name', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, scripted());
  const hear = (event_name?: string) =>
    errand.workflow('export default ({ steps }) => steps.trigger.event.n;', {
      triggers: [{ type: 'emitter', emitter_id: source.id, ...(event_name === undefined ? {} : { event_name }) }],
    });
  const [plain, updates, all] = [await hear(), await hear('updates'), await hear('*')];
  await post(source, [[{ n: 1 }], [{ n: 2 }, { name: 'updates' }], [{ n: 3 }, { name: 'other' }]]);
  await errand.runs(all.id, 3);
  await errand.settled();
  assert.equal((await errand.runs(plain.id, 1)).length, 1);
  assert.equal((await errand.runs(updates.id, 1)).length, 1);
  const [record] = await emissions(errand, source.id, 1, 'updates');
  assert.deepEqual([record.event, record.metadata.name], [{ n: 2 }, 'updates']);
  assert.equal((await emissions(errand, source.id, 1)).length, 1);
});

test('a failed run leaves no trace', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      dedupe: 'unique',
      props: { http: '$.interface.http', db: '$.service.db' },
      run({ body }) {
        const count = (this.db.get('count') ?? 0) + 1;
        this.db.set('count', count);
        this.$emit({ count }, { id: body.id });
        if (body.fails) throw new TypeError('after the emission');
      },
    };`,
  );
  await post(source, { id: 'a', fails: true });
  const [error] = await errand.errors(source.id, 1);
  const { original_event, error: thrown } = error.event;
  assert.deepEqual([thrown.code, thrown.msg, original_event.body.id], ['TypeError', 'after the emission', 'a']);
  assert.equal(error.metadata.emitter_id, source.id);
  await post(source, { id: 'a' });
  const records = await emissions(errand, source.id, 1);
  assert.deepEqual(
    records.map(({ event }) => event),
    [{ count: 1 }],
    'neither the id nor the count of the failed run was kept',
  );
});

test('db is synchronous and forgets undefined', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http', db: '$.service.db' },
      methods: { keep(value) { this.db.set('kept', value); } },
      run() {
        const before = this.db.get('kept');
        this.db.set('other', { deep: [1, null, 'x'] });
        const { deep } = this.db.get('other');
        this.keep(before === undefined ? { n: 1 } : undefined);
        this.$emit({ before: before ?? 'none', deep, after: this.db.get('kept') ?? 'none' });
      },
    };`,
  );
  await post(source, {});
  await emissions(errand, source.id, 1);
  await errand.restart();
  const again = (await errand.client.get(`/v1/sources/${source.id}`)).data;
  await post(again, {});
  const [second, first] = await emissions(errand, source.id, 2);
  assert.deepEqual(first.event, { before: 'none', deep: [1, null, 'x'], after: { n: 1 } });
  assert.deepEqual(second.event, { before: { n: 1 }, deep: [1, null, 'x'], after: 'none' });
});

// What a source emits for a later time: it waits in the channel `$in`, and then is an emission like others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { createOwner } from '../support/owners.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { createSource, emissions, eventsOf, post } from '../support/sources/sources.ts';
import { listen, streamPath } from '../support/stream.ts';
import { until } from '../support/wait.ts';

const newErrand = shareErrand();

const HOUR_MS = 3_600_000;

/** Emits each of an array with its own metadata. */
const SOURCE = `export default {
  props: { http: '$.interface.http' },
  run({ body }) { for (const { event, ...metadata } of body) this.$emit(event, metadata); },
};`;

const inHours = (hours: number): number => Date.now() + hours * HOUR_MS;
const waitingPath = (source: Json, more = ''): string =>
  `/v1/sources/${source.id}/event_summaries?event_name=$in${more}`;

async function waiting(errand: Errand, source: Json, count: number): Promise<Json[]> {
  return until(`${count} that wait`, async () => {
    const page = await errand.client.get(waitingPath(source, '&expand=event'));
    return page.data.length === count && page.data;
  });
}

test('an emission for later waits in $in', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, SOURCE);
  const at = inHours(1);
  await post(source, [
    { event: { n: 1 }, id: 'a', summary: 'One', ts: 7, name: 'paid', delivery_ts: at },
    { event: { n: 2 }, delivery_ts: Date.now() - HOUR_MS },
    { event: { n: 3 } },
  ]);
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 2)), [{ n: 2 }, { n: 3 }]);
  const [record] = await waiting(errand, source, 1);
  const { emit_id: _emitId, ...metadata } = record.metadata;
  assert.deepEqual(record.event, { n: 1 });
  assert.deepEqual(metadata, {
    emitter_id: source.id,
    name: '$in',
    event_name: 'paid',
    delivery_ts: at,
    id: 'a',
    summary: 'One',
    ts: 7,
  });
  const other = await createOwner(errand);
  assert.equal((await other.client.request('GET', waitingPath(source))).status, 404);
  assert.equal((await other.client.request('DELETE', `/v1/sources/${source.id}/events?event_name=$in`)).status, 404);
});

test('when its time comes it is emitted, once', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, SOURCE);
  await post(source, [
    { event: { n: 1 }, summary: 'One', delivery_ts: inHours(1) },
    { event: { n: 2 }, delivery_ts: inHours(30) },
  ]);
  await waiting(errand, source, 2);
  await errand.restart();
  const listener = await errand.workflow('export default ({ steps }) => steps.trigger.event.n;', {
    triggers: [{ type: 'source', source_id: source.id }],
  });
  await using stream = await listen(errand, streamPath(source.id));
  errand.forward(2 * HOUR_MS);
  const [record] = await stream.count(1);
  assert.deepEqual([record.event, record.metadata.summary, record.metadata.name], [{ n: 1 }, 'One', '']);
  const [run] = await errand.runs(listener.id, 1);
  assert.equal(run.state, 'succeeded');
  assert.equal((await waiting(errand, source, 1))[0].event.n, 2);
  await errand.restart();
  assert.equal((await emissions(errand, source.id, 1)).length, 1);
  assert.equal((await errand.runs(listener.id, 1)).length, 1);
});

test('what waits can be deleted', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, SOURCE);
  await post(source, [{ event: { n: 0 } }, ...[1, 2, 3].map((n) => ({ event: { n }, delivery_ts: inHours(1) }))]);
  const records = await waiting(errand, source, 3);
  const one = `/v1/sources/${source.id}/event_summaries/${records[1].id}`;
  assert.deepEqual(await errand.client.delete(one), { id: records[1].id });
  assert.equal((await errand.client.request('DELETE', one)).status, 404);
  assert.deepEqual(eventsOf(await waiting(errand, source, 2)), [{ n: 1 }, { n: 3 }]);
  const rest = await errand.client.request('DELETE', `/v1/sources/${source.id}/events?event_name=$in`);
  assert.deepEqual([rest.status, rest.json.data], [202, { deleted: 2 }]);
  assert.equal((await emissions(errand, source.id, 1)).length, 1);
});

test('events are deleted from one to another', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, SOURCE);
  await post(
    source,
    [0, 1, 2, 3].map((n) => ({ event: { n } })),
  );
  const [three, two, one] = await emissions(errand, source.id, 4);
  const path = `/v1/sources/${source.id}/events`;
  const range = await errand.client.request('DELETE', `${path}?start_id=${one.id}&end_id=${two.id}`);
  assert.deepEqual([range.status, range.json.data], [202, { deleted: 2 }]);
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 2)), [{ n: 0 }, { n: 3 }]);
  await errand.client.delete(`/v1/sources/${source.id}/event_summaries/${three.id}`);
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1)), [{ n: 0 }]);
  const refused = async (query: string) => (await errand.client.request('DELETE', path + query)).status;
  assert.deepEqual(
    [await refused('?start_id=yesterday'), await refused('?end_id=7'), await refused('?event_name=$errors')],
    [400, 400, 422],
  );
});

test('a time that is none fails the run', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, SOURCE);
  for (const time of ['soon', true, 9e15]) await post(source, [{ event: 1 }, { event: 2, delivery_ts: time }]);
  const errors = await errand.errors(source.id, 3);
  for (const { event } of errors) {
    assert.equal(event.error.code, 'ConfigurationError');
    assert.match(event.error.msg, /^delivery_ts is /);
  }
  await post(source, [{ event: 3 }]);
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1)), [3]);
});

test('what waits goes with its source', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, SOURCE);
  await post(source, [{ event: 1, delivery_ts: inHours(1) }]);
  await waiting(errand, source, 1);
  await errand.client.delete(`/v1/sources/${source.id}`);
  assert.equal((await errand.client.request('GET', waitingPath(source))).status, 404);
  const before = (await errand.client.get('/v1/ledger')).data.emissions;
  errand.forward(2 * HOUR_MS);
  const other = await createSource(errand, SOURCE);
  await post(other, [{ event: 2 }]);
  await emissions(errand, other.id, 1);
  assert.equal((await errand.client.get('/v1/ledger')).data.emissions, before + 2);
});

// What a source remembers: its db and its dedupe memory, which commit with what it emits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, emissions, eventsOf, post } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

const emitting = (dedupe: string): string => `export default {
  ${dedupe === '' ? '' : `dedupe: '${dedupe}',`}
  props: { http: '$.interface.http' },
  run(event) { for (const meta of event.body) this.$emit(meta, meta); },
};`;

/** Posts ids, waits for the run, and returns the ids of all emissions, oldest first. */
async function idsAfter(errand: Errand, source: { id: string }, ids: unknown[]): Promise<unknown[]> {
  await post(
    source,
    ids.map((id) => ({ id })),
  );
  await errand.settled();
  const page = await errand.client.get(`/v1/sources/${source.id}/event_summaries?expand=event`);
  return eventsOf(page.data).map((event) => event.id);
}

test('the db is synchronous and survives a restart', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http', db: '$.service.db' },
      run() {
        const before = this.db.get('seen');
        this.db.set('seen', [...(before ?? []), { n: (before?.length ?? 0) + 1, nested: { is: [null, true, 'é'] } }]);
        this.$emit({ before: before === undefined ? 'undefined' : before, after: this.db.get('seen').length });
      },
    };`,
  );
  await post(source, {});
  await emissions(errand, source.id, 1);
  await errand.restart();
  await post(await errand.client.get(`/v1/sources/${source.id}`).then((a) => a.data), {});
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 2)), [
    { before: 'undefined', after: 1 },
    { before: [{ n: 1, nested: { is: [null, true, 'é'] } }], after: 2 },
  ]);
});

test('what a source keeps is shown, without what is hidden', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http', db: '$.service.db' },
      run({ body }) { for (const [name, value] of Object.entries(body)) this.db.set(name, value); this.$emit(body); },
    };`,
  );
  const stateOf = async ({ client }: Pick<Errand, 'client'> = errand) =>
    client.request('GET', `/v1/sources/${source.id}/state`);
  assert.deepEqual((await stateOf()).json.data, { count: 0, values: [] });
  await post(source, { cursor: [1, 2], token: 'abc', large: 'x'.repeat(5000), said: 'card 4111111111111111' });
  await emissions(errand, source.id, 1);
  const shown = [
    { name: 'cursor', value: [1, 2], chars: 5 },
    { name: 'large', chars: 5002 },
    { name: 'said', value: 'card 4111111111111111', chars: 23 },
    { name: 'token', value: 'abc', chars: 5 },
  ];
  assert.deepEqual((await stateOf()).json.data, { count: 4, values: shown });
  assert.equal((await stateOf(other)).status, 404);
  const skipping = (skip: string) => errand.client.request('GET', `/v1/sources/${source.id}/state?skip=${skip}`);
  assert.deepEqual((await skipping('3')).json.data, { count: 4, values: shown.slice(3) });
  assert.deepEqual((await skipping('1000000')).json.data, { count: 4, values: [] });
  for (const wrong of ['-1', '1.5', 'x', '', '1000001']) assert.equal((await skipping(wrong)).status, 400, wrong);
  await errand.restart();
  await errand.client.put('/v1/users/me/redaction', { keys: ['token'], patterns: ['\\d{16}'] });
  const { values } = (await stateOf()).json.data;
  assert.deepEqual(
    values.map(({ value }: Json) => value),
    [[1, 2], undefined, 'card [redacted]', '[redacted]'],
  );
  await errand.client.delete(`/v1/sources/${source.id}`);
  assert.equal((await stateOf()).status, 404);
});

test('setting undefined clears a db key', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http', db: '$.service.db' },
      run(event) {
        if (event.body.set !== undefined) this.db.set('k', event.body.set);
        if (event.body.clear) this.db.set('k', undefined);
        this.$emit({ k: String(JSON.stringify(this.db.get('k'))) });
      },
    };`,
  );
  for (const body of [{ set: 0 }, {}, { clear: true }, {}]) {
    await post(source, body);
    await errand.settled();
  }
  const events = eventsOf(await emissions(errand, source.id, 4));
  assert.deepEqual(
    events.map((event) => event.k),
    ['0', '0', 'undefined', 'undefined'],
  );
});

test('a failed run leaves db and dedupe alone', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default {
      dedupe: 'unique',
      props: { http: '$.interface.http', db: '$.service.db' },
      run(event) {
        const count = (this.db.get('count') ?? 0) + 1;
        this.db.set('count', count);
        this.$emit({ count }, { id: 'the-same' });
        if (event.body.fail) throw new Error('after all that');
      },
    };`,
  );
  await post(source, { fail: true });
  await errand.errors(source.id, 1);
  await post(source, { fail: false });
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1)), [{ count: 1 }]);
});

test('two sources of one code share no db', async () => {
  await using errand = await newErrand();
  const code = `export default {
    props: { http: '$.interface.http', db: '$.service.db' },
    run() { const n = (this.db.get('n') ?? 0) + 1; this.db.set('n', n); this.$emit({ n }); },
  };`;
  const [a, b] = [await createSource(errand, code), await createSource(errand, code)];
  for (const source of [a, a, b]) {
    await post(source, {});
    await errand.settled();
  }
  assert.deepEqual(eventsOf(await emissions(errand, a.id, 2)), [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(eventsOf(await emissions(errand, b.id, 1)), [{ n: 1 }]);
});

test('unique drops repeated ids across a restart', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, emitting('unique'));
  assert.deepEqual(await idsAfter(errand, source, ['a', 'b', 'a']), ['a', 'b']);
  await errand.restart();
  const again = (await errand.client.get(`/v1/sources/${source.id}`)).data;
  assert.deepEqual(await idsAfter(errand, again, ['b', 'c', 'a']), ['a', 'b', 'c']);
});

test('ids that are numbers and strings are alike', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, emitting('unique'));
  const ids = await idsAfter(errand, source, [1, 2, 1, 0, 0]);
  assert.deepEqual(ids, [1, 2, 0]);
});

test('greatest lets only larger numbers through', async () => {
  await using errand = await startErrand();
  const source = await createSource(errand, emitting('greatest'));
  assert.deepEqual(await idsAfter(errand, source, [5, 9, 7]), [5, 9]);
  await errand.restart();
  const again = (await errand.client.get(`/v1/sources/${source.id}`)).data;
  assert.deepEqual(await idsAfter(errand, again, [9, 8, 10, 100, 11]), [5, 9, 10, 100]);
});

test('emissions are sorted by ts before dedupe', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, emitting('unique'));
  await post(source, [
    { id: 1, ts: 3000, was: 'emitted first' },
    { id: 1, ts: 1000, was: 'older' },
    { id: 2, ts: 2000 },
  ]);
  const events = eventsOf(await emissions(errand, source.id, 2));
  assert.deepEqual(
    events.map((event) => event.was),
    ['older', undefined],
    'of two with one id the older stays',
  );
});

test('ids that differ are never one, however long', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, emitting('unique'));
  const long = 'x'.repeat(4096);
  const deep = (n: number) => ({ a: { b: { c: { d: { e: { f: n } } } } } });
  const ids = [long, `${long}1`, `${long}2`, '\ud800', '\ud801', deep(1), deep(2)];
  assert.deepEqual(await idsAfter(errand, source, ids), ids);
  assert.deepEqual(await idsAfter(errand, source, [`${long}2`, '\ud801', deep(2)]), ids, 'and the same is the same');
  const { data } = await errand.client.get(`/v1/sources/${source.id}/event_summaries`);
  assert.deepEqual(data.at(-1).metadata.id, long);
  assert.equal(data[0].metadata.id, JSON.stringify(deep(2)));
});

test('without dedupe the same id comes twice', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, emitting(''));
  assert.deepEqual(await idsAfter(errand, source, ['a', 'a']), ['a', 'a']);
});

test('a missing id under dedupe is an error', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, emitting('unique'));
  await post(source, [{ summary: 'no id' }]);
  const [record] = await errand.errors(source.id, 1);
  assert.match(record.event.error.msg, /\bid\b/);
  assert.match(record.event.error.msg, /dedupe|unique/);
  const logs = await errand.client.get(`/v1/sources/${source.id}/logs`);
  assert.ok(
    logs.data.some((line: { text: string }) => /\bid\b/.test(line.text)),
    `the log tells of it: ${JSON.stringify(logs.data)}`,
  );
});

test('a suppressed duplicate shows in the log', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, emitting('unique'));
  await idsAfter(errand, source, ['a', 'a', 'a']);
  const { data } = await errand.client.get(`/v1/sources/${source.id}/logs`);
  const line = data.find((l: { text: string }) => /duplicate|dedupe/i.test(l.text));
  assert.ok(line, `two suppressed duplicates are counted and visible: ${JSON.stringify(data)}`);
  assert.match(line.text, /2/);
  const run = (await errand.client.get(`/v1/runs/${line.run_id}`)).data;
  assert.equal(run.suppressed, 2);
});

test('an unknown dedupe strategy is refused', async () => {
  await using errand = await newErrand();
  const answer = await errand.client.request('POST', '/v1/sources', { component_code: emitting('sometimes') });
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.text, /sometimes/);
  assert.match(answer.text, /unique/);
});

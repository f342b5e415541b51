// Sources of the same code share processes, and nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { createSource, emissions, eventsOf, post } from '../../support/sources/sources.ts';

const CODE = `import { homedir, tmpdir } from 'node:os';
let mine;
export default {
  props: { http: '$.interface.http', db: '$.service.db', key: { type: 'string', secret: true } },
  run({ body }) {
    mine ??= this.key;
    this.db.set('n', (this.db.get('n') ?? 0) + 1);
    console.log('line of ' + body.by);
    if (body.fails) throw new Error('fault of ' + body.by);
    this.$emit({ mine, key: this.key, n: this.db.get('n'), id: process.env.PD_COMPONENT, home: homedir() === tmpdir(), by: body.by });
  },
};`;

const NAMES = Array.from({ length: 12 }, (_, n) => `s${n}`);

test('many sources of one code keep to themselves', async () => {
  await using errand = await startErrand();
  const sources = await Promise.all(
    NAMES.map((key) => createSource(errand, CODE, { configured_props: { key: `secret of ${key}` } })),
  );
  const round = async (n: number): Promise<void> => {
    await Promise.all(sources.map((source, i) => post(source, { by: NAMES[i] })));
    await errand.settled();
    for (const [i, { id }] of sources.entries()) {
      const key = `secret of ${NAMES[i]}`;
      const [{ event }] = await emissions(errand, id, n);
      assert.deepEqual(event, { mine: key, key, n, id, home: true, by: NAMES[i] });
    }
  };
  await round(1);
  await round(2);
  await errand.restart();
  for (const [i, { id }] of sources.entries()) sources[i] = (await errand.client.get(`/v1/sources/${id}`)).data;
  await round(3);
});

test('a failure is told of the source that failed', async () => {
  await using errand = await startErrand();
  const props = { configured_props: { key: 'k' } };
  const [one, two] = [await createSource(errand, CODE, props), await createSource(errand, CODE, props)];
  await Promise.all([post(one, { by: 'one', fails: true }), post(two, { by: 'two' })]);
  await errand.settled();
  assert.equal(eventsOf(await emissions(errand, two.id, 1))[0].by, 'two');
  const errors = (await errand.client.get(`/v1/sources/${one.id}/$errors/event_summaries?expand=event`)).data;
  assert.equal(errors.length, 1);
  assert.match(JSON.stringify(errors), /fault of one/);
  assert.deepEqual((await errand.client.get(`/v1/sources/${two.id}/$errors/event_summaries`)).data, []);
  const lines = async (id: string): Promise<string[]> => {
    const { data } = await errand.client.get(`/v1/sources/${id}/logs`);
    return data.map(({ text }: { text: string }) => text);
  };
  assert.deepEqual([(await lines(one.id))[0], await lines(two.id)], ['line of one', ['line of two']]);
});

test('one that is deleted leaves the others running', async () => {
  await using errand = await startErrand();
  const props = { configured_props: { key: 'k' } };
  const sources = await Promise.all(NAMES.map(() => createSource(errand, CODE, props)));
  await Promise.all(sources.map((source) => post(source, { by: 'before' })));
  await errand.settled();
  const gone = sources.splice(0, 6);
  await Promise.all(gone.map(({ id }) => errand.client.delete(`/v1/sources/${id}`)));
  await Promise.all(sources.map((source) => post(source, { by: 'after' })));
  await errand.settled();
  for (const { id } of sources) {
    assert.deepEqual(
      eventsOf(await emissions(errand, id, 2))
        .map(({ by }) => by)
        .sort(),
      ['after', 'before'],
    );
  }
});

// Data stores, as the code of sources and steps has them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, emissions, eventsOf, post, trySource } from '../../support/sources/sources.ts';
import { naming, newStore, recordPath, results, using } from './data-store-kit.ts';

const newErrand = shareErrand();

test('code reads and writes at once, durably', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  const code = using(`
    const before = await data.get('n');
    await data.set('n', { is: (before?.is ?? 0) + 1 });
    if (event.body.fails) throw new Error('after all that');
    return { before, keys: await data.keys(), size: await data.size() };`);
  const [source, other] = [
    await createSource(errand, code, naming(store)),
    await createSource(errand, code, naming(store)),
  ];
  await post(source, {});
  await results(errand, source, 1);
  await post(other, { fails: true });
  await errand.errors(other.id, 1);
  assert.deepEqual((await errand.client.get(recordPath(store, 'n'))).data.value, { is: 2 }, 'not undone by a failure');
  await errand.client.put(recordPath(store, 'a'), { value: null });
  await errand.restart();
  await post((await errand.client.get(`/v1/sources/${source.id}`)).data, {});
  assert.deepEqual(await results(errand, source, 2), [
    { keys: ['n'], size: 1 },
    { before: { is: 2 }, keys: ['a', 'n'], size: 2 },
  ]);
});

test('code goes through many records, and clears them', async () => {
  await using errand = await newErrand();
  const store = await newStore(errand);
  const source = await createSource(
    errand,
    using(`
      const keys = Array.from({ length: 1200 }, (_, n) => 'k' + String(n).padStart(4, '0'));
      await Promise.all(keys.map((key, n) => data.set(key, n, n % 2 ? undefined : { ttl: 3600 })));
      let sum = 0;
      for await (const [, n] of data) sum += n;
      const all = await data.keys();
      const [first] = await data.entries();
      const changed = [await data.delete('k0000'), await data.has('k0000'), await data.setTtl('k0001', 5), await data.size()];
      await data.clear();
      return { same: all.join() === keys.join(), sum, first, changed, size: await data.size(), after: await data.entries() };`),
    naming(store),
  );
  await post(source, {});
  assert.deepEqual(await results(errand, source, 1), [
    {
      same: true,
      sum: 719_400,
      first: ['k0000', 0],
      changed: [true, false, true, 1199],
      size: 0,
      after: [],
    },
  ]);
});

test('parallel runs see each other’s records', async () => {
  await using errand = await newErrand();
  const store = await newStore(errand);
  const code = using(`
    await data.set(event.body.id, 1);
    const before = (await data.get('count')) ?? 0;
    await data.set('count', before + 1);
    return (await data.keys()).length;`);
  const sources = await Promise.all(Array.from({ length: 4 }, () => createSource(errand, code, naming(store))));
  await Promise.all(sources.flatMap((source, s) => [1, 2, 3].map((n) => post(source, { id: `r${s}-${n}` }))));
  for (const source of sources) await results(errand, source, 3);
  const { data, page_info: info } = await errand.client.get(`/v1/data_stores/${store.id}/records`);
  assert.equal(info.total_count, 13, 'each wrote a record of its own, and none was lost');
  const count = data.find(({ key }: Json) => key === 'count').value;
  // Reading, adding and writing are three things: two runs may have read the same.
  assert.ok(count >= 3 && count <= 12, `${count}`);
});

test('code reaches no other data store', async () => {
  await using errand = await startErrand();
  const [store, secret] = [await newStore(errand), await newStore(errand, 'secret')];
  await errand.client.put(recordPath(secret, 'k'), { value: 'hush' });
  const other = await createOwner(errand);
  const theirs = await other.client.post('/v1/data_stores', { name: 'theirs' });
  const source = await createSource(
    errand,
    using(`
      const { push } = Array.prototype;
      // Every question that this run asks is changed on its way, as forging code could do.
      Array.prototype.push = function (...items) {
        for (const item of items) if (item?.t === 'request') item.args = item.args.replace(/ds_[0-9A-Za-z]+/, event.body.id);
        return push.apply(this, items);
      };
      try { return await data.get('k'); } catch (error) { return [error.name, error.message]; } finally { Array.prototype.push = push; }`),
    naming(store),
  );
  for (const { id } of [store, secret, theirs]) {
    await post(source, { id });
    await errand.settled();
  }
  const [own, foreign, others] = (await results(errand, source, 3)) as [unknown, string[], string[]];
  assert.equal(own, 'undefined');
  assert.deepEqual(foreign, ['ConfigurationError', `no configured prop names the data store ${secret.id}`]);
  assert.deepEqual(others, ['ConfigurationError', `no configured prop names the data store ${theirs.id}`]);
});

test('steps have data stores, each its own', async () => {
  await using errand = await newErrand();
  const [one, two] = [await newStore(errand), await newStore(errand)];
  const step = (namespace: string, store: Json): Json => ({
    namespace,
    code: `export default { props: { data: { type: 'data_store' } }, async run() {
      await this.data.set('last', '${namespace}', { ttl: 60 });
      return await this.data.entries();
    } };`,
    configured_props: { data: store.id },
  });
  const workflow = await errand.workflow('', { steps: [step('first', one), step('second', two)] });
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  const { steps } = (await errand.client.get(`/v1/runs/${run.id}`)).data;
  assert.deepEqual(
    steps.map((s: Json) => s.return_value),
    [[['last', 'first']], [['last', 'second']]],
  );
  assert.equal((await errand.client.get(recordPath(two, 'last'))).data.value, 'second');
});

test('a data store that was chosen in a form serves', async () => {
  await using errand = await newErrand();
  const store = await newStore(errand);
  for (const value of [store.id, { id: store.id }]) {
    const configured_props = { data: { __lv: { label: 'Visits', value } } };
    const source = await createSource(errand, using(`await data.set('k', 1); return await data.size();`), {
      configured_props,
    });
    await post(source, {});
    assert.deepEqual(await results(errand, source, 1), [1]);
  }
});

test('code does not choose its data store itself', async () => {
  await using errand = await newErrand();
  const store = await newStore(errand);
  const chosen = `{ type: 'data_store', default: '${store.id}' }`;
  const code = `export default { props: { http: '$.interface.http', data: ${chosen} }, run() {} }`;
  const refused = await trySource(errand, code);
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.json.error, /"data" \(data_store\) is required/);
  const optional = await createSource(
    errand,
    code
      .replace("'data_store',", "'data_store', optional: true,")
      .replace('run() {}', 'run() { this.$emit(typeof this.data); }'),
  );
  await post(optional, {});
  assert.deepEqual(eventsOf(await emissions(errand, optional.id, 1)), ['undefined']);
});

test('a data store that is gone fails the run', async () => {
  await using errand = await newErrand();
  const store = await newStore(errand);
  const source = await createSource(errand, using(`await data.set('k', 1);`), naming(store));
  await errand.client.delete(`/v1/data_stores/${store.id}`);
  await post(source, {});
  const [record] = await errand.errors(source.id, 1);
  assert.equal(record.event.error.code, 'ConfigurationError');
  assert.match(record.event.error.msg, new RegExp(store.id));
});

test('a data store prop that names none is refused', async () => {
  await using errand = await newErrand();
  for (const data of [undefined, 'nonsense', 7, {}, 'ds_1']) {
    const answer = await trySource(errand, using(''), { configured_props: data === undefined ? {} : { data } });
    assert.equal(answer.status, 422, `${JSON.stringify(data)}: ${answer.text}`);
    assert.equal(answer.json.errors[0].parameter, 'configured_props.data');
  }
});

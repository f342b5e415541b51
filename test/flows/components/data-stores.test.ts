// Data stores over HTTP, and as the code of sources has them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { createSource, emissions, eventsOf, post, trySource } from '../../support/sources/sources.ts';

const newStore = (errand: Errand, name = 'seen'): Promise<Json> => errand.client.post('/v1/data_stores', { name });

const recordPath = (store: Json, key: string): string =>
  `/v1/data_stores/${store.id}/records/${encodeURIComponent(key)}`;

/** A source that does what the body says with `this.data`, and emits what that returns. */
const using = (body: string): string => `export default {
  props: { http: '$.interface.http', data: 'data_store' },
  async run(event) {
    const { data } = this;
    const result = await (async () => { ${body} })();
    this.$emit({ result: result === undefined ? 'undefined' : result });
  },
};`;

const naming = (store: Json): Json => ({ configured_props: { data: store.id } });

async function results(errand: Errand, source: Json, count: number): Promise<unknown[]> {
  return eventsOf(await emissions(errand, source.id, count)).map(({ result }) => result);
}

test('a data store is made, shown, renamed and deleted', async () => {
  await using errand = await startErrand();
  const made = await newStore(errand);
  assert.match(made.id, /^ds_[0-9A-Za-z]{16}$/);
  assert.deepEqual([made.name, made.size, made.created_at], ['seen', 0, made.updated_at]);
  const path = `/v1/data_stores/${made.id}`;
  assert.deepEqual((await errand.client.get(path)).data, made);
  await errand.client.put(recordPath(made, 'k'), { value: 1 });
  assert.equal((await errand.client.put(path, { name: 'ours' })).name, 'ours');
  const second = await newStore(errand, 'second');
  await errand.restart();
  const { client } = errand;
  const list = await client.get('/v1/data_stores');
  assert.deepEqual(
    list.data.map(({ id, name, size }: Json) => [id, name, size]),
    [
      [second.id, 'second', 0],
      [made.id, 'ours', 1],
    ],
  );
  const next = await client.get(`/v1/data_stores?limit=1&after=${second.id}`);
  assert.deepEqual([next.page_info.total_count, next.data[0].id], [2, made.id]);
  assert.equal((await client.delete(path)).name, 'ours');
  for (const [method, at] of [
    ['GET', path],
    ['DELETE', path],
    ['GET', `${path}/records`],
    ['DELETE', `${path}/records`],
    ['GET', recordPath(made, 'k')],
    ['DELETE', recordPath(made, 'k')],
  ] as const) {
    assert.equal((await client.request(method, at)).status, 404, `${method} ${at}`);
  }
  assert.equal((await client.request('PUT', path, { name: 'x' })).status, 404);
  assert.equal((await client.request('PUT', recordPath(made, 'k'), { value: 1 })).status, 404);
});

test('a record goes in and out as written', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  const odd = 'a/b ä?#%24 "x" 😀\u0000';
  const value = '{"n":12345678901234567890, "a" : [1e400, -0.0], "s":"\\u0000\\ud800", "a":2}';
  const answer = await errand.client.request('PUT', recordPath(store, odd), `{"value": ${value} }`);
  assert.equal(answer.status, 200, answer.text);
  assert.ok(answer.text.includes(`"value":${value}`), answer.text);
  await errand.restart();
  const again = await errand.client.request('GET', recordPath(store, odd));
  assert.equal(again.text, answer.text);
  assert.equal(again.json.data.key, odd);
  assert.equal(again.json.data.expires_at, null);
  const list = await errand.client.request('GET', `/v1/data_stores/${store.id}/records`);
  assert.ok(list.text.includes(`"value":${value}`), list.text);
  assert.equal((await errand.client.delete(recordPath(store, odd))).key, odd);
  assert.equal((await errand.client.request('GET', recordPath(store, odd))).status, 404);
  assert.equal((await errand.client.request('DELETE', recordPath(store, odd))).status, 404);
});

test('records are listed by key, page by page', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  for (const key of ['c', 'a', 'e', 'b', 'd']) await errand.client.put(recordPath(store, key), { value: key });
  const page = async (query: string): Promise<unknown[]> => {
    const { page_info: info, data } = await errand.client.get(`/v1/data_stores/${store.id}/records?${query}`);
    assert.deepEqual([info.start_cursor, info.end_cursor], [data[0]?.key ?? null, data.at(-1)?.key ?? null]);
    assert.equal(info.count, data.length);
    return [info.total_count, ...data.map(({ key }: Json) => key)];
  };
  assert.deepEqual(await page('limit=2'), [5, 'a', 'b']);
  assert.deepEqual(await page('limit=2&after=b'), [5, 'c', 'd']);
  assert.deepEqual(await page('limit=2&before=d'), [5, 'b', 'c']);
  assert.deepEqual(await page('after=e'), [5]);
  const { data } = await errand.client.get(`/v1/data_stores/${store.id}/records?include=key&limit=1`);
  assert.deepEqual(data, [{ key: 'a' }]);
  const cleared = await errand.client.delete(`/v1/data_stores/${store.id}/records`);
  assert.equal(cleared.size, 0);
  assert.deepEqual(await page(''), [0]);
});

test('a record is gone when its time is over', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  const record = await errand.client.put(recordPath(store, 'short'), { value: 1, ttl: 60 });
  assert.ok(record.expires_at >= record.updated_at + 60);
  await errand.client.put(recordPath(store, 'kept'), { value: 1, ttl: null });
  errand.forward(61_000);
  assert.equal((await errand.client.request('GET', recordPath(store, 'short'))).status, 404);
  assert.equal((await errand.client.get(`/v1/data_stores/${store.id}`)).data.size, 1);
});

test('bad input is refused', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  const { client } = errand;
  const path = recordPath(store, 'k');
  const refused: [string, string, Json, number, RegExp][] = [
    ['POST', '/v1/data_stores', {}, 400, /name is missing/],
    ['POST', '/v1/data_stores', { name: '' }, 400, /name/],
    ['POST', '/v1/data_stores', { name: 'x'.repeat(256) }, 400, /255/],
    ['PUT', `/v1/data_stores/${store.id}`, {}, 400, /name/],
    ['PUT', path, {}, 400, /value is missing/],
    ['PUT', path, { value: 1, ttl: 0 }, 400, /ttl/],
    ['PUT', path, { value: 1, ttl: 1.5 }, 400, /ttl/],
    ['PUT', path, { value: 1, key: 'x' }, 400, /key/],
    ['PUT', `${path}?value=nope`, undefined, 400, /value must be JSON/],
    ['PUT', path, `{"value": tru}`, 400, /JSON/],
    ['PUT', path, { value: 'x'.repeat(LIMITS.recordBytes) }, 413, /1048576/],
    ['PUT', recordPath(store, 'x'.repeat(256)), { value: 1 }, 400, /255 characters/],
    ['GET', `/v1/data_stores/${store.id}/records?after=${'x'.repeat(256)}`, undefined, 400, /after.*255/],
    ['GET', '/v1/data_stores?after=nonsense', undefined, 400, /after/],
  ];
  for (const [method, at, body, status, message] of refused) {
    const answer = await client.request(method, at, body);
    assert.equal(answer.status, status, `${method} ${at}: ${answer.text}`);
    assert.match(answer.json.error, message);
  }
  assert.equal((await client.get(`/v1/data_stores/${store.id}`)).data.size, 0);
  const inQuery = await client.request('PUT', `${path}?value=%5B1%5D&ttl=60`);
  assert.deepEqual(inQuery.json.data.value, [1], inQuery.text);
});

test('another owner sees no data store', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  await errand.client.put(recordPath(store, 'k'), { value: 'mine' });
  const other = await createOwner(errand);
  const path = `/v1/data_stores/${store.id}`;
  for (const [method, at, body] of [
    ['GET', path],
    ['PUT', path, { name: 'x' }],
    ['DELETE', path],
    ['GET', `${path}/records`],
    ['DELETE', `${path}/records`],
    ['GET', recordPath(store, 'k')],
    ['PUT', recordPath(store, 'k'), { value: 1 }],
    ['DELETE', recordPath(store, 'k')],
  ] as const) {
    const answer = await other.client.request(method, at, body);
    assert.equal(answer.status, 404, `${method} ${at}: ${answer.text}`);
  }
  assert.deepEqual((await other.client.get('/v1/data_stores')).data, []);
  assert.equal((await errand.client.get(recordPath(store, 'k'))).data.value, 'mine');
});

test('reading needs read, changing needs write', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  await errand.client.put(recordPath(store, 'k'), { value: 1 });
  const { client: reader } = await withScopes(errand.client, ['read']);
  assert.equal((await reader.request('GET', recordPath(store, 'k'))).status, 200);
  assert.equal((await reader.request('PUT', recordPath(store, 'k'), { value: 2 })).status, 403);
  assert.equal((await reader.request('DELETE', recordPath(store, 'k'))).status, 403);
  assert.equal((await reader.request('POST', '/v1/data_stores', { name: 'x' })).status, 403);
});

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
  await using errand = await startErrand();
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
  await using errand = await startErrand();
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
  await using errand = await startErrand();
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
  await using errand = await startErrand();
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
  await using errand = await startErrand();
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

test('options and additional props have no data stores', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  const component_code = `export default { props: {
    data: 'data_store',
    key: { type: 'string', async options() { return await this.data.keys(); } },
  }, run() {} }`;
  const asked = { component_code, prop_name: 'key', configured_props: { data: store.id } };
  const answer = await errand.client.request('POST', '/v1/components/configure', asked);
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.json.error, /Data stores are there for `run` and hooks/);
});

test('a data store that is gone fails the run', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  const source = await createSource(errand, using(`await data.set('k', 1);`), naming(store));
  await errand.client.delete(`/v1/data_stores/${store.id}`);
  await post(source, {});
  const [record] = await errand.errors(source.id, 1);
  assert.equal(record.event.error.code, 'ConfigurationError');
  assert.match(record.event.error.msg, new RegExp(store.id));
});

test('a data store prop that names none is refused', async () => {
  await using errand = await startErrand();
  for (const data of [undefined, 'nonsense', 7, {}, 'ds_1']) {
    const answer = await trySource(errand, using(''), { configured_props: data === undefined ? {} : { data } });
    assert.equal(answer.status, 422, `${JSON.stringify(data)}: ${answer.text}`);
    assert.equal(answer.json.errors[0].parameter, 'configured_props.data');
  }
});

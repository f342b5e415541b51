// Data stores over HTTP.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { newStore, recordPath } from './data-store-kit.ts';

const newErrand = shareErrand();

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
  await using errand = await newErrand();
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
  await using errand = await newErrand();
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
    ['PUT', path, { value: 'x'.repeat(1_048_576) }, 413, /1048576/],
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
  await using errand = await newErrand();
  const store = await newStore(errand);
  await errand.client.put(recordPath(store, 'k'), { value: 1 });
  const { client: reader } = await withScopes(errand.client, ['read']);
  assert.equal((await reader.request('GET', recordPath(store, 'k'))).status, 200);
  assert.equal((await reader.request('PUT', recordPath(store, 'k'), { value: 2 })).status, 403);
  assert.equal((await reader.request('DELETE', recordPath(store, 'k'))).status, 403);
  assert.equal((await reader.request('POST', '/v1/data_stores', { name: 'x' })).status, 403);
});

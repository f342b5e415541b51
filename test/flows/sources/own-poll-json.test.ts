// The source `poll-json` against a server of JSON.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { createOwn, emitted, runNow, startAsked, tryOwn } from '../../support/sources/own-sources.ts';

const orders = (...all: number[]) => ({
  body: JSON.stringify({ data: { orders: all.map((id) => ({ key: { id } })) } }),
});
const PROPS = { items: 'data.orders', id: 'key.id', past: 1 };

test('new items of a list are emitted once each', async () => {
  await using api = await startAsked('/orders');
  await using errand = await startErrand();
  api.says(orders(2, 1));
  const headers = { Authorization: 'Bearer hunter2' };
  const source = await createOwn(errand, 'poll-json', { url: api.url, headers, ...PROPS });
  assert.doesNotMatch(JSON.stringify(source), /hunter2/);
  assert.doesNotMatch(JSON.stringify(await errand.client.get(`/v1/sources/${source.id}`)), /hunter2/);
  api.says(orders(4, 3, 2, 1, 4));
  await runNow(errand, source);
  await errand.restart();
  await runNow(errand, source);
  assert.deepEqual(
    (await emitted(errand, source)).map(({ key }) => key.id),
    [2, 3, 4],
  );
  assert.ok(api.requests.every(({ authorization }) => authorization === 'Bearer hunter2'));
});

test('without an id what has changed is new', async () => {
  await using api = await startAsked('/list');
  await using errand = await startErrand();
  api.says({ body: '[{"a":1},"two"]' });
  const source = await createOwn(errand, 'poll-json', { url: api.url, id: '' });
  api.says({ body: '["two",{"a":2},{"a":1}]' });
  await runNow(errand, source);
  assert.deepEqual(await emitted(errand, source), ['two', { a: 1 }, { a: 2 }]);
});

test('an answer of another shape is told', async () => {
  await using api = await startAsked('/list?token=hidden');
  await using errand = await startErrand();
  const refused = async (body: string, props = {}): Promise<string> => {
    api.says({ body });
    const { status, json } = await tryOwn(errand, 'poll-json', { url: api.url, ...PROPS, ...props });
    assert.equal(status, 422);
    assert.doesNotMatch(json.detail, /hidden/);
    return json.detail;
  };
  assert.match(await refused('<html>'), /answered no JSON, but "<html>"/);
  assert.match(await refused('{"data":{"items":[]}}'), /"data\.orders" in the answer of .* is no list; there are data/);
  assert.match(await refused('{"a":[]}', { items: '' }), /The answer of .* is no list; there are a/);
  assert.match(await refused('[{"name":1}]', { items: '' }), /an item has no "key\.id": \{"name":1\}/);
  assert.match(await refused('[]', { items: '', headers: 'x' }), /headers/);
});

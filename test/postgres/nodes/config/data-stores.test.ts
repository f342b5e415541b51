// A data store that several nodes write to at once: what one answers, the other shows, and nothing is counted twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/client.ts';
import { shareNodes } from '../nodes.ts';

const WRITES = 60;
const KEYS = 7;

test('records of one node are there at the other', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const { id } = await a.client.post('/v1/data_stores', { name: 'shared' });
  const path = `/v1/data_stores/${id}`;
  for (let n = 0; n < 20; n++) {
    await (n % 2 ? a : b).client.put(`${path}/records/n`, { value: n });
    assert.equal((await (n % 2 ? b : a).client.get(`${path}/records/n`)).data.value, n);
  }
  await b.client.delete(`${path}/records`);
  assert.equal((await a.client.get(path)).data.size, 0);
});

test('counts are exact, whoever writes', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const { id } = await a.client.post('/v1/data_stores', { name: 'shared' });
  const path = `/v1/data_stores/${id}`;
  const write = (n: number): Promise<Json> => {
    const { client } = n % 2 ? a : b;
    const at = `${path}/records/k${n % KEYS}`;
    // Of what one deletes, another may have been faster.
    return n % 5 === 4 ? client.request('DELETE', at) : client.put(at, { value: 'x'.repeat(n) });
  };
  await Promise.all(Array.from({ length: WRITES }, (_, n) => write(n)));
  const { data, page_info: info } = await b.client.get(`${path}/records`);
  assert.deepEqual([info.total_count, (await a.client.get(path)).data.size], [data.length, data.length]);
  assert.ok(data.length > 0 && data.length <= KEYS);
});

// Data stores, as the code of a component reads them while it is configured.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { action, createStep } from '../../support/actions.ts';
import type { Answer, Client, Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource } from '../../support/sources/sources.ts';
import { newStore, recordPath } from './data-store-kit.ts';

const newErrand = shareErrand();

const CODE = action(`
  props: {
    data: { type: 'data_store' },
    key: { type: 'string', optional: true, async options() { return await this.data.keys(); } },
    pair: { type: 'string', optional: true, async options({ page, prevContext }) {
      const pairs = await this.data.entries();
      const size = await this.data.size();
      const has = await this.data.has('none');
      const options = pairs.slice(page, page + 1).map(([label, value]) => ({ label, value }));
      return { options, context: { seen: (prevContext.seen ?? 0) + 1, size, has } };
    } },
    late: { type: 'string', optional: true, options() { this.data.set('late', 1); return new Promise(() => {}); } },
    written: { type: 'string', optional: true, async options() {
      await this.data.set('written', 1);
      return [];
    } },
  },
  run() { return this.key ?? null; },
`);

function configure({ client }: { readonly client: Client }, prop_name: string, asked: Json): Promise<Answer> {
  return client.request('POST', '/v1/components/configure', { prop_name, ...asked });
}

test('options offer the keys of a data store', async () => {
  await using errand = await newErrand();
  const data = await newStore(errand);
  for (const [key, value] of Object.entries({ b: 2, a: 1 })) await errand.client.put(recordPath(data, key), { value });
  for (const configured of [data.id, { id: data.id }, { __lv: { label: 'Seen', value: data.id } }]) {
    const asked = { component_code: CODE, configured_props: { data: configured } };
    const { status, text, json } = await configure(errand, 'key', asked);
    assert.equal(status, 200, text);
    assert.deepEqual(json.data.options, ['a', 'b']);
  }
  const asked = { component_code: CODE, configured_props: { data: data.id }, page: 1, prev_context: { seen: 1 } };
  const pair = await configure(errand, 'pair', asked);
  assert.deepEqual(pair.json.data, {
    options: [{ label: 'b', value: 2 }],
    context: { seen: 2, size: 2, has: false },
  });
});

test('what is deployed offers the keys of its data store', async () => {
  await using errand = await newErrand();
  const data = await newStore(errand);
  await errand.client.put(recordPath(data, 'a'), { value: 1 });
  const workflow = await createStep(errand, CODE, { data: data.id });
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http', data: 'data_store',
      key: { type: 'string', optional: true, options() { return this.data.keys(); } } }, run() {} };`,
    { configured_props: { data: data.id } },
  );
  for (const asked of [{ workflow_id: workflow.id, namespace: 'act' }, { source_id: source.id }]) {
    const { status, text, json } = await configure(errand, 'key', asked);
    assert.equal(status, 200, text);
    assert.deepEqual(json.data.options, ['a']);
  }
});

test('options cannot write a data store', async () => {
  await using errand = await newErrand();
  const data = await newStore(errand);
  for (const prop of ['written', 'late']) {
    const asked = { component_code: CODE, configured_props: { data: data.id } };
    const { status, text, json } = await configure(errand, prop, asked);
    assert.equal(status, 422, text);
    assert.match(json.detail, /may read data stores, not write them/);
  }
  assert.equal((await errand.client.get(`/v1/data_stores/${data.id}`)).data.size, 0);
});

test('options reach the owner’s data stores alone', async () => {
  await using errand = await startErrand();
  const data = await newStore(errand);
  await errand.client.put(recordPath(data, 'secret'), { value: 1 });
  const other = await createOwner(errand);
  const asked = { component_code: CODE, configured_props: { data: data.id } };
  const { status, text, json } = await configure(other, 'key', asked);
  assert.equal(status, 422, text);
  assert.match(json.detail, /is not there any more/);
  assert.equal(text.includes('secret'), false);
  const unnamed = await configure(errand, 'key', { component_code: CODE, configured_props: {} });
  assert.equal(unnamed.status, 422, unnamed.text);
});

test('additionalProps read a data store', async () => {
  await using errand = await newErrand();
  const data = await newStore(errand);
  await errand.client.put(recordPath(data, 'colour'), { value: ['red', 'blue'] });
  const code = action(`
    props: { data: { type: 'data_store', reloadProps: true } },
    async additionalProps() {
      const added = {};
      for await (const [name, options] of this.data) added[name] = { type: 'string', options };
      return added;
    },
    run() { return this.colour; },
  `);
  const workflow = await createStep(errand, code, { data: data.id, colour: 'red' });
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  assert.equal((await errand.client.get(`/v1/runs/${run.id}`)).data.steps[0].return_value, 'red');
});

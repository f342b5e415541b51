// What a form asks of a component: options of a prop, page by page, and which props there are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { action, createStep, SHOP } from '../../support/actions.ts';
import type { Answer, Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

const CODE = action(`
  props: {
    shop,
    country: { type: 'string', options: ['no', 'se'] },
    city: { propDefinition: [shop, 'city', (c) => ({ country: c.country })], withLabel: true },
    item: { type: 'string', useQuery: true, async options({ page, prevContext, query, country }) {
      const next = (prevContext.n ?? 0) + 1;
      return { options: [country + ' ' + page + ' ' + (query ?? '-') + ' ' + this.key], context: { n: next } };
    } },
    key: { type: 'string', secret: true, default: 'no key' },
    broken: { type: 'string', options() { throw new Error('the shop is closed'); } },
    odd: { type: 'string', options: () => 7 },
    other: { type: 'string', optional: true, options: () => ({ foo: 1, bar: 2 }) },
    nothing: { type: 'string', optional: true, options() {} },
  },
  run() {},
`);

function configure(errand: Errand, asked: object): Promise<Answer> {
  return errand.client.request('POST', '/v1/components/configure', asked);
}

async function optionsOf(errand: Errand, asked: object): Promise<unknown> {
  const answer = await configure(errand, asked);
  assert.equal(answer.status, 200, answer.text);
  return answer.json.data;
}

test('options are told page by page', async () => {
  await using errand = await newErrand();
  const asked = {
    component_code: CODE,
    prop_name: 'item',
    configured_props: { country: { __lv: { label: 'N', value: 'no' } } },
  };
  const first = { options: ['no 0 - no key'], string_options: ['no 0 - no key'], context: { n: 1 } };
  assert.deepEqual(await optionsOf(errand, asked), first);
  const second = await optionsOf(errand, { ...asked, page: 1, prev_context: { n: 1 }, query: 'skis' });
  assert.deepEqual(second, { options: ['no 1 skis no key'], string_options: ['no 1 skis no key'], context: { n: 2 } });
});

test('options of an app use the account', async () => {
  await using errand = await newErrand();
  const configured_props = { shop: { $auth: { token: 't' } }, country: 'no' };
  assert.deepEqual(await optionsOf(errand, { component_code: CODE, prop_name: 'city', configured_props }), {
    options: [{ label: 't in no', value: 'osl' }],
    context: null,
  });
  assert.deepEqual(await optionsOf(errand, { component_code: CODE, prop_name: 'country' }), {
    options: ['no', 'se'],
    string_options: ['no', 'se'],
    context: null,
  });
});

test('a deployed component is configured further', async () => {
  await using errand = await newErrand();
  const configured_props = {
    shop: { $auth: { token: 't' } },
    country: 'se',
    city: 'sto',
    item: 'x',
    broken: 'b',
    odd: 'o',
    key: 'k',
  };
  const workflow = await createStep(errand, CODE, configured_props);
  const asked = { workflow_id: workflow.id, namespace: 'act', prop_name: 'item' };
  assert.deepEqual(await optionsOf(errand, asked), {
    options: ['se 0 - k'],
    string_options: ['se 0 - k'],
    context: { n: 1 },
  });
  const source = await createSource(
    errand,
    `${SHOP}export default { props: { shop, db: '$.service.db', http: '$.interface.http',
      pick: { type: 'string', optional: true, options() { return [this.db.get('n') + this.http.endpoint + this.shop.where(1)]; } } },
      hooks: { deploy() { this.db.set('n', 1); } }, run() {} };`,
    { configured_props: { shop: { $auth: { token: 'from ' } } } },
  );
  const of = { source_id: source.id, prop_name: 'pick' };
  const told = (await optionsOf(errand, of)) as { options: string[] };
  assert.deepEqual(told.options, [`1${source.endpoint_url}from  in 1`]);
});

test('what options throw is told', async () => {
  await using errand = await newErrand();
  const broken = await configure(errand, { component_code: CODE, prop_name: 'broken' });
  assert.equal(broken.status, 422, broken.text);
  assert.match(broken.json.detail, /the shop is closed/);
  assert.equal(broken.json.errors[0].parameter, 'configured_props.broken');
  assert.match(broken.json.errors[0].message, /at .*options/, 'with its stack');
  for (const prop_name of ['odd', 'none']) {
    const answer = await configure(errand, { component_code: CODE, prop_name });
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.json.error, new RegExp(`"${prop_name}"`));
  }
  const other = await configure(errand, { component_code: CODE, prop_name: 'other' });
  assert.match(
    other.json.error,
    /options must return an array, or \{options: \[…\], context\}; it has returned \{foo, bar\}/,
  );
  const nothing = await optionsOf(errand, { component_code: CODE, prop_name: 'nothing' });
  assert.deepEqual(nothing, { options: [], context: null }, 'no further page');
  const code = await configure(errand, { component_code: '\nexport default {;', prop_name: 'x' });
  assert.deepEqual([code.status, code.json.errors[0].parameter, code.json.errors[0].line], [422, 'component_code', 2]);
});

test('which component it is must be said', async () => {
  await using errand = await newErrand();
  const wrong: [object, number][] = [
    [{ prop_name: 'x' }, 400],
    [{ prop_name: 'x', component_code: CODE, source_id: 'dc_x' }, 400],
    [{ component_code: CODE }, 400],
    [{ component_code: CODE, prop_name: 'item', page: -1 }, 400],
    [{ component_code: CODE, prop_name: 'item', prev_context: 'x' }, 400],
    [{ source_id: 'dc_none', prop_name: 'x' }, 404],
    [{ workflow_id: 'p_none', prop_name: 'x' }, 404],
  ];
  for (const [asked, status] of wrong) {
    const answer = await configure(errand, asked);
    assert.equal(answer.status, status, `${JSON.stringify(asked)}: ${answer.text}`);
  }
});

test('props are told with those added', async () => {
  await using errand = await newErrand();
  const component_code = action(`
    props: { shop, kind: { type: 'string', label: 'Kind', reloadProps: true } },
    async additionalProps(previous) {
      if (this.kind === undefined) return {};
      return { ...previous, [this.kind]: { type: 'integer', label: Object.keys(previous).join() } };
    },
    run() {},
  `);
  const asked = (configured_props?: object): Promise<{ configurable_props: object[] }> =>
    errand.client.post('/v1/components/props', { component_code, ...(configured_props && { configured_props }) });
  const shop = { type: 'app', app: 'shop', usesAuth: true, name: 'shop' };
  const kind = { type: 'string', label: 'Kind', reloadProps: true, name: 'kind' };
  assert.deepEqual((await asked()).configurable_props, [shop, kind]);
  const rows = { type: 'integer', label: 'shop,kind', name: 'rows' };
  assert.deepEqual((await asked({ kind: 'rows' })).configurable_props, [shop, kind, rows]);
});

test('props are told although those added are not known', async () => {
  await using errand = await newErrand();
  const component_code = action(`
    props: { shop, sheet: { type: 'string', label: 'Sheet', reloadProps: true } },
    additionalProps() { return { [this.shop.where(this.sheet.trim())]: { type: 'string' } }; },
    run() {},
  `);
  const ask = (configured_props: Json): Promise<Json> =>
    errand.client.post('/v1/components/props', { component_code, configured_props });
  const names = (answer: Json): string[] => answer.configurable_props.map(({ name }: Json) => name);
  const none = await ask({});
  assert.deepEqual(names(none), ['shop', 'sheet']);
  assert.match(none.additional_props_error.message, /trim/);
  assert.match(none.additional_props_error.stack, /at .*additionalProps/);
  const all = await ask({ shop: { $auth: { token: 't' } }, sheet: ' a ' });
  assert.deepEqual([names(all), all.additional_props_error], [['shop', 'sheet', 't in a'], null]);
});

test("another owner's source is not there to ask", async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const source = await createSource(
    errand,
    `export default { props: { p: { type: 'string', optional: true } }, run() {} };`,
  );
  for (const path of ['configure', 'props']) {
    const asked = { source_id: source.id, ...(path === 'configure' ? { prop_name: 'p' } : {}) };
    const answer = await other.client.request('POST', `/v1/components/${path}`, asked);
    assert.equal(answer.status, 404, answer.text);
    const own = await errand.client.request('POST', `/v1/components/${path}`, asked);
    assert.equal(own.status, 200, own.text);
  }
});

test('an answer that is too large is told by what is too large', async () => {
  await using errand = await newErrand();
  const ask = (value: string) =>
    errand.client.request('POST', '/v1/components/configure', {
      prop_name: 'o',
      component_code: `export default { type: 'action', props: { o: { type: 'string', options() { return ${value}; } } }, run() {} }`,
    });
  for (const [value, why] of [
    ["['x'.repeat(8e6)]", /The answer cannot be taken: a text of \d+ characters, where \d+ are the most/],
    ['Array.from({ length: 130_000 }, (_, n) => ({ label: String(n), value: n }))', /JSON of more than \d+ values/],
  ] as const) {
    const refused = await ask(value);
    assert.equal(refused.status, 422);
    assert.match(refused.json.detail, why);
    assert.doesNotMatch(refused.json.detail, /TypeError|RangeError/);
  }
});

test('options that are arrow functions of the module have the component as this', async () => {
  await using errand = await newErrand();
  const component_code = `
    const NAMES = { cities: { type: 'string', options: async ({ page }) => this.shop.cities.bind(this, page)(this.country) } };
    const TOWNS = { towns: { type: 'string', options: () => { const { country } = this; return [country]; } } };
    const page = undefined;
    const shop = { type: 'app', app: 'shop', methods: { cities: (page, country) => [country + page] } };
    export default {
      type: 'action', key: 'k', version: '1', name: 'N',
      props: { shop, country: { type: 'string', reloadProps: true } },
      additionalProps() {
        const near = page === undefined ? ' near' : '';
        return { ...NAMES, ...TOWNS, inner: { type: 'string', options: () => [this.country + near, page === undefined] } };
      },
      run() {},
    };`;
  const configured_props = { country: 'no' };
  const options = async (prop_name: string): Promise<unknown> =>
    ((await optionsOf(errand, { component_code, prop_name, configured_props })) as Json).options;
  assert.deepEqual(await options('cities'), ['no0']);
  assert.deepEqual(await options('towns'), ['no']);
  assert.deepEqual(await options('inner'), ['no near', true]);
});

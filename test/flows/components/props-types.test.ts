// Each type of prop and each rule of a definition, on sources: what is taken, what is refused, and what the code sees.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHOP } from '../../support/actions.ts';
import type { Answer } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, emissions, post, trySource } from '../../support/sources/sources.ts';

const newOwner = shareErrand();

const withProps = (props: string, more = ''): string => `${SHOP}export default {
  props: { http: '$.interface.http', ${props} }, ${more}
  run() { this.$emit({ value: this.value === undefined ? 'undefined' : this.value }); },
};`;

async function codeSees(errand: Errand, props: string, configured_props: object = {}): Promise<unknown> {
  const source = await createSource(errand, withProps(props), { configured_props });
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  return event.value;
}

async function refusalOf(errand: Errand, props: string, configured_props: object = {}): Promise<string> {
  const answer: Answer = await trySource(errand, withProps(props), { configured_props });
  assert.equal(answer.status, 422, answer.text);
  assert.equal(answer.json.errors[0].parameter, 'configured_props.value', answer.text);
  return answer.json.error;
}

test('lists take each type of item', async () => {
  const errand = await newOwner();
  const given: [type: string, value: unknown][] = [
    ['boolean[]', [true, false]],
    ['object[]', [{ a: 1 }, {}]],
    ['any[]', [1, 'a', { b: 2 }]],
    ['integer[]', [1, 2]],
    ['string[]', []],
  ];
  for (const [type, value] of given)
    assert.deepEqual(await codeSees(errand, `value: '${type}'`, { value }), value, type);
  assert.deepEqual(await codeSees(errand, `value: 'integer[]'`, { value: ['1', 2] }), [1, 2], 'digits are integers');
  assert.equal(await codeSees(errand, `value: 'integer'`, { value: '10' }), 10);
  for (const [type, value] of [
    ['boolean[]', ['true']],
    ['object[]', [[]]],
    ['any[]', 'a'],
    ['integer', '1.5'],
    ['integer[]', ['']],
  ]) {
    assert.match(await refusalOf(errand, `value: '${type}'`, { value }), /a value of type/);
  }
});

test('numbers and booleans are taken for strings that have options, and stay what they are', async () => {
  const errand = await newOwner();
  const [some, more] = [`options: ['a', 4]`, 'options: () => []'];
  for (const value of [5, 0, -1.5, true, false, '5']) {
    assert.strictEqual(await codeSees(errand, `value: { type: 'string', ${some} }`, { value }), value);
    assert.strictEqual(await codeSees(errand, `value: { type: 'string', ${more} }`, { value }), value);
  }
  const list = [4, 'a', true];
  assert.deepEqual(await codeSees(errand, `value: { type: 'string[]', ${some} }`, { value: list }), list);
  const numbered = `value: { type: 'string', options: () => [{ label: 'L1', value: 4 }] }`;
  assert.equal(await codeSees(errand, numbered, { value: { __lv: { label: 'L1', value: 4 } } }), 4);
  for (const [type, value] of [
    ['string', { a: 1 }],
    ['string', 5],
    ['string', true],
    ['string[]', ['a', 4]],
    ['string', ['a']],
    ['string[]', [{}]],
    ['string[]', [null]],
    ['string[]', 4],
  ]) {
    assert.match(await refusalOf(errand, `value: '${type}'`, { value }), /a value of type string/);
  }
});

test('a default of another type is the author’s', async () => {
  const errand = await newOwner();
  for (const [type, standing] of [
    ['string[]', 'a'],
    ['object', '{}'],
    ['boolean', 'true'],
  ]) {
    const value = `value: { type: '${type}', default: '${standing}' }`;
    assert.equal(await codeSees(errand, value), standing);
    assert.match(await refusalOf(errand, value, { value: standing }), /a value of type/);
  }
});

test('bounds hold for digits and lists, too', async () => {
  const errand = await newOwner();
  for (const [type, value] of [
    ['integer', '11'],
    ['integer[]', [1, 11]],
    ['integer', { __lv: { label: 'x', value: 11 } }],
  ]) {
    assert.match(await refusalOf(errand, `value: { type: '${type}', min: 1, max: 10 }`, { value }), /at most 10/);
  }
  assert.match(await refusalOf(errand, `value: { type: 'integer', min: 1, default: 0 }`), /at least 1/);
});

test('a value outside the options is taken', async () => {
  const errand = await newOwner();
  const options = `value: { type: 'string', options: ['a', { label: 'B', value: 'b' }] }`;
  for (const value of ['a', 'b', 'typed in']) assert.equal(await codeSees(errand, options, { value }), value);
});

test('chosen values arrive with and without labels', async () => {
  const errand = await newOwner();
  const value = { __lv: { label: 'Oslo', value: 'osl' } };
  assert.equal(await codeSees(errand, `value: 'string'`, { value }), 'osl');
  const labelled = `value: { type: 'string', withLabel: true }`;
  assert.deepEqual(await codeSees(errand, labelled, { value }), { label: 'Oslo', value: 'osl' });
  assert.deepEqual(await codeSees(errand, labelled, { value: value.__lv }), value.__lv, 'as options give it');
  const listed = `value: { type: 'integer[]', withLabel: true }`;
  const chosen = [
    { label: 'One', value: 1 },
    { label: 'Two', value: '2' },
  ];
  assert.deepEqual(await codeSees(errand, listed, { value: chosen }), [chosen[0], { label: 'Two', value: 2 }]);
  const whole = `value: { type: 'object', withLabel: true }`;
  assert.deepEqual(await codeSees(errand, whole, { value: value.__lv }), value.__lv, 'it may be the value itself');
  assert.match(await refusalOf(errand, labelled, { value: { __lv: { label: 'x', value: [5] } } }), /of type string/);
});

test('static stands, hidden waits, disabled is not there', async () => {
  const errand = await newOwner();
  assert.equal(await codeSees(errand, `value: { type: 'string', static: 'mine' }`), 'mine');
  assert.match(await refusalOf(errand, `value: { type: 'string', static: 'mine' }`, { value: 'yours' }), /static/);
  assert.equal(await codeSees(errand, `value: { type: 'string', hidden: true }`), 'undefined');
  assert.equal(await codeSees(errand, `value: { type: 'string', hidden: true }`, { value: 'x' }), 'x');
  assert.equal(await codeSees(errand, `value: { type: 'string', disabled: true }`, { value: 7 }), 'undefined');
});

test('a propDefinition is merged under own keys', async () => {
  const errand = await newOwner();
  const app = `{ type: 'app', app: 'a', propDefinitions: { size: { type: 'integer', min: 1, default: 5 } } }`;
  const size = (own: string): string => `value: { propDefinition: [${app}, 'size'], ${own} }`;
  assert.equal(await codeSees(errand, size('')), 5);
  assert.equal(await codeSees(errand, size('default: 6')), 6);
  assert.match(await refusalOf(errand, size('min: 6')), /at least 6/);
  assert.match(
    await refusalOf(errand, `value: { propDefinition: [${app}, 'none'], type: 'strnig' }`, { value: 1 }),
    /not known/,
  );
});

test('an app takes an account or its fields', async () => {
  const errand = await newOwner();
  const where = `value: { type: 'string', optional: true }, shop`;
  const auth = { shop: { $auth: { token: 'hush-4711' } } };
  const source = await createSource(
    errand,
    withProps(where).replace("this.value === undefined ? 'undefined' : this.value", "this.shop.where('no')"),
    { configured_props: auth },
  );
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.value, 'hush-4711 in no');
  const path = `/v1/sources/${source.id}`;
  assert.ok(!(await errand.client.request('GET', path)).text.includes('hush-4711'), 'not shown');
  await errand.client.put(path, { configured_props: { value: 'x' } });
  await post(source, {});
  assert.equal((await emissions(errand, source.id, 2))[0].event.value, 'hush-4711 in no', 'and stays when left out');
  const app = `value: { type: 'app', app: 'a', methods: { get() { return this.$auth.key; } } }`;
  assert.match(await refusalOf(errand, app), /app.* is required.*authProvisionId/);
  assert.match(
    await refusalOf(errand, app, { value: { authProvisionId: 'apn_0Vj3aBc9dEfGhIjK' } }),
    /account apn_0Vj3aBc9dEfGhIjK, which does not exist/,
  );
  assert.match(await refusalOf(errand, app, { value: {} }), /authProvisionId/);
});

test('an app that asks for no account needs none', async () => {
  const errand = await newOwner();
  const code = `const plain = { type: 'app', app: 'plain', methods: { twice(n) { return 2 * n; } } };
    export default { props: { http: '$.interface.http', plain }, run() { this.$emit(this.plain.twice(4)); } };`;
  const source = await createSource(errand, code);
  await post(source, {});
  assert.equal((await emissions(errand, source.id, 1))[0].event, 8);
});

test('a data store must be there', async () => {
  const errand = await newOwner();
  for (const value of ['ds_0Vj3aBc9dEfGhIjK', { id: 'ds_0Vj3aBc9dEfGhIjK' }]) {
    assert.match(
      await refusalOf(errand, `value: 'data_store'`, { value }),
      /data store ds_0Vj3aBc9dEfGhIjK, which does not exist/,
    );
  }
  assert.match(await refusalOf(errand, `value: 'data_store'`), /required/);
  assert.match(await refusalOf(errand, `value: 'data_store'`, { value: 5 }), /"ds_…"/);
});

test('alerts and dirs ask for nothing', async () => {
  const errand = await newOwner();
  const alert = `value: { type: 'alert', alertType: 'info', content: 'Hello' }`;
  assert.equal(await codeSees(errand, alert), 'undefined');
  assert.match(String(await codeSees(errand, `value: { type: 'dir', accessMode: 'write' }`)), /^\/.*dir-/);
});

test('sql takes text or a query with parameters', async () => {
  const errand = await newOwner();
  const value = { value: 'SELECT 1', params: ['a'] };
  assert.deepEqual(await codeSees(errand, `value: { type: 'sql', auth: { app: 'a' } }`, { value }), {
    ...value,
    query: 'SELECT 1',
    values: ['a'],
  });
  for (const wrong of [5, {}, { query: 5 }]) {
    assert.match(await refusalOf(errand, `value: 'sql'`, { value: wrong }), /SELECT/);
  }
});

test('an apphook that is disabled is no obstacle', async () => {
  const errand = await newOwner();
  assert.equal(await codeSees(errand, `value: { type: '$.interface.apphook', disabled: true }`), 'undefined');
  assert.match(await refusalOf(errand, `value: { type: '$.interface.apphook', optional: true }`), /vendor/);
});

test('timers may be static, hidden and zoned', async () => {
  const errand = await newOwner();
  const timer = (more: string): string => `export default { props: { timer: { type: '$.interface.timer', ${more} } },
    run(event) { this.$emit([this.timer, Object.keys(event)]); } };`;
  const source = await createSource(errand, timer('static: { intervalSeconds: 60 }'));
  await errand.client.post(`/v1/sources/${source.id}/invoke`);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event[0], { type: '$.interface.timer', intervalSeconds: 60 });
  assert.equal(source.skipped_ticks, 0);
  const hidden = await createSource(errand, timer('hidden: true'));
  assert.equal(hidden.skipped_ticks, undefined, 'it has no timer');
  const configured_props = { timer: { cron: '0 9 * * *', timezone: 'Europe/Paris' } };
  await createSource(errand, timer(''), { configured_props });
  const nowhere = { timer: { cron: '0 9 * * *', timezone: 'Nowhere' } };
  const refused = await trySource(errand, timer(''), { configured_props: nowhere });
  assert.deepEqual([refused.status, refused.json.errors[0].parameter], [422, 'configured_props.timer']);
});

test('additionalProps may add an interface', async () => {
  const errand = await newOwner();
  const code = `export default {
    props: { how: { type: 'string', reloadProps: true, default: 'http' } },
    async additionalProps() {
      if (this.how === 'http') return { http: { type: '$.interface.http' } };
      return { timer: { type: '$.interface.timer', default: { intervalSeconds: 3600 } } };
    },
    run(event) { this.$emit(event.bodyRaw ?? 'tick'); },
  };`;
  const source = await createSource(errand, code);
  await post(source, '{"a": 1}');
  assert.equal((await emissions(errand, source.id, 1))[0].event, '{"a": 1}');
  const path = `/v1/sources/${source.id}`;
  const timed = await errand.client.put(path, { configured_props: { how: 'timer' } });
  assert.equal(timed.endpoint_url, undefined);
  assert.equal(timed.skipped_ticks, 0);
  assert.equal((await fetch(source.endpoint_url, { method: 'POST', body: '{}' })).status, 404);
});

test('additionalProps is asked again only on cause', async () => {
  await using errand = await startErrand();
  const code = `export default {
    props: { http: '$.interface.http', how: { type: 'string', reloadProps: true }, other: { type: 'string', default: 'o' } },
    async additionalProps() { return { ['at_' + Date.now()]: { type: 'string', optional: true }, made: { type: 'string', default: this.how + this.other } }; },
    run() { this.$emit(this.made); },
  };`;
  const source = await createSource(errand, code, { configured_props: { how: 'a' } });
  const path = `/v1/sources/${source.id}`;
  const madeAfter = async (configured_props: object, count: number): Promise<string> => {
    await errand.client.put(path, { configured_props });
    await errand.restart();
    const { data } = await errand.client.get(path);
    await post(data, {});
    return (await emissions(errand, source.id, count))[0].event;
  };
  assert.equal(await madeAfter({ how: 'a', other: 'p' }, 1), 'ao', 'a prop without reloadProps changes nothing');
  assert.equal(await madeAfter({ how: 'b', other: 'p' }, 2), 'bp');
});

test('a timer has a cron expression or an interval, not both', async () => {
  await using errand = await startErrand();
  const timer = `value: { type: '$.interface.timer', default: { intervalSeconds: 900 } }`;
  assert.match(await refusalOf(errand, timer, { value: { cron: '0 0 * * *', intervalSeconds: 60 } }), /has both/);
  for (const value of [
    { cron: '0 0 * * *' },
    { cron: '0 0 * * *', intervalSeconds: null },
    { intervalSeconds: 60 },
    undefined,
  ]) {
    await createSource(errand, withProps(timer), { configured_props: value === undefined ? {} : { value } });
  }
});

// Props of a source: what is taken, and what is refused before anything is made.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, emissions, post, trySource } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

const withProps = (props: string): string => `export default {
  props: { http: '$.interface.http', ${props} },
  run() { const { http, ...props } = this; this.$emit({ value: this.value === undefined ? 'undefined' : this.value }); },
};`;

/** Asserts 422 naming the prop, and that no source was made. */
async function assertRefused(errand: Errand, answer: Answer, prop: string): Promise<void> {
  assert.equal(answer.status, 422, `${prop}: ${answer.status} ${answer.text}`);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  const parameters = (answer.json.errors ?? []).map((e: { parameter: string }) => e.parameter);
  assert.ok(
    parameters.some((name: string) => name.split('.').includes(prop)),
    `errors names "${prop}": ${answer.text}`,
  );
  assert.ok(answer.json.error.includes(prop), `the message names "${prop}": ${answer.json.error}`);
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
}

test('a missing required prop is refused', async () => {
  await using errand = await newErrand();
  for (const props of [`value: 'string'`, `value: { type: 'integer' }`, `value: 'string[]'`]) {
    await assertRefused(errand, await trySource(errand, withProps(props)), 'value');
  }
});

test('an optional prop may be left out', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, withProps(`value: { type: 'string', optional: true }`));
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.value, 'undefined');
});

test('a default stands in for required props', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, withProps(`value: { type: 'integer', default: 7 }`));
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.value, 7);
});

test('configured values arrive in run unchanged', async () => {
  await using errand = await newErrand();
  const values: [string, unknown][] = [
    ['string', 'ünï "quoted" \u0000'],
    ['integer', -3],
    ['boolean', false],
    ['object', { a: { b: [1] } }],
    ['any', [1, 'two', null]],
    ['string[]', ['a', 'b']],
    ['integer[]', [1, 2]],
  ];
  for (const [type, value] of values) {
    const source = await createSource(errand, withProps(`value: '${type}'`), { configured_props: { value } });
    await post(source, {});
    const [{ event }] = await emissions(errand, source.id, 1);
    assert.deepEqual(event.value, value, type);
  }
});

test('a value of the wrong type is refused', async () => {
  await using errand = await newErrand();
  const wrong: [string, unknown][] = [
    ['string', [1]],
    ['integer', 'five'],
    ['integer', 1.5],
    ['boolean', 'true'],
    ['object', [1]],
    ['object', 'x'],
    ['string[]', 'a'],
    ['string[]', [{}]],
    ['integer[]', ['x']],
    ['string', null],
  ];
  for (const [type, value] of wrong) {
    const answer = await trySource(errand, withProps(`value: '${type}'`), { configured_props: { value } });
    await assertRefused(errand, answer, 'value');
  }
});

test('an integer out of bounds is refused', async () => {
  await using errand = await newErrand();
  const code = withProps(`value: { type: 'integer', min: 1, max: 10 }`);
  for (const value of [0, 11]) {
    await assertRefused(errand, await trySource(errand, code, { configured_props: { value } }), 'value');
  }
  await createSource(errand, code, { configured_props: { value: 10 } });
});

test('a prop that nobody declared is refused', async () => {
  await using errand = await newErrand();
  const code = withProps(`value: { type: 'string', optional: true }`);
  await assertRefused(errand, await trySource(errand, code, { configured_props: { valeu: 'typo' } }), 'valeu');
});

test('a prop of an unknown type is refused', async () => {
  await using errand = await newErrand();
  await assertRefused(errand, await trySource(errand, withProps(`value: 'strnig'`)), 'value');
});

test('an apphook is refused with its reason', async () => {
  await using errand = await newErrand();
  const code = `export default { props: { hook: { type: '$.interface.apphook', appProp: 'app' } }, run() {} };`;
  const answer = await trySource(errand, code);
  await assertRefused(errand, answer, 'hook');
  assert.match(answer.json.error, /apphook/);
});

test('configured props that are no object are refused', async () => {
  await using errand = await newErrand();
  for (const configured_props of ['x', 5, ['a']]) {
    const answer = await trySource(errand, withProps(`value: 'string'`), { configured_props });
    assert.deepEqual([answer.status, answer.json.errors[0].parameter], [400, 'configured_props'], answer.text);
  }
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
});

test('neither code nor path is a plain refusal', async () => {
  await using errand = await newErrand();
  const answer = await errand.client.request('POST', '/v1/sources', { name: 'empty' });
  assert.deepEqual([answer.status, answer.json.errors[0].parameter], [400, 'component_code'], answer.text);
  const both = await errand.client.request('POST', '/v1/sources', { component_code: withProps(''), component: 'rss' });
  assert.deepEqual([both.status, both.json.errors[0].parameter], [400, 'component'], both.text);
});

test('an unknown member of the body is refused', async () => {
  await using errand = await newErrand();
  const answer = await trySource(errand, withProps(''), { configured_propz: {} });
  assert.equal(answer.status, 400, answer.text);
  assert.match(answer.json.error, /configured_propz/);
});

test('a changed source is validated as well', async () => {
  await using errand = await newErrand();
  const code = withProps(`value: 'string'`);
  const source = await createSource(errand, code, { configured_props: { value: 'good' } });
  const path = `/v1/sources/${source.id}`;
  for (const configured_props of [{ value: [5] }, {}, { value: 'x', other: 1 }]) {
    const answer = await errand.client.request('PUT', path, { configured_props });
    assert.equal(answer.status, 422, `${JSON.stringify(configured_props)}: ${answer.text}`);
  }
  assert.equal((await errand.client.get(path)).data.configured_props.value, 'good');
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.value, 'good');
});

test('other code keeps the values of the props that it has', async () => {
  await using errand = await newErrand();
  const code = withProps(`value: 'string', more: { type: 'string', optional: true }`);
  const source = await createSource(errand, code, { configured_props: { value: 'good', more: 'lots' } });
  const path = `/v1/sources/${source.id}`;
  const component_code = withProps(`value: 'string'`);
  const told = { component_code, configured_props: { value: 'good', more: 'lots' } };
  const named = await errand.client.request('PUT', path, told);
  assert.equal(named.status, 422, 'what its caller sends is never passed over');
  assert.match(named.json.error, /no prop "more"/);
  await errand.client.put(path, { component_code });
  const { value, more } = (await errand.client.get(path)).data.configured_props;
  assert.deepEqual([value, more], ['good', undefined]);
  const other = withProps(`amount: 'integer'`);
  const missing = await errand.client.request('PUT', path, { component_code: other });
  assert.equal(missing.status, 422);
  assert.match(missing.json.error, /"amount" \(integer\) is required/);
  assert.equal((await errand.client.get(path)).data.configured_props.value, 'good');
});

test('secret values are never given back', async () => {
  await using errand = await newErrand();
  const secret = 'hush-hush-4711';
  const source = await createSource(errand, withProps(`value: { type: 'string', secret: true }`), {
    configured_props: { value: secret },
  });
  assert.ok(!JSON.stringify(source).includes(secret), 'not in the answer to the creation');
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.value, secret, 'the code has it');
  for (const path of [`/v1/sources/${source.id}`, '/v1/sources', '/v1/users/me/sources']) {
    const answer = await errand.client.request('GET', path);
    assert.equal(answer.status, 200);
    assert.ok(!answer.text.includes(secret), path);
  }
});

test('code that does not compile is refused by place', async () => {
  await using errand = await newErrand();
  const answer = await errand.client.request('POST', '/v1/sources', {
    component_code: 'export default {\n  run( {\n};',
  });
  assert.equal(answer.status, 422, answer.text);
  const [error] = answer.json.errors;
  assert.equal(error.parameter, 'component_code');
  assert.equal(error.line, 3);
  assert.ok(error.column >= 1 && error.file.length > 0);
});

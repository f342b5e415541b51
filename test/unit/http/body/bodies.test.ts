// Bodies of very many values are refused before they are parsed: checking and copying each of them would stop all else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Scope } from '../../../../src/domain/keys.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { hasMoreValues } from '../../../../src/http/body/json-count.ts';
import { depthOf } from '../../../../src/http/body/nesting.ts';
import { buildDocument } from '../../../../src/http/openapi/openapi.ts';
import { type Harness, startServer } from '../harness.ts';
import { trigger } from '../records.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const MANY = LIMITS.bodyValues + 1;
const MEMBERS = `{${Array.from({ length: MANY }, (_, n) => `"a${n}":1`).join()}}`;
const ITEMS = `[${'1,'.repeat(MANY)}1]`;
/** What the server does not read goes on as bytes, however many values it holds. */
const VERBATIM = new Set(['context', 'data', 'event', 'original_event', 'value']);

function post(harness: Harness, path: string, body: string) {
  return harness.call('POST', path, { headers: JSON_TYPE, body });
}

/** What a route asks of its caller's key. */
function scopesOf(operation: { readonly security?: readonly unknown[] }): Scope[] {
  return (operation.security ?? []).flatMap((scheme) => Object.values(scheme as object) as Scope[][]).flat();
}

test('every member of every body is bounded', async (t) => {
  const harness = await startServer(t);
  const { paths } = await buildDocument();
  const all = Object.values(paths).flatMap((operations) => Object.values(operations).flatMap(scopesOf));
  const key = await harness.seed.key(9, [...new Set(all)]);
  let refused = 0;
  const passed = new Set<string>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const { properties = {} } = (operation.requestBody?.content?.['application/json']?.schema ?? {}) as {
        properties?: Record<string, object>;
      };
      for (const member of path.startsWith('/v1/') ? Object.keys(properties) : []) {
        for (const value of [MEMBERS, ITEMS]) {
          const at = path.replace(/\{\w+\}/g, 'x');
          const body = `{"${member}":${value}}`;
          const { status, json } = await harness.call(method.toUpperCase(), at, { key, headers: JSON_TYPE, body });
          if (VERBATIM.has(member)) {
            assert.doesNotMatch(json.detail, /bodyValues/, `${member} of ${method} ${path}`);
            passed.add(member);
          } else {
            assert.equal(status, 413, `${member} of ${method} ${path}`);
            const isPublic = scopesOf(operation).length === 0;
            const said = isPublic ? 'larger than 16384 bytes' : `${LIMITS.bodyValues} values \\(bodyValues\\)`;
            assert.match(json.detail, new RegExp(said), `${member} of ${method} ${path}`);
            refused++;
          }
        }
      }
    }
  }
  assert.ok(refused > 100, `${refused} members`);
  assert.deepEqual([...passed].sort(), [...VERBATIM]);
});

test('an event may hold very many values', async (t) => {
  const actions = { runWorkflow: () => Promise.reject(new Error('was asked')) };
  const harness = await startServer(t, { actions, maxBodyBytes: LIMITS.apiBodyBytes });
  await post(harness, '/v1/workflows/p_x/runs', `{"event":${ITEMS}}`);
  const [, , event] = harness.calls[0]?.args ?? [];
  assert.equal(Buffer.from(event as Uint8Array).toString(), ITEMS);
});

test('an event of too many values is refused by count', async (t) => {
  const actions = { runWorkflow: () => Promise.reject(new Error('was asked')) };
  const harness = await startServer(t, { actions, maxBodyBytes: LIMITS.apiBodyBytes });
  // The object and the event are two of them; what is no string counts once for the byte that opens it or follows a comma.
  const event = (values: number): string => `{"event":[${'1,'.repeat(values - 3)}1]}`;
  await post(harness, '/v1/workflows/p_x/runs', event(LIMITS.verbatimValues));
  assert.equal(harness.calls.length, 1);
  for (const body of [event(LIMITS.verbatimValues + 1), `{"event":[${'[],'.repeat(2_000_000)}[]]}`]) {
    const { status, json } = await post(harness, '/v1/workflows/p_x/runs', body);
    assert.equal(status, 413);
    assert.match(json.detail, new RegExp(`${LIMITS.verbatimValues} values`));
  }
  assert.equal(harness.calls.length, 1);
});

test('a body is hardly larger than its event may be', async (t) => {
  const actions = { runWorkflow: () => Promise.reject(new Error('was asked')) };
  const harness = await startServer(t, { actions, maxBodyBytes: 1000 });
  const most = 1000 + LIMITS.besideEventBytes;
  const spaced = (bytes: number): string => `{"event":1${' '.repeat(bytes - 11)}}`;
  await post(harness, '/v1/workflows/p_x/runs', spaced(most));
  assert.equal(harness.calls.length, 1);
  const { status, json } = await post(harness, '/v1/workflows/p_x/runs', spaced(most + 1));
  assert.equal(status, 413);
  assert.match(json.detail, new RegExp(`larger than ${most} bytes`));
  const code = 'x'.repeat(most);
  const { status: ofCode } = await harness.call('POST', '/v1/workflows', {
    json: { steps: [{ namespace: 'a', code }] },
  });
  assert.notEqual(ofCode, 413, 'what has no event may be larger');
});

test('beside an event, members are counted', async (t) => {
  const harness = await startServer(t);
  for (const body of [
    `{"event":1,"other":${ITEMS}}`,
    `{"event":${ITEMS},"event":1}`,
    `{"event":${ITEMS},"other":${ITEMS}}`,
    `{"\\u0065vent":1,${'"x":1,'.repeat(MANY)}"event":1}`,
    `[${ITEMS}]`,
    ITEMS,
    `{"event":${ITEMS}`,
  ]) {
    const { status } = await post(harness, '/v1/workflows/p_x/runs', body);
    assert.equal(status, 413, body.slice(0, 40));
  }
  assert.equal(harness.calls.length, 0);
});

test('ten thousand options of a prop are taken', async (t) => {
  const harness = await startServer(t, { actions: { createSource: () => Promise.reject(new Error('was asked')) } });
  const options = Array.from({ length: 10_000 }, (_, n) => ({ label: `Option, number ${n}`, value: `{"n":${n}}` }));
  await harness.call('POST', '/v1/sources', { json: { component: 'x', configured_props: { a: options } } });
  assert.equal(harness.calls[0]?.verb, 'createSource');
});

test('code is no value of many', async (t) => {
  const harness = await startServer(t, { actions: { createSource: () => Promise.reject(new Error('was asked')) } });
  const code = `export default {}; //${'[,{,"\\'.repeat(50_000)}`;
  await harness.call('POST', '/v1/sources', { json: { component_code: code } });
  assert.equal(harness.calls[0]?.verb, 'createSource');
});

test('a form or query of too many fields is refused', async (t) => {
  const harness = await startServer(t);
  await harness.seed.triggers(trigger(1));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const most = Array.from({ length: LIMITS.formFields }, (_, n) => `a${n}=`).join('&');
  assert.equal((await harness.call('POST', '/e/key1', { key: null, headers, body: most })).status, 200);
  for (const body of [`${most}&b=`, 'a&'.repeat(250_000), '&'.repeat(500_000)]) {
    const { status, json } = await harness.call('POST', '/e/key1', { key: null, headers, body });
    assert.equal(status, 400);
    assert.match(json.detail, new RegExp(`at most ${LIMITS.formFields} \\(formFields\\)`));
  }
  const query = 'a&'.repeat(LIMITS.formFields);
  assert.equal((await harness.call('POST', `/e/key1?${query}`, { key: null })).status, 400);
  assert.equal(harness.accepted.length, 1);
});

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + valuesIn(inner), 1);
}

test('values are never counted as fewer', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat(3), (json, spaces) => {
      const value = JSON.parse(json);
      const text = Buffer.from(JSON.stringify(value, null, spaces));
      const values = valuesIn(value);
      if (values > 1) assert.equal(hasMoreValues(text, values - 1), true);
      assert.equal(hasMoreValues(text, 2 * values), false, 'and at most twice');
    }),
  );
});

test('counting takes any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(20), (bytes, limit) => {
      assert.equal(typeof hasMoreValues(bytes, limit), 'boolean');
    }),
  );
});

test('bytes that are no UTF-8 are no JSON', () => {
  assert.equal(depthOf(Buffer.from([0x22, 0xff, 0x22])), null);
  assert.equal(depthOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), null);
});

// Byte exactness of what comes in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { Harness } from '../harness.ts';
import { startServer } from '../harness.ts';
import { idOf, trigger } from '../records.ts';

const BODY = '"body":';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

function lastEvent(harness: Harness): string {
  return Buffer.from(harness.accepted.at(-1)?.body ?? []).toString();
}

async function posted(harness: Harness, body: string | Uint8Array, type = 'application/json', path = '/e/key1') {
  const headers = { 'content-type': type };
  const { status } = await harness.call('POST', path, { key: null, headers, body });
  assert.equal(status, 200);
  const text = lastEvent(harness);
  return { text, event: JSON.parse(text), body: text.slice(text.indexOf(BODY) + BODY.length, -1) };
}

async function started(t: Parameters<typeof startServer>[0]): Promise<Harness> {
  const harness = await startServer(t);
  await harness.seed.triggers(trigger(1), trigger(2, { runnableId: idOf('dc_', 2) }));
  return harness;
}

test('the event has exactly the agreed members', async (t) => {
  const harness = await started(t);
  const { event } = await posted(harness, '{"a":1}', 'application/json', '/e/key1/orders/7%20x?b=1&a=2&b=3&c');
  assert.deepEqual(Object.keys(event), ['method', 'path', 'query', 'client_ip', 'url', 'headers', 'body']);
  assert.equal(event.method, 'POST');
  assert.equal(event.path, '/orders/7%20x');
  assert.deepEqual(event.query, { b: ['1', '3'], a: '2', c: '' });
  assert.equal(event.client_ip, '127.0.0.1');
  assert.equal(event.url, `http://127.0.0.1:${harness.port}/e/key1/orders/7%20x?b=1&a=2&b=3&c`);
  assert.equal(event.headers['content-type'], 'application/json');
  const emission = harness.accepted[0];
  assert.equal(emission?.emitterId, idOf('hi_', 1));
  assert.equal(emission?.originId, idOf('hi_', 1));
  assert.deepEqual([emission?.sourceType, emission?.verified, emission?.name], ['HTTP', false, '']);
});

test('valid JSON bodies go in byte for byte', async (t) => {
  const harness = await started(t);
  const odd = [
    '12345678901234567890',
    '{"b":1,"a":2,"10":3,"9":4}',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1},"constructor":{}}',
    '"\\ud800 \\u0000 \\/"',
    ' \n{ "n" : 1e400, "m":-0.0 }\t',
    '"é😀\u2028"',
  ];
  for (const body of odd) assert.equal((await posted(harness, body)).body, body);
  for (const deep of [nested(LIMITS.nestingDepth), JSON.stringify(nested(50_000))]) {
    assert.equal((await posted(harness, deep)).body, deep);
  }
  const large = JSON.stringify('x'.repeat(500 * 1024));
  assert.equal((await posted(harness, large)).body, large);
});

test('JSON nested too deep is refused', async (t) => {
  const harness = await started(t);
  for (const levels of [LIMITS.nestingDepth + 1, 50_000]) {
    const headers = { 'content-type': 'application/json' };
    const { status, json } = await harness.call('POST', '/e/key1', { key: null, headers, body: nested(levels) });
    assert.deepEqual([status, json.error], [400, `The event is nested deeper than ${LIMITS.nestingDepth} levels`]);
  }
  assert.deepEqual(harness.accepted, []);
  const text = await posted(harness, nested(50_000), 'text/plain');
  assert.equal(text.event.body, nested(50_000));
});

test('any JSON goes in byte for byte', async (t) => {
  const harness = await started(t);
  await fc.assert(
    fc.asyncProperty(fc.json(), async (body) => assert.equal((await posted(harness, body)).body, body)),
    { numRuns: 150 },
  );
});

test('any bytes at all make a valid event', async (t) => {
  const harness = await started(t);
  const types = fc.constantFrom(
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'image/png',
    'a/b+json',
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), types, async (body, type) => {
      const { event } = await posted(harness, body, type);
      if (event.body?.$base64) assert.deepEqual(Buffer.from(event.body.$base64, 'base64'), Buffer.from(body));
    }),
    { numRuns: 150 },
  );
});

test('content types of JSON are told apart', async (t) => {
  const harness = await started(t);
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'text/json',
    'application/vnd.x+json;v=1',
  ]) {
    assert.deepEqual((await posted(harness, '{"a":1}', type)).event.body, { a: 1 }, type);
  }
  for (const type of ['text/plain', 'application/jsonp', 'application/json-seq']) {
    assert.equal((await posted(harness, '{"a":1}', type)).event.body, '{"a":1}', type);
  }
});

test('broken JSON comes in as text', async (t) => {
  const harness = await started(t);
  for (const body of ['{"a":1', '{a:1}', '\ufeff{}', '{}{}'])
    assert.equal((await posted(harness, body)).event.body, body);
});

test('forms come in as objects', async (t) => {
  const harness = await started(t);
  const form = 'b=1&a=x+y&b=%C3%A9&__proto__=p&10=t&9=n';
  const { body } = await posted(harness, form, 'application/x-www-form-urlencoded');
  assert.equal(body, '{"b":["1","é"],"a":"x y","__proto__":"p","10":"t","9":"n"}');
});

test('sources also get the raw body', async (t) => {
  const harness = await started(t);
  const { event } = await posted(harness, '{ "a": 1.0 }', 'application/json', '/e/key2');
  assert.equal(event.bodyRaw, '{ "a": 1.0 }');
  assert.deepEqual(event.body, { a: 1 });
  assert.equal((await posted(harness, '', 'text/plain', '/e/key2')).event.bodyRaw, '');
});

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

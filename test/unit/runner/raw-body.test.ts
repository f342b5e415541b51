import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rawBodyOf } from '../../../src/runner/child/component/source.ts';

const raw = (text: string): string => rawBodyOf(text, (JSON.parse(text) as { body?: unknown }).body);

test('the raw body is the text that arrived', () => {
  assert.equal(raw('{"a":1,"body":{"n":1.0, "m":[1,{"x":"}"}]},"c":2}'), '{"n":1.0, "m":[1,{"x":"}"}]}');
  assert.equal(raw(' {\n "body" : [ 1 ] \n} '), '[ 1 ]');
  assert.equal(raw('{"x":{"body":1},"body":12345678901234567890}'), '12345678901234567890');
  assert.equal(raw('{"bod\\u0079":{"a" :1}}'), '{"a" :1}');
  assert.equal(raw('{"body":[1],"body":[2]}'), '[2]');
});

test('a text body is its text', () => {
  assert.equal(raw('{"body":"a\\nb"}'), 'a\nb');
});

test('without a body it is empty', () => {
  assert.equal(raw('{"body":null}'), '');
  assert.equal(raw('{}'), '');
});

test('any body among any members is found', () => {
  const member = fc.string().filter((name) => name !== 'body' && name !== '__proto__');
  fc.assert(
    fc.property(
      fc.dictionary(member, fc.jsonValue()),
      fc.oneof(fc.object(), fc.array(fc.jsonValue())),
      fc.constantFrom(0, 1, 2),
      (rest, given, spaces) => {
        const body = JSON.parse(JSON.stringify(given)) as unknown;
        const text = JSON.stringify({ ...rest, body, after: 1 }, null, spaces);
        assert.deepEqual(JSON.parse(raw(text)), body);
        assert.ok(text.includes(raw(text)));
      },
    ),
  );
});

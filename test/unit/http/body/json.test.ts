import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeJson, Verbatim } from '../../../../src/http/body/json.ts';

test('verbatim bytes are spliced in unchanged', () => {
  const odd = '{"n":12345678901234567890, "a":1,"a":2}';
  const text = encodeJson({
    id: 'x',
    event: new Verbatim(Buffer.from(odd)),
    list: [new Verbatim(Buffer.from('1e400')), 2],
  });
  assert.equal(text.toString(), `{"id":"x","event":${odd},"list":[1e400,2]}`);
});

test('members that are undefined are left out', () => {
  assert.equal(encodeJson({ a: undefined, b: null, c: [undefined] }), '{"b":null,"c":[null]}');
});

test('everything else is as JSON.stringify', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(encodeJson(value), JSON.stringify(value))));
});

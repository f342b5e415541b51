// JSON merge patch, as RFC 7396 has it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergePatch } from '../../../../src/http/patch.ts';

/** The examples of its appendix A. */
const EXAMPLES: readonly [target: string, patch: string, result: string][] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

for (const [target, patch, result] of EXAMPLES) {
  test(`${patch} of ${target}`, () => {
    assert.equal(JSON.stringify(mergePatch(JSON.parse(target), JSON.parse(patch))), result);
  });
}

test('a name of every object’s is a name like any other', () => {
  const patch = JSON.parse('{"__proto__":{"x":1},"constructor":{"y":2}}');
  const merged = mergePatch({}, patch);
  assert.equal(JSON.stringify(merged), JSON.stringify(patch));
  assert.equal(Object.getPrototypeOf(merged), Object.prototype);
  assert.equal(({} as { x?: number }).x, undefined);
});

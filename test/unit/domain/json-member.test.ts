import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { memberOf } from '../../../src/domain/json-member.ts';

function sliced(json: string, name = 'event'): string | undefined {
  const member = memberOf(Buffer.from(json), name);
  return member && Buffer.from(member).toString();
}

test('a member comes out byte for byte', () => {
  const odd = '{ "b" :12345678901234567890, "a":1e400,"a": -0.0, "__proto__":{"10":1,"9":2},"s":"\\ud800\\u0000" }';
  assert.equal(sliced(`{"event":${odd}}`), odd);
  assert.equal(sliced(` { "x" : [1, {"event": 2}] , "event" \n:\t${odd} , "y":null } `), odd);
});

test('the last of duplicate members counts', () => {
  assert.equal(sliced('{"event":1,"event":{"a":2},"x":3}'), '{"a":2}');
});

test('an escaped spelling of the name counts', () => {
  assert.equal(sliced('{"\\u0065v\\u0065nt":[1]}'), '[1]');
  assert.equal(sliced('{"event":1,"ev\\u0065nt":2}'), '2');
});

test('only members at the top level count', () => {
  assert.equal(sliced('{"a":{"event":1},"b":"event","c":["event",{"event":2}]}'), undefined);
  assert.equal(sliced('["event", 1]'), undefined);
  assert.equal(sliced('{}'), undefined);
});

test('braces and quotes inside strings mean nothing', () => {
  assert.equal(sliced('{"a":"}{\\"","event":"]}\\\\","b":"{["}'), '"]}\\\\"');
});

test('deep nesting does not overflow the stack', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  assert.equal(sliced(`{"event":${deep},"x":1}`), deep);
});

const whiteSpace = fc.constantFrom('', ' ', '\n', '\t \r\n');
const jsonText = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.constantFrom(
    '12345678901234567890',
    '1e400',
    '-0',
    '"\\ud800"',
    '{"a":1,"a":2}',
    '{"__proto__":1,"10":2,"9":3}',
    '"é😀"',
  ),
);
const names = fc.constantFrom('event', 'evens', 'x', '__proto__', '', 'eve\\u006et', '\\u0065vent', 'é', '\\"event\\"');

test('any object gives what JSON.parse sees', () => {
  const members = fc.array(fc.tuple(names, whiteSpace, jsonText, whiteSpace), { maxLength: 6 });
  fc.assert(
    fc.property(members, whiteSpace, (all, around) => {
      const text = `${around}{${all.map(([name, before, value, after]) => `${before}"${name}"${after}:${before}${value}${after}`)}}${around}`;
      const parsed = JSON.parse(text) as Record<string, unknown>;
      const member = sliced(text);
      assert.equal(member !== undefined, Object.hasOwn(parsed, 'event'));
      const last = all.findLast(([name]) => JSON.parse(`"${name}"`) === 'event');
      assert.equal(member?.trim(), last?.[2].trim());
      assert.equal(member, member?.trim());
    }),
    { numRuns: 2000 },
  );
});

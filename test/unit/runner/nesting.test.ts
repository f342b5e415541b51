import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { isDeeperThan } from '../../../src/runner/child/nesting.ts';
import { faultOf, type Kit, kit } from './kit.ts';

const { nestingDepth } = LIMITS;

test('depth is read off the text', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const mixed = (levels: number) => '{"a":['.repeat(levels / 2) + ']}'.repeat(levels / 2);
  for (const [text, levels] of [
    [deep(10), 10],
    [mixed(10), 10],
    [`[${deep(9)},${deep(8)}]`, 10],
    [`["${'['.repeat(50)}",${deep(9)}]`, 10],
    [JSON.stringify([['\\', '"[[[[', '\\"', '\\\\'], { '"[': '{"' }, ']'.repeat(30)]), 2],
    [JSON.stringify('['.repeat(100)), 0],
    ['5', 0],
  ] as const) {
    assert.equal(isDeeperThan(text, levels), false, text);
    if (levels > 0) assert.equal(isDeeperThan(text, levels - 1), true, text);
  }
});

/** A value nested so deep, as an expression. */
const nested = (levels: number) => `JSON.parse('[{"a":'.repeat(${levels / 2}) + '1' + '}]'.repeat(${levels / 2}))`;

const PLACES: Record<string, (value: string) => string> = {
  'The return value of the step one': (value) => `return ${value}`,
  'The export a': (value) => `$.export("a", ${value})`,
  'The event': (value) => `$.send.emit(${value})`,
  'The event ': (value) => `$.flow.trigger("p_0123456789abcdEF", ${value})`,
  'The data of a request': (value) => `$.send.http({ url: "http://a.example/", data: ${value} })`,
  'The context of $.flow.rerun': (value) => `$.flow.rerun(1, ${value})`,
};

async function refusal({ evaluate }: Kit, body: string): Promise<[string, string]> {
  const { code, msg } = faultOf(await evaluate(body));
  return [code, msg];
}

test('what is nested too deep says what and how deep', async (t) => {
  const given = kit(t);
  for (const [what, body] of Object.entries(PLACES)) {
    assert.notEqual((await given.evaluate(body(nested(nestingDepth)))).end.kind, 'failed', what);
    for (const levels of [nestingDepth + 2, 100_000]) {
      const msg = `${what.trim()} is nested deeper than ${nestingDepth} levels`;
      assert.deepEqual(await refusal(given, body(nested(levels))), ['PayloadTooLarge', msg]);
    }
  }
});

test('what is circular says so', async (t) => {
  const given = kit(t);
  for (const [what, body] of Object.entries(PLACES)) {
    const [code, msg] = await refusal(given, `const o = { list: [] }; o.list.push(o); ${body('o')}`);
    assert.equal(code, 'TypeError');
    assert.ok(msg.startsWith(`${what.trim()} is circular: it contains itself (`), msg);
    assert.match(msg, /property 'list'/);
  }
});

test('what has no JSON says what it is', async (t) => {
  const given = kit(t);
  assert.deepEqual(await refusal(given, 'return { n: 1n }'), [
    'TypeError',
    'The return value of the step one is not a JSON value (Do not know how to serialize a BigInt)',
  ]);
  assert.deepEqual(await refusal(given, '$.export("a", () => 1)'), [
    'TypeError',
    'The export a is not a JSON value: [Function (anonymous)]',
  ]);
  const own = 'return { toJSON() { throw new RangeError("own") } }';
  assert.deepEqual(await refusal(given, own), ['RangeError', 'own']);
  const endless = 'return { toJSON() { const f = () => f() + 1; return f() } }';
  assert.deepEqual(await refusal(given, endless), ['RangeError', 'Maximum call stack size exceeded']);
});

test('an event is passed on as deep as allowed', async (t) => {
  const { source } = kit(t);
  const event = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  assert.equal((await source('export default {}', {}, event(nestingDepth))).end.kind, 'succeeded');
  assert.equal(faultOf(await source('export default {}', {}, event(nestingDepth + 1))).code, 'PayloadTooLarge');
});

test('steps may read events of any depth', async (t) => {
  const { run } = kit(t);
  const event = Buffer.from('['.repeat(5000) + ']'.repeat(5000));
  const code =
    'export default ({ steps }) => { let d = 0; for (let v = steps.trigger.event; v; v = v[0]) d++; return d }';
  assert.equal((await run(code, { event })).steps[0]?.returnValue, '5000');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { Fault } from '../../../../src/domain/run/run.ts';
import { deploymentOf, faultOf, type Kit, kit } from '../kit.ts';

/** The fault of a step that throws the value of this expression. */
async function thrown({ evaluate }: Kit, expression: string): Promise<Fault> {
  return faultOf(await evaluate(`throw ${expression}`));
}

test('a fault names step, time, code and message', async (t) => {
  const before = Date.now();
  const fault = faultOf(
    await kit(t).run(['export default () => 1', 'export default () => { throw new RangeError("too far") }']),
  );
  assert.deepEqual([fault.code, fault.msg, fault.cellId, fault.namespace], ['RangeError', 'too far', 'c_two', 'two']);
  assert.ok(fault.tsMs >= before && fault.tsMs <= Date.now());
});

test('the code is the own one, else the name', async (t) => {
  const given = kit(t);
  assert.equal((await thrown(given, 'Object.assign(new Error("m"), { code: "E_OWN" })')).code, 'E_OWN');
  assert.equal((await thrown(given, 'Object.assign(new TypeError("m"), { code: 42 })')).code, '42');
  for (const code of ['1.5', 'NaN', '{}', 'null', '2n'])
    assert.equal((await thrown(given, `Object.assign(new TypeError("m"), { code: ${code} })`)).code, 'TypeError');
  const deaf = 'new Proxy(Object.assign(new TypeError("m"), { code: 7 }), { getOwnPropertyDescriptor() { throw 1 } })';
  assert.deepEqual([(await thrown(given, deaf)).code, (await thrown(given, deaf)).msg], ['TypeError', 'm']);
  assert.equal((await thrown(given, 'Object.assign(new Error("m"), { code: "", name: "" })')).code, 'Error');
  assert.equal((await thrown(given, 'new DOMException("m", "AbortError")')).code, 'AbortError');
  assert.equal(
    (await thrown(given, '(() => { class Own extends Error { name = "Own" } return new Own("m") })()')).code,
    'Own',
  );
});

test('a code is cut to its limit', async (t) => {
  const { code } = await thrown(kit(t), 'Object.assign(new Error("m"), { code: "😀".repeat(1000) + "\\ud800" })');
  assert.equal(code.length, LIMITS.codeChars);
  assert.ok(code.isWellFormed());
});

test('no error passes for one of the platform', async (t) => {
  const { run } = kit(t);
  const codes = [
    'Timeout',
    'OutOfMemory',
    'WorkerLost',
    'WorkerExit',
    'StartFailed',
    'PayloadTooLarge',
    'QueueFull',
    'RateLimited',
    'DeliveryExhausted',
    'DeliveryRefused',
    'WebhookGone',
    'Internal',
  ];
  const deployment = await deploymentOf(`export default ({ steps }) => {
    const { code, name } = steps.trigger.event; throw Object.assign(new Error('m'), { code }, name && { name });
  }`);
  for (const code of codes) {
    const claim = async (given: object) =>
      faultOf(await run(deployment, { event: Buffer.from(JSON.stringify(given)) })).code;
    assert.equal(await claim({ code }), 'Error');
    assert.equal(await claim({ code: ` ${code}\0\u202e\u3164\n` }), 'Error');
    assert.equal(await claim({ code: `${code}s` }), `${code}s`);
    assert.equal(await claim({ code, name: 'Mine' }), 'Mine');
    assert.equal(await claim({ code, name: code }), 'Error');
  }
  const rethrown =
    'export default ({ $ }) => { try { $.export("a", "x".repeat(7 << 20)) } catch (e) { throw new e.constructor(e.name) } }';
  assert.equal(faultOf(await run(rethrown)).code, 'Error');
});

test('a ConfigurationError may be thrown by anyone', async (t) => {
  const { run } = kit(t);
  const code =
    'import { ConfigurationError } from "@pipedream/platform"; export default () => { throw new ConfigurationError("set the key") }';
  const fault = faultOf(await run(code));
  assert.deepEqual(
    [fault.code, fault.msg, fault.stack],
    ['ConfigurationError', 'set the key', '    at one_default (one.ts:1:88)'],
  );
});

test('what is no error becomes one by its text', async (t) => {
  const given = kit(t);
  const cases = [
    ['"text"', 'text'],
    ['null', 'null'],
    ['undefined', 'undefined'],
    ['42n', '42n'],
    ['Symbol("s")', 'Symbol(s)'],
    ['{ a: { b: [1] } }', '{ a: { b: [ 1 ] } }'],
    ['Object.create(null)', '[Object: null prototype] {}'],
    ['true', 'true'],
    ['-0', '-0'],
    ['""', ''],
  ];
  for (const [expression, msg] of cases as [string, string][]) {
    const fault = await thrown(given, expression);
    assert.deepEqual([fault.code, fault.msg, fault.stack], ['Error', msg, '']);
  }
});

test('hostile values are captured all the same', async (t) => {
  const given = kit(t);
  const bad = '() => { throw new Error("again") }';
  const proxy = `new Proxy({}, { get: ${bad}, getPrototypeOf: ${bad}, ownKeys: ${bad}, has: ${bad}, getOwnPropertyDescriptor: ${bad} })`;
  const getters = `Object.defineProperties(new Error('m'), Object.fromEntries(['code', 'name', 'message', 'stack', 'cause', 'toString']
    .map((key) => [key, { get: ${bad} }])))`;
  const cases: Record<string, RegExp> = {
    [proxy]: /Proxy/,
    [`new Proxy(new Error('inner'), { get: ${bad} })`]: /inner/,
    [getters]: /./,
    [`{ get a() { throw 1 }, toJSON: ${bad}, toString: ${bad}, [Symbol.toPrimitive]: ${bad} }`]: /Getter/,
    'Object.freeze(new Error("frozen"))': /^frozen$/,
    '(() => { const e = new Error("circular"); e.cause = e; e.errors = [e]; return e })()': /^circular$/,
    '(() => { const o = {}; o.o = o; return o })()': /Circular/,
    'new Error("half \\ud83d")': /^half \ufffd$/,
    'Object.assign(new Error("m"), { message: { deep: 1n } })': /deep: 1n/,
    'Object.assign(new Error("m"), { message: Symbol("s"), stack: 5 })': /Symbol\(s\)/,
    '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()': /Revoked/,
    'new Error(new Array(10).fill("\\0").join(""))': new RegExp(`^${'\\0'.repeat(10)}$`),
  };
  for (const [expression, pattern] of Object.entries(cases)) {
    const fault = await thrown(given, expression);
    assert.match(fault.msg, pattern, expression);
    assert.ok(fault.code === 'Error' && fault.msg.isWellFormed() && fault.stack.isWellFormed(), expression);
  }
});

test('stacks within messages name sources of the owner', async (t) => {
  const { run } = kit(t);
  const hostile = 'new Proxy(new Error("inner"), { getPrototypeOf() { throw 1 }, get() { throw 1 } })';
  const cases = [
    `throw ${hostile}`,
    'throw { data: new Error("inner") }',
    'throw Object.assign(new Error("x"), { message: { data: new Error("inner") } })',
    'throw Object.assign(new Error("x"), { code: new Error("inner").stack })',
    'throw new Error("outer", { cause: { data: new Error("inner") } })',
    `throw new AggregateError([{ data: new Error("inner") }, ${hostile}])`,
    `throw new Error("x".repeat(32700) + new Error("inner").stack)`,
  ];
  for (const code of cases) {
    const { code: name, msg, stack } = faultOf(await run(`export default async () => { ${code} }`));
    const shown = [name, msg, stack].join('\n');
    assert.doesNotMatch(shown, /file:|child\.mjs|node:internal/, code);
    if (!code.includes('repeat')) assert.match(shown, /inner.*one\.ts:1:\d+/s, code);
  }
});

test('stacks in reasons and summaries name sources of the owner', async (t) => {
  const { run } = kit(t);
  const texts = [
    (await run('export default ({ $ }) => $.flow.exit(new Error("inner"))')).end,
    (await run('export default ({ $ }) => { $.export("$summary", [new Error("inner")]) }')).summary,
    (
      await run(
        'export default () => console.log({ [Symbol.for("nodejs.util.inspect.custom")]() { throw [new Error("inner")] } })',
      )
    ).logs,
  ];
  for (const text of texts.map((one) => JSON.stringify(one))) {
    assert.match(text, /inner/);
    assert.doesNotMatch(text, /file:|child\.mjs/);
  }
});

test('what code may not do is told without flags', async (t) => {
  const given = kit(t);
  const cases: [body: string, message: RegExp][] = [
    ['node("fs").readFileSync("/etc/passwd")', /^Code may not read \/etc\/passwd: its files are those below \/tmp$/],
    ['await node("fs").promises.writeFile("/x", "")', /^Code may not write \/x: /],
    ['node("child_process").execSync("ls")', /^Code may not start processes here$/],
    ['throw Object.assign(new Error("own"), { code: "ERR_ACCESS_DENIED", permission: "toString" })', /^own$/],
  ];
  for (const [body, message] of cases) {
    const fault = faultOf(await given.evaluate(body));
    assert.equal(fault.code, 'ERR_ACCESS_DENIED');
    assert.match(fault.msg, message);
  }
});

test('what only the hosted original has is refused by name', async (t) => {
  const given = kit(t);
  for (const [asked, message] of [
    ['$.send.s3({ bucket: "b" })', /^\$\.send\.s3 is not available here, .*: \$\.send has emit, email and http$/],
    ['$.send.sql({ query: "SELECT 1" })', /^\$\.send\.sql is not available here/],
    ['$.send.sms({ to: "1" })', /^\$\.send\.sms is not available here, since it needs the vendor's service/],
    ['$.discord.send({ text: "b" })', /^\$\.discord\.send is not available here, since it needs the vendor's bot/],
    ['$.files.open("a")', /^\$\.files is not available here/],
  ] as const) {
    const fault = faultOf(await given.run(`export default ({ $ }) => { JSON.stringify({ ...$ }); ${asked}; }`));
    assert.deepEqual([fault.code, message.test(fault.msg)], ['ConfigurationError', true], fault.msg);
  }
});

test('what an AggregateError gathers is told', async (t) => {
  const given = kit(t);
  const some = await thrown(
    given,
    'new AggregateError([new Error("a\\n  b"), "c", { d: 1 }, new TypeError("")], "all failed")',
  );
  assert.deepEqual([some.code, some.msg], ['AggregateError', 'all failed: a b; c; { d: 1 }; ']);
  const many = await thrown(given, 'new AggregateError(Array.from({ length: 13 }, (_, n) => n))');
  assert.equal(many.msg, '0; 1; 2; 3; 4; 5; 6; 7; 8; 9; and 3 more');
  const refused = await thrown(
    given,
    'Object.assign(new AggregateError([new Error("ECONN a")]), { code: "ECONNREFUSED" })',
  );
  assert.deepEqual([refused.code, refused.msg], ['ECONNREFUSED', 'ECONN a']);
  const bad = '{ get() { throw new Error("trap") } }';
  for (const errors of [
    bad,
    '{ value: 5 }',
    '{ value: null }',
    '{ value: { length: 1e9 } }',
    `{ value: new Proxy([], { get() { throw 1 } }) }`,
  ]) {
    const fault = await thrown(given, `Object.defineProperty(new AggregateError([], "own"), "errors", ${errors})`);
    assert.match(fault.msg, /^own/, errors);
    assert.equal(fault.code, 'AggregateError');
  }
});

test('causes are told behind the frames', async (t) => {
  const outcome = await kit(
    t,
  ).run(`const connect = () => { throw Object.assign(new Error('refused\\nby them'), { code: 'ECONN' }) };
export default function main() {
  try { connect() } catch (cause) {
    throw new TypeError('cannot fetch', { cause: new Error('no answer', { cause }) });
  }
}`);
  const fault = faultOf(outcome);
  assert.deepEqual([fault.code, fault.msg], ['TypeError', 'cannot fetch']);
  assert.deepEqual(fault.stack.split('\n'), [
    '    at main (one.ts:4:11)',
    '    at [cause: Error: no answer]',
    '    at main (one.ts:4:50)',
    '    at [cause: ECONN: refused by them]',
    '    at connect (one.ts:1:45)',
    '    at main (one.ts:3:9)',
  ]);
});

test('causes of any kind and number are told', async (t) => {
  const given = kit(t);
  const stackOf = async (expression: string) => (await thrown(given, expression)).stack.split('\n');
  const causes = (stack: readonly string[]) => stack.filter((line) => line.includes('[cause: '));
  assert.deepEqual(causes(await stackOf('new Error("m", { cause: "text" })')), ['    at [cause: text]']);
  assert.deepEqual(causes(await stackOf('new Error("m", { cause: { a: 1 } })')), ['    at [cause: { a: 1 }]']);
  const aggregate = 'new Error("m", { cause: new AggregateError([new Error("x"), new Error("y")]) })';
  assert.deepEqual(causes(await stackOf(aggregate)), ['    at [cause: AggregateError: x; y]']);
  const circular = '(() => { const a = new Error("a"); a.cause = new Error("b", { cause: a }); return a })()';
  assert.deepEqual(causes(await stackOf(circular)), ['    at [cause: Error: b]']);
  const trap = 'Object.defineProperty(new Error("m"), "cause", { get() { throw new Error("trap") } })';
  assert.deepEqual(causes(await stackOf(trap)), []);
  const chain =
    '(() => { let e; for (let i = 0; i < 1000; i++) e = new Error("e" + i + "é".repeat(2000), { cause: e }); return e })()';
  const long = await stackOf(chain);
  assert.equal(causes(long).length, 4);
  for (const line of long) assert.ok(Buffer.byteLength(line) <= LIMITS.frameBytes && line.startsWith('    at '));
  const deep =
    '(() => { const f = (n) => { if (n > 0) return f(n - 1); throw new Error("deep", { cause: new Error("why") }) }; f(100) })()';
  const cut = await stackOf(deep);
  assert.deepEqual([cut.length <= LIMITS.stackFrames, causes(cut).length], [true, 1]);
});

test('a huge message is cut between characters', async (t) => {
  const given = kit(t);
  const fault = await thrown(given, 'new Error("é☃😀".repeat(10 << 20))');
  const bytes = Buffer.byteLength(fault.msg);
  assert.ok(bytes <= LIMITS.messageBytes && bytes > LIMITS.messageBytes - 4, String(bytes));
  assert.ok(fault.msg.isWellFormed());
  assert.match(fault.stack, /one\.ts/);
  assert.equal((await thrown(given, '"x".repeat(100 << 20)')).msg.length, LIMITS.messageBytes);
});

test('broken globals do not lose the error', async (t) => {
  const { run } = kit(t);
  const breaking = 'const bad = () => { throw new Error("broken") };';
  const cases = [
    'Error.prepareStackTrace = bad; Object.freeze(Error)',
    'JSON.stringify = JSON.parse = bad',
    'Date.now = performance.now = bad',
    'globalThis.setImmediate = globalThis.setTimeout = globalThis.queueMicrotask = bad',
    'Error.stackTraceLimit = 0',
  ];
  for (const line of cases) {
    const fault = faultOf(
      await run(`export default () => { ${breaking} ${line}; throw new TypeError('the real one') }`),
    );
    assert.deepEqual([fault.code, fault.msg], ['TypeError', 'the real one'], line);
  }
  const worse = faultOf(
    await run(`export default () => { ${breaking} String.prototype.slice = bad; throw new TypeError('the real one') }`),
  );
  assert.deepEqual([worse.code, worse.msg], ['Error', 'The code failed, and left its process unable to say how']);
});

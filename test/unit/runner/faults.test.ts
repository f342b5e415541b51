import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Fault } from '../../../src/domain/run.ts';
import { deploymentOf, faultOf, type Kit, kit } from './kit.ts';

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
  assert.equal((await thrown(given, 'Object.assign(new TypeError("m"), { code: 42 })')).code, 'TypeError');
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

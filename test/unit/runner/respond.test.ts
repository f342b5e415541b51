import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyText, deploymentOf, faultOf, kit, signal } from './kit.ts';

const step = (given: string): string => `export default async ({ $ }) => { await $.respond(${given}) }`;

test('a string body goes out as it is', async (t) => {
  const { answer } = await kit(t).run(
    step('{ status: "201", headers: { "X-A": 1, "x-b": ["p", "q"] }, body: "grüße" }'),
  );
  assert.equal(answer?.status, 201);
  assert.deepEqual(answer?.headers, { 'X-A': '1', 'x-b': 'p, q' });
  assert.equal(bodyText(answer), 'grüße');
});

test('an object body becomes JSON with its type', async (t) => {
  const { run } = kit(t);
  const plain = (await run(step('{ body: { a: 1 } }'))).answer;
  assert.deepEqual(
    [plain?.status, plain?.headers, bodyText(plain)],
    [200, { 'content-type': 'application/json' }, '{"a":1}'],
  );
  const typed = (await run(step('{ body: [1], headers: { "Content-Type": "text/x" } }'))).answer;
  assert.deepEqual([typed?.headers, bodyText(typed)], [{ 'Content-Type': 'text/x' }, '[1]']);
});

test('bytes go out unchanged', async (t) => {
  const { evaluate } = kit(t);
  for (const body of [
    'Buffer.from([0, 255, 128])',
    'new Uint8Array([0, 255, 128])',
    'new Uint8Array([0, 255, 128]).buffer',
    'new DataView(new Uint8Array([9, 0, 255, 128]).buffer, 1)',
    'new Uint8Array([9, 0, 255, 128]).subarray(1)',
    'new Blob([new Uint8Array([0, 255, 128])])',
    'new Response(new Uint8Array([0, 255, 128])).body',
    'node("stream").Readable.from([Buffer.from([0, 255]), Buffer.from([128])])',
  ]) {
    const { answer } = await evaluate(`$.respond({ body: ${body} })`);
    assert.deepEqual([...(answer?.body ?? [])], [0, 255, 128]);
    assert.deepEqual(answer?.headers, {});
  }
});

test('a stream body is read to its end', async (t) => {
  const { run } = kit(t);
  const readable = await run(
    `import { Readable } from 'node:stream'; ${step('{ body: Readable.from(["a", "b", "c"]) }')}`,
  );
  assert.equal(bodyText(readable.answer), 'abc');
  const generated = await run(step('{ body: (async function* () { yield Buffer.from("x"); yield "y" })() }'));
  assert.equal(bodyText(generated.answer), 'xy');
});

test('a form goes out as one', async (t) => {
  const { answer } = await kit(t).evaluate('$.respond({ body: new URLSearchParams({ a: "ü" }) })');
  assert.deepEqual(
    [bodyText(answer), answer?.headers],
    ['a=%C3%BC', { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }],
  );
});

test('what is no body is empty or JSON', async (t) => {
  const { evaluate } = kit(t);
  for (const given of ['', '{}', '{ body: null }', '{ body: "" }']) {
    const { answer } = await evaluate(`$.respond(${given})`);
    assert.deepEqual([answer?.status, answer?.headers, bodyText(answer)], [200, {}, '']);
  }
  for (const body of ['0', 'false', '[]']) {
    const { answer } = await evaluate(`$.respond({ body: ${body} })`);
    assert.deepEqual([answer?.headers, bodyText(answer)], [{ 'content-type': 'application/json' }, body]);
  }
});

test('a status may be text, headers in any form', async (t) => {
  const { evaluate } = kit(t);
  for (const [status, is] of [
    ['"404"', 404],
    ['" 204 "', 204],
    ['599', 599],
    ['undefined', 200],
  ] as const) {
    assert.equal((await evaluate(`$.respond({ status: ${status} })`)).answer?.status, is);
  }
  for (const headers of ['new Headers({ "X-A": "1" })', '[...new Headers({ "X-A": "1" })]', '[["x-a", 1]]']) {
    const { answer } = await evaluate(`$.respond({ headers: ${headers} })`);
    assert.deepEqual(answer?.headers, { 'x-a': '1' }, headers);
  }
});

test('a stream that fails, fails its step', async (t) => {
  const { evaluate } = kit(t);
  const broken = '(async function* () { yield "x"; throw new RangeError("half way") })()';
  assert.equal(faultOf(await evaluate(`$.respond({ body: ${broken} })`)).msg, 'half way');
});

test('a step waits for an answer that is not awaited', async (t) => {
  const code = 'export default ({ $ }) => { $.respond({ body: (async function* () { await null; yield "late" })() }) }';
  assert.equal(bodyText((await kit(t).run(code)).answer), 'late');
});

test('an immediate answer does not wait for the end', async (t) => {
  const { run } = kit(t);
  const { came, onAnswer } = signal();
  const deployment = await deploymentOf(`let release; export default async ({ $ }) => {
    if (release) return release();
    await $.respond({ immediate: true, body: 'now' });
    await new Promise((resolve) => { release = resolve });
  }`);
  const first = run(deployment, { onAnswer });
  assert.equal(bodyText(await came), 'now');
  await run(deployment);
  assert.equal((await first).answer, null);
});

test('the first of several answers stands', async (t) => {
  const outcome = await kit(t).run(
    'export default async ({ $ }) => { await $.respond({ body: "1" }); await $.respond({ body: "2", immediate: true }) }',
    { onAnswer: () => assert.fail('the second answer went out') },
  );
  assert.equal(bodyText(outcome.answer), '1');
  assert.match(outcome.logs[0]?.text ?? '', /first answer stands/);
});

test('an answer that cannot be sent fails its step', async (t) => {
  const { evaluate } = kit(t);
  const cases = [
    '{ status: 99 }',
    '{ status: "teapot" }',
    '{ headers: { "a b": "x" } }',
    '{ headers: { a: "x\\r\\ny: z" } }',
    '{ body: (async function* () { yield 5 })() }',
    '{ status: "" }',
    '{ headers: "a: b" }',
    '{ status: 200.5 }',
    '{ status: 600 }',
    '{ status: null, headers: { a: "☃" } }',
    ...['"a body alone"', '404', 'true', '[1, 2]', 'Buffer.from("bytes")', '() => ({ body: "x" })'],
  ];
  for (const given of cases) {
    assert.equal(faultOf(await evaluate(`await $.respond(${given})`)).code, 'ConfigurationError', given);
    assert.equal(faultOf(await evaluate(`$.respond(${given})`)).code, 'ConfigurationError', given);
  }
});

test('an answer beyond the limit is too large', async (t) => {
  const endless = '{ body: (async function* () { for (;;) yield Buffer.alloc(1 << 20) })() }';
  assert.equal(faultOf(await kit(t).run(step(endless))).code, 'PayloadTooLarge');
});

test('a failed run keeps its answer', async (t) => {
  const outcome = await kit(t).run(
    'export default async ({ $ }) => { await $.respond({ body: "kept" }); throw new Error("x") }',
  );
  assert.equal(faultOf(outcome).msg, 'x');
  assert.equal(bodyText(outcome.answer), 'kept');
});

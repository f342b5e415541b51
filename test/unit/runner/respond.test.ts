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

test('a step waits for an answer nobody awaited', async (t) => {
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

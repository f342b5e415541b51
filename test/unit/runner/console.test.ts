import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentOf, kit, returned } from './kit.ts';

test('each console method has its level', async (t) => {
  const before = Date.now();
  const { logs } = await kit(t).run(`export default () => {
    console.log('a %s', 'b', { c: [1] }); console.info('i'); console.warn('w'); console.error('e'); console.debug('d');
    const { log } = console; log('taken out');
  }`);
  assert.deepEqual(
    logs.map(({ level, text }) => [level, text]),
    [
      ['info', 'a b { c: [ 1 ] }'],
      ['info', 'i'],
      ['warn', 'w'],
      ['error', 'e'],
      ['debug', 'd'],
      ['info', 'taken out'],
    ],
  );
  for (const { tsMs, namespace } of logs) assert.deepEqual([tsMs >= before, namespace], [true, 'one']);
});

test('the rest of console prints as lines too', async (t) => {
  const { logs } = await kit(t).run(`export default () => {
    console.trace('here'); console.dir({ a: 1 }); console.assert(false, 'asserted'); console.count(); console.table([1]);
  }`);
  assert.deepEqual(
    logs.map(({ level }) => level),
    ['debug', 'info', 'warn', 'info', 'info'],
  );
  assert.equal(logs[0]?.text, 'Trace: here');
  assert.match(logs[2]?.text ?? '', /asserted/);
});

test('lines belong to the step that printed them', async (t) => {
  const step = 'export default async () => { console.log("a"); await null; console.log("b") }';
  const { logs } = await kit(t).run([step, step]);
  assert.deepEqual(
    logs.map(({ namespace, text }) => namespace + text),
    ['onea', 'oneb', 'twoa', 'twob'],
  );
});

test('lines stay with their run in a shared process', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf(`import { setImmediate as turn } from 'node:timers/promises';
    export default async ({ steps }) => {
      for (let i = 0; i < 5; i++) { await turn(); console.log(steps.trigger.event.n, i) }
      return process.pid;
    }`);
  const outcomes = await Promise.all([0, 1, 2, 3].map((n) => run(deployment, { event: Buffer.from(`{"n":${n}}`) })));
  assert.equal(new Set(outcomes.map(returned)).size, 1);
  for (const [n, { logs }] of outcomes.entries()) {
    assert.deepEqual(
      logs.map(({ text }) => text),
      [0, 1, 2, 3, 4].map((i) => `${n} ${i}`),
    );
  }
});

test('lines beyond the limit are counted', async (t) => {
  const outcome = await kit(t).run(
    'export default () => { for (let i = 0; i < 3; i++) console.log("é".repeat(300 * 1024)) }',
  );
  const kept = outcome.logs.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  assert.equal(outcome.logs.length, 2);
  assert.ok(Math.abs(kept + 2 * 64 - 1024 * 1024) <= 1, String(kept));
  assert.equal(kept + outcome.logBytesDropped, 3 * 600 * 1024 + 1);
});

test('empty lines are not free either', async (t) => {
  const outcome = await kit(t).run('export default () => { for (let i = 0; i < 20000; i++) console.log() }');
  assert.equal(outcome.logs.length, (1024 * 1024) / 64);
  assert.equal(outcome.logBytesDropped, 20_000 - (1024 * 1024) / 64);
});

test('printing never fails the code that prints', async (t) => {
  const outcome = await kit(t).run(`import { inspect } from 'node:util';
    export default () => {
      console.log({ [inspect.custom]() { throw new Error('custom') } });
      console.log(new Proxy({}, { ownKeys() { throw new Error('trap') } }));
      console.log({ get a() { throw new Error('getter') } });
      console.log('%s', { toString() { throw new Error('text') } });
      console.log('\\ud800');
      return 'went on';
    }`);
  assert.equal(returned(outcome), 'went on');
  assert.equal(outcome.logs.length, 5);
  assert.match(outcome.logs[0]?.text ?? '', /cannot be printed/);
  assert.equal(outcome.logs[4]?.text, '\ufffd');
});

test('what goes to the standard streams is dropped', async (t) => {
  const outcome = await kit(t).run(`export default () => {
    for (let i = 0; i < 100; i++) { process.stdout.write('x'.repeat(10000)); process.stderr.write('y'.repeat(10000)) }
    return 'not blocked';
  }`);
  assert.equal(returned(outcome), 'not blocked');
  assert.deepEqual(outcome.logs, []);
});

test('a failed and a timed-out run keep their lines', async (t) => {
  const { evaluate } = kit(t);
  const failed = await evaluate('console.log("before"); throw new Error("x")');
  const late = await evaluate('console.log("before"); await new Promise(() => {})', { timeoutMs: 200 });
  for (const { logs } of [failed, late])
    assert.deepEqual(
      logs.map(({ text }) => text),
      ['before'],
    );
});

test('printed stacks show the code and nothing of ours', async (t) => {
  const { logs } = await kit(t).run(`
    const opened = () => { new URL('nope') };
    export default async ({ $ }) => {
      const error = new Error('outer', { cause: new TypeError('inner') });
      console.error(error);
      console.error({ error });
      console.log(error.stack);
      await null;
      try { $.export('', 1) } catch (refused) { console.error('%s', refused.stack) }
      try { opened() } catch (denied) { console.error(denied) }
    }`);
  const texts = logs.map(({ text }) => text);
  assert.equal(
    texts[0],
    `Error: outer
    at one_default (one.ts:4:21) {
  [cause]: TypeError: inner
      at one_default (one.ts:4:49)
}`,
  );
  assert.match(texts[1] ?? '', /^\{\n {2}error: Error: outer\n {6}at one_default \(one\.ts:4:21\) \{\n/);
  assert.equal(texts[2], 'Error: outer\n    at one_default (one.ts:4:21)');
  assert.match(texts[3] ?? '', /^ConfigurationError: .*\n {4}at one_default \(one\.ts:9:\d+\)$/);
  assert.match(
    texts[4] ?? '',
    /\n {4}at new URL \(node:internal\/url:.*\n {4}at opened \(one\.ts:2:\d+\)\n {4}at one_default \(one\.ts:10:\d+\) \{\n {2}code: /,
  );
});

test('what only looks like a stack is printed as it is', async (t) => {
  const lines = [
    'first\n    at home (node:fs:1:2)\n',
    'second\n    at work (file:///tmp/theirs.mjs:1:2)\n ... 4 lines matching cause stack trace ...\n',
    `third\n    at length (${'x'.repeat(5000)}:1:2)`,
    '\n\n    at \n at the end',
  ];
  const { logs } = await kit(t).run(
    `export default () => { for (const line of ${JSON.stringify(lines)}) console.log(line) }`,
  );
  assert.deepEqual(
    logs.map(({ text }) => text),
    lines,
  );
});

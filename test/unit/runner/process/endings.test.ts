// Runs whose code does not return: each gets the right code, and only the guilty one.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { deploymentOf, faultOf, kit, returned, signal, until } from '../kit.ts';

/** Says that it has begun, then does what its event asks for. */
const PLAYER = `
  export default async ({ steps, $ }) => {
    const { then, url } = steps.trigger.event;
    await $.respond({ immediate: true });
    if (then === 'wait') return (await (await fetch(url)).text(), process.pid);
    if (then === 'hang') await new Promise(() => {});
    if (then === 'spin') for (;;);
    if (then === 'exit') process.exit(3);
    if (then === 'crash') (await import('node:fs')).closeSync(3);
    return process.pid;
  }`;

function player(t: TestContext) {
  const given = kit(t);
  const gate = gateFor(t);
  const deployment = deploymentOf(PLAYER);
  const begin = async (then: string, timeoutMs = 10_000, more: object = {}) => {
    const { came, onAnswer } = signal();
    const event = Buffer.from(JSON.stringify({ then, url: await gate.url }));
    const outcome = given.run(await deployment, { event, timeoutMs, onAnswer, ...more });
    return { outcome, began: came };
  };
  return { ...given, begin, open: gate.open };
}

/** An address that answers when it is opened. */
function gateFor(t: TestContext) {
  const opened = Promise.withResolvers<void>();
  const server = createServer((_request, response) => void opened.promise.then(() => response.end()));
  const url = new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, open: () => opened.resolve() };
}

test('a run that never settles times out', async (t) => {
  const { run } = kit(t);
  const before = Date.now();
  const deployment = await deploymentOf([
    'export default ({ steps }) => steps.trigger.event.hang',
    'export default ({ steps }) => steps.trigger.event.hang && new Promise(() => {})',
  ]);
  await run(deployment);
  const outcome = await run(deployment, { timeoutMs: 200, event: Buffer.from('{"hang":true}') });
  const fault = faultOf(outcome);
  assert.deepEqual([fault.code, fault.cellId, fault.namespace, fault.stack], ['Timeout', 'c_two', 'two', '']);
  assert.match(fault.msg, /200 ms/);
  assert.ok(fault.tsMs >= before);
  assert.deepEqual(
    outcome.steps.map(({ state }) => state),
    ['succeeded', 'failed'],
  );
});

test('a timeout leaves the others their process', async (t) => {
  const { begin, open } = player(t);
  const waiting = await begin('wait');
  await waiting.began;
  const hanging = await begin('hang', 200);
  assert.equal(faultOf(await hanging.outcome).code, 'Timeout');
  const next = returned(await (await begin('pid')).outcome);
  open();
  const kept = returned(await waiting.outcome);
  assert.ok(typeof kept === 'number' && kept !== next);
});

test('a timed-out process is not used again', async (t) => {
  const { begin, runner } = player(t);
  const first = returned(await (await begin('pid')).outcome);
  assert.equal(returned(await (await begin('pid')).outcome), first);
  faultOf(await (await begin('hang', 150)).outcome);
  assert.notEqual(returned(await (await begin('pid')).outcome), first);
  await until(() => runner.stats().processes === 1);
});

test('an endless loop times out and is killed', async (t) => {
  const { begin, runner } = player(t);
  await (await begin('pid')).outcome;
  const fault = faultOf(await (await begin('spin', 200)).outcome);
  assert.deepEqual([fault.code, fault.cellId], ['Timeout', 'c_one']);
  await until(() => runner.stats().processes === 0);
});

test('an endless loop in a later step names it', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf([
    'export default () => "first"',
    'export default ({ steps }) => { while (steps.trigger.event.spin); }',
  ]);
  await run(deployment);
  const outcome = await run(deployment, { timeoutMs: 200, event: Buffer.from('{"spin":true}') });
  const fault = faultOf(outcome);
  assert.deepEqual([fault.code, fault.cellId], ['Timeout', 'c_two']);
  assert.deepEqual(
    outcome.steps.map(({ namespace, state, returnValue }) => [namespace, state, returnValue]),
    [
      ['one', 'succeeded', '"first"'],
      ['two', 'failed', undefined],
    ],
  );
});

test('beside an endless loop nobody is blamed', async (t) => {
  const { begin } = player(t);
  const waiting = await begin('wait');
  await waiting.began;
  const spinning = await begin('spin', 200);
  assert.equal((await spinning.outcome).end.kind, 'bystander');
  assert.equal((await waiting.outcome).end.kind, 'bystander');
});

test('who waits behind a loop is not blamed', async (t) => {
  const { begin } = player(t);
  // Long enough for the loop to begin before, on a busy machine, too.
  const waiting = await begin('wait', 1500);
  await waiting.began;
  // Only the first is past its time when the process is found silent, and only the second is at fault.
  const spinning = await begin('spin', 5000);
  assert.equal((await waiting.outcome).end.kind, 'bystander');
  assert.equal((await spinning.outcome).end.kind, 'bystander');
});

test('of several late ones none is blamed for silence', async (t) => {
  const { begin } = player(t);
  await (await begin('pid')).outcome;
  const both = await Promise.all([begin('wait', 250), begin('spin', 250)]);
  const ends = await Promise.all(both.map(async ({ outcome }) => (await outcome).end.kind));
  assert.deepEqual(ends, ['bystander', 'bystander']);
  const again = await begin('spin', 200, { alone: true });
  assert.equal(faultOf(await again.outcome).code, 'Timeout');
});

test('top-level code that hangs times out', async (t) => {
  const { run } = kit(t);
  for (const code of ['await new Promise(() => {}); export default 1', 'for (;;); export default 1']) {
    const fault = faultOf(await run(code, { timeoutMs: 200 }));
    assert.deepEqual([fault.code, fault.cellId], ['Timeout', 'c_one']);
  }
});

test('too much memory is told as such', async (t) => {
  const outcome = await kit(t).run(
    'export default () => { const a = []; for (;;) a.push(new Array(10000).fill(a.length)) }',
    { memoryMb: 32 },
  );
  const fault = faultOf(outcome);
  assert.deepEqual([fault.code, fault.cellId], ['OutOfMemory', 'c_one']);
  assert.match(fault.msg, /32 MB/);
  assert.equal(outcome.steps[0]?.state, 'failed');
});

test('ending the process fails that run alone', async (t) => {
  const { begin, open } = player(t);
  const waiting = await begin('wait');
  await waiting.began;
  const fault = faultOf(await (await begin('exit')).outcome);
  assert.deepEqual(
    [fault.code, fault.cellId, fault.stack],
    ['WorkerExit', 'c_one', '    at one_default (one.ts:8:34)'],
  );
  assert.match(fault.msg, /process\.exit\(3\)/);
  const next = returned(await (await begin('pid')).outcome);
  open();
  const kept = returned(await waiting.outcome);
  assert.ok(typeof kept === 'number' && kept !== next);
});

test('every way to end the process is told', async (t) => {
  const { run } = kit(t);
  for (const call of [
    'process.exit()',
    'process.reallyExit(0)',
    'process.abort()',
    'process.kill(process.pid)',
    'import("node:process").then((p) => p.exit(1))',
  ]) {
    const fault = faultOf(
      await run(`export default async () => { try { await ${call} } catch {} await new Promise(() => {}) }`),
    );
    assert.equal(fault.code, 'WorkerExit', call);
  }
});

test('a process killed from outside is lost', async (t) => {
  const { came, onAnswer } = signal();
  const outcome = kit(t).run(
    'export default async ({ $ }) => { await $.respond({ immediate: true, body: String(process.pid) }); await new Promise(() => {}) }',
    { onAnswer },
  );
  process.kill(Number(Buffer.from((await came).body).toString()), 'SIGKILL');
  const fault = faultOf(await outcome);
  assert.deepEqual([fault.code, fault.cellId], ['WorkerLost', 'c_one']);
  assert.match(fault.msg, /SIGKILL/);
});

test('with several in flight a death blames nobody', async (t) => {
  const { begin } = player(t);
  const first = await begin('wait');
  await first.began;
  const second = await begin('crash');
  assert.deepEqual([(await first.outcome).end.kind, (await second.outcome).end.kind], ['bystander', 'bystander']);
  const alone = await begin('crash', 10_000, { alone: true });
  assert.equal(faultOf(await alone.outcome).code, 'WorkerLost');
});

test('code that cannot be loaded fails at start', async (t) => {
  const { run } = kit(t);
  const outcome = await run([
    'export default () => 1',
    '\nfunction load() { throw new RangeError("no config") }\nload(); export default 1',
  ]);
  const { tsMs, ...fault } = faultOf(outcome);
  assert.deepEqual(fault, {
    code: 'StartFailed',
    msg: 'no config',
    cellId: 'c_two',
    namespace: 'two',
    stack: '    at load (two.ts:2:25)\n    at two.ts:3:1',
  });
  assert.ok(tsMs > 0);
  assert.deepEqual(outcome.steps, []);
});

test('what cannot be called fails at start', async (t) => {
  const { run } = kit(t);
  for (const code of [
    'export default 42',
    'export default null',
    'export default {}',
    'module.exports = { run: 1 }',
    'process.exit(1); export default 1',
  ]) {
    assert.equal(faultOf(await run(code)).code, 'StartFailed', code);
  }
});

test('every run of a broken deployment fails alike', async (t) => {
  const { run, runner } = kit(t);
  const deployment = await deploymentOf('throw new Error("always"); export default 1');
  const outcomes = await Promise.all([run(deployment), run(deployment), run(deployment)]);
  outcomes.push(await run(deployment));
  for (const outcome of outcomes)
    assert.deepEqual([faultOf(outcome).code, faultOf(outcome).msg], ['StartFailed', 'always']);
  assert.equal(runner.stats().processes, 1);
});

test('an unhandled rejection fails its run', async (t) => {
  const fault = faultOf(
    await kit(t).run(
      'export default async () => {\n  Promise.reject(new RangeError("forgotten")); await new Promise(() => {}) }',
    ),
  );
  assert.deepEqual(
    [fault.code, fault.msg, fault.stack],
    ['RangeError', 'forgotten', '    at one_default (one.ts:2:18)'],
  );
});

test('an exception in a callback fails its run', async (t) => {
  const { run } = kit(t);
  for (const way of [
    'setTimeout(fail, 1)',
    'setImmediate(fail)',
    'process.nextTick(fail)',
    'queueMicrotask(fail)',
    'process.removeAllListeners("uncaughtException"); setTimeout(fail, 1)',
    'new (require("events"))().emit("error", new TypeError("later"))',
  ]) {
    const code = `const fail = () => { throw new TypeError('later') }; module.exports = async () => { ${way}; await new Promise(() => {}) }`;
    const fault = faultOf(await run(code));
    assert.deepEqual([fault.code, fault.msg], ['TypeError', 'later'], way);
  }
});

test('a callback exception spares the other runs', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf(`let release; const released = new Promise((resolve) => { release = resolve });
    export default async ({ steps }) => {
      if (steps.trigger.event.wait) return await released;
      setImmediate(() => { release('unharmed'); throw new Error('mine') });
      await new Promise(() => {});
    }`);
  const waiting = run(deployment, { event: Buffer.from('{"wait":true}') });
  assert.equal(faultOf(await run(deployment)).msg, 'mine');
  assert.equal(returned(await waiting), 'unharmed');
});

test('an exception of no run in flight is logged', async (t) => {
  const { run, logged } = kit(t);
  const deployment = await deploymentOf(`Promise.reject(new Error('nobody')); Promise.reject(new Error('nobody else'));
    export default () => 1`);
  assert.equal(returned(await run(deployment)), 1);
  await until(() => logged.some(({ name }) => name === 'runner.stray_exception'));
  const entries = logged.filter(({ name }) => name === 'runner.stray_exception');
  assert.deepEqual(
    entries.map(({ level, fields }) => [level, fields.thrown]),
    [['warn', 'nobody']],
  );
});

test('a cancelled run ends as cancelled', async (t) => {
  const { runner, run } = kit(t);
  const { came, onAnswer } = signal();
  const code = [
    'export default () => 1',
    'export default async ({ $ }) => { console.log("seen"); await $.respond({ immediate: true }); await new Promise(() => {}) }',
  ];
  const outcome = run(code, { run: 900_001, onAnswer });
  await came;
  assert.equal(runner.cancel(900_001), true);
  const { end, steps, logs } = await outcome;
  assert.deepEqual([end, steps.map(({ state }) => state), logs.length], [{ kind: 'cancelled' }, ['succeeded'], 1]);
  assert.equal(runner.cancel(900_001), false);
});

test('a loop that is cancelled is killed', async (t) => {
  const { begin, runner } = player(t);
  const waiting = await begin('wait');
  await waiting.began;
  const spinning = await begin('spin', 10_000, { run: 900_002 });
  await spinning.began;
  runner.cancel(900_002);
  assert.deepEqual((await spinning.outcome).end, { kind: 'cancelled' });
  assert.equal((await waiting.outcome).end.kind, 'bystander');
});

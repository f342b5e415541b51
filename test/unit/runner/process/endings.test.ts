// Runs that end otherwise than by returning: each gets the right code, and only the one at fault.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEADLINE_MS, deploymentOf, faultOf, kit, manualTimers, returned, signal, until } from '../kit.ts';
import { player } from './player.ts';

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

test('code may ask whether its own process is there', async (t) => {
  assert.equal(returned(await kit(t).run('export default () => process.kill(process.pid, 0)')), true);
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

test('with several in flight a death blames none', async (t) => {
  const { begin } = player(t);
  const first = await begin('wait');
  await first.began;
  const second = await begin('crash');
  assert.deepEqual([(await first.outcome).end.kind, (await second.outcome).end.kind], ['unattributed', 'unattributed']);
  const alone = await begin('crash', DEADLINE_MS, { alone: true });
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

test('a rejection that a run leaves behind as it returns fails it', async (t) => {
  const { run, logged } = kit(t);
  const failing = `const save = async () => { throw new TypeError('not saved') };`;
  for (const code of [
    `${failing} export default () => { save(); return 1 }`,
    `${failing} export default async () => { await null; save(); return 1 }`,
    `${failing} export default async ({ $ }) => { save(); $.export('long', 'x'.repeat(100_000)); return 'y'.repeat(100_000) }`,
    `${failing} export default { async run() { Promise.reject(new TypeError('not saved')) } }`,
    `${failing} export default async ({ $ }) => { save(); return $.flow.exit('done') }`,
  ]) {
    const outcome = await run(await deploymentOf(code));
    const fault = faultOf(outcome);
    assert.deepEqual([fault.code, fault.msg, fault.namespace], ['TypeError', 'not saved', 'one'], code);
    const { state, returnValue } = outcome.steps.at(-1) ?? {};
    assert.deepEqual([state, returnValue], ['failed', undefined], code);
  }
  const good = await deploymentOf(`export default async () => { Promise.reject(1).catch(() => 2); return 'good' }`);
  assert.equal(returned(await run(good)), 'good');
  assert.deepEqual(
    logged.filter(({ name }) => name === 'runner.stray_exception'),
    [],
  );
});

test('a rejection that a failed run leaves behind is logged', async (t) => {
  const { run, logged } = kit(t);
  const code = `export default () => { Promise.reject(new Error('left behind')); throw new TypeError('thrown') }`;
  const fault = faultOf(await run(await deploymentOf(code)));
  assert.deepEqual([fault.code, fault.msg], ['TypeError', 'thrown']);
  await until(() => logged.some(({ name }) => name === 'runner.stray_exception'));
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
  manualTimers(t); // however long the process takes to answer
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
  const spinning = await begin('spin', DEADLINE_MS, { run: 900_002 });
  await spinning.began;
  runner.cancel(900_002);
  assert.deepEqual((await spinning.outcome).end, { kind: 'cancelled' });
  assert.equal((await waiting.outcome).end.kind, 'unattributed');
});

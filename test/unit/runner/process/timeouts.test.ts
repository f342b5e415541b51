// Runs past their timeout: whether the process answers or not, only a run that is at fault is blamed.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { CHILD_FILE } from '../../../../src/runner/isolation/isolation.ts';
import { cpuOf } from '../../../../src/runner/pool/cpu.ts';
import { deploymentOf, faultOf, GRACE_MS, kit, manualTimers, returned, signal, until } from '../kit.ts';
import { player } from './player.ts';

const skip = process.platform === 'linux' ? false : 'the system does not tell who has the CPU';

test('a run that never settles times out', async (t) => {
  const timers = manualTimers(t);
  const { run } = kit(t);
  const { came, onAnswer } = signal();
  const before = Date.now();
  const deployment = await deploymentOf([
    'export default () => 1',
    'export default async ({ $ }) => { await $.respond({ immediate: true }); await new Promise(() => {}) }',
  ]);
  const running = run(deployment, { timeoutMs: 200, onAnswer });
  await came;
  timers.pass(200);
  const outcome = await running;
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
  const timers = manualTimers(t);
  const { begin, open } = player(t);
  const waiting = await begin('wait');
  await waiting.began;
  const hanging = await begin('hang', 200);
  await hanging.began;
  timers.pass(200);
  assert.equal(faultOf(await hanging.outcome).code, 'Timeout');
  const next = returned(await (await begin('pid')).outcome);
  open();
  const kept = returned(await waiting.outcome);
  assert.ok(typeof kept === 'number' && kept !== next);
});

test('a timed-out process is not used again', async (t) => {
  const timers = manualTimers(t);
  const { begin, runner } = player(t);
  const first = returned(await (await begin('pid')).outcome);
  assert.equal(returned(await (await begin('pid')).outcome), first);
  const hanging = await begin('hang', 150);
  await hanging.began;
  timers.pass(150);
  faultOf(await hanging.outcome);
  assert.notEqual(returned(await (await begin('pid')).outcome), first);
  timers.restore();
  await until(() => runner.stats().processes === 1);
});

test('an endless loop times out and is killed', async (t) => {
  const timers = manualTimers(t);
  const { begin, runner } = player(t);
  const spinning = await begin('spin', 200);
  await spinning.began;
  timers.pass(200);
  await timers.passUntil(spinning.outcome);
  const fault = faultOf(await spinning.outcome);
  assert.deepEqual([fault.code, fault.cellId], ['Timeout', 'c_one']);
  timers.restore();
  await until(() => runner.stats().processes === 0);
});

test('an endless loop in a later step names it', async (t) => {
  const timers = manualTimers(t);
  const { run } = kit(t);
  const { came, onAnswer } = signal();
  const deployment = await deploymentOf([
    'export default () => "first"',
    'export default async ({ $ }) => { await $.respond({ immediate: true }); for (;;); }',
  ]);
  const running = run(deployment, { timeoutMs: 200, onAnswer });
  await came;
  timers.pass(200);
  await timers.passUntil(running);
  const outcome = await running;
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

test('beside an endless loop no run is blamed', async (t) => {
  const timers = manualTimers(t);
  const { begin } = player(t);
  const waiting = await begin('wait');
  await waiting.began;
  const spinning = await begin('spin', 200);
  await spinning.began;
  timers.pass(200);
  await timers.passUntil(spinning.outcome);
  assert.equal((await spinning.outcome).end.kind, 'unattributed');
  assert.equal((await waiting.outcome).end.kind, 'unattributed');
});

test('a run that waits behind a loop is not blamed', async (t) => {
  const timers = manualTimers(t);
  const { begin } = player(t);
  const waiting = await begin('wait', 1500);
  await waiting.began;
  // Only the first is past its time when the process is found silent, and only the second is at fault.
  const spinning = await begin('spin');
  await spinning.began;
  timers.pass(1500);
  await timers.passUntil(waiting.outcome);
  assert.equal((await waiting.outcome).end.kind, 'unattributed');
  assert.equal((await spinning.outcome).end.kind, 'unattributed');
});

test('of several late ones none is blamed for silence', async (t) => {
  const timers = manualTimers(t);
  const { begin } = player(t);
  await (await begin('pid')).outcome;
  const both = await Promise.all([begin('wait', 250), begin('spin', 250)]);
  await Promise.all(both.map(({ began }) => began));
  timers.pass(250);
  await timers.passUntil(both[0].outcome);
  const ends = await Promise.all(both.map(async ({ outcome }) => (await outcome).end.kind));
  assert.deepEqual(ends, ['unattributed', 'unattributed']);
  const again = await begin('spin', 200, { alone: true });
  await again.began;
  timers.pass(200);
  await timers.passUntil(again.outcome);
  assert.equal(faultOf(await again.outcome).code, 'Timeout');
});

test('a process without the CPU is not silent', { skip }, async (t) => {
  const timers = manualTimers(t);
  const { begin, open } = player(t);
  const pid = returned(await (await begin('pid')).outcome) as number;
  const waiting = await begin('wait');
  await waiting.began;
  const hanging = await begin('hang', 200);
  await hanging.began;
  // As if everything else on the machine came first.
  process.kill(pid, 'SIGSTOP');
  await until(() => cpuOf(pid)?.isWaiting === true);
  timers.pass(200);
  for (let passedMs = 0; passedMs < 2 * GRACE_MS; passedMs += 50) timers.pass(50);
  process.kill(pid, 'SIGCONT');
  assert.equal(faultOf(await hanging.outcome).code, 'Timeout');
  open();
  assert.equal(returned(await waiting.outcome), pid, 'the other run goes on where it is');
});

test('a process that stays stopped is killed', { skip }, async (t) => {
  const timers = manualTimers(t);
  const { begin } = player(t);
  const pid = returned(await (await begin('pid')).outcome) as number;
  const hanging = await begin('hang', 200);
  await hanging.began;
  process.kill(pid, 'SIGSTOP');
  timers.pass(200);
  await timers.passUntil(hanging.outcome);
  assert.equal(faultOf(await hanging.outcome).code, 'Timeout');
});

test('the start of a process is none of the time of a run', { skip }, async (t) => {
  const { run } = kit(t);
  const started = startedProcess();
  const running = run('export default ({ $ }) => $.context.deadline - Date.now()', { timeoutMs: 1000 });
  // Before it can say anything: Node itself takes longer to start.
  const pid = await started();
  process.kill(pid, 'SIGSTOP');
  const stoppedAt = performance.now();
  await until(() => performance.now() - stoppedAt > 1500);
  process.kill(pid, 'SIGCONT');
  const leftMs = returned(await running) as number;
  assert.ok(leftMs > 0 && leftMs <= 1000, `${leftMs} ms are left of the run's time`);
});

test('a process that never starts does not hold its run for ever', { skip }, async (t) => {
  const now = performance.now.bind(performance);
  let laterMs = 0;
  t.mock.method(performance, 'now', () => now() + laterMs);
  const { run } = kit(t);
  const started = startedProcess();
  const deployment = await deploymentOf('export default () => 7');
  const timers = manualTimers(t);
  const running = run(deployment, { timeoutMs: 1000 });
  process.kill(await started(), 'SIGSTOP');
  laterMs = 60_000;
  await timers.passUntil(running);
  assert.equal(faultOf(await running).code, 'Timeout');
});

/** Returns what waits for a process of code that is not there yet, and returns its id. */
function startedProcess(): () => Promise<number> {
  const all = (): number[] =>
    readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1')
      .trim()
      .split(' ')
      .map(Number)
      .filter((pid) => pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(CHILD_FILE));
  const before = all();
  const found = (): number | undefined => all().find((pid) => !before.includes(pid));
  return async () => {
    await until(() => found() !== undefined);
    return found() as number;
  };
}

test('top-level code that hangs times out', async (t) => {
  const { run } = kit(t);
  for (const code of ['await new Promise(() => {}); export default 1', 'for (;;); export default 1']) {
    const fault = faultOf(await run(code, { timeoutMs: 200 }));
    assert.deepEqual([fault.code, fault.cellId], ['Timeout', 'c_one']);
  }
});

test('a step whose top-level code hangs is named', async (t) => {
  const { run } = kit(t);
  for (const hang of ['await new Promise(() => {});', 'for (;;);']) {
    const { came, onRequest } = asked();
    const server = createServer(onRequest).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const deployment = await deploymentOf([
      'export default () => 1',
      `await fetch('http://127.0.0.1:${port}'); ${hang} export default () => 2`,
    ]);
    const timers = manualTimers(t);
    const running = run(deployment, { timeoutMs: 200 });
    await came;
    timers.pass(200);
    await timers.passUntil(running);
    const outcome = await running;
    timers.restore();
    const { code, msg, cellId, namespace } = faultOf(outcome);
    assert.deepEqual([code, cellId, namespace], ['Timeout', 'c_two', 'two'], hang);
    assert.match(msg, /200 ms: the code outside of its functions had not ended$/);
    assert.deepEqual(outcome.steps, []);
  }
});

function asked() {
  const { promise: came, resolve } = Promise.withResolvers<void>();
  const onRequest: RequestListener = (_request, response) => {
    response.end('go on');
    resolve();
  };
  return { came, onRequest };
}

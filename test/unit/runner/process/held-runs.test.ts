// Runs that wait in their process until others have ended there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame } from '../../../../src/runner/child/frames.ts';
import { deploymentOf, faultOf, kit, manualTimers, requestOf, returned } from '../kit.ts';
import { player } from './player.ts';

/** Begins runs behind one that does what it is told, and tells which of them have begun. */
async function behind(t: Parameters<typeof player>[0], then: string, timeoutMs?: number) {
  const { begin, open, runner } = player(t);
  const begun: number[] = [];
  const warm = returned(await (await begin('pid')).outcome);
  const first = await begin(then, timeoutMs);
  const hold = async (n: number, then = 'pid', heldMs?: number, atOnce = 1) => {
    const held = await begin(then, heldMs, { run: 1_000_000 + n, atOnce, onBegun: () => begun.push(n) });
    let isAnswered = false;
    void held.began.then(() => {
      isAnswered = true;
    });
    return { ...held, wasCalled: () => isAnswered };
  };
  return { begin, open, runner, begun, warm, first, hold };
}

test('runs that are held begin in their order, as earlier ones end', async (t) => {
  const { begin, open, begun, warm, first, hold } = await behind(t, 'wait');
  await first.began;
  const held = [await hold(1), await hold(2), await hold(3)];
  // The process goes on meanwhile.
  assert.equal(returned(await (await begin('pid')).outcome), warm);
  assert.deepEqual([begun, held.some(({ wasCalled }) => wasCalled())], [[], false]);
  open();
  for (const { outcome } of held) assert.equal(returned(await outcome), warm);
  assert.deepEqual(begun, [1, 2, 3]);
});

test('a run that could be held begins at once where there is room', async (t) => {
  const { open, begun, first, hold } = await behind(t, 'wait');
  const [second, third] = [await hold(1, 'wait', undefined, 2), await hold(2, 'wait', undefined, 2)];
  await Promise.all([first.began, second.began]);
  assert.deepEqual([begun, third.wasCalled()], [[1], false]);
  open();
  returned(await third.outcome);
  assert.deepEqual(begun, [1, 2]);
});

test('a run that is held at its timeout is given back, and its process goes on', async (t) => {
  const timers = manualTimers(t);
  const { begin, open, begun, warm, first, hold } = await behind(t, 'wait');
  await first.began;
  const held = await hold(1, 'pid', 200);
  timers.pass(200);
  assert.equal((await held.outcome).end.kind, 'returned');
  assert.deepEqual([begun, held.wasCalled()], [[], false]);
  open();
  returned(await first.outcome);
  assert.equal(returned(await (await begin('pid')).outcome), warm);
});

test('the time of a run that was held counts from its begin', async (t) => {
  const timers = manualTimers(t);
  const { open, first, hold } = await behind(t, 'wait');
  await first.began;
  const held = await hold(1, 'hang', 300);
  timers.pass(200);
  open();
  await held.began;
  timers.pass(200);
  let isOver = false;
  void held.outcome.then(() => {
    isOver = true;
  });
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  assert.equal(isOver, false);
  timers.pass(100);
  assert.equal(faultOf(await held.outcome).code, 'Timeout');
});

test('the deadline that code sees is put off by what a run was held', async (t) => {
  const { begin, open, first, hold } = await behind(t, 'wait');
  await first.began;
  const sentAtMs = Date.now();
  const held = await hold(1, 'deadline', 60_000);
  await (await begin('pid')).outcome; // by now the process has both
  const heldAtMs = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const heldMs = Date.now() - heldAtMs;
  open();
  const deadline = returned(await held.outcome) as number;
  assert.ok(Number.isInteger(deadline));
  // Times are in whole ms.
  assert.ok(deadline >= sentAtMs + 60_000 + heldMs - 2, `${deadline - sentAtMs - 60_000} of ${heldMs}`);
});

test('a run that is held is cancelled before it begins, and its process goes on', async (t) => {
  const { begin, open, begun, warm, first, hold, runner } = await behind(t, 'wait');
  await first.began;
  const [one, two] = [await hold(1), await hold(2)];
  assert.equal(runner.cancel(1_000_001), true);
  assert.equal((await one.outcome).end.kind, 'cancelled');
  open();
  assert.equal(returned(await two.outcome), warm);
  assert.deepEqual(begun, [2]);
  assert.equal(returned(await (await begin('pid')).outcome), warm);
});

test('a run that has begun when it is cancelled is cancelled', async (t) => {
  const { open, first, hold, runner } = await behind(t, 'wait');
  await first.began;
  const held = await hold(1, 'hang');
  open();
  await first.outcome;
  // Whether or not the process has said so by now.
  runner.cancel(1_000_001);
  assert.equal((await held.outcome).end.kind, 'cancelled');
});

for (const [what, then, code] of [
  ['ends its process', 'exit', 'WorkerExit'],
  ['loses its process', 'crash', 'WorkerLost'],
  ['breaks the language', 'break', 'Error'],
] as const) {
  test(`a run that ${what} is blamed, and those behind it are given back`, async (t) => {
    const { begin, begun, warm, first, hold } = await behind(t, 'wait');
    await first.began;
    const bad = await hold(1, then, undefined, 2);
    const held = [await hold(2, 'pid', undefined, 2), await hold(3, 'pid', undefined, 2)];
    void first.outcome;
    const outcome = await bad.outcome;
    // `first` shares the process: of two that were called, none is blamed for a process that is gone.
    if (then === 'crash') assert.equal(outcome.end.kind, 'unattributed');
    else assert.equal(faultOf(outcome).code, code);
    for (const { outcome: given, wasCalled } of held) {
      assert.equal((await given).end.kind, 'returned');
      assert.equal(wasCalled(), false);
    }
    assert.deepEqual(begun, [1]);
    assert.notEqual(returned(await (await begin('pid')).outcome), warm);
  });
}

test('a process that is lost blames the only run that was called', async (t) => {
  const { begin } = player(t);
  returned(await (await begin('pid')).outcome);
  const first = await begin('crash');
  const held = await begin('pid', undefined, { atOnce: 1 });
  assert.equal(faultOf(await first.outcome).code, 'WorkerLost');
  assert.equal((await held.outcome).end.kind, 'returned');
});

test('a loop that never ends is blamed alone, and those behind it are given back', async (t) => {
  const timers = manualTimers(t);
  const { first, hold } = await behind(t, 'spin', 200);
  await first.began;
  const held = await hold(1);
  timers.pass(200);
  await timers.passUntil(first.outcome);
  assert.equal(faultOf(await first.outcome).code, 'Timeout');
  assert.equal((await held.outcome).end.kind, 'returned');
});

test('a run past its time that shares a process gives back those behind it', async (t) => {
  const timers = manualTimers(t);
  const { begin, warm, first, hold } = await behind(t, 'hang', 200);
  await first.began;
  const held = await hold(1);
  timers.pass(200);
  assert.equal(faultOf(await first.outcome).code, 'Timeout');
  assert.equal((await held.outcome).end.kind, 'returned');
  assert.notEqual(returned(await (await begin('pid')).outcome), warm);
});

test('a loop within its time does not let a run that is held past its own end the process', async (t) => {
  const timers = manualTimers(t);
  const { first, hold } = await behind(t, 'spin', 100_000);
  await first.began;
  const held = await hold(1, 'pid', 200);
  let ended = 0;
  for (const { outcome } of [first, held]) void outcome.then(() => ended++);
  timers.pass(200);
  for (let turns = 0; turns < 200; turns++) {
    timers.pass(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(ended, 0);
  timers.pass(100_000);
  await timers.passUntil(first.outcome);
  assert.equal(faultOf(await first.outcome).code, 'Timeout');
  assert.equal((await held.outcome).end.kind, 'returned');
});

for (const [what, forged] of [
  ['has ended', { t: 'end', run: 1_000_001, kind: 'succeeded' }],
  ['was answered', { t: 'answer', run: 1_000_001, answer: { status: 200, headers: {} }, bytes: 0 }],
  ['has a step', { t: 'step', run: 1_000_001, step: [0, 0, 1, 1, null, null] }],
] as const) {
  test(`code that says of a run that is held that it ${what} loses its process`, async (t) => {
    const { begin, open, first, hold } = await behind(t, 'wait');
    await first.began;
    const held = await hold(1);
    const forger = await begin('forge', undefined, {}, encodeFrame([forged], []).toString('hex'));
    assert.notEqual((await forger.outcome).end.kind, 'succeeded');
    assert.equal((await held.outcome).end.kind, 'returned');
    assert.equal(held.wasCalled(), false);
    open();
    await first.outcome;
  });
}

test('code that keeps its process from beginning what is held gets it given back', async (t) => {
  const timers = manualTimers(t);
  const { runner, run } = kit(t);
  const deployment = await deploymentOf(`export default () => {
    Object.defineProperty(Map.prototype, 'size', { get: () => 1e6 });
    return 1;
  }`);
  assert.equal(returned(await run(deployment)), 1);
  const held = run(deployment, { atOnce: 1, timeoutMs: 200 });
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  await timers.passUntil(held);
  assert.equal((await held).end.kind, 'returned');
  timers.restore();
  assert.equal(runner.stats().inFlight, 0);
});

test('a process that answers nothing more gives back what it holds', async (t) => {
  const timers = manualTimers(t);
  const { run } = kit(t);
  const deployment = await deploymentOf('export default () => { setTimeout(() => { for (;;); }); return 1; }');
  assert.equal(returned(await run(deployment)), 1);
  // Until it loops: it would begin what comes before.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  const held = run(deployment, { atOnce: 1, timeoutMs: 200 });
  await timers.passUntil(held);
  assert.equal((await held).end.kind, 'returned');
});

test('a run that is held when the runner stops is given back', async (t) => {
  const { first, hold, runner } = await behind(t, 'wait');
  await first.began;
  const held = await hold(1);
  await runner.stop(0);
  assert.equal((await first.outcome).end.kind, 'returned');
  assert.equal((await held.outcome).end.kind, 'returned');
  assert.equal(held.wasCalled(), false);
});

test('whoever would send a run is told how many others its process has', async (t) => {
  const { begin, open, runner, deployment } = player(t);
  const beside = async (given: object = {}) => runner.runsBeside(requestOf(await deployment, given));
  assert.equal(await beside(), null);
  returned(await (await begin('pid')).outcome);
  assert.equal(await beside(), 0);
  const [first, second] = [await begin('wait'), await begin('wait')];
  await Promise.all([first.began, second.began]);
  const alone = await begin('wait', undefined, { alone: true });
  await alone.began;
  assert.equal(await beside(), 2);
  // Changed settings ask for another process.
  assert.equal(await beside({ env: { A: '1' } }), null);
  open();
  for (const { outcome } of [first, second, alone]) returned(await outcome);
  assert.equal(await beside(), 0);
});

// Large messages of one owner's code wait for their turn while others have something to do.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RunOutcome } from '../../../../src/domain/run/run.ts';
import { MessageThrottle } from '../../../../src/runner/process/message-throttle.ts';
import { deploymentOf, type Kit, kit, requestOf, returned, until } from '../kit.ts';

const MB = 1024 * 1024;

function throttle() {
  const clock = { nowMs: 1_000_000 };
  return { clock, throttle: new MessageThrottle({ nowMs: () => clock.nowMs, bytesPerSecond: MB }) };
}

test('large messages of one owner come one behind the other', () => {
  const { clock, throttle: it } = throttle();
  it.active('b');
  it.active('a');
  const [first, second, third] = [it.reserve('a', 2 * MB), it.reserve('a', MB), it.reserve('a', MB)];
  assert.deepEqual(
    [first, second, third].map((turn) => it.waitMs(turn)),
    [0, 2000, 3000],
  );
  assert.equal(it.waitMs(it.reserve('b', MB)), 0, 'of another owner');
  clock.nowMs += 2000;
  assert.deepEqual(
    [second, third].map((turn) => it.waitMs(turn)),
    [0, 1000],
  );
});

test('an owner alone waits for nothing', () => {
  const { clock, throttle: it } = throttle();
  for (let n = 0; n < 3; n++) {
    it.active('a');
    assert.equal(it.waitMs(it.reserve('a', 10 * MB)), 0);
  }
  it.active('b');
  it.active('a');
  assert.equal(it.waitMs(it.reserve('a', 10 * MB)), 0, 'what was before does not count');
  const waits = it.reserve('a', MB);
  assert.ok(it.waitMs(waits) > 0);
  clock.nowMs += 9000;
  assert.ok(it.waitMs(waits) > 0);
  clock.nowMs += 2000;
  it.active('a');
  const [, alone] = [it.reserve('a', 100 * MB), it.reserve('a', MB)];
  assert.equal(it.waitMs(alone), 0, 'the other one has done nothing for long');
});

test('an owner of whom much waits is behind', () => {
  const { clock, throttle: it } = throttle();
  it.active('b');
  it.active('a');
  it.reserve('a', MB);
  assert.equal(it.isBehind('a'), false);
  it.reserve('a', 3 * MB);
  assert.deepEqual([it.isBehind('a'), it.isBehind('b')], [true, false]);
  clock.nowMs += 3000;
  assert.equal(it.isBehind('a'), false);
  it.reserve('a', 20 * MB);
  clock.nowMs += 10_000;
  it.active('a');
  assert.equal(it.isBehind('a'), false, 'beside no other owner');
});

test('a turn that is given up delays no other', () => {
  const { throttle: it } = throttle();
  it.active('b');
  it.active('a');
  it.reserve('a', MB);
  it.release(it.reserve('a', 50 * MB));
  assert.equal(it.waitMs(it.reserve('a', MB)), 1000);
});

test('nothing waits once it is closed', () => {
  const { throttle: it } = throttle();
  it.active('b');
  it.active('a');
  it.reserve('a', MB);
  const waits = it.reserve('a', MB);
  it.close();
  assert.equal(it.waitMs(waits), 0);
});

const SIZE = 2_000_000;
const LARGE = `export default () => 'x'.repeat(${SIZE})`;
const SMALL = 'export default () => 1';
/** A second large message would come in hours. */
const SLOW = 250;
const sizeOf = (outcome: RunOutcome): number => (returned(outcome) as string).length;

interface Beside extends Kit {
  /** Resolves when the other owner has run so often. */
  others(runs: number): Promise<void>;
}

/** Another owner has something to do, from now until the test ends. */
async function besideAnother(t: TestContext): Promise<Beside> {
  const made = kit(t, { largeBytesPerSecond: SLOW, graceMs: 20_000 });
  const deployment = { ...(await deploymentOf(SMALL)), ownerId: 'u_2' };
  let count = 0;
  const again = async (): Promise<void> => {
    while ((await made.run(deployment)).end.kind === 'succeeded') {
      count++;
      await new Promise(setImmediate);
    }
  };
  void again();
  const others = (runs: number): Promise<void> => {
    const last = count + runs;
    return until(() => count >= last);
  };
  await others(1);
  return { ...made, others };
}

test('a large result waits in its process, and others do not', async (t) => {
  const { run, runner, others } = await besideAnother(t);
  const large = await deploymentOf(LARGE);
  const waits = requestOf(large, { timeoutMs: 120_000 });
  const [first, second] = [run(large), runner.run(waits)];
  let hasEnded = false;
  void second.then(() => {
    hasEnded = true;
  });
  assert.equal(sizeOf(await first), SIZE);
  await others(20);
  assert.equal(hasEnded, false);
  assert.equal(runner.cancel(waits.run), true);
  assert.equal(sizeOf(await second), SIZE, 'it had ended already');
});

test('no run begins while large results wait', async (t) => {
  const { run, runner, others } = await besideAnother(t);
  const [large, small] = await Promise.all([deploymentOf(LARGE), deploymentOf(SMALL)]);
  await run(large);
  const waits = requestOf(small);
  const end = runner.run(waits);
  await others(20);
  assert.equal(runner.useOf('u_1').processes, 1, 'none was started');
  runner.cancel(waits.run);
  assert.equal((await end).end.kind, 'cancelled');
});

test('a large result of an owner alone does not wait', async (t) => {
  const { run } = kit(t, { largeBytesPerSecond: SLOW });
  const deployment = await deploymentOf(LARGE);
  for (let n = 0; n < 3; n++) assert.equal(sizeOf(await run(deployment)), SIZE);
});

test('a server that stops reads what has ended', async (t) => {
  const { run, runner } = await besideAnother(t);
  const large = await deploymentOf(LARGE);
  const [first, second] = [run(large), run(large)];
  await first;
  await runner.stop(20_000);
  assert.equal(sizeOf(await second), SIZE);
});

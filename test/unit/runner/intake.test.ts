// Large messages of one owner's code wait for their turn while others have something to do.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Intake } from '../../../src/runner/intake.ts';
import { deploymentOf, type Kit, kit, returned, signal } from './kit.ts';

const MB = 1024 * 1024;

function intake() {
  const clock = { nowMs: 1_000_000 };
  return { clock, intake: new Intake({ nowMs: () => clock.nowMs, bytesPerSecond: MB }) };
}

test('large messages of one owner come one behind the other', () => {
  const { clock, intake: it } = intake();
  it.active('b');
  it.active('a');
  const [first, second, third] = [it.enter('a', 2 * MB), it.enter('a', MB), it.enter('a', MB)];
  assert.deepEqual(
    [first, second, third].map((turn) => it.waitMs(turn)),
    [0, 2000, 3000],
  );
  assert.equal(it.waitMs(it.enter('b', MB)), 0, 'of another owner');
  clock.nowMs += 2000;
  assert.deepEqual(
    [second, third].map((turn) => it.waitMs(turn)),
    [0, 1000],
  );
});

test('an owner alone waits for nothing', () => {
  const { clock, intake: it } = intake();
  for (let n = 0; n < 3; n++) {
    it.active('a');
    assert.equal(it.waitMs(it.enter('a', 10 * MB)), 0);
  }
  it.active('b');
  it.active('a');
  assert.equal(it.waitMs(it.enter('a', 10 * MB)), 0, 'what was before does not count');
  const waits = it.enter('a', MB);
  assert.ok(it.waitMs(waits) > 0);
  clock.nowMs += 9000;
  assert.ok(it.waitMs(waits) > 0);
  clock.nowMs += 2000;
  it.active('a');
  const [, alone] = [it.enter('a', 100 * MB), it.enter('a', MB)];
  assert.equal(it.waitMs(alone), 0, 'the other one has done nothing for long');
});

test('a turn that is given up delays no other', () => {
  const { intake: it } = intake();
  it.active('b');
  it.active('a');
  it.enter('a', MB);
  it.giveUp(it.enter('a', 50 * MB));
  assert.equal(it.waitMs(it.enter('a', MB)), 1000);
});

test('nothing waits once it is closed', () => {
  const { intake: it } = intake();
  it.active('b');
  it.active('a');
  it.enter('a', MB);
  const waits = it.enter('a', MB);
  it.close();
  assert.equal(it.waitMs(waits), 0);
});

const LARGE = "export default () => 'x'.repeat(1_000_000)";
const ANSWERS_FIRST = `export default async ({ $ }) => {
  await $.respond({ immediate: true });
  return 'x'.repeat(1_000_000);
}`;
const SMALL = 'export default () => 1';
/** A second large message would come in an hour. */
const SLOW = 250;

/** Another owner has something to do, from now until the test ends. */
async function besideAnother(t: TestContext): Promise<Kit> {
  const made = kit(t, { largeBytesPerSecond: SLOW });
  const deployment = { ...(await deploymentOf(SMALL)), ownerId: 'u_2' };
  const again = async (): Promise<void> => {
    while ((await made.run(deployment)).end.kind === 'succeeded') await new Promise(setImmediate);
  };
  assert.equal(returned(await made.run(deployment)), 1);
  void again();
  return made;
}

test('a large result waits in its process, and small ones do not', async (t) => {
  const { run } = await besideAnother(t);
  const [small, large] = await Promise.all([deploymentOf(SMALL), deploymentOf(LARGE)]);
  assert.equal((returned(await run(large)) as string).length, 1_000_000, 'the first');
  let hasEnded = false;
  const end = run(large, { timeoutMs: 4000 }).finally(() => {
    hasEnded = true;
  });
  for (let n = 0; n < 20; n++) assert.equal(returned(await run(small)), 1);
  assert.equal(hasEnded, false);
  assert.equal((returned(await end) as string).length, 1_000_000, 'it had ended in its time');
});

test('a large result of an owner alone does not wait', async (t) => {
  const { run } = kit(t, { largeBytesPerSecond: SLOW });
  const deployment = await deploymentOf(LARGE);
  for (let n = 0; n < 3; n++) assert.equal((returned(await run(deployment)) as string).length, 1_000_000);
});

test('a server that stops reads what has ended', async (t) => {
  const { run, runner } = await besideAnother(t);
  const large = await deploymentOf(LARGE);
  await run(large);
  const { came, onAnswer } = signal();
  const end = run(await deploymentOf(ANSWERS_FIRST), { onAnswer });
  await came;
  await runner.stop(20_000);
  assert.equal((returned(await end) as string).length, 1_000_000);
});

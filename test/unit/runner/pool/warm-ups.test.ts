// Processes that are there before their first run: a hint, which takes nothing from anybody.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { deploymentOf, faultOf, foldersOf, type Kit, kit, returned, until } from '../kit.ts';

const PID = 'export default () => process.pid';
/** Is never done with loading. */
const STUCK = 'await new Promise((resolve) => setTimeout(resolve, 1e6)); export default () => process.pid';

const loud = ({ logged }: Kit): string[] =>
  logged.filter(({ level }) => level !== 'debug').map(({ name, fields }) => `${name} ${fields.thrown ?? ''}`);

test('a first run takes the warm process', async (t) => {
  const { runner, run, logged } = kit(t);
  const deployment = await deploymentOf(
    'globalThis.at ??= process.pid; export default () => [process.pid, globalThis.at]',
  );
  runner.warm(deployment, 256, {});
  runner.warm(deployment, 256, {});
  assert.deepEqual(runner.stats(), { processes: 1, inFlight: 0 });
  const first = returned(await run(deployment));
  assert.deepEqual(returned(await run(deployment)), first);
  assert.equal(runner.stats().processes, 1);
  assert.deepEqual(logged, [], 'none has ended');
});

test('many warm-ups take half of the places', async (t) => {
  const own = kit(t, { maxProcesses: 6 });
  const { runner, run } = own;
  const deployments = await Promise.all(Array.from({ length: 200 }, () => deploymentOf(PID)));
  for (const deployment of deployments) {
    runner.warm(deployment, 256, {});
    assert.ok(runner.stats().processes <= 1, 'one at a time');
  }
  await until(() => runner.stats().processes === 3);
  // What was not warmed has places of its own, and each run its process.
  const pids = await Promise.all(deployments.slice(0, 6).map((deployment) => run(deployment)));
  assert.equal(new Set(pids.map(returned)).size, 6);
  assert.equal(runner.stats().processes, 6);
  assert.deepEqual(own.logged, [], 'none had to leave');
});

test('a warm-up waits for the one before it', async (t) => {
  const { runner, run } = kit(t);
  const [stuck, next] = await Promise.all([deploymentOf(STUCK), deploymentOf(PID)]);
  runner.warm(stuck, 256, {});
  runner.warm(next, 256, {});
  await run(PID);
  assert.equal(runner.stats().processes, 2);
  assert.equal(typeof returned(await run(next)), 'number');
  assert.equal(runner.stats().processes, 3, 'a run waits for no warm-up');
});

test('what is retired is not warmed any more', async (t) => {
  const { runner, run } = kit(t);
  const [stuck, gone] = await Promise.all([deploymentOf(STUCK), deploymentOf(PID)]);
  runner.warm(stuck, 256, {});
  runner.warm(gone, 256, {});
  runner.retire(gone.id);
  runner.retire(stuck.id);
  await run(PID);
  await until(() => runner.stats().processes === 1);
});

test('an unused process leaves before a used one', async (t) => {
  const { runner, run } = kit(t, { maxProcesses: 3 });
  const [a, b, c] = await Promise.all([deploymentOf(PID), deploymentOf(PID), deploymentOf(PID)]);
  const pids = [returned(await run(a)), returned(await run(b))];
  runner.warm(c, 256, {});
  assert.equal(runner.stats().processes, 3);
  await run(PID);
  assert.deepEqual([returned(await run(a)), returned(await run(b))], pids);
});

test('no room, no warm-up', async (t) => {
  const full = kit(t, { maxProcesses: 1 });
  const deployment = await deploymentOf(PID);
  const pid = returned(await full.run(deployment));
  full.runner.warm(await deploymentOf(PID), 256, {});
  assert.equal(returned(await full.run(deployment)), pid);
  const small = kit(t, { poolMb: 10 });
  small.runner.warm(deployment, 256, {});
  assert.equal(small.runner.stats().processes, 0, 'less than a process takes');
});

test('broken code is silent until its first run', async (t) => {
  const own = kit(t);
  const codes = ['throw new Error("cold"); export default 1', 'process.exit(3); export default 1'];
  const deployments = await Promise.all(codes.map((code) => deploymentOf(code)));
  for (const deployment of deployments) {
    own.runner.warm(deployment, 256, {});
    await until(() => own.runner.stats().processes === 0);
  }
  assert.deepEqual(loud(own), []);
  const [thrown, exited] = await Promise.all(deployments.map((deployment) => own.run(deployment)));
  assert.equal(thrown && faultOf(thrown).msg, 'cold');
  assert.equal(exited && faultOf(exited).code, 'StartFailed');
  const stray = await deploymentOf(`Promise.reject(new Error("astray")); ${PID}`);
  own.runner.warm(stray, 256, {});
  await own.run(PID);
  const before = loud(own);
  await own.run(stray);
  assert.deepEqual(loud(own), [...before, 'runner.stray_exception astray']);
});

test('an unused process leaves when it is idle', async (t) => {
  const { runner, tmpDir } = kit(t, { idleMs: 20 });
  runner.warm(await deploymentOf(PID), 256, {});
  assert.equal(runner.stats().processes, 1);
  await until(() => runner.stats().processes === 0);
  assert.deepEqual(foldersOf(tmpDir), []);
});

test('stopping drops what is being warmed', async (t) => {
  const own = kit(t);
  const { runner, tmpDir } = own;
  const deployments = await Promise.all([STUCK, PID, PID].map((code) => deploymentOf(code)));
  for (const deployment of deployments) runner.warm(deployment, 256, {});
  await runner.stop(5000);
  runner.warm(deployments[1] as (typeof deployments)[number], 256, {});
  const left = existsSync(tmpDir) ? readdirSync(tmpDir) : [];
  assert.deepEqual([runner.stats(), left, loud(own)], [{ processes: 0, inFlight: 0 }, [], []]);
});

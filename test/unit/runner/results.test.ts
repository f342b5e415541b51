import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentOf, faultOf, kit, requestOf, returned } from './kit.ts';

const MIB = 1024 * 1024;

test('a BigInt result fails its step as thrown', async (t) => {
  const outcome = await kit(t).run(['export default () => 1', 'export default () => ({ n: 1n })']);
  const fault = faultOf(outcome);
  assert.equal(fault.code, 'TypeError');
  assert.match(fault.msg, /BigInt/);
  assert.deepEqual([fault.cellId, fault.namespace], ['c_two', 'two']);
  assert.deepEqual(
    outcome.steps.map(({ state }) => state),
    ['succeeded', 'failed'],
  );
});

test('a circular export fails where it is made', async (t) => {
  const outcome = await kit(t).run(
    'export default ({ $ }) => { const a = {}; a.a = a; try { $.export("a", a) } catch (e) { return e.name } }',
  );
  assert.equal(returned(outcome), 'TypeError');
});

test('a function result counts as none', async (t) => {
  assert.equal(returned(await kit(t).run('export default () => () => 1')), undefined);
});

test('results beyond six mebibytes are too large', async (t) => {
  const { run } = kit(t);
  const fits = await run(`export default () => "x".repeat(${6 * MIB - 2})`);
  assert.equal((returned(fits) as string).length, 6 * MIB - 2);
  const over = await run(`export default () => "x".repeat(${6 * MIB - 1})`);
  assert.equal(faultOf(over).code, 'PayloadTooLarge');
  assert.equal(over.steps[0]?.state, 'failed');
});

test('results of all steps count together', async (t) => {
  const half = `export default ({ $ }) => { $.export("half", "x".repeat(${4 * MIB})) }`;
  const fault = faultOf(await kit(t).run([half, half]));
  assert.deepEqual([fault.code, fault.namespace], ['PayloadTooLarge', 'two']);
});

test('exports made before a failure are kept', async (t) => {
  const outcome = await kit(t).run('export default ({ $ }) => { $.export("a", 1); throw new Error("after") }');
  assert.deepEqual(outcome.steps[0]?.exports, { a: '1' });
  assert.equal(outcome.steps[0]?.state, 'failed');
});

test('several large results in one turn all arrive', async (t) => {
  const { runner } = kit(t);
  const deployment = await deploymentOf(`export default () => '"'.repeat(${2 * MIB})`);
  const outcomes = await Promise.all([1, 2, 3, 4, 5, 6].map(() => runner.run(requestOf(deployment))));
  for (const outcome of outcomes) assert.equal((returned(outcome) as string).length, 2 * MIB);
});

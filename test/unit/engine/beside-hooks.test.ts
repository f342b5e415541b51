// Hooks of one source never mix, also when two nodes change it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_OUTCOME, type RunOutcome } from '../../../src/domain/run.ts';
import { executeHooks } from '../../../src/engine/beside-hooks.ts';
import { Lines } from '../../../src/engine/lines.ts';
import { Slots } from '../../../src/engine/slots.ts';

test('hooks beside hooks go back, and let nobody beside', async () => {
  const slots = new Slots(new Lines(), { runs: true, deliveries: true });
  const begun = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<RunOutcome>();
  const succeeded: RunOutcome = { ...NO_OUTCOME, end: { kind: 'succeeded' } };
  const first = executeHooks({ slots, wakeRuns: begun.resolve }, 'dc_1', () => ending.promise);
  await begun.promise;
  assert.equal(slots.runsBeside('dc_1'), 1);
  const second = await executeHooks({ slots, wakeRuns: assert.fail }, 'dc_1', () => assert.fail('executed'));
  assert.equal(second.end.kind, 'returned');
  assert.equal(slots.runsBeside('dc_1'), 0);
  ending.resolve(succeeded);
  assert.equal(await first, succeeded);
  const third = await executeHooks({ slots, wakeRuns: assert.fail }, 'dc_1', async () => succeeded);
  assert.deepEqual([third, slots.runsBeside('dc_1')], [succeeded, 0]);
});

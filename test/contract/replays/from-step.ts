// Replays of an operation that go on from the step that failed.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkpointFrom } from '../../../src/domain/run/checkpoint.ts';
import { aStep, defined, type Harness, succeeded } from '../fixtures.ts';
import { counts, failedOnes, groupState, next, shown, start, stepOn } from './replaying.ts';

const CHECKPOINT = checkpointFrom([aStep('charge', { returnValue: '12345678901234567890' })]);

export function replaysFromStepContract(harness: Harness): void {
  describe('a replay from the failed step', () => {
    it('runs with what was kept, in the deployment that this was kept for', async () => {
      await using stage = await failedOnes(harness, 3);
      const before = stage.flow.deploymentId;
      const operation = await start(stage, { groupId: stage.groupId }, { isFromFailedStep: true });
      equal((await shown(stage, operation)).replaying?.order.isFromFailedStep, true);
      await stage.store.stepOperation();
      const step = defined(await next(stage));
      const goesOn = { checkpoint: CHECKPOINT, attempt: 2, deploymentId: before };
      // The last one runs from its first step, beside the others.
      const choices = step.choices.map((choice, i) => ('emission' in choice && i < 2 ? { ...choice, goesOn } : choice));
      equal((await stage.store.replayErrors({ ...step, choices })).made, 3);
      const runs = await stage.claim(10);
      deepEqual(
        runs.map(({ checkpoint, attempt, runnable }) => [checkpoint, attempt, runnable.deploymentId]),
        [
          [CHECKPOINT, 2, before],
          [CHECKPOINT, 2, before],
          [null, 1, before],
        ],
      );
      for (const run of runs) await stage.end(run, succeeded({ steps: [aStep('ship')] }));
      await stepOn(stage);
      deepEqual([await counts(stage, operation), await groupState(stage)], [{ fixed: 3 }, 'resolved']);
      const { detail } = defined(await stage.store.getRun(stage.owner.id, defined(runs[0]).run));
      const { steps } = JSON.parse(defined(detail)) as { steps: { namespace: string }[] };
      deepEqual(
        steps.map(({ namespace }) => namespace),
        ['charge', 'ship'],
      );
    });
  });
}

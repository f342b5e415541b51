// Watches of workflows behind a clock that was set.

import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RECOVERED } from '../../../src/domain/emission.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import type { Harness } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { codesOf, look, NOTHING, watchFor } from '../watches/watching.ts';

/** A workflow that is silent after ten minutes. */
async function watched(stage: Stage): Promise<Workflow> {
  stage.names.add(RECOVERED);
  const watch = { ...NOTHING, silentAfterMs: 10 * MINUTE_MS };
  return stage.workflow({ settings: { watch, notify: false } });
}

export function watchClockContract(harness: Harness): void {
  describe('a watch', () => {
    it('is judged by a clock that was set back', async () => {
      await using stage = await Stage.open(harness);
      stage.clock.advance(1000 * HOUR_MS);
      const workflow = await watched(stage);
      await look(stage);
      await stage.end(await stage.started(workflow));
      stage.clock.advance(-1000 * HOUR_MS);
      await watchFor(stage, 10 * MINUTE_MS - SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      await watchFor(stage, SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent']);
    });

    it('goes on when a clock that was ahead is set right', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage);
      await watchFor(stage, 2 * MINUTE_MS);
      stage.clock.advance(365 * DAY_MS);
      await watchFor(stage, 2 * MINUTE_MS);
      stage.clock.advance(-365 * DAY_MS);
      await watchFor(stage, 6 * MINUTE_MS - SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      await watchFor(stage, SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent'], 'the year that never was is not excused');
    });

    it('still excuses a stop when the clock is set back later', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage);
      await watchFor(stage, 2 * MINUTE_MS);
      stage.clock.advance(DAY_MS);
      await stage.reopen();
      await watchFor(stage, 2 * MINUTE_MS);
      stage.clock.advance(-HOUR_MS);
      await watchFor(stage, 6 * MINUTE_MS - SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      await watchFor(stage, SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent']);
    });
  });
}

// Notices of groups whose owner mutes or resolves them, and opens them again.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR_MS } from '../../../src/domain/limits.ts';
import { type Harness, only } from '../fixtures.ts';
import { change, fail, groups, order } from '../log/grouping.ts';
import { failing, shown, taken, told } from '../log/notices.ts';
import { Stage } from '../stage.ts';

const OPEN = { state: 'open' } as const;
const RESOLVED = { state: 'resolved', inNextDeployment: false } as const;
const MUTED = { state: 'muted', untilMs: null, afterCount: 3, untilNextDeployment: false } as const;

export function heldNoticesContract(harness: Harness): void {
  describe('a notice of a group that is muted or resolved', () => {
    it('is not due while the group is muted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      const { group } = await told(stage);
      await order(stage, group, MUTED);
      await fail(stage, workflow);
      await fail(stage, workflow);
      stage.clock.advance(2 * HOUR_MS);
      deepEqual(await taken(stage), []);
      await fail(stage, workflow);
      deepEqual(shown(await told(stage)), { kind: 'error', sequence: 2, more: 3, wasTold: false });
    });

    for (const to of [{ note: 'seen' }, { status: OPEN }]) {
      it(`is due at once when the time of a mute is over, also behind ${JSON.stringify(to)}`, async () => {
        await using stage = await Stage.open(harness);
        const workflow = await failing(stage);
        const { group } = await told(stage);
        const untilMs = stage.clock.nowMs() + HOUR_MS / 4;
        await order(stage, group, { ...MUTED, untilMs });
        stage.clock.advance(HOUR_MS / 2);
        await change(stage, group, to);
        await fail(stage, workflow);
        deepEqual(shown(await told(stage)), { kind: 'error', sequence: 2, more: 1, wasTold: false });
        deepEqual(only(await groups(stage)).reopened?.by, 'time');
      });
    }

    for (const away of [MUTED, RESOLVED]) {
      it(`is not lost when its group is ${away.state} and opened again in its window`, async () => {
        await using stage = await Stage.open(harness);
        const workflow = await failing(stage);
        const { group } = await told(stage);
        await fail(stage, workflow);
        await order(stage, group, away);
        await order(stage, group, OPEN);
        await fail(stage, workflow);
        deepEqual(await taken(stage), []);
        stage.clock.advance(HOUR_MS);
        deepEqual(shown(await told(stage)), { kind: 'digest', sequence: 2, more: 2, wasTold: true });
      });
    }

    it('is dropped when its group is muted beyond its window, until the next error', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      const { group } = await told(stage);
      await fail(stage, workflow);
      await order(stage, group, MUTED);
      stage.clock.advance(2 * HOUR_MS);
      await order(stage, group, OPEN);
      deepEqual(await taken(stage), []);
      await fail(stage, workflow);
      equal(shown(await told(stage)).more, 2);
    });
  });
}

// The ledger's figures by hour, and what charts make of them.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../../src/domain/limits.ts';
import { type Harness, none } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const NEVER = 0;

export function ledgerHoursContract(harness: Harness): void {
  describe('the hours of the ledger', () => {
    it('have what was accepted up to their notes', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId } = await emitting(stage);
      const first = Math.floor(stage.clock.nowMs() / HOUR_MS);
      const note = () => stage.store.noteHours(null, NEVER);
      const emit = () => stage.store.append(stage.make.emission(emitterId), none());
      deepEqual(await note(), { next: null });
      deepEqual(await stage.store.notedHours(stage.owner.id, { fromHour: 0, toHour: first + 9 }), [], 'nothing came');
      await emit();
      await note();
      await emit();
      await note();
      stage.clock.advance(3 * HOUR_MS);
      await note();
      await emit();
      await note();
      await stage.reopen();
      const all = await stage.store.notedHours(stage.owner.id, { fromHour: 0, toHour: first + 9 });
      deepEqual(
        all.map(({ hour, events, runs, errors, deliveries }) => [hour - first, events, runs, errors, deliveries]),
        [
          [0, 2, 2, 0, 0],
          [3, 3, 3, 0, 0],
        ],
      );
      const since = async (fromHour: number, toHour: number): Promise<number[]> => {
        const noted = await stage.store.notedHours(stage.owner.id, {
          fromHour: first + fromHour,
          toHour: first + toHour,
        });
        return noted.map(({ hour }) => hour - first);
      };
      deepEqual(await since(1, 9), [0, 3], 'with the last one before');
      deepEqual(await since(0, 3), [0]);
      deepEqual(await since(4, 9), [3]);
      const other = await stage.neighbour();
      deepEqual(await stage.store.notedHours(other.owner.id, { fromHour: 0, toHour: first + 9 }), []);
    });

    it('are deleted but for the last one, from which is counted', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId } = await emitting(stage);
      const first = Math.floor(stage.clock.nowMs() / HOUR_MS);
      for (let n = 0; n < 4; n++) {
        await stage.store.append(stage.make.emission(emitterId), none());
        await stage.store.noteHours(null, NEVER);
        stage.clock.advance(HOUR_MS);
      }
      stage.clock.advance(DAY_MS);
      await stage.store.noteHours(null, (first + 3) * HOUR_MS);
      const left = await stage.store.notedHours(stage.owner.id, { fromHour: 0, toHour: first + 99 });
      deepEqual(
        left.map(({ hour, events }) => [hour - first, events]),
        [
          [2, 3],
          [3, 4],
        ],
      );
    });

    it('are noted of all owners, step by step', async () => {
      await using stage = await Stage.open(harness);
      const others = [];
      for (let n = 0; n < 201; n++) others.push(await stage.neighbour());
      let [steps, after]: [number, string | null] = [0, null];
      do {
        ({ next: after } = await stage.store.noteHours(after, NEVER));
        steps++;
      } while (after !== null);
      equal(steps, 2);
    });
  });
}

async function emitting(stage: Stage): Promise<{ emitterId: string }> {
  const { trigger } = await stage.hooked();
  return { emitterId: trigger.id };
}

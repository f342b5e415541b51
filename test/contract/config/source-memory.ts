// What sources and the steps of workflows keep between their runs, as an export reads it.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seenIdOf } from '../../../src/domain/dedupe.ts';
import type { RunOutcome } from '../../../src/domain/run/run.ts';
import { SOURCE_STATE } from '../../../src/domain/run/source-state.ts';
import { all, defined, emit, type Harness, succeeded } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const item = (id: string, name = '') => emit(name, { id }, { itemId: id });

async function run(stage: Stage, of: { id: string }, outcome: Partial<RunOutcome>): Promise<void> {
  await stage.end(await stage.started(of), succeeded(outcome), all());
}

export function wholeMemoryContract(harness: Harness): void {
  describe('what is kept between runs', () => {
    it('is read whole, with the ids that dedupe has seen, by its owner alone', async () => {
      await using stage = await Stage.open(harness);
      const [source, workflow, stranger] = [
        await stage.source({ dedupe: 'unique' }),
        await stage.workflow(),
        await stage.neighbour(),
      ];
      const memoryOf = (id = source.id) => stage.store.readMemory(stage.owner.id, id);
      deepEqual(await memoryOf(), { db: [], seenIds: [] });
      const long = JSON.stringify('y'.repeat(SOURCE_STATE.valueChars));
      const emits = [item('b'), item('a'), item('a', 'other')];
      await run(stage, source, { dbWrites: { b: '12345678901234567890', a: long }, outgoing: emits });
      await run(stage, workflow, { dbWrites: { count: '3' } });
      await stage.reopen();
      const { db, seenIds } = defined(await memoryOf());
      deepEqual(db, [
        { name: 'a', value: long },
        { name: 'b', value: '12345678901234567890' },
      ]);
      deepEqual(seenIds.map(seenIdOf), [
        { name: '', itemId: 'b' },
        { name: '', itemId: 'a' },
        { name: 'other', itemId: 'a' },
      ]);
      deepEqual(await memoryOf(workflow.id), { db: [{ name: 'count', value: '3' }], seenIds: [] }, 'of a step');
      equal(await stranger.store.readMemory(stranger.owner.id, source.id), undefined);
      equal(await memoryOf('dc_none'), undefined);
    });
  });
}

// Retention while many errors are replayed or exported: what it deletes meanwhile is missing in no count.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recordId } from '../../../src/domain/ids.ts';
import { DAY_MS, LIMITS } from '../../../src/domain/limits.ts';
import { exportErrors } from '../../../src/http/routes/log/export-errors.ts';
import { at, type Harness } from '../fixtures.ts';
import {
  carryOut,
  counts,
  endAll,
  failedOnes,
  groupState,
  order,
  results,
  shown,
  start,
  stepOn,
} from '../replays/replaying.ts';
import type { Stage } from '../stage.ts';

const KEPT = LIMITS.listedPerEmitterAndName;
const BEYOND = 30;

/** Deletes all that is older than now, but the newest errors. */
async function prune(stage: Stage): Promise<void> {
  stage.clock.advance(DAY_MS);
  for (let next: number | null = 0; next !== null; ) ({ next } = await stage.store.prune(stage.clock.nowMs(), next));
}

export function besideReadersContract(harness: Harness): void {
  describe('retention beside a replay', () => {
    it('is told in the outcome of the errors that it has deleted', async () => {
      await using stage = await failedOnes(harness, KEPT + BEYOND);
      const operation = await start(stage, { groupId: stage.groupId }, { canary: 1 });
      // All are counted, and the canary is under way.
      await stepOn(stage);
      await prune(stage);
      await carryOut(stage);
      const done = await shown(stage, operation);
      // The canary's error is kept by its run; the others beyond the newest are gone.
      const gone = BEYOND - 1;
      deepEqual([done.state, done.total], ['done', KEPT + BEYOND]);
      deepEqual(await counts(stage, operation), { fixed: KEPT + 1, not_replayed: gone });
      match(String(done.reason), new RegExp(`^${gone} errors .*retention`));
      equal((await results(stage, operation)).length, KEPT + 1);
      equal(await groupState(stage), 'open', 'not all of it is fixed');
    });

    it('leaves an operation that is paused as clear', async () => {
      await using stage = await failedOnes(harness, KEPT + BEYOND);
      const operation = await start(stage, { groupId: stage.groupId }, { isOrdered: true });
      await stepOn(stage);
      await endAll(stage);
      await order(stage, operation, 'pause');
      await stepOn(stage);
      await prune(stage);
      equal((await shown(stage, operation)).state, 'paused');
      await order(stage, operation, 'resume');
      await carryOut(stage);
      const done = await shown(stage, operation);
      deepEqual([done.state, done.total], ['done', KEPT + BEYOND]);
      deepEqual(await counts(stage, operation), { fixed: KEPT + 1, not_replayed: BEYOND - 1 });
      equal(await groupState(stage), 'open');
    });

    it('is told of errors that were named, one by one', async () => {
      await using stage = await failedOnes(harness, KEPT + 2);
      const operation = await start(stage, { entries: stage.entries });
      await prune(stage);
      await carryOut(stage);
      deepEqual(await counts(stage, operation), { fixed: KEPT, not_replayed: 2 });
      deepEqual((await shown(stage, operation)).total, KEPT + 2);
      const [first] = await results(stage, operation);
      deepEqual([first?.entry, first?.outcome, first?.reason], [at(stage.entries, 0), 'not_replayed', 'it is gone']);
    });
  });

  describe('retention beside an export', () => {
    it('takes errors out of it, and the end counts what came', async () => {
      await using stage = await failedOnes(harness, 2 * KEPT + BEYOND);
      const channel = { ownerId: stage.owner.id, emitterId: stage.owner.id, name: '$errors' };
      const lines: { id?: string; end?: object }[] = [];
      const end = await stage.store.logEnd();
      let pages = 0;
      for await (const page of exportErrors(stage.store, {
        channel,
        filter: {},
        after: null,
        mayGoOn: async () => true,
      })) {
        lines.push(
          ...page
            .toString()
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line)),
        );
        if (++pages === 1) await prune(stage);
      }
      const ids = lines.flatMap(({ id }) => id ?? []);
      const listed = stage.entries.map(recordId);
      equal(new Set(ids).size, ids.length, 'none twice');
      deepEqual(ids, [...listed.slice(0, LIMITS.streamRecords), ...listed.slice(-KEPT)]);
      deepEqual(lines.at(-1)?.end, { complete: true, cursor: recordId(end), count: ids.length });
    });
  });
}

// The search of the errors of one group: over several pages, with other conditions, and whose they are.

import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { ErrorSearch } from '../../../src/store/contract/search.ts';
import { at, defined, type Harness, START_MS, timesInTurn } from '../fixtures.ts';
import { fail } from '../log/grouping.ts';
import { Stage } from '../stage.ts';
import { ALL, type Asked, copyRow, errorsOf, followed } from './searching.ts';

const QUIET = { settings: { notify: false } };

async function groupOf(stage: Stage, entry: number): Promise<string> {
  return defined((await stage.store.getEmission(stage.owner.id, entry))?.groupId);
}

const search = (stage: Stage, asked: Asked<ErrorSearch>, page = ALL) =>
  stage.store.searchErrors({ ownerId: stage.owner.id, ...asked }, page, false);

export function groupSearchesContract(harness: Harness): void {
  describe('the search of the errors of a group', () => {
    it('has all of them, over several pages', async () => {
      await using stage = await Stage.open(harness);
      const [one, other] = [await stage.workflow(QUIET), await stage.workflow(QUIET)];
      const entries = await timesInTurn(5, async (n) => {
        await fail(stage, other, { code: 'A' });
        await fail(stage, one, { code: 'B' });
        return fail(stage, one, { code: 'A', msg: `order ${n} is lost` });
      });
      const groupId = await groupOf(stage, at(entries, 0));
      const pages = await followed((page) => search(stage, { groupId }, page), 2);
      deepEqual(
        pages.map(({ items }) => items.map(({ emission }) => entries.indexOf(emission.entry))),
        [[4, 3], [2, 1], [0]],
      );
      deepEqual(
        pages.map(({ totalCount, lookedAt }) => [totalCount, lookedAt]),
        [
          [5, 2],
          [5, 2],
          [5, 1],
        ],
        'looks at no error of another group',
      );
      deepEqual(
        new Set(pages.flatMap(({ items }) => items.map(({ emission }) => emission.groupId))),
        new Set([groupId]),
      );
      const back = await search(stage, { groupId }, { limit: 2, before: at(entries, 1) });
      deepEqual(
        back.items.map(({ emission }) => entries.indexOf(emission.entry)),
        [3, 2],
      );
      await stage.store.deleteWorkflow(stage.owner.id, one.id);
      await stage.reopen();
      deepEqual(await errorsOf(stage, { groupId }), entries.toReversed());
    });

    it('applies every other condition, too', async () => {
      await using stage = await Stage.open(harness);
      const [one, other] = [await stage.workflow(QUIET), await stage.workflow(QUIET)];
      const entries = await timesInTurn(3, (n) => {
        stage.clock.advance(SECOND_MS);
        return fail(stage, one, { code: 'A', msg: `order ${n} is lost` });
      });
      const [first, second, third] = [at(entries, 0), at(entries, 1), at(entries, 2)];
      const elsewhere = await fail(stage, other, { code: 'A', msg: 'order 1 is lost' });
      const groupId = await groupOf(stage, first);
      notEqual(await groupOf(stage, elsewhere), groupId);
      const [sinceMs, untilMs] = [START_MS + 2 * SECOND_MS, START_MS + 3 * SECOND_MS];
      const cases: [Asked<ErrorSearch>, number[], number | null][] = [
        [{}, [third, second, first], 3],
        [{ sinceMs }, [third, second], 2],
        [{ untilMs }, [second, first], 2],
        [{ sinceMs, untilMs }, [second], 1],
        [{ sinceMs: START_MS + MINUTE_MS }, [], 0],
        [{ text: 'ORDER 1 IS' }, [second], null],
        [{ text: 'ORDER', sinceMs, untilMs }, [second], null],
        [{ emitterId: one.id, code: 'A' }, [third, second, first], 3],
        [{ emitterId: other.id }, [], 0],
        [{ emitterId: other.id, sinceMs }, [], 0],
        [{ code: 'a' }, [], 0],
        [{ step: 'code', deploymentId: one.deploymentId }, [third, second, first], null],
        [{ deploymentId: other.deploymentId }, [], null],
        [{ told: 'withheld', replayed: false }, [third, second, first], null],
        [{ told: true }, [], null],
      ];
      for (const [asked, expected, total] of cases) {
        const { items, next, totalCount } = await search(stage, { groupId, ...asked });
        const found = items.map(({ emission }) => emission.entry);
        deepEqual([found, next, totalCount], [expected, null, total], JSON.stringify(asked));
      }
    });

    it('finds nothing in a group of another owner, or in none', async () => {
      await using stage = await Stage.open(harness);
      const neighbour = await stage.neighbour();
      const workflow = await stage.workflow(QUIET);
      const groupId = await groupOf(stage, await fail(stage, workflow));
      await fail(neighbour, await neighbour.workflow(QUIET));
      const nothing = { items: [], next: null, lookedAt: 0, totalCount: 0 };
      const asked: Asked<ErrorSearch>[] = [{}, { text: 'wrong' }, { emitterId: workflow.id }, { told: false }];
      for (const more of asked) deepEqual(await search(neighbour, { groupId, ...more }), nothing, JSON.stringify(more));
      for (const unknown of ['', 'eg_nobody', groupId.slice(0, -1), `${groupId}0`, `${groupId} `, "' OR 1=1 --"]) {
        deepEqual(await search(stage, { groupId: unknown }), nothing, unknown);
      }
      equal((await errorsOf(stage, { groupId })).length, 1);
    });

    it('looks at a bounded number of a large group, whatever else is asked', async () => {
      await using stage = await Stage.open(harness);
      const [one, other] = [await stage.workflow(QUIET), await stage.workflow(QUIET)];
      const row = await fail(stage, one, { code: 'A' });
      await fail(stage, other, { code: 'A' });
      const groupId = await groupOf(stage, row);
      const count = LIMITS.searchedRecords + 500;
      await copyRow(stage, 'emissions', { row, count });
      const asked: Asked<ErrorSearch>[] = [{ emitterId: other.id }, { code: 'B' }, { told: true }, { text: 'nowhere' }];
      for (const more of asked) {
        const pages = await followed((page) => search(stage, { groupId, ...more }, page), 100);
        deepEqual(
          pages.map(({ items, lookedAt }) => [items.length, lookedAt]),
          [
            [0, LIMITS.searchedRecords],
            [0, 501],
          ],
          JSON.stringify(more),
        );
      }
      const { totalCount, lookedAt } = await search(stage, { groupId });
      deepEqual([totalCount, lookedAt], [LIMITS.countedRecords, 100]);
    });
  });
}

// The search of groups of errors by text: in both orders, over pages, and within bounds.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ErrorGroup } from '../../../src/domain/errors/group.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type {
  GroupPageQuery,
  GroupPlace,
  GroupSearch,
  GroupSearchPage,
} from '../../../src/store/contract/error-groups.ts';
import { type Harness, timesInTurn } from '../fixtures.ts';
import { fail, groups, order } from '../log/grouping.ts';
import { Stage } from '../stage.ts';

const QUIET = { settings: { notify: false } };
const SORTS = ['last_seen', 'count'] as const;

type Asked = Partial<GroupSearch> & Pick<GroupSearch, 'text'>;

const search = (stage: Stage, asked: Asked, page: GroupPageQuery = { limit: 100 }): Promise<GroupSearchPage> =>
  stage.store.searchErrorGroups({ ownerId: stage.owner.id, sort: 'last_seen', ...asked }, page);

const codes = (found: readonly ErrorGroup[]): readonly string[] => found.map(({ fingerprint }) => fingerprint.code);

/** Every page of a search, by the cursors that it gives. */
async function followed(stage: Stage, asked: Asked, limit: number): Promise<GroupSearchPage[]> {
  const pages: GroupSearchPage[] = [];
  for (let after: GroupPlace | null | undefined; after !== null; after = pages.at(-1)?.next ?? null) {
    pages.push(await search(stage, asked, { limit, ...(after === undefined ? {} : { after }) }));
  }
  return pages;
}

/** Adds groups that were seen before the others, and have no more errors than they. */
function addGroups(stage: Stage, { id, lastEntry }: ErrorGroup, count: number): Promise<unknown> {
  const shared = 'owner_id, emitter_id, version, namespace, code, template, frame, state, updated_at_ms';
  return stage.execute(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO error_groups (id, n, first_entry, last_entry, ${shared})
    SELECT 'eg_0' || substr(CAST (1000000000000000 + i AS text), 2), 1, ${lastEntry} - 1000000 - i, ${lastEntry} - 1000000 - i, ${shared}
      FROM error_groups, n WHERE id = '${id}'`);
}

export function textOfGroupsContract(harness: Harness): void {
  describe('the search of groups', () => {
    it('is paged in both orders and directions', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(QUIET);
      for (const code of ['HitA', 'Miss', 'HitB', 'HitC', 'HitB', 'Miss', 'HitA', 'HitB']) {
        await fail(stage, workflow, { code });
      }
      for (const sort of SORTS) {
        const listed = (await groups(stage, { sort })).filter(({ fingerprint }) => fingerprint.code !== 'Miss');
        equal(listed.length, 3);
        const pages = await followed(stage, { text: 'hit', sort }, 2);
        deepEqual(
          pages.map(({ items }) => items.length),
          [2, 1],
        );
        deepEqual(
          pages.flatMap(({ items }) => items),
          listed,
        );
        const [, , last] = listed as [ErrorGroup, ErrorGroup, ErrorGroup];
        const before = { id: last.id, value: sort === 'count' ? last.count : last.lastEntry };
        deepEqual((await search(stage, { text: 'hit', sort }, { limit: 2, before })).items, listed.slice(0, 2));
        deepEqual((await search(stage, { text: 'hit', sort }, { limit: 1, before })).items, listed.slice(1, 2));
      }
    });

    it('looks at so many groups at most, and goes on behind them', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, other] = [await stage.workflow(QUIET), await stage.workflow(QUIET)];
      await fail(stage, workflow, { code: 'Old' });
      const [old] = await groups(stage);
      await timesInTurn(2, () => fail(stage, workflow, { code: 'New' }));
      await fail(stage, other, { code: 'Old' });
      const [, fresh] = (await groups(stage)) as [ErrorGroup, ErrorGroup];
      await stage.execute(`UPDATE error_groups SET last_entry = 1, id = 'eg_0000000000000000' WHERE id = '${old?.id}'`);
      await addGroups(stage, fresh, LIMITS.searchedRecords);
      for (const sort of SORTS) {
        const pages = await followed(stage, { text: 'old', sort, emitterId: workflow.id }, 10);
        deepEqual(
          pages.map(({ items, lookedAt, next }) => [codes(items), lookedAt, next === null]),
          [[[], LIMITS.searchedRecords, false], sort === 'count' ? [[], 0, true] : [['Old'], 2, true]],
          sort,
        );
        const found = (await followed(stage, { text: 'old', sort }, 10)).flatMap(({ items }) => items);
        equal(found.length, sort === 'count' ? 1 : 2, 'by their counts, of those that were last seen');
      }
      await stage.execute(`UPDATE error_groups SET n = 1000 WHERE last_entry = 1`);
      const largest = await groups(stage, { sort: 'count' });
      deepEqual([largest.length, largest.every(({ count }) => count < 1000)], [100, true]);
      deepEqual(await search(stage, { text: 'old', sinceMs: stage.clock.ms - 1, state: 'resolved' }), {
        items: [],
        next: null,
        lookedAt: 2,
      });
    });

    it('matches what is shown, and shows notes', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(QUIET);
      await fail(stage, workflow, { code: 'A', msg: 'the secret is out' });
      const [group] = (await groups(stage)) as [ErrorGroup];
      await stage.store.updateErrorGroup(stage.owner.id, group.id, { note: 'known' });
      await order(stage, group, { state: 'resolved', inNextDeployment: false });
      const shown = (one: ErrorGroup): ErrorGroup => {
        return { ...one, fingerprint: { ...one.fingerprint, template: 'the [redacted] is out' } };
      };
      deepEqual((await search(stage, { text: 'secret', shown })).items, []);
      deepEqual(
        (await search(stage, { text: '[REDACTED]', shown, state: 'resolved' })).items.map(({ note }) => note),
        ['known'],
      );
      deepEqual((await search(stage, { text: 'secret', ownerId: 'u_0000000000000000' })).items, []);
    });
  });
}

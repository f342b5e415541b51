// What the tests of both searches share: whole results, pages followed by their cursors, and many records at once.

import { equal } from 'node:assert/strict';
import type { PageQuery } from '../../../src/store/contract/records.ts';
import type { ErrorSearch, RunSearch, SearchPage } from '../../../src/store/contract/search.ts';
import type { Stage } from '../stage.ts';

export const ALL: PageQuery<number> = { limit: 100 };

export type Asked<T> = Omit<T, 'ownerId'>;

export async function errorsOf(stage: Stage, search: Asked<ErrorSearch> = {}): Promise<number[]> {
  const { items, next } = await stage.store.searchErrors({ ownerId: stage.owner.id, ...search }, ALL, false);
  equal(next, null);
  return items.map(({ emission }) => emission.entry);
}

export async function runsOf(stage: Stage, search: Asked<RunSearch> = {}): Promise<number[]> {
  const { items, next } = await stage.store.searchRuns({ ownerId: stage.owner.id, ...search }, ALL);
  equal(next, null);
  return items.map(({ run }) => run);
}

/** Every page of a search, by the cursors that it gives. */
export async function followed<T>(
  search: (page: PageQuery<number>) => Promise<SearchPage<T>>,
  limit: number,
): Promise<SearchPage<T>[]> {
  const pages: SearchPage<T>[] = [];
  let after: number | undefined;
  do {
    const page = await search({ limit, ...(after === undefined ? {} : { after }) });
    pages.push(page);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return pages;
}

/** Columns that only one of the databases has. */
const OWN_COLUMNS = {
  emissions: ['flags', 'verified, replay, test, listed'],
  runs: ['fence, boot, alone, rescues', null],
} as const;

/** Copies a row so many times, with numbers a little before its own. */
export async function copyRow(
  stage: Stage,
  table: 'emissions' | 'runs',
  of: { row: number; count: number },
): Promise<void> {
  const shared =
    table === 'emissions'
      ? 'owner_id, emitter_id, name, source_type, origin_id, trace_id, lineage, hops, cause_run, code, group_id, original_start, original_length, body'
      : 'owner_id, runnable_id, deployment_id, entry, via, state, attempt, started_at_ms, ended_at_ms, error_entry, error_code';
  const key = table === 'emissions' ? 'entry' : 'run';
  const copy = (own: string | null) => {
    const columns = own === null ? shared : `${shared}, ${own}`;
    return stage.execute(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${of.count})
      INSERT INTO ${table} (${key}, ${columns}) SELECT ${key} - 100 - i, ${columns} FROM ${table}, n WHERE ${key} = ${of.row}`);
  };
  const [sqlite, postgres] = OWN_COLUMNS[table];
  await copy(sqlite).catch(() => copy(postgres));
}

// The search of an owner's groups of errors by text, for both databases. In the order of the last errors it reads along an index,
// as other searches do. No index has groups in the order of their counts, since each error would change it: there the heads of those
// that were last seen are read once, as many as a search looks at, and their ranks are the numbers that it goes by.

import { type ErrorGroup, groupAt, isAssigned } from '../../../domain/errors/group.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { containing } from '../../../domain/literal-text.ts';
import type { Clock } from '../../../ports.ts';
import { isAmong, joined, NO_KEY, raw, type Sql, sql } from '../../config/sql.ts';
import type {
  GroupPageQuery,
  GroupPlace,
  GroupSearch,
  GroupSearchPage,
  GroupSearchStore,
} from '../../contract/error-groups.ts';
import { toErrorGroup } from '../../rows/group-rows.ts';
import type { LogReader } from '../log-tables.ts';
import { filtered, type NumberRange, searchWithin } from './bounded-search.ts';
import { inRange, type NumberIndex, ordered, rangeOfTimes } from './number-ranges.ts';

/** All but the note, which is long and not searched. */
const HEAD = raw(`id, owner_id, emitter_id, version, namespace, code, template, frame, rule, n, first_entry, last_entry,
  first_deployment, last_deployment, state, until_ms, until_count, after_deployment, reopened, NULL AS note, assignee, updated_at_ms`);

type Reader = Pick<LogReader, 'database'>;

/** A group with the number that the search goes by. */
interface Numbered {
  readonly number: number;
  readonly group: ErrorGroup;
}

type Read = (range: NumberRange, order: { isDescending: boolean; limit: number }) => Promise<readonly Numbered[]>;

export function groupSearches(log: Reader, clock: Pick<Clock, 'nowMs'>): GroupSearchStore {
  return {
    searchErrorGroups: (search, page) =>
      search.sort === 'count'
        ? searchByCount(log, { search, page, nowMs: clock.nowMs() })
        : searchByLastSeen(log, { search, page, nowMs: clock.nowMs() }),
  };
}

interface Asked {
  readonly search: GroupSearch;
  readonly page: GroupPageQuery;
  readonly nowMs: number;
}

function searchByLastSeen(log: Reader, asked: Asked): Promise<GroupSearchPage> {
  const { search, page, nowMs } = asked;
  const index = indexOf(search);
  const read: Read = async (range, { isDescending, limit }) => {
    const where = joined([...index.where, ...inRange(index, range)], ' AND ');
    const rows = await log.database.planned(
      sql`SELECT ${HEAD} FROM error_groups WHERE ${where} ORDER BY ${ordered(index, isDescending)} LIMIT ${limit}`,
    );
    return rows.map((row) => {
      const group = groupAt(toErrorGroup(row), nowMs);
      return { number: group.lastEntry, group };
    });
  };
  const { limit, after, before } = page;
  const cursors = { ...(after && { after: after.value }), ...(before && { before: before.value }) };
  return searchIn(log, asked, { read, range: rangeOfTimes(search), page: { limit, ...cursors } });
}

function indexOf({ ownerId, emitterId }: GroupSearch): NumberIndex {
  const number = 'last_entry';
  if (emitterId === undefined) return { column: 'owner_id', value: ownerId, number, where: [] };
  return { column: 'emitter_id', value: emitterId, number, where: [sql`owner_id = ${ownerId}`] };
}

async function searchByCount(log: Reader, asked: Asked): Promise<GroupSearchPage> {
  const { search, page, nowMs } = asked;
  const { after, before, limit } = page;
  const isDescending = before === undefined || after !== undefined;
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  const beyond = (sign: '<' | '>', place: GroupPlace | undefined): Sql[] =>
    place ? [sql`(n, id) ${raw(sign)} (CAST (${place.value} AS BIGINT), ${place.id})`] : [];
  const { column, value, where, number } = indexOf(search);
  const { from, to } = rangeOfTimes(search);
  const conditions = [
    ...where,
    sql`${raw(column)} = ${value}`,
    sql`${NO_KEY}${raw(number)} >= ${from} AND ${NO_KEY}${raw(number)} < ${to}`,
  ];
  const seen = sql`(SELECT * FROM error_groups WHERE ${joined(conditions, ' AND ')}
    ORDER BY last_entry DESC LIMIT ${LIMITS.searchedRecords}) AS seen`;
  const rows = await log.database.planned(
    sql`SELECT ${HEAD} FROM ${seen} WHERE ${joined([raw('true'), ...beyond('<', after), ...beyond('>', before)], ' AND ')}
      ORDER BY n ${direction}, id ${direction}`,
  );
  const heads = rows.map((row, i): Numbered => {
    return { number: isDescending ? rows.length - 1 - i : i, group: groupAt(toErrorGroup(row), nowMs) };
  });
  const read: Read = async (range, step) =>
    heads.filter((head) => head.number >= range.from && head.number < range.to).slice(0, step.limit);
  // A page before a cursor has the groups next to it, so it is read towards larger ones.
  const direct = isDescending ? { limit } : { limit, before: -1 };
  return searchIn(log, asked, { read, range: { from: 0, to: rows.length }, page: direct });
}

interface Walk {
  readonly read: Read;
  readonly range: NumberRange;
  readonly page: { readonly limit: number; readonly after?: number; readonly before?: number };
}

async function searchIn(log: Reader, { search, nowMs }: Asked, { read, range, page }: Walk): Promise<GroupSearchPage> {
  const { ownerId, state, code, assignee, text, sort, shown = (group) => group } = search;
  const hasText = containing(text);
  const places = new Map<number, GroupPlace>();
  const found = await searchWithin<Numbered, ErrorGroup>({
    page,
    range,
    isFiltered: true,
    read: async (within, order) => {
      const heads = await read(within, order);
      for (const { number, group } of heads) {
        places.set(number, { id: group.id, value: sort === 'count' ? group.count : group.lastEntry });
      }
      return heads;
    },
    numberOf: ({ number }) => number,
    fits: ({ group }) =>
      (state === undefined || group.state === state) &&
      (code === undefined || group.fingerprint.code === code) &&
      (assignee === undefined || isAssigned(group, assignee)),
    bytesOf: () => 0,
    judge: async (heads) => {
      const meant = await filtered(heads, search.shown !== undefined, ({ group }) =>
        textsOf(shown(group)).some(hasText),
      );
      return withNotes(meant.slice(0, page.limit));
    },
  });
  const { items, next, lookedAt } = found;
  return { items, lookedAt, next: next === null ? null : (places.get(next) ?? null) };

  async function withNotes(meant: readonly Numbered[]): Promise<{ number: number; item: ErrorGroup }[]> {
    if (meant.length === 0) return [];
    const rows = await log.database.all(
      sql`SELECT * FROM error_groups WHERE id ${isAmong(meant.map(({ group }) => group.id))} AND ${NO_KEY}owner_id = ${ownerId}`,
    );
    const groups = new Map(rows.map((row) => [row.id, groupAt(toErrorGroup(row), nowMs)]));
    return meant.flatMap(({ number, group }) => {
      const item = groups.get(group.id);
      return item ? [{ number, item }] : [];
    });
  }
}

function textsOf({ fingerprint: { code, template, frame, namespace }, rule }: ErrorGroup): readonly string[] {
  return [code, template, frame, namespace, rule ?? ''];
}

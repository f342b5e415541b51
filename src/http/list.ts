// Lists: newest first, exclusive cursors that are record ids, and the same frame for all of them.

import type { Static, TObject, TSchema } from 'typebox';
import { isResourceId, numberOf } from '../domain/ids.ts';
import { LIMITS } from '../domain/limits.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Page, PageQuery } from '../store/contract/records.ts';
import { nullable, text } from './openapi/schema.ts';
import { Type } from './schema/type.ts';

const CURSORS = {
  after: Type.Optional(text({ description: 'Cursor, the id of a record: only records that are older.' })),
  before: Type.Optional(
    text({ description: 'Cursor, the id of a record: only records that are newer, those next to it.' }),
  ),
  include: Type.Optional(text({ description: 'Comma-separated fields to return; all others are dropped.' })),
  exclude: Type.Optional(text({ description: 'Comma-separated fields to drop.' })),
};

/** Query parameters of every list. */
export const LIST_QUERY = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMITS.pageRecords, description: 'Records to return; 100 when not given.' }),
  ),
  ...CURSORS,
};

/** Query parameters of lists of emissions: a limit that is too large counts as the largest, as older callers expect. */
export const EMISSION_LIST_QUERY = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Records to return; 100 when not given, and never more than 100.' }),
  ),
  ...CURSORS,
};

export interface ListQuery {
  readonly limit?: number;
  readonly after?: string;
  readonly before?: string;
  readonly include?: string;
  readonly exclude?: string;
}

const PAGE_INFO = Type.Object(
  {
    total_count: Type.Integer({ description: 'Records that match, whatever the cursor.', examples: [1] }),
    count: Type.Integer({ description: 'Records in `data`.', examples: [1] }),
    start_cursor: nullable(
      text({ description: 'Id of the first record; null when there is none.', example: '1782000000123-0' }),
    ),
    end_cursor: nullable(
      text({ description: 'Id of the last record; null when there is none.', example: '1782000000123-0' }),
    ),
  },
  { title: 'PageInfo', description: 'Which part of the list this is.' },
);

/** Returns the schema of a list's answer. */
export function listOf<T extends TSchema>(record: T): TObject {
  return Type.Object({ page_info: PAGE_INFO, data: Type.Array(record, { description: 'The records of this page.' }) });
}

/** What a cursor is, as a refusal says it. */
const RECORD_OF_LIST = 'the id of a record of this list';

/** Returns the store's page query. Refuses a cursor that `read` does not understand; `wanted` says what it would. */
export function pageOf<Cursor>(
  query: ListQuery,
  read: (cursor: string) => Cursor | undefined,
  wanted = RECORD_OF_LIST,
): PageQuery<Cursor> {
  const limit = Math.min(query.limit ?? LIMITS.pageRecords, LIMITS.pageRecords);
  const after = cursorOf('after', query.after, { read, wanted });
  const before = cursorOf('before', query.before, { read, wanted });
  return { limit, ...(after === undefined ? {} : { after }), ...(before === undefined ? {} : { before }) };
}

function cursorOf<Cursor>(
  parameter: string,
  value: string | undefined,
  { read, wanted }: { readonly read: (cursor: string) => Cursor | undefined; readonly wanted: string },
): Cursor | undefined {
  if (value === undefined) return undefined;
  const cursor = read(value);
  if (cursor !== undefined) return cursor;
  const message = `must be ${wanted}, but was ${JSON.stringify(value.slice(0, 80))}`;
  throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

/** Reads cursors that are ids of resources. */
export function resourceCursor(prefix: string): (cursor: string) => string | undefined {
  return (cursor) => (isResourceId(cursor, prefix) ? cursor : undefined);
}

/** Reads cursors that are ids of runs or deliveries. */
export function numberCursor(prefix: string): (cursor: string) => number | undefined {
  return (cursor) => numberOf(prefix, cursor);
}

export type WireRecord = { readonly id: string };

export interface ListAnswer {
  readonly page_info: Static<typeof PAGE_INFO>;
  readonly data: readonly object[];
}

/** Returns a list's answer. */
export function listAnswer<T>(page: Page<T>, toWire: (item: T) => WireRecord): ListAnswer {
  const records = page.items.map(toWire);
  return {
    page_info: {
      total_count: page.totalCount,
      count: records.length,
      start_cursor: records[0]?.id ?? null,
      end_cursor: records.at(-1)?.id ?? null,
    },
    data: records,
  };
}

/** Returns a page of records that are all in memory, newest first (by id). */
export function pageOfAll<T extends WireRecord>(all: readonly T[], page: PageQuery): Page<T> {
  const sorted = [...all].sort((a, b) => (a.id < b.id ? 1 : -1));
  const { after, before, limit } = page;
  const fitting = sorted.filter(
    ({ id }) => (after === undefined || id < after) && (before === undefined || id > before),
  );
  const items = before === undefined || after !== undefined ? fitting.slice(0, limit) : fitting.slice(-limit);
  return { totalCount: all.length, items };
}

// Answers of searches: the frame of lists, and how far the search came.

import type { Static, TObject, TSchema } from 'typebox';
import { msOf } from '../domain/ids.ts';
import { LIMITS } from '../domain/limits.ts';
import type { SearchPage } from '../store/contract/search.ts';
import type { WireRecord } from './list.ts';
import { nullable, text } from './openapi/schema.ts';
import { Type } from './schema/type.ts';

const CURSOR = '1782000000123-0';

const SEARCH_INFO = Type.Object(
  {
    total_count: nullable(
      Type.Integer({
        description: `Records that match, whatever the cursor: among the newest ${LIMITS.countedRecords.toLocaleString('en')} in the range of time. Null when a filter has to read each record to know.`,
        examples: [1],
      }),
    ),
    count: Type.Integer({ description: 'Records in `data`.', examples: [1] }),
    start_cursor: nullable(text({ description: 'Id of the first record; null when there is none.', example: CURSOR })),
    end_cursor: nullable(text({ description: 'Id of the last record; null when there is none.', example: CURSOR })),
    next_cursor: nullable(
      text({
        description:
          'Where the search goes on: as `after`, or as `before` if this page had `before` alone. Null when it has come to the end.',
        example: CURSOR,
      }),
    ),
    searched_until_ms: nullable(
      Type.Integer({
        description:
          'Time of the last record that it looked at, in milliseconds since the Unix epoch; null when it has come to the end.',
        examples: [1_782_000_000_123],
      }),
    ),
    looked_at: Type.Integer({ description: 'Records that this page looked at.', examples: [1] }),
  },
  { title: 'SearchInfo', description: 'Which part of the results this is, and where the search goes on.' },
);

/** Returns the schema of a search's answer. */
export function searchOf<T extends TSchema>(record: T): TObject {
  return Type.Object({
    page_info: SEARCH_INFO,
    data: Type.Array(record, { description: 'The records of this page.' }),
  });
}

export interface SearchAnswer {
  readonly page_info: Static<typeof SEARCH_INFO>;
  readonly data: readonly object[];
}

interface PageShape<T> {
  readonly toWire: (item: T) => WireRecord;
  readonly cursorOf: (number: number) => string;
}

export function searchAnswer<T>(found: SearchPage<T>, { toWire, cursorOf }: PageShape<T>): SearchAnswer {
  const records = found.items.map(toWire);
  const { next } = found;
  return {
    page_info: {
      total_count: found.totalCount,
      count: records.length,
      start_cursor: records[0]?.id ?? null,
      end_cursor: records.at(-1)?.id ?? null,
      next_cursor: next === null ? null : cursorOf(next),
      searched_until_ms: next === null ? null : msOf(next),
      looked_at: found.lookedAt,
    },
    data: records,
  };
}

// Pages of lists of groups, and of searches among them: their cursors, and how far a search came.

import type { Static } from 'typebox';
import type { ErrorGroup } from '../../../domain/errors/group.ts';
import { isResourceId, msOf, PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { GroupPageQuery, GroupPlace, GroupQuery, GroupSearchPage } from '../../../store/contract/error-groups.ts';
import type { Page } from '../../../store/contract/records.ts';
import { nullable, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

const CURSOR = '1782000000123000-eg_0Vj3aBc9dEfGhIjK';

const place = (description: string) => nullable(text({ description, example: CURSOR }));

/** What a cursor is, as a refusal says it. */
export const GROUP_CURSOR_WANTED = `a place in this list, as page_info has it, such as "${CURSOR}"`;

/** Query parameters: cursors that are places. */
export const GROUP_CURSORS = {
  after: Type.Optional(
    text({ description: 'Cursor, a place in the list as `page_info` has it: only groups behind it.', example: CURSOR }),
  ),
  before: Type.Optional(
    text({
      description: 'Cursor, a place in the list as `page_info` has it: only groups in front of it, those next to it.',
      example: CURSOR,
    }),
  ),
};

export const GROUP_PAGE_INFO = Type.Object(
  {
    total_count: nullable(
      Type.Integer({
        description: `Groups that match, whatever the cursor: up to ${LIMITS.countedRecords.toLocaleString('en')}. Null with \`text\`, which has to read each group to know.`,
        examples: [1],
      }),
    ),
    count: Type.Integer({ description: 'Groups in `data`.', examples: [1] }),
    start_cursor: place('Place of the first group; null when there is none.'),
    end_cursor: place('Place of the last group; null when there is none.'),
    next_cursor: place(
      'Where the list goes on: as `after`, or as `before` if this page had `before` alone. Null when it has come to the end.',
    ),
    searched_until_ms: nullable(
      Type.Integer({
        description:
          'When the last group that it looked at was last seen, in milliseconds since the Unix epoch; null when it has come to the end, and with `sort=count`.',
        examples: [1_782_000_000_123],
      }),
    ),
    looked_at: Type.Integer({ description: 'Groups that this page looked at.', examples: [1] }),
  },
  { title: 'GroupPageInfo', description: 'Which part of the list this is, and where it goes on.' },
);

type Sort = GroupQuery['sort'];

/** Returns a cursor: `<last_seen or count>-<id>`. A group that moves does not move them. */
function cursorOf({ value, id }: GroupPlace): string {
  return `${value}-${id}`;
}

function placeOf({ id, count, lastEntry }: ErrorGroup, sort: Sort): GroupPlace {
  return { id, value: sort === 'count' ? count : lastEntry };
}

export function groupCursor(cursor: string): GroupPlace | undefined {
  const [, value, groupId = ''] = /^(\d{1,16})-(.*)$/.exec(cursor) ?? [];
  if (!Number.isSafeInteger(Number(value)) || !isResourceId(groupId, PREFIX.errorGroup)) return undefined;
  return { value: Number(value), id: groupId };
}

/** Returns a page of a list as one of a search: it has looked at what it lists. */
export function listedPage(
  { items }: Page<ErrorGroup>,
  { limit, after, before }: GroupPageQuery,
  sort: Sort,
): GroupSearchPage {
  const next = before === undefined || after !== undefined ? items.at(-1) : items[0];
  const isLast = items.length < limit || next === undefined;
  return { items, next: isLast ? null : placeOf(next, sort), lookedAt: items.length };
}

export function groupPageInfo(
  { items, next, lookedAt }: GroupSearchPage,
  { sort, totalCount }: { readonly sort: Sort; readonly totalCount: number | null },
): Static<typeof GROUP_PAGE_INFO> {
  const [first, last] = [items[0], items.at(-1)];
  return {
    total_count: totalCount,
    count: items.length,
    start_cursor: first ? cursorOf(placeOf(first, sort)) : null,
    end_cursor: last ? cursorOf(placeOf(last, sort)) : null,
    next_cursor: next && cursorOf(next),
    searched_until_ms: next === null || sort === 'count' ? null : msOf(next.value),
    looked_at: lookedAt,
  };
}

import { infiniteQueryOptions } from '@tanstack/react-query';
import type { PageInfo } from '../../../src/client/client.ts';
import type { Asked } from './errand.ts';

export interface Listed<T> {
  /** A search says itself where it goes on, and may have a short or empty page before its end. */
  readonly page_info: Pick<PageInfo, 'end_cursor'> & {
    readonly total_count: number | null;
    readonly next_cursor?: string | null;
    /** Of a search: how far back it came, in milliseconds. */
    readonly searched_until_ms?: number | null;
  };
  readonly data: readonly T[];
}

/** A page of a listing; of one that is merged with another, `data` may be shorter or longer than it came. */
export interface ListPage<T> extends Listed<T> {
  readonly isLast: boolean;
}

interface PageAsked {
  readonly limit: number;
  readonly after?: string | undefined;
}

interface ListOf<T, Filter> {
  /** The first part of the key, by which the list is asked for again when something has changed. */
  readonly key: readonly string[];
  /** Asks for a page. */
  readonly read: (asked: Filter & PageAsked, options: Asked) => Promise<Listed<T>>;
  /** Empty values are left out. */
  readonly filter?: Filter;
  readonly limit?: number;
  readonly againMs?: number | undefined;
  /** What another filter has found is shown until this one has. */
  readonly keepsPrevious?: boolean;
}

const PER_PAGE = 50;

/** A listing of the interface, page by page. */
export function listQuery<T, Filter extends object>(of: ListOf<T, Filter>) {
  const { key, read, filter, limit = PER_PAGE, againMs, keepsPrevious = false } = of;
  const asked = withoutEmpty(filter);
  const readPage = async (after: string | null, signal?: AbortSignal): Promise<ListPage<T>> => {
    const listed = await read({ ...asked, limit, ...(after === null ? {} : { after }) }, { signal });
    return { ...listed, isLast: isLastOf(listed, limit) };
  };
  return infiniteQueryOptions({
    queryKey: [...key, { ...filter, limit }],
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.isLast ? null : nextOf(last)),
    meta: { firstPage: () => readPage(null), againMs },
    // Of several pages, each would be a request: `useGrownLists` asks for the first one alone.
    refetchInterval: ({ state: { data } }) => (againMs !== undefined && isOnePage(data) ? againMs : false),
    refetchOnWindowFocus: ({ state: { data } }) => isOnePage(data),
    placeholderData: (before) => (keepsPrevious ? before : undefined),
  });
}

function isLastOf({ page_info: { next_cursor: next }, data }: Listed<unknown>, limit: number): boolean {
  return next === undefined ? data.length < limit : next === null;
}

function nextOf({ page_info: { next_cursor: next, end_cursor: end } }: Listed<unknown>): string | null {
  return next === undefined ? end : next;
}

function withoutEmpty<Filter extends object>(filter: Filter | undefined): Filter {
  return Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value !== '')) as Filter;
}

function isOnePage(data: { readonly pages: readonly unknown[] } | undefined): boolean {
  return (data?.pages.length ?? 0) <= 1;
}

const WHOLE_PAGE = 100;
const MAX_PAGES = 100;

/** Returns all records of a listing, up to 10,000. */
export async function readAll<T>(
  read: (asked: PageAsked, options: Asked) => Promise<Listed<T>>,
  signal: AbortSignal | undefined,
): Promise<T[]> {
  const all: T[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const listed: Listed<T> = await read({ limit: WHOLE_PAGE, ...(after === undefined ? {} : { after }) }, { signal });
    all.push(...listed.data);
    after = nextOf(listed) ?? undefined;
    if (isLastOf(listed, WHOLE_PAGE) || after === undefined) break;
  }
  return all;
}

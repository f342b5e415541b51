import { infiniteQueryOptions } from '@tanstack/react-query';
import type { PageInfo } from '../../../src/client/client.ts';
import { call, query } from './http.ts';

export interface Data<T> {
  readonly data: T;
}

export interface Listed<T> {
  readonly page_info: PageInfo;
  readonly data: readonly T[];
}

/** A page of a listing; of one that is merged with another, `data` may be shorter or longer than it came. */
export interface ListPage<T> extends Listed<T> {
  readonly isLast: boolean;
}

interface ListOf {
  /** The first part of the key, by which the list is asked for again when something has changed. */
  readonly key: readonly string[];
  readonly path: string;
  readonly filter?: Readonly<Record<string, string | number | undefined>>;
  readonly limit?: number;
  readonly againMs?: number;
  /** What another filter has found is shown until this one has. */
  readonly keepsPrevious?: boolean;
}

const PER_PAGE = 50;

/** A listing of the interface, page by page. */
export function listQuery<T>({ key, path, filter = {}, limit = PER_PAGE, againMs, keepsPrevious = false }: ListOf) {
  const readPage = async (after: string | null, signal?: AbortSignal): Promise<ListPage<T>> => {
    const listed = await call<Listed<T>>('GET', `${path}${query({ ...filter, limit, after })}`, undefined, signal);
    return { ...listed, isLast: listed.data.length < limit };
  };
  return infiniteQueryOptions({
    queryKey: [...key, { ...filter, limit }],
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.isLast ? null : last.page_info.end_cursor),
    meta: { firstPage: () => readPage(null), againMs },
    // Of several pages, each would be a request: `useGrownLists` asks for the first one alone.
    refetchInterval: ({ state: { data } }) => (againMs !== undefined && isOnePage(data) ? againMs : false),
    refetchOnWindowFocus: ({ state: { data } }) => isOnePage(data),
    placeholderData: (before) => (keepsPrevious ? before : undefined),
  });
}

function isOnePage(data: { readonly pages: readonly unknown[] } | undefined): boolean {
  return (data?.pages.length ?? 0) <= 1;
}

const WHOLE_PAGE = 100;
const MAX_PAGES = 100;

/** Returns all records of a listing, up to 10,000. */
export async function readAll<T>(
  path: string,
  filter: ListOf['filter'] = {},
  signal: AbortSignal | undefined = undefined,
): Promise<T[]> {
  const all: T[] = [];
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const address = `${path}${query({ ...filter, limit: WHOLE_PAGE, after })}`;
    const listed: Listed<T> = await call<Listed<T>>('GET', address, undefined, signal);
    all.push(...listed.data);
    after = listed.page_info.end_cursor;
    if (listed.data.length < WHOLE_PAGE || after === null) break;
  }
  return all;
}

// Lists that have grown by scrolling, asked for again when something new came: their first page alone, since each page is a
// request, and what comes is at the beginning.

import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import type { ListPage } from './list.ts';

interface Named {
  readonly id: string;
}

type Pages = InfiniteData<ListPage<Named>, string | null>;

/** Asks again for what has a key that begins so; of a list of several pages, for the first one. */
export async function refreshLists(client: QueryClient, name: string): Promise<void> {
  const found = client.getQueryCache().findAll({ queryKey: [name] });
  await Promise.all(found.map((query) => refresh(client, query)));
}

/** Those that are being asked for again. */
const underWay = new WeakSet<Query>();

/** Asks again for the lists of several pages whose time has come, each for its first page. */
export function refreshGrown(client: QueryClient, nowMs: number): void {
  for (const query of client.getQueryCache().findAll({ type: 'active', fetchStatus: 'idle' })) {
    const { meta, state } = query;
    const lastMs = Math.max(state.dataUpdatedAt, state.errorUpdatedAt);
    const isDue = typeof meta?.againMs === 'number' && nowMs - lastMs >= meta.againMs;
    if (!isDue || underWay.has(query) || (pagesIn(query)?.length ?? 0) < 2) continue;
    underWay.add(query);
    void refresh(client, query).finally(() => underWay.delete(query));
  }
}

async function refresh(client: QueryClient, query: Query): Promise<void> {
  const { queryKey, meta } = query;
  const whole = (): Promise<void> => client.invalidateQueries({ queryKey, exact: true });
  const isGrown = (pagesIn(query)?.length ?? 0) > 1;
  if (!isGrown || !query.isActive() || typeof meta?.firstPage !== 'function') return whole();
  try {
    const first = (await meta.firstPage()) as ListPage<Named>;
    const now = query.state.data as Pages | undefined;
    const merged = now && merge(now, first);
    if (merged) client.setQueryData(queryKey, merged);
    else await whole();
  } catch {
    // It says itself what is wrong.
    await whole();
  }
}

function pagesIn(query: Query): readonly unknown[] | undefined {
  const { data } = query.state;
  return typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages)
    ? data.pages
    : undefined;
}

/**
 * Puts a first page that was read just now in the place of the one before. Records that it has moved up from later pages; those
 * of the earlier first page that it has no more were pushed back when they stood behind all that it still has, else they are
 * gone. Null: the two have nothing in common, and what is between them is not known.
 */
export function merge({ pages, pageParams }: Pages, first: ListPage<Named>): Pages | null {
  const [before, next, ...rest] = pages;
  if (!before || !next) return null;
  const ids = new Set(first.data.map(({ id }) => id));
  const left = ({ data }: ListPage<Named>): Named[] => data.filter(({ id }) => !ids.has(id));
  const known = before.data.findLastIndex((one) => ids.has(one.id) && isSame(one, first));
  if (known < 0) return null;
  const pushed = before.data.slice(known + 1).filter(({ id }) => !ids.has(id));
  const second = { ...next, data: [...pushed, ...left(next)] };
  return { pageParams, pages: [first, second, ...rest.map((page) => ({ ...page, data: left(page) }))] };
}

/** A record that has changed may have moved: its place says nothing about the others. */
function isSame(one: Named, { data }: ListPage<Named>): boolean {
  return JSON.stringify(data.find(({ id }) => id === one.id)) === JSON.stringify(one);
}

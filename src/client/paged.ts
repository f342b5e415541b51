// Lists: the first page, and from it all that follows.

import { ConnectionError } from './problem.ts';

export interface Page {
  readonly page_info: {
    readonly count: number;
    readonly total_count: number | null;
    readonly start_cursor: string | null;
    readonly end_cursor: string | null;
    readonly next_cursor?: string | null;
  };
  readonly data: readonly unknown[];
}

/** Awaited, it is the first page; iterated, it is every record of all pages, each page asked for when it is reached. */
export interface Paged<P extends Page> extends Promise<P>, AsyncIterable<P['data'][number]> {
  /** Yields page after page, from the first one. */
  pages(): AsyncIterable<P>;
}

/** The parameters that lead to a page. */
interface Cursor {
  readonly after?: string;
  readonly before?: string;
}

/** Returns the list whose pages `ask` asks for, the first one at once. */
export function pagesOf<P extends Page>(ask: (cursor: Cursor) => Promise<P>, given: Cursor): Paged<P> {
  const read = async (cursor: Cursor): Promise<P> => checked(await ask(cursor));
  const first = read({});
  const isUpwards = given.before !== undefined && given.after === undefined;
  async function* pages(): AsyncGenerator<P> {
    let asked = isUpwards ? given.before : given.after;
    for (let page = await first, isFirst = true; ; isFirst = false) {
      yield page;
      const next = nextOf(page, { isUpwards, isFirst: isFirst && given.after === undefined && !isUpwards });
      if (next === null) return;
      if (next === asked)
        throw new ConnectionError(`the list does not go on behind ${next}: is that an Errand server?`);
      asked = next;
      page = await read(isUpwards ? { before: next } : { after: next });
    }
  }
  return Object.assign(first, {
    pages,
    async *[Symbol.asyncIterator](): AsyncGenerator<P['data'][number]> {
      // Records are no promises.
      for await (const page of pages()) yield* page.data as readonly Awaited<P['data'][number]>[];
    },
  });
}

/** Throws `ConnectionError` for an answer that is no page: another server may answer anything. */
function checked<P extends Page>(page: P): P {
  const { page_info: info, data } = page as Partial<Page>;
  if (typeof info === 'object' && info !== null && Array.isArray(data)) return page;
  throw new ConnectionError('the answer is no page of a list: is that an Errand server?');
}

/**
 * Returns how the next page is requested; null: there is none. A search says itself where it goes on, and may have an empty
 * page before its end. Of another list the last page is empty, or the first one that has all: what was deleted meanwhile makes
 * the count of the later ones say nothing.
 */
function nextOf({ page_info: info }: Page, at: { isUpwards: boolean; isFirst: boolean }): string | null {
  if (info.next_cursor !== undefined) return info.next_cursor;
  if (at.isFirst && info.total_count !== null && info.count >= info.total_count) return null;
  return at.isUpwards ? info.start_cursor : info.end_cursor;
}

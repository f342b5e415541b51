// A listing of the interface as rows: what loads, fails, is empty and goes on is the same for all of them.

import { Button } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { T } from '../english.ts';
import { Card } from './card.tsx';
import { Rows } from './lists/rows.tsx';
import { type Asked, Unready } from './state.tsx';

/** The next page is asked for before a person has reached the end. */
const AHEAD = '600px';

interface WholeListProps<T> {
  readonly of: Pick<UseQueryResult<readonly T[]>, 'data'> & Asked;
  readonly empty?: ReactNode;
  /** How many rows usually come. */
  readonly usual?: number;
  /** A row: a `<li>` with its key. */
  readonly row: (one: T) => ReactNode;
}

/** A list that was read whole. */
export function WholeList<T>({ of, empty, row, usual }: WholeListProps<T>) {
  if (!of.data) return <Unready of={of} rows={usual} />;
  return of.data.length === 0 ? empty : <Rows all={of.data} row={row} />;
}

/** Of a list that goes on. */
const USUAL = 8;

interface Pages<T> {
  readonly data: readonly T[];
}

interface ListedProps<T> {
  readonly of: UseInfiniteQueryResult<InfiniteData<Pages<T>>>;
  readonly title: string;
  /** Of a page that has this title as its heading already: no card of its own. */
  readonly isPage?: boolean;
  readonly head?: ReactNode;
  readonly empty: ReactNode;
  /** A row: a `<li>` with its key. */
  readonly row: (one: T) => ReactNode;
}

export function Listed<T>({ of, title, isPage = false, head, empty, row }: ListedProps<T>) {
  const all = of.data?.pages.flatMap((page) => page.data);
  const content = (
    <>
      <WholeList of={{ ...of, data: all } as WholeListProps<T>['of']} empty={empty} row={row} usual={USUAL} />
      <More of={of} />
    </>
  );
  if (!isPage) {
    return (
      <Card title={title} head={head}>
        {content}
      </Card>
    );
  }
  return (
    <section className="card" aria-label={title}>
      {content}
    </section>
  );
}

type MoreOf = Pick<
  UseInfiniteQueryResult<InfiniteData<unknown>>,
  'hasNextPage' | 'fetchNextPage' | 'isFetching' | 'isFetchingNextPage' | 'isError'
>;

/** What follows comes when its place is nearly on the screen; after a failure, when it is asked for. */
export function More({ of: { hasNextPage, fetchNextPage, isFetching, isFetchingNextPage, isError } }: { of: MoreOf }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = place;
    // Looked at again behind any request: one for the list as a whole cuts off one for the next page, maybe before that shows.
    if (!current || !hasNextPage || isFetching || isError) return;
    const observer = new IntersectionObserver(
      // A busy page is told of several moments at once, the newest last.
      (moments) => {
        if (moments.at(-1)?.isIntersecting) void fetchNextPage();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [hasNextPage, fetchNextPage, isFetching, isError]);
  if (!hasNextPage) return null;
  return (
    <div ref={place} className="card-body">
      <Button size="compact-sm" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {T.errors.more}
      </Button>
    </div>
  );
}

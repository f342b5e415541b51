// A listing of the interface as rows: what loads, fails, is empty and goes on is the same for all of them.

import { Button } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { T } from '../english.ts';
import { Card } from './card.tsx';
import { Failed, Loading } from './state.tsx';

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
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = of;
  const all = data?.pages.flatMap((page) => page.data) ?? [];
  const content = (
    <>
      {isPending && <Loading />}
      {error && <Failed error={error} again={() => void refetch()} />}
      {data && all.length === 0 && empty}
      {all.length > 0 && <ul className="rows">{all.map(row)}</ul>}
      {hasNextPage && (
        <div className="card-body">
          <Button size="compact-sm" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {T.errors.more}
          </Button>
        </div>
      )}
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

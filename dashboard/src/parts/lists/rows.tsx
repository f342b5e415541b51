// The rows of a list. Of a long one only those on the screen are in the page: ten thousand rows would make each change of it slow.

import { lazy, Suspense, useEffect, useRef } from 'react';
import type { RowsProps } from './rows-props.ts';

const SHORT = 80;

/** What measures rows is a twentieth of the first view of a page, which has no long list yet. Without it all rows are there. */
const LongRows = lazy(async () => {
  const { LongRows: loaded } = await import('./long-rows.tsx').catch(() => ({ LongRows: PlainRows }));
  return { default: loaded };
});

export function Rows<T>(props: RowsProps<T>) {
  const { all, row } = props;
  if (all.length === 0) return null;
  if (all.length <= SHORT) return <PlainRows {...props} />;
  // Types do not go through `lazy`: it takes rows of anything.
  const rows: RowsProps<unknown> = { ...props, row: (one, index) => row(one as T, index) };
  return (
    <Suspense fallback={<PlainRows {...rows} />}>
      <LongRows {...rows} />
    </Suspense>
  );
}

function PlainRows<T>({ all, row, className = 'rows', at = -1 }: RowsProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // Newer browsers return a promise, which would be taken for what ends the effect.
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <ul ref={list} className={className}>
      {all.map(row)}
    </ul>
  );
}

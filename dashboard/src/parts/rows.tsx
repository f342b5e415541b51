// The rows of a list. Of a long one only those on the screen are in the page: ten thousand rows would make each change of it slow.

import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

const SHORT = 80;
/** Where nothing is measured yet. */
const ROW_PX = 38;
const OVERSCAN = 12;

interface RowsProps<T> {
  readonly all: readonly T[];
  /** A row: a `<li>` with its key. */
  readonly row: (one: T) => ReactNode;
}

export function Rows<T>({ all, row }: RowsProps<T>) {
  if (all.length > SHORT) return <LongRows all={all} row={row} />;
  return all.length === 0 ? null : <ul className="rows">{all.map(row)}</ul>;
}

function LongRows<T>({ all, row }: RowsProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  const [scrollMargin, setMargin] = useState(0);
  const rows = useWindowVirtualizer({
    count: all.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin,
  });
  const shown = rows.getVirtualItems();
  const [first, last] = [shown[0], shown.at(-1)];
  const [from, to] = [first?.index ?? 0, last?.index ?? 0];
  // What stands above the list may have changed with it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again when the list is another one
  useLayoutEffect(() => {
    if (list.current) setMargin(Math.round(list.current.getBoundingClientRect().top + window.scrollY));
  }, [all.length]);
  // A row is whatever the caller makes: its place is written to it here, and its height is read, and heard from then on. Not
  // with each render: what is measured renders again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the rows that are there
  useLayoutEffect(() => {
    for (const [at, child] of [...(list.current?.children ?? [])].entries()) {
      if (!(child instanceof HTMLElement)) continue;
      child.dataset.index = String(from + at);
      rows.measureElement(child);
    }
  }, [from, to, all.length]);
  const above = first ? first.start - scrollMargin : 0;
  const below = last ? rows.getTotalSize() - (last.end - scrollMargin) : 0;
  return (
    <ul
      ref={list}
      className="rows is-long"
      style={{ paddingTop: Math.max(0, above), paddingBottom: Math.max(0, below) }}
    >
      {shown.map(({ index }) => row(all[index] as T))}
    </ul>
  );
}

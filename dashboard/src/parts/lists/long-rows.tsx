// The rows of a long list: only those on the screen are in the page.

import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { RowsProps } from './rows-props.ts';

const ROW_PX = 38;
const OVERSCAN = 12;

export function LongRows<T>({ all, row, className = 'rows', rowPx = ROW_PX, at = -1 }: RowsProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  const [scrollMargin, setMargin] = useState(0);
  const rows = useWindowVirtualizer({
    count: all.length,
    estimateSize: () => rowPx,
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
    for (const [behind, child] of [...(list.current?.children ?? [])].entries()) {
      if (!(child instanceof HTMLElement)) continue;
      child.dataset.index = String(from + behind);
      rows.measureElement(child);
    }
  }, [from, to, all.length]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when it becomes another one
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: 'auto' });
  }, [at]);
  const above = first ? first.start - scrollMargin : 0;
  const below = last ? rows.getTotalSize() - (last.end - scrollMargin) : 0;
  return (
    <ul
      ref={list}
      className={`${className} is-long`}
      style={{ paddingTop: Math.max(0, above), paddingBottom: Math.max(0, below) }}
    >
      {shown.map(({ index }) => row(all[index] as T, index))}
    </ul>
  );
}

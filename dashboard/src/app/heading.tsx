import { type ReactNode, useEffect, useRef } from 'react';
import { T } from '../english.ts';

/** Characters of a name that a tab or a list of bookmarks can show. */
const MAX_CHARS = 80;
/** Controls, and marks that would turn round what stands behind the name. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** The first page that is read begins at its top; a later one at its heading. */
let isLater = false;

/** Gives the page its title in the browser. */
export function useTitle(text: string): void {
  useEffect(() => {
    const shown = [...text.replace(UNSEEN, ' ').trim()];
    document.title = `${shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS).join('')}…` : shown.join('')} · ${T.product}`;
    return () => {
      document.title = T.product;
    };
  }, [text]);
}

/**
 * The heading of a page, and its title in the browser. `children`: what stands in its place, beside marks of its state. A page
 * that took away what had the focus gives it to its heading, so that it is read and Tab goes on from there.
 */
export function Heading({ text, isRecord, children }: { text: string; isRecord?: boolean; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(text);
  useEffect(() => {
    if (isLater && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
    isLater = true;
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className={isRecord ? 'fault-title' : undefined}>
      {children ?? text}
    </h1>
  );
}

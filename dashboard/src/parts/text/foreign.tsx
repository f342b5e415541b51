import { Children, type ReactNode } from 'react';
import { withoutColours } from '../../../../src/domain/notices/colours.ts';

/** What no eye sees: why two texts that look alike differ, or read in another order. */
const UNSEEN = /(?![\t\n\r])\p{Cc}|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** Returns a text with escapes, as JSON has them, for what is not seen. */
export function seen(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

interface ForeignProps {
  readonly className?: string;
  readonly children: ReactNode;
}

/** A text that others wrote: its direction ends with it, and what is not seen in it stands as an escape. */
export function Foreign({ className, children }: ForeignProps) {
  return (
    <bdi className={className}>{Children.map(children, (one) => (typeof one === 'string' ? seen(one) : one))}</bdi>
  );
}

/** What code said, in a message or a line that it printed: without colours, which are for terminals. */
export function Said({ children }: { children: string }) {
  return <Foreign>{withoutColours(children)}</Foreign>;
}

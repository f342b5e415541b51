// Text of senders as people are shown it, in mails and chats: it neither turns nor hides what stands around it.

import { withoutColours } from './colours.ts';
import type { Notice } from './notice.ts';

/** Characters that turn the direction of what follows, up to the end of the line or beyond: a name that has one would turn the rest. */
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function withoutTurns(text: string): string {
  return text.replace(TURNS, '');
}

/** Returns a notice without such characters, without colours and without control characters, of which lines and tabs stay. */
export function plainNotice(notice: Notice): Notice {
  const entries = Object.entries(notice).map(([name, value]) => [
    name,
    typeof value === 'string' ? plain(value) : value,
  ]);
  return Object.fromEntries(entries) as Notice;
}

function plain(text: string): string {
  return withoutTurns(withoutColours(text))
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\n\t])[\p{Cc}\u2028\u2029]/gu, ' ');
}

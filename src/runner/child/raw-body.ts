// The request body behind an HTTP event, as it was sent: `body` holds it verbatim when it was JSON.

import { text as textOf } from '../../domain/bytes.ts';
import { memberOf } from '../../domain/json-member.ts';

/** `text` is the event's JSON text (known to be valid), `body` its parsed `body` member. */
export function rawBodyOf(text: string, body: unknown): string {
  if (body === null || body === undefined) return '';
  if (typeof body === 'string') return body;
  const found = memberOf(Buffer.from(text), 'body');
  return found === undefined ? JSON.stringify(body) : textOf(found);
}

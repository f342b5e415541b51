// The headers of a response, as they are kept with an attempt.

import { LIMITS } from '../domain/limits.ts';
import type { Exchanged } from './exchange.ts';

/** Names of headers whose values are credentials of the receiver or of its users. */
const SECRET = /cookie|authorization|password|secret|token|credential|session|api-?key/i;
const HIDDEN = '(hidden)';

export interface KeptHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Something was left out. */
  readonly isCut: boolean;
}

/**
 * Returns the headers as text, up to the limit in all: one that no longer fits is cut, and all behind it are left out. Short ones
 * stand first, so that a long one does not push out `retry-after` or `content-type`.
 */
export function keptHeaders(given: Exchanged['headers']): KeptHeaders {
  const all = Object.entries(given).map(
    ([name, value = '']) => [name, SECRET.test(name) ? HIDDEN : asText(value)] as const,
  );
  const lengthOf = ([name, value]: readonly [string, string]): number => name.length + value.length;
  let room: number = LIMITS.keptResponseBytes;
  if (all.reduce((sum, header) => sum + lengthOf(header), 0) <= room)
    return { headers: Object.fromEntries(all), isCut: false };
  const kept: (readonly [string, string])[] = [];
  for (const header of all.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
    const [name, value] = header;
    if (name.length >= room) break;
    kept.push([name, value.slice(0, room - name.length)]);
    room -= lengthOf(header);
  }
  return { headers: Object.fromEntries(kept), isCut: true };
}

function asText(value: string | string[]): string {
  return Array.isArray(value) ? value.join(', ') : value;
}

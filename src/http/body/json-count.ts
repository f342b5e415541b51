// How many values JSON text holds, found out before it is parsed.

import { afterString } from '../../domain/json-member.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/**
 * Whether JSON text holds more than `limit` values: a scalar, an array and an object are one each, and those within them
 * more. Each value but the first follows a comma or an opening byte. The text need not be valid: what a parser would make
 * of it up to its fault is counted all the same.
 */
export function hasMoreValues(json: Uint8Array, limit: number): boolean {
  const end = json.length;
  // No text is shorter than its values and what parts them.
  if (end <= limit) return false;
  let values = 1;
  for (let at = 0; at < end; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = afterString(json, at) - 1;
    else if (byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      values++;
      if (values > limit) return true;
    }
  }
  return false;
}

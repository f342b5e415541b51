// Counts the values of JSON text before it is parsed.

import { afterString } from '../../domain/json-member.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/**
 * Returns whether JSON text holds more than `limit` values: each scalar, array and object is one, nested ones included. Each
 * value but the first follows a comma or an opening byte. The text need not be valid: values before the fault are counted.
 */
export function hasMoreValues(json: Uint8Array, limit: number): boolean {
  const end = json.length;
  // A text is at least as long as the number of its values.
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

// Values sent to and read from Postgres. Parameters are sent as text, except bytes. A column of many rows is sent as one array
// literal: `unnest` then inserts any number of rows with one prepared statement.
//
// Postgres' text cannot hold U+0000, but users' text may: it is escaped with U+0001, which is escaped itself.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these two are the point
const ESCAPED = /[\u0000\u0001]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: this one is the point
const RESTORED = /\u0001([01])/g;

export type Value = string | number | boolean | null | Uint8Array;
export type Row = Record<string, Value>;

/** Escapes text for Postgres. */
function toText(text: string): string {
  if (!text.includes('\u0000') && !text.includes('\u0001')) return text;
  return text.replace(ESCAPED, (char) => (char === '\u0000' ? '\u00010' : '\u00011'));
}

/** Reverses `toText`. */
export function fromText(text: string): string {
  if (!text.includes('\u0001')) return text;
  return text.replace(RESTORED, (_, digit) => (digit === '0' ? '\u0000' : '\u0001'));
}

/** Returns a parameter for the driver: bytes as they are, everything else as text. */
export function toParameter(value: Value | undefined): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return toText(value);
  if (typeof value === 'object') return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return String(value);
}

const QUOTED = /["\\]/g;

/** Returns the array literal of one column. */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  let literal = '{';
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as string | number | boolean | null;
    if (i > 0) literal += ',';
    if (value === null) literal += 'NULL';
    else if (typeof value !== 'string') literal += value;
    else literal += `"${value.replace(QUOTED, '\\$&')}"`;
  }
  return `${literal}}`;
}

import { isUtf8 } from 'node:buffer';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';

const [AMPERSAND, PERCENT, PLUS, SPACE] = [0x26, 0x25, 0x2b, 0x20];

/**
 * Returns `a=1&b=2&b=3` as the JSON text `{"a":"1","b":["2","3"]}`, for query strings and forms. Written from a map, so
 * that order is kept and `__proto__` is a name like any other. Throws `Refusal` (400) for too many fields.
 */
export function formJson(form: string): string {
  checkFields(form);
  return jsonOf(new URLSearchParams(form));
}

/**
 * Returns the JSON text of a form that is a body, of which nothing may be lost: a value whose bytes are no text becomes
 * `{"$base64":"…"}`. `charset`: of its content type, null for UTF-8. Null: a name is no text. Throws as `formJson`.
 */
export function bodyFormJson(form: string, charset: string | null): string | null {
  checkFields(form);
  const fields = new URLSearchParams(form);
  const decoder = decoderOf(charset);
  if (decoder === null && !hasReplacement(fields)) return jsonOf(fields);
  const decoded: [string, Value][] = [];
  for (const field of form.split('&')) {
    if (field === '') continue;
    const end = field.indexOf('=');
    const name = decode(end < 0 ? field : field.slice(0, end), decoder);
    if (typeof name !== 'string') return null;
    decoded.push([name, decode(end < 0 ? '' : field.slice(end + 1), decoder)]);
  }
  return jsonOf(decoded);
}

type Value = string | { readonly $base64: string };

function jsonOf(fields: Iterable<[string, Value]>): string {
  const values = new Map<string, Value[]>();
  for (const [name, value] of fields) {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  const members: string[] = [];
  for (const [name, all] of values) {
    members.push(`${JSON.stringify(name)}:${JSON.stringify(all.length === 1 ? all[0] : all)}`);
  }
  return `{${members.join(',')}}`;
}

/** Returns whether bytes were perhaps no UTF-8, which is decoded to U+FFFD. */
function hasReplacement(fields: URLSearchParams): boolean {
  for (const [name, value] of fields) if (name.includes('\ufffd') || value.includes('\ufffd')) return true;
  return false;
}

/** Returns the decoder of a charset other than UTF-8; null for UTF-8, and for one that is not known. */
function decoderOf(charset: string | null): TextDecoder | null {
  if (charset === null) return null;
  try {
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
    return decoder.encoding.startsWith('utf-') ? null : decoder;
  } catch {
    return null;
  }
}

function decode(escaped: string, decoder: TextDecoder | null): Value {
  const bytes = unescaped(escaped);
  try {
    if (decoder !== null) return decoder.decode(bytes);
    if (isUtf8(bytes)) return bytes.toString();
  } catch {
    // Bytes that the charset does not have.
  }
  return { $base64: bytes.toString('base64') };
}

/** Returns the bytes that a name or value stands for. A `%` without two hexadecimal digits stands for itself. */
function unescaped(escaped: string): Buffer {
  const given = Buffer.from(escaped);
  let length = 0;
  for (let at = 0; at < given.length; at++) {
    const byte = given[at] as number;
    const escapedByte = byte === PERCENT ? 16 * hexDigit(given[at + 1]) + hexDigit(given[at + 2]) : Number.NaN;
    const isEscape = !Number.isNaN(escapedByte);
    if (isEscape) at += 2;
    given[length++] = isEscape ? escapedByte : byte === PLUS ? SPACE : byte;
  }
  return given.subarray(0, length);
}

/** Returns 0 to 15; NaN for what is no digit. */
function hexDigit(char: number | undefined): number {
  if (char === undefined) return Number.NaN;
  if (char >= 0x30 && char <= 0x39) return char - 0x30;
  const letter = char | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

/** Counts before decoding: each field costs a string or two, and hundreds of thousands take a second. */
function checkFields(form: string): void {
  let fields = 1;
  for (let at = 0; at < form.length; at++) {
    if (form.charCodeAt(at) === AMPERSAND) fields++;
  }
  if (fields <= LIMITS.formFields) return;
  throw new Refusal(
    'malformed',
    `A form or query has ${fields} fields, but at most ${LIMITS.formFields} (formFields) are taken`,
  );
}

// Converts any value to text, even when inspecting the value throws. Nothing here throws.

import { inspect } from 'node:util';

const INSPECT_OPTIONS = {
  depth: 4,
  breakLength: Number.POSITIVE_INFINITY,
  maxStringLength: 8192,
  // Code of the value itself must not run while its failure is recorded.
  customInspect: false,
  getters: false,
};

const SHOWN_CHARS = 80;

/** Returns the value's text as valid Unicode. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return inspect(value, INSPECT_OPTIONS);
  } catch {
    return `[${typeof value}]`;
  }
}

/**
 * Returns the id of an event as text, by which dedupe tells it from others: what cannot be kept of an id, such as the end of
 * a long one, is in a hash behind the rest.
 */
export function idText(id: unknown, maxChars: number): string {
  const text =
    typeof id === 'object' && Object.prototype.toString.call(id) !== '[object Date]' ? jsonText(id) : textOf(id);
  if (text.length <= maxChars && text.isWellFormed()) return text;
  // Loaded where it is needed: hardly any id is as long.
  const { hash } = process.getBuiltinModule('node:crypto');
  const digest = hash('sha256', Buffer.from(text, 'utf16le'));
  return `${cutChars(text, maxChars - digest.length - 1)}#${digest}`;
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? textOf(value);
  } catch {
    return textOf(value);
  }
}

/** Returns the begin of a text with quotes, and what is no valid Unicode in it as escapes. */
export function quoted(text: string): string {
  return inspect(text.slice(0, SHOWN_CHARS), INSPECT_OPTIONS);
}

/** Returns at most so many bytes of UTF-8: valid Unicode, never half a character. */
export function cutBytes(text: string, maxBytes: number): string {
  const head = text.slice(0, maxBytes).toWellFormed();
  if (Buffer.byteLength(head) <= maxBytes) return head;
  const bytes = Buffer.from(head);
  let end = maxBytes;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/** Returns at most so many UTF-16 units: valid Unicode, never half a character. */
export function cutChars(text: string, maxChars: number): string {
  const head = text.slice(0, maxChars);
  const last = head.charCodeAt(head.length - 1);
  return (last >= 0xd800 && last <= 0xdbff ? head.slice(0, -1) : head).toWellFormed();
}

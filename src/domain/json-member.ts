// Cuts the exact bytes of one member out of a JSON object, so that an event is forwarded as it was sent: parsing and
// re-serialising would change numbers, key order, duplicate keys or escapes.
//
// The text must have passed JSON.parse before: the walk does not validate. It is not recursive, so nesting costs
// nothing. As in JSON.parse, the last of several members of the same name counts, and a name may be spelled with
// escapes.

import { text, utf8 } from './bytes.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/** Returns the bytes of the top-level member `name` of a valid JSON object; undefined when absent. Makes no copy. */
export function memberOf(json: Uint8Array, name: string): Uint8Array | undefined {
  const wanted = utf8(name);
  let found: Uint8Array | undefined;
  walkMembers(json, ({ key, keyEnd, value, end }) => {
    if (isName(json.subarray(key + 1, keyEnd - 1), wanted, name)) found = json.subarray(value, end);
  });
  return found;
}

/** Returns the members of a valid JSON object, in order: the name, and the value's text. Makes no copy. */
export function membersOf(json: Uint8Array): [name: string, value: Uint8Array][] {
  const members: [string, Uint8Array][] = [];
  visitMembers(json, (name, value) => members.push([name, value]));
  return members;
}

/** Calls back with each member of a valid JSON object, in order. Makes no copy. */
export function visitMembers(json: Uint8Array, visit: (name: string, value: Uint8Array) => void): void {
  walkMembers(json, ({ key, keyEnd, value, end }) =>
    visit(nameOf(json.subarray(key, keyEnd)), json.subarray(value, end)),
  );
}

function nameOf(key: Uint8Array): string {
  const quoted = text(key);
  return key.includes(BACKSLASH) ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** Returns the elements of a valid JSON array, in order; an empty list for any other value. Makes no copy. */
export function elementsOf(json: Uint8Array): Uint8Array[] {
  const elements: Uint8Array[] = [];
  visitElements(json, (element) => {
    elements.push(element);
    return false;
  });
  return elements;
}

/** Calls back with each element of a valid JSON array, in order, until it returns true; returns whether it did. Makes no copy. */
export function visitElements(json: Uint8Array, visit: (element: Uint8Array) => boolean): boolean {
  let at = afterOpening(json, OPEN_BRACKET);
  while (at < json.length && json[at] !== CLOSE_BRACKET) {
    const end = afterValue(json, at);
    if (visit(json.subarray(at, end))) return true;
    at = afterComma(json, end);
  }
  return false;
}

/** Offsets in a text; each end is behind the last byte, and a key's offsets are within its quotes. */
interface Member {
  readonly key: number;
  readonly keyEnd: number;
  readonly value: number;
  readonly end: number;
}

function walkMembers(json: Uint8Array, visit: (member: Member) => void): void {
  let key = afterOpening(json, OPEN_BRACE);
  while (key < json.length && json[key] === QUOTE) {
    const keyEnd = afterString(json, key);
    const value = afterSpace(json, afterSpace(json, keyEnd) + 1);
    const end = afterValue(json, value);
    visit({ key, keyEnd, value, end });
    key = afterComma(json, end);
  }
}

/** Returns the offset of the array's or object's content; the end of the text for any other value. */
function afterOpening(json: Uint8Array, opening: number): number {
  const at = afterSpace(json, 0);
  return json[at] === opening ? afterSpace(json, at + 1) : json.length;
}

function afterComma(json: Uint8Array, from: number): number {
  const at = afterSpace(json, from);
  return json[at] === COMMA ? afterSpace(json, at + 1) : at;
}

function isName(key: Uint8Array, wanted: Uint8Array, name: string): boolean {
  if (key.includes(BACKSLASH)) return JSON.parse(`"${text(key)}"`) === name;
  return key.length === wanted.length && key.every((byte, at) => byte === wanted[at]);
}

/**
 * Returns the index of the next byte that is no white space. All JSON white space is at or below U+0020, and nothing else
 * outside strings is.
 */
function afterSpace(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && (json[at] as number) <= SPACE) at++;
  return at;
}

/** Returns the offset behind the closing quote; `from` is the opening one. */
export function afterString(json: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < json.length) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return at;
}

function afterValue(json: Uint8Array, from: number): number {
  const first = json[from];
  if (first === QUOTE) return afterString(json, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return afterNested(json, from);
  let at = from;
  while (at < json.length && !endsLiteral(json[at] as number)) at++;
  return at;
}

function endsLiteral(byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === COLON;
}

function afterNested(json: Uint8Array, from: number): number {
  let depth = 0;
  let at = from;
  while (at < json.length) {
    const byte = json[at];
    if (byte === QUOTE) {
      at = afterString(json, at);
      continue;
    }
    at++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return at;
}

// Cuts the exact bytes of one member out of a JSON object, so that an event goes on as it was sent: no parse and
// re-serialisation changes its numbers, key order, duplicate keys or escapes.
//
// The text must have passed JSON.parse before: this only walks, and trusts what it sees. It walks without recursion,
// so nesting costs nothing. As in JSON.parse, the last of several members of the same name is the one that counts,
// and a name may be spelled with escapes.

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

/** The bytes of the top-level member `name` of a valid JSON object; undefined when it has none. No copy is made. */
export function memberOf(json: Uint8Array, name: string): Uint8Array | undefined {
  const wanted = utf8(name);
  let found: Uint8Array | undefined;
  let at = afterSpace(json, 0);
  if (json[at] !== OPEN_BRACE) return undefined;
  at = afterSpace(json, at + 1);
  while (at < json.length && json[at] === QUOTE) {
    const keyEnd = afterString(json, at);
    const start = afterSpace(json, afterSpace(json, keyEnd) + 1);
    const end = afterValue(json, start);
    if (isName(json.subarray(at + 1, keyEnd - 1), wanted, name)) found = json.subarray(start, end);
    at = afterSpace(json, end);
    if (json[at] === COMMA) at = afterSpace(json, at + 1);
  }
  return found;
}

function isName(key: Uint8Array, wanted: Uint8Array, name: string): boolean {
  if (key.includes(BACKSLASH)) return JSON.parse(`"${text(key)}"`) === name;
  return key.length === wanted.length && key.every((byte, at) => byte === wanted[at]);
}

/** All JSON white space is at or below U+0020, and nothing else outside strings is. */
function afterSpace(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && (json[at] as number) <= SPACE) at++;
  return at;
}

/** `from` is the opening quote; the answer is the place after the closing one. */
function afterString(json: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < json.length) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** The elements of a valid JSON array, in order; none when it is no array. No copy is made. */
export function elementsOf(json: Uint8Array): Uint8Array[] {
  const elements: Uint8Array[] = [];
  let at = afterSpace(json, 0);
  if (json[at] !== OPEN_BRACKET) return elements;
  at = afterSpace(json, at + 1);
  while (at < json.length && json[at] !== CLOSE_BRACKET) {
    const end = afterValue(json, at);
    elements.push(json.subarray(at, end));
    at = afterSpace(json, end);
    if (json[at] === COMMA) at = afterSpace(json, at + 1);
  }
  return elements;
}

/** The members of a valid JSON object, in order: the name, and the value's text. */
export function membersOf(json: Uint8Array): [name: string, value: Uint8Array][] {
  const members: [string, Uint8Array][] = [];
  let at = afterSpace(json, 0);
  if (json[at] !== OPEN_BRACE) return members;
  at = afterSpace(json, at + 1);
  while (at < json.length && json[at] === QUOTE) {
    const keyEnd = afterString(json, at);
    const start = afterSpace(json, afterSpace(json, keyEnd) + 1);
    const end = afterValue(json, start);
    members.push([JSON.parse(text(json.subarray(at, keyEnd))) as string, json.subarray(start, end)]);
    at = afterSpace(json, end);
    if (json[at] === COMMA) at = afterSpace(json, at + 1);
  }
  return members;
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

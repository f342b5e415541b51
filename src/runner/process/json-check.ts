// What the server must know of JSON that a child sends, without parsing it: parsed, 6 MB of `[],` are two million arrays,
// a second of CPU and 200 MB. Read here, they are 20 ms and nothing.

import { type JsonBounds, jsonDepth } from '../../domain/json-text.ts';
import { isDeeperThan } from '../child/nesting.ts';

/** Throws unless it is JSON text, of which JSON.parse would make a value, within the bounds. */
export function checkJson(text: string, bounds: Partial<JsonBounds> = {}): void {
  if (jsonDepth(Buffer.from(text), bounds) === null) throw new SyntaxError('no JSON text');
}

/** So many commas and brackets, wherever they are, cost nothing worth mentioning when they are parsed. */
const CHEAP = 10_000;
/** With the brackets of a text that is shorter. */
const SHORT_CHARS = 256;

/** As `checkJson`, by the parser itself where that is faster: it takes a text of 6 MB in 15 ms, but not two million arrays. */
export function checkCheaply(text: string, levels: number = Number.POSITIVE_INFINITY): void {
  if (text.length > SHORT_CHARS && !isCheap(text)) {
    checkJson(text, { levels });
    return;
  }
  JSON.parse(text);
  if (isDeeperThan(text, levels)) throw new RangeError('JSON is nested too deep');
}

function isCheap(text: string): boolean {
  let left = Math.min(CHEAP, text.length / 4); // many short texts are as dear as a long one
  for (const sign of '[{,') {
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) if (--left < 0) return false;
  }
  return true;
}

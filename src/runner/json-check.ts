// What the server must know of JSON that a child sends, without parsing it: parsed, 6 MB of `[],` are two million arrays,
// a second of CPU and 200 MB. Read here, they are 20 ms and nothing.

import { isDeeperThan } from './child/nesting.ts';

const LEFT = { '[': 0x5b, '{': 0x7b } as const;
const RIGHT = { ']': 0x5d, '}': 0x7d } as const;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const SPACE = 0x20;
const SMALL_E = 0x65;
const SMALL_U = 0x75;

const ESCAPED = new Uint8Array(128);
for (const sign of '"\\/bfnrt') ESCAPED[sign.charCodeAt(0)] = 1;

interface Bounds {
  /** Of arrays and objects within each other. */
  readonly levels: number;
  /** Of values in all. */
  readonly values: number;
}

const UNBOUND: Bounds = { levels: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY };

/** Throws unless it is JSON text, of which JSON.parse would make a value, within the bounds. */
export function checkJson(text: string, bounds: Partial<Bounds> = {}): void {
  new JsonReader(text, { ...UNBOUND, ...bounds }).check();
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

class JsonReader {
  readonly #text: string;
  readonly #bounds: Bounds;
  /** Whether each that is open is an object. */
  readonly #open: boolean[] = [];
  #at = 0;
  #values = 0;

  constructor(text: string, bounds: Bounds) {
    this.#text = text;
    this.#bounds = bounds;
  }

  check(): void {
    for (;;) {
      if (this.#value()) continue;
      // Behind a value: what it is part of goes on, or ends.
      for (;;) {
        const isObject = this.#open.at(-1);
        const char = this.#next();
        if (isObject === undefined) {
          if (!Number.isNaN(char)) throw this.#fault();
          return;
        }
        this.#at++;
        if (char === COMMA) {
          if (isObject) this.#name();
          break;
        }
        if (char !== (isObject ? RIGHT['}'] : RIGHT[']'])) throw this.#fault();
        this.#open.pop();
      }
    }
  }

  /** True when it has opened what is not empty: its first value follows. */
  #value(): boolean {
    if (++this.#values > this.#bounds.values) throw new RangeError(`JSON of more than ${this.#bounds.values} values`);
    const char = this.#next();
    if (char === LEFT['['] || char === LEFT['{']) return this.#opened(char === LEFT['{']);
    if (char === QUOTE) this.#string();
    else if (char === MINUS || isDigit(char)) this.#number();
    else this.#word();
    return false;
  }

  #opened(isObject: boolean): boolean {
    if (this.#open.length >= this.#bounds.levels) throw new RangeError('JSON is nested too deep');
    this.#at++;
    if (this.#next() === (isObject ? RIGHT['}'] : RIGHT[']'])) {
      this.#at++;
      return false;
    }
    this.#open.push(isObject);
    if (isObject) this.#name();
    return true;
  }

  #name(): void {
    if (this.#next() !== QUOTE) throw this.#fault();
    this.#string();
    if (this.#next() !== COLON) throw this.#fault();
    this.#at++;
  }

  #string(): void {
    const text = this.#text;
    let at = this.#at + 1;
    for (let char = text.charCodeAt(at); char !== QUOTE; char = text.charCodeAt(++at)) {
      if (char === BACKSLASH) at += this.#escape(at + 1);
      else if (!(char >= SPACE)) throw this.#fault(); // the end of the text, too
    }
    this.#at = at + 1;
  }

  /** How long it is. */
  #escape(at: number): number {
    const char = this.#text.charCodeAt(at);
    if (char === SMALL_U && /^[0-9a-fA-F]{4}$/.test(this.#text.slice(at + 1, at + 5))) return 5;
    if (char === SMALL_U || ESCAPED[char] !== 1) throw this.#fault();
    return 1;
  }

  #number(): void {
    const text = this.#text;
    let at = this.#at;
    if (text.charCodeAt(at) === MINUS) at++;
    at = text.charCodeAt(at) === ZERO ? at + 1 : this.#digits(at);
    if (text.charCodeAt(at) === DOT) at = this.#digits(at + 1);
    if ((text.charCodeAt(at) | SPACE) === SMALL_E) {
      const sign = text.charCodeAt(at + 1);
      at = this.#digits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
    }
    this.#at = at;
  }

  /** Behind them; there is at least one. */
  #digits(from: number): number {
    let at = from;
    while (isDigit(this.#text.charCodeAt(at))) at++;
    if (at === from) throw this.#fault();
    return at;
  }

  #word(): void {
    const word = ['true', 'false', 'null'].find((one) => this.#text.startsWith(one, this.#at));
    if (word === undefined) throw this.#fault();
    this.#at += word.length;
  }

  /** The next character that is no white space; NaN at the end. */
  #next(): number {
    let char = this.#text.charCodeAt(this.#at);
    while (char === SPACE || char === 0x0a || char === 0x0d || char === 0x09) char = this.#text.charCodeAt(++this.#at);
    return char;
  }

  #fault(): SyntaxError {
    return new SyntaxError(`no JSON at character ${this.#at}`);
  }
}

function isDigit(char: number): boolean {
  return char >= ZERO && char <= NINE;
}

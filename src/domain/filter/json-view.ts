// JSON text, read where filters look. The members of an object are found once, however many filters ask for them; arrays are
// walked element by element. JSON.parse of the whole event was rejected: six megabytes of small arrays hold up everything
// else for 0.2 s, and leave two million values behind, of which a filter reads three.

import { text } from '../bytes.ts';
import { visitElements, visitMembers } from '../json-member.ts';
import { FILTER_LIMITS } from './limits.ts';

export type Scalar = string | number | boolean | null;

/** Thrown by what looks at more than is allowed. */
export class TooMuchWork extends Error {}

/** What may be looked at for one event, by all filters together. */
export class Work {
  #bytesLeft: number = FILTER_LIMITS.workBytes;

  take(bytes: number): void {
    if (bytes > this.#bytesLeft) throw new TooMuchWork();
    this.#bytesLeft -= bytes;
  }
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
/** What finding one value takes beside reading its bytes, and what becomes of it: some 400 ns. */
const VALUE_BYTES = 192;
/** What looking at a value takes that was found before. */
const KNOWN_BYTES = 64;

export class JsonView {
  readonly kind: 'object' | 'array' | 'scalar';
  readonly #json: Uint8Array;
  readonly #work: Work;
  #members: Map<string, JsonView> | undefined;
  #elements: readonly JsonView[] | undefined;
  #scalar: Scalar | undefined;

  /** `json` is valid. */
  constructor(json: Uint8Array, work: Work) {
    work.take(VALUE_BYTES);
    let start = 0;
    while (start < json.length && (json[start] as number) <= SPACE) start++;
    const first = json[start];
    this.kind = first === OPEN_BRACE ? 'object' : first === OPEN_BRACKET ? 'array' : 'scalar';
    this.#json = json;
    this.#work = work;
  }

  /** Returns a member of an object; of several with one name the last, as in JSON.parse. */
  member(name: string): JsonView | undefined {
    this.#members ??= this.#readMembers();
    return this.#members.get(name);
  }

  /** Returns whether the predicate holds for an element of an array. */
  some(holds: (element: JsonView) => boolean): boolean {
    if (this.#elements !== undefined) {
      return this.#elements.some((element) => {
        this.#work.take(KNOWN_BYTES);
        return holds(element);
      });
    }
    this.#work.take(this.#json.length);
    const seen: JsonView[] = [];
    const isFound = visitElements(this.#json, (json) => {
      const element = new JsonView(json, this.#work);
      seen.push(element);
      return holds(element);
    });
    // Of an array that was not walked to its end, the next filter finds the rest.
    if (!isFound) this.#elements = seen;
    return isFound;
  }

  /** Returns the value of a scalar. */
  scalar(): Scalar {
    if (this.#scalar === undefined) {
      this.#work.take(this.#json.length);
      const value = text(this.#json).trim();
      // A text without escapes is its own value, and most are.
      const isPlain = value.charCodeAt(0) === QUOTE && !value.includes('\\');
      this.#scalar = isPlain ? value.slice(1, -1) : (JSON.parse(value) as Scalar);
    }
    return this.#scalar;
  }

  /** Returns whether the value of a scalar is as wanted. */
  satisfies(test: (value: Scalar, work: Work) => boolean): boolean {
    return test(this.scalar(), this.#work);
  }

  #readMembers(): Map<string, JsonView> {
    const members = new Map<string, JsonView>();
    if (this.kind !== 'object') return members;
    this.#work.take(this.#json.length);
    visitMembers(this.#json, (name, value) => void members.set(name, new JsonView(value, this.#work)));
    return members;
  }
}

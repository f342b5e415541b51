// Applies rules to what is shown: JSON, text, and the bodies of errors.

import { text, utf8 } from '../bytes.ts';
import { redactJson } from './json-text.ts';
import { keyJudge } from './key-rules.ts';
import { REDACTION_LIMITS } from './limits.ts';
import { redactMembers } from './members-in-text.ts';
import { HIDDEN, type RedactionRules } from './rules.ts';

/** Finds what patterns match, in linear time. */
export interface TextMatcher {
  /** How much one character costs: the instructions of its program. */
  readonly size: number;
  /** Returns the first match from `from` on, which may be empty; null: there is none. Linear, also for a match at once: what is longer is tried first. */
  next(text: string, from: number): { readonly start: number; readonly end: number } | null;
  /** Returns the CPU time that this thread has used. */
  cpuMs(): number;
}

/** Texts within texts, such as an object in a string in an event. */
const NESTED = 3;
/** Steps of matching between two looks at the time: 1 to 60 ms, by what the patterns do at each character. */
const STRIDE_STEPS = 2 ** 20;

export class Redactor {
  readonly #isHidden: (name: string) => boolean;
  readonly #hasKeys: boolean;
  readonly #matcher: TextMatcher | null;
  /** Steps that may still be taken, at most, in what is being redacted. What would take more is hidden as a whole. */
  #steps = 0;
  /** CPU time of this thread from which on the rest of it is hidden, and the steps since that was looked at. */
  #untilMs = 0;
  #unseenSteps = 0;

  /** `matcher`: of all patterns of the rules; null: there are none. */
  constructor({ keys }: RedactionRules, matcher: TextMatcher | null) {
    this.#isHidden = keyJudge(keys);
    this.#hasKeys = keys.length > 0;
    this.#matcher = matcher;
  }

  /** Returns JSON text with what the rules hide replaced; the same bytes when there is nothing. Bytes that are no UTF-8 do not hide. */
  json(bytes: Uint8Array): Uint8Array {
    this.#begin();
    const given = text(bytes);
    const shown = this.#json(given, NESTED);
    return shown === given ? bytes : utf8(shown);
  }

  text(given: string): string {
    this.#begin();
    return this.#string(given, NESTED);
  }

  #begin(): void {
    this.#steps = REDACTION_LIMITS.redactionSteps;
    this.#untilMs = (this.#matcher?.cpuMs() ?? 0) + REDACTION_LIMITS.redactionMs;
    this.#unseenSteps = 0;
  }

  #json(given: string, levels: number): string {
    return redactJson(given, {
      hidesKey: this.#isHidden,
      string: (value) => this.#string(value, levels),
      number: (value) => this.#matched(value),
    });
  }

  #string(value: string, levels: number): string {
    if (levels > 0 && isJson(value)) return this.#json(value, levels - 1);
    return this.#matched(this.#hasKeys && /[=:]/.test(value) ? redactMembers(value, this.#isHidden) : value);
  }

  #matched(value: string): string {
    const matcher = this.#matcher;
    if (!matcher || value === '') return value;
    if (this.#isSpent(0) || !this.#isQuick(value, matcher)) return HIDDEN;
    const parts: string[] = [];
    let kept = 0;
    for (let from = 0; ; ) {
      const steps = (value.length - from) * matcher.size;
      this.#steps -= steps;
      if (this.#steps < 0) return HIDDEN;
      const found = from > value.length ? null : matcher.next(value, from);
      if (!found) return kept === 0 ? value : parts.join('') + value.slice(kept);
      if (this.#isSpent(steps)) return HIDDEN;
      // `\\b` alone is empty wherever it matches, and hides nothing.
      const isEmpty = found.end === found.start;
      if (!isEmpty) parts.push(value.slice(kept, found.start), HIDDEN);
      if (!isEmpty) kept = found.end;
      from = isEmpty ? found.end + 1 : found.end;
    }
  }

  /**
   * Returns whether a text can be matched in the time that is left. A step takes 1 to 60 ns, and one search of a long text cannot be
   * interrupted: so its stretches are searched first, each up to its own end. (Rejected: as few steps as fit into that time whatever
   * the patterns are. Those for mail addresses and cards would hide events of 20 kB.)
   */
  #isQuick(value: string, matcher: TextMatcher): boolean {
    const stride = Math.ceil(STRIDE_STEPS / matcher.size);
    if (value.length <= stride) return !this.#isSpent(value.length * matcher.size);
    for (let begin = 0; begin < value.length; begin += stride) {
      const stretch = value.slice(0, begin + stride);
      for (let from = begin; from < stretch.length; ) {
        const found = matcher.next(stretch, from);
        if (this.#isSpent((stretch.length - from) * matcher.size)) return false;
        from = found ? Math.max(found.end, from + 1) : stretch.length;
      }
    }
    return true;
  }

  #isSpent(steps: number): boolean {
    if (this.#untilMs === 0) return true;
    this.#unseenSteps += steps;
    if (this.#unseenSteps < STRIDE_STEPS) return false;
    this.#unseenSteps = 0;
    if ((this.#matcher?.cpuMs() ?? 0) < this.#untilMs) return false;
    this.#untilMs = 0;
    return true;
  }
}

function isJson(value: string): boolean {
  if (!/^\s*[{[]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

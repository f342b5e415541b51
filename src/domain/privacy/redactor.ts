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
}

/** Texts within texts, such as an object in a string in an event. */
const NESTED = 3;

export class Redactor {
  readonly #isHidden: (name: string) => boolean;
  readonly #hasKeys: boolean;
  readonly #matcher: TextMatcher | null;
  /** Steps that may still be taken, at most, in what is being redacted. What would take more is hidden as a whole. */
  #steps = 0;

  /** `matcher`: of all patterns of the rules; null: there are none. */
  constructor({ keys }: RedactionRules, matcher: TextMatcher | null) {
    this.#isHidden = keyJudge(keys);
    this.#hasKeys = keys.length > 0;
    this.#matcher = matcher;
  }

  /** Returns JSON text with what the rules hide replaced; the same bytes when there is nothing. Bytes that are no UTF-8 do not hide. */
  json(bytes: Uint8Array): Uint8Array {
    this.#steps = REDACTION_LIMITS.redactionSteps;
    const given = text(bytes);
    const shown = this.#json(given, NESTED);
    return shown === given ? bytes : utf8(shown);
  }

  text(given: string): string {
    this.#steps = REDACTION_LIMITS.redactionSteps;
    return this.#string(given, NESTED);
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
    const parts: string[] = [];
    let kept = 0;
    for (let from = 0; ; ) {
      this.#steps -= (value.length - from) * matcher.size;
      if (this.#steps < 0) return HIDDEN;
      const found = from > value.length ? null : matcher.next(value, from);
      if (!found) return kept === 0 ? value : parts.join('') + value.slice(kept);
      // `\\b` alone is empty wherever it matches, and hides nothing.
      const isEmpty = found.end === found.start;
      if (!isEmpty) parts.push(value.slice(kept, found.start), HIDDEN);
      if (!isEmpty) kept = found.end;
      from = isEmpty ? found.end + 1 : found.end;
    }
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

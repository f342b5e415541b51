// Patterns of redaction, in the syntax of RE2. Its matching takes linear time whatever the pattern is, so that no rule of an owner
// stops the server, which V8's own regular expressions cannot promise. Loaded with the first pattern.

import { REDACTION_LIMITS } from '../../domain/privacy/limits.ts';
import type { TextMatcher } from '../../domain/privacy/redactor.ts';
import { Refusal } from '../../domain/refusal.ts';

/** Returns what finds the matches of all patterns; null: there are none. Throws `Refusal` for a pattern that cannot be used. */
export async function matcherOf(patterns: readonly string[]): Promise<TextMatcher | null> {
  if (patterns.length === 0) return null;
  const { RE2JS } = await import('re2js');
  for (const [i, pattern] of patterns.entries()) {
    const why = reasonAgainst(pattern, (text) => RE2JS.compile(text));
    if (why !== null) throw refused(`patterns/${i}`, why);
  }
  const program = RE2JS.compile(patterns.map((pattern) => `(?:${pattern})`).join('|'));
  const size = program.programSize();
  if (size > REDACTION_LIMITS.redactionProgram) {
    throw refused(
      'patterns',
      `take ${size} instructions together, but at most ${REDACTION_LIMITS.redactionProgram} are allowed`,
    );
  }
  return {
    size,
    next: (text, from) => {
      const matcher = program.matcher(text);
      for (let at = from; at <= text.length && matcher.find(at); at = matcher.end() + 1) {
        // `\\b` alone is empty wherever it matches.
        if (matcher.end() > matcher.start()) return { start: matcher.start(), end: matcher.end() };
      }
      return null;
    },
  };
}

interface Compiled {
  matcher(text: string): { find(): boolean; start(): number; end(): number };
}

function reasonAgainst(pattern: string, compile: (pattern: string) => Compiled): string | null {
  try {
    const matcher = compile(pattern).matcher('');
    return matcher.find() ? `matches the empty text, and so everything: ${pattern}` : null;
  } catch (error) {
    return `is no regular expression of RE2 (without lookaround and back references): ${(error as Error).message}`;
  }
}

function refused(parameter: string, message: string): Refusal {
  return new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

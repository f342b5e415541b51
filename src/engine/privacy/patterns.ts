// Patterns of redaction, in the syntax of RE2. Its matching takes linear time whatever the pattern is, so that no rule of an owner
// stops the server, which V8's own regular expressions cannot promise. Loaded with the first pattern, and not by an import: Node
// keeps one that failed, as where the process had no descriptor left.

import { createRequire } from 'node:module';
import { REDACTION_LIMITS } from '../../domain/privacy/limits.ts';
import type { TextMatcher } from '../../domain/privacy/redactor.ts';
import { Refusal } from '../../domain/refusal.ts';

const require = createRequire(import.meta.url);
const RE2 = require.resolve('re2js');

/** Returns what finds the matches of all patterns; null: there are none. Throws `Refusal` for a pattern that cannot be used. */
export async function matcherOf(patterns: readonly string[]): Promise<TextMatcher | null> {
  if (patterns.length === 0) return null;
  const { RE2JS } = require(RE2) as typeof import('re2js');
  for (const [i, pattern] of patterns.entries()) {
    const compiled = compiledOr(
      (why) => refused(`patterns/${i}`, why),
      () => RE2JS.compile(pattern),
    );
    if (compiled.matcher('').find())
      throw refused(`patterns/${i}`, `matches the empty text, and so everything: ${pattern}`);
    // Before the others are compiled: seven characters may be a thousand instructions.
    checkSize(compiled);
  }
  const program = RE2JS.compile(patterns.map((pattern) => `(?:${pattern})`).join('|'));
  checkSize(program);
  return {
    size: program.programSize(),
    next: (text, from) => {
      const matcher = program.matcher(text);
      return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : null;
    },
    cpuMs: () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1000;
    },
  };
}

function compiledOr<T>(refusalOf: (why: string) => Refusal, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    const { message } = error as Error;
    throw refusalOf(`is no regular expression of RE2 (without lookaround and back references): ${message}`);
  }
}

/** Throws `Refusal` for what takes too many instructions: each of them counts for each character of a text. */
function checkSize(program: { programSize(): number }): void {
  const size = program.programSize();
  const max = REDACTION_LIMITS.redactionProgram;
  if (size > max) throw refused('patterns', `take ${size} instructions together, but at most ${max} are allowed`);
}

function refused(parameter: string, message: string): Refusal {
  return new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

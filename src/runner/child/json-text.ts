// Converts values of user code to JSON text, with clear errors for values that have none.

import { platformError } from './errors.ts';
import { isDeeperThan } from './nesting.ts';
import { textOf } from './text.ts';

// JsonRule before user code can replace it: the server ends a process that sends invalid JSON.
const { parse, stringify } = JSON;
const FRAME = '\n    at ';
const OF_JSON = `${FRAME}stringify (<anonymous>)`;

/** How error messages name a value, and how deep it may be nested; null: any depth. */
export interface JsonRule {
  readonly what: string;
  readonly levels: number | null;
}

/** Returns the JSON text of a value; throws when it has none. */
export function jsonOf(value: unknown, rule: JsonRule): string {
  const text = jsonOrNoneOf(value, rule);
  if (text === undefined) throw new TypeError(`${rule.what} is not a JSON value: ${textOf(value).slice(0, 80)}`);
  return text;
}

/**
 * Returns the JSON text; undefined for values that JSON leaves out, such as functions. Throws what a `toJSON` of the
 * value throws.
 */
export function jsonOrNoneOf(value: unknown, rule: JsonRule): string | undefined {
  let text: string | undefined;
  try {
    text = stringify(value);
    // `JSON.rawJSON` may have halves of characters, which the server takes as escapes alone.
    if (text !== undefined && !text.isWellFormed()) text = stringify(parse(text));
  } catch (thrown) {
    throw explained(thrown, rule);
  }
  if (text !== undefined) checkNesting(text, rule);
  return text;
}

/** Checks the nesting of JSON text. */
export function checkNesting(text: string, { what, levels }: JsonRule): void {
  if (levels !== null && isDeeperThan(text, levels)) throw tooDeep(what, levels);
}

function tooDeep(what: string, levels: number): Error {
  return platformError('PayloadTooLarge', `${what} is nested deeper than ${levels} levels`);
}

/** Returns the error with the value's name. An error that user code threw in a `toJSON` stays as it is. */
function explained(thrown: unknown, { what, levels }: JsonRule): unknown {
  if (!isOfJson(thrown)) return thrown;
  if (thrown instanceof RangeError) {
    if (levels === null || !/call stack/.test(thrown.message)) return thrown;
    return tooDeep(what, levels);
  }
  if (!(thrown instanceof TypeError)) return thrown;
  const why = /circular/.test(thrown.message) ? 'is circular: it contains itself' : 'is not a JSON value';
  return new TypeError(`${what} ${why} (${thrown.message})`);
}

/** Returns whether JSON.stringify itself threw the error. */
function isOfJson(thrown: unknown): thrown is Error {
  try {
    const { stack } = thrown as Error;
    return typeof stack === 'string' && stack.startsWith(OF_JSON, stack.indexOf(FRAME));
  } catch {
    return false; // a value of user code
  }
}

// JSON text of what user code gives, and clear words where it has none.

import { platformError } from './errors.ts';
import { isDeeperThan } from './nesting.ts';
import { textOf } from './text.ts';

// Taken before user code can put its own in its place: the server ends a process that sends what is no JSON.
const { stringify } = JSON;
const FRAME = '\n    at ';
const OF_JSON = `${FRAME}stringify (<anonymous>)`;

/** What a value is to whoever reads the error, and how deep it may be nested; null: as deep as can be written. */
export interface Kept {
  readonly what: string;
  readonly levels: number | null;
}

/** JSON text of a value; throws where it has none. */
export function jsonOf(value: unknown, kept: Kept): string {
  const text = jsonOrNoneOf(value, kept);
  if (text === undefined) throw new TypeError(`${kept.what} is not a JSON value: ${textOf(value).slice(0, 80)}`);
  return text;
}

/** Undefined where JSON leaves a value out, as it does with functions. Throws what a `toJSON` of the value throws. */
export function jsonOrNoneOf(value: unknown, kept: Kept): string | undefined {
  let text: string | undefined;
  try {
    text = stringify(value);
  } catch (thrown) {
    throw explained(thrown, kept);
  }
  if (text !== undefined) checkNesting(text, kept);
  return text;
}

/** For what is JSON text already. */
export function checkNesting(text: string, { what, levels }: Kept): void {
  if (levels !== null && isDeeperThan(text, levels)) throw tooDeep(what, levels);
}

function tooDeep(what: string, levels: number): Error {
  return platformError('PayloadTooLarge', `${what} is nested deeper than ${levels} levels`);
}

/** The same error, but it says what of. What user code threw by itself, in a `toJSON`, stays as it is. */
function explained(thrown: unknown, { what, levels }: Kept): unknown {
  if (!isOfJson(thrown)) return thrown;
  if (thrown instanceof RangeError) {
    if (levels === null || !/call stack/.test(thrown.message)) return thrown;
    return tooDeep(what, levels);
  }
  if (!(thrown instanceof TypeError)) return thrown;
  const why = /circular/.test(thrown.message) ? 'is circular: it contains itself' : 'is not a JSON value';
  return new TypeError(`${what} ${why} (${thrown.message})`);
}

/** Whether JSON.stringify itself threw it. */
function isOfJson(thrown: unknown): thrown is Error {
  try {
    const { stack } = thrown as Error;
    return typeof stack === 'string' && stack.startsWith(OF_JSON, stack.indexOf(FRAME));
  } catch {
    return false; // a value of user code's making
  }
}

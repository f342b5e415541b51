// Filters of subscriptions: which events go through by their content. They are patterns in the manner of Amazon EventBridge:
// the filter has the form of the event, with a list of what is wanted for each field; all fields have to be as wanted.
//
//   {"body": {"type": [{"prefix": "invoice."}], "livemode": [true]}}
//
// Judged when the event is accepted, in its transaction: an event is one for its listener or none, whatever becomes of the
// filter later. Libraries were looked at: those of npm take whole values (json-view.ts says why not) and know no bounds.

import { utf8 } from '../bytes.ts';
import { type Condition, readCondition } from './conditions.ts';
import { FilterFault, isPlainObject, refuse } from './filter-fault.ts';
import { JsonView, TooMuchWork, Work } from './json-view.ts';
import { FILTER_LIMITS } from './limits.ts';

/** Of the path that a reason names. */
const PATH_CHARS = 200;

/** As its owner wrote it. */
export type EventFilter = Readonly<Record<string, unknown>>;

/** Returns null when the value is as wanted, else the path of what is not. Undefined: there is no value. */
type Judge = (value: JsonView | undefined) => string | null;

/** Filters stay as they are, and are judged for every event. */
const judges = new WeakMap<EventFilter, Judge>();

/** Throws `FilterFault` if the value is not a filter. */
export function readFilter(given: EventFilter): EventFilter {
  const bytes = utf8(JSON.stringify(given)).byteLength;
  if (bytes > FILTER_LIMITS.bytes) {
    refuse('filter', `has ${bytes} bytes of JSON; at most ${FILTER_LIMITS.bytes} are allowed`);
  }
  judges.set(given, pattern(given, '', 1));
  return given;
}

/** One event, and the filters that it meets. What they look at is read once. */
export class FilteredEvent {
  readonly #event: JsonView;

  /** `body` is valid JSON. */
  constructor(body: Uint8Array) {
    this.#event = new JsonView(body, new Work());
  }

  /**
   * Returns why a filter does not let the event through; null: it does. So does one that would have to look at too much:
   * an event too many can be dropped by its listener, a missing one cannot be got.
   */
  reasonAgainst(filter: EventFilter): string | null {
    try {
      const path = judgeOf(filter)(this.#event);
      return path === null ? null : `the filter does not match at ${path.slice(0, PATH_CHARS)}`;
    } catch (error) {
      if (error instanceof TooMuchWork) return null;
      // Written by a server that knows more operators: routing goes on for all others.
      if (error instanceof FilterFault) return `the filter cannot be read: ${error.path} ${error.message}`;
      throw error;
    }
  }
}

function judgeOf(filter: EventFilter): Judge {
  const known = judges.get(filter);
  if (known) return known;
  readFilter(filter);
  return judgeOf(filter);
}

function pattern(given: unknown, path: string, depth: number): Judge {
  const name = path === '' ? 'filter' : `filter.${path}`;
  if (!isPlainObject(given)) refuse(name, 'must be a list of what is wanted, or an object with fields');
  if (depth > FILTER_LIMITS.depth) refuse(name, `is nested deeper than ${FILTER_LIMITS.depth} levels`);
  const fields = Object.entries(given);
  if (fields.length === 0) refuse(name, 'is empty: name at least one field');
  const tests = fields.map(([field, wanted]): Judge => {
    const at = path === '' ? field : `${path}.${field}`;
    if (field === '$or') return alternatives(wanted, at, depth + 1);
    const judge = Array.isArray(wanted) ? anyOf(wanted, at) : pattern(wanted, at, depth + 1);
    return (value) => judge(value?.member(field));
  });
  const whole: Judge = (value) => {
    for (const test of tests) {
      const missed = test(value);
      if (missed !== null) return missed;
    }
    return null;
  };
  // Of a list, one element has to be as wanted in all of its fields.
  const judge: Judge = (value) => {
    if (value?.kind !== 'array') return whole(value);
    return value.some((element) => judge(element) === null) ? null : path || 'the whole event';
  };
  return judge;
}

function alternatives(given: unknown, path: string, depth: number): Judge {
  if (!Array.isArray(given) || given.length === 0) refuse(`filter.${path}`, 'must be a list of objects with fields');
  const judges = given.map((one, at) => pattern(one, `${path}[${at}]`, depth));
  return (value) => (judges.some((judge) => judge(value) === null) ? null : path);
}

function anyOf(given: readonly unknown[], path: string): Judge {
  if (given.length === 0) refuse(`filter.${path}`, 'is empty: nothing would match');
  const conditions = given.map((one, at) => readCondition(one, `filter.${path}[${at}]`));
  return (value) => (conditions.some((condition) => holds(condition, value)) ? null : path);
}

function holds(condition: Condition, value: JsonView | undefined): boolean {
  if (typeof condition !== 'function') return (condition === 'present') === (value !== undefined);
  if (value === undefined || value.kind === 'object') return false;
  return value.kind === 'array' ? value.some((element) => holds(condition, element)) : value.satisfies(condition);
}

/** Returns the text of a filter in a store. */
export function filterText(filter: EventFilter | null): string | null {
  return filter && JSON.stringify(filter);
}

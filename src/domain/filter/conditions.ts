// The conditions of a filter on one value, as Amazon EventBridge has them: a value itself, or an object of one operator.

import { placeOf } from '../literal-text.ts';
import { isPlainObject, refuse } from './filter-fault.ts';
import type { Scalar, Work } from './json-view.ts';

/** What a field has to be. `absent`: it has to be missing; `present`: whatever it is. */
export type Condition = 'absent' | 'present' | ValueTest;

/** Whether a value is as wanted. What reads the whole of a text takes that from the work. */
export type ValueTest = (value: Scalar, work: Work) => boolean;

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

type TextTest = (value: string, work: Work) => boolean;

/** Of texts. They take one text; in `anything-but`, also several. */
const OF_TEXT: Readonly<Record<string, (wanted: string) => TextTest>> = {
  prefix: (wanted) => (value) => value.startsWith(wanted),
  suffix: (wanted) => (value) => value.endsWith(wanted),
  'equals-ignore-case': (wanted) => {
    const lower = wanted.toLowerCase();
    return (value, work) => {
      work.take(value.length);
      return value.toLowerCase() === lower;
    };
  },
  wildcard: wildcard,
};

const OPERATORS = [...Object.keys(OF_TEXT), 'anything-but', 'numeric', 'exists'];

/** Throws `FilterFault`. */
export function readCondition(given: unknown, path: string): Condition {
  if (isScalar(given)) return (value) => value === given;
  const [operator, operand] = oneMember(given, path, OPERATORS);
  if (operator === 'exists') {
    if (typeof operand !== 'boolean') refuse(path, 'exists takes true or false');
    return operand ? 'present' : 'absent';
  }
  if (operator === 'numeric') return numeric(operand, path);
  if (operator === 'anything-but') return anythingBut(operand, path);
  return ofText(operator, operand, path);
}

function isScalar(given: unknown): given is Scalar {
  return given === null || ['string', 'number', 'boolean'].includes(typeof given);
}

function oneMember(given: unknown, path: string, operators: readonly string[]): [operator: string, operand: unknown] {
  const members = isPlainObject(given) ? Object.entries(given) : [];
  const [first] = members;
  if (members.length !== 1 || !first || !operators.includes(first[0])) {
    refuse(path, `must be a value, or an object of one operator, which is one of ${operators.join(', ')}`);
  }
  return first;
}

function ofText(operator: string, operand: unknown, path: string): ValueTest {
  if (typeof operand !== 'string' || operand === '') refuse(path, `${operator} takes a text that is not empty`);
  const matches = OF_TEXT[operator]?.(operand);
  return (value, work) => typeof value === 'string' && matches?.(value, work) === true;
}

function anythingBut(operand: unknown, path: string): Condition {
  if (isPlainObject(operand)) {
    const [operator, texts] = oneMember(operand, path, Object.keys(OF_TEXT));
    const several = listOf(texts).map((one) => ofText(operator, one, path));
    if (several.length === 0) refuse(path, 'anything-but takes a list that is not empty');
    return (value, work) => !several.some((matches) => matches(value, work));
  }
  const values = listOf(operand);
  if (values.length === 0 || !values.every(isScalar)) {
    refuse(path, 'anything-but takes a value, a list of values, or an object such as {"prefix": "test_"}');
  }
  const excluded = new Set(values);
  return (value) => !excluded.has(value);
}

function listOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [given];
}

/** Reads comparisons, such as `[">", 0, "<=", 5]`. */
function numeric(operand: unknown, path: string): Condition {
  const wanted = 'numeric takes one or two comparisons with a number, such as [">", 0, "<=", 5]';
  if (!Array.isArray(operand) || (operand.length !== 2 && operand.length !== 4)) refuse(path, wanted);
  const tests = [0, 2]
    .filter((at) => at < operand.length)
    .map((at) => {
      const [sign, bound] = [operand[at], operand[at + 1]];
      const compare = typeof sign === 'string' && Object.hasOwn(COMPARISONS, sign) ? COMPARISONS[sign] : undefined;
      if (!compare || typeof bound !== 'number') refuse(path, `${wanted}; a comparison is one of = < <= > >=`);
      return (value: number) => compare(value, bound);
    });
  return (value) => typeof value === 'number' && tests.every((test) => test(value));
}

/** So much longer than to read a text it takes to look for a part of it, where the text nearly matches everywhere. */
const SEARCH_TIMES = 5;

/** Returns what compares a text with a pattern in which `*` stands for any text; `\*` is a star, and `\\` a backslash. No regular expression: those can take for ever. */
function wildcard(pattern: string): TextTest {
  const [first = '', ...others] = partsOf(pattern);
  const last = others.pop();
  if (last === undefined) return (value) => value === first;
  return (value, work) => {
    if (value.length < first.length + last.length || !value.startsWith(first) || !value.endsWith(last)) return false;
    if (others.length > 0) work.take(value.length * SEARCH_TIMES);
    const end = value.length - last.length;
    let at = first.length;
    for (const part of others) {
      const found = placeOf(part, value, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

function partsOf(pattern: string): string[] {
  const parts = [''];
  for (const [piece] of pattern.matchAll(/\\[\\*]|./gs)) {
    if (piece === '*') parts.push('');
    else parts[parts.length - 1] += piece.length === 2 && piece.startsWith('\\') ? piece.slice(1) : piece;
  }
  return parts;
}

// Compiles a schema to a check of values, a function for each of its parts. No code is generated. JSON Schema's keywords mean
// what TypeBox's own compiler makes of them, and a test compares the two on all routes; only a member that is present with the
// value undefined counts as missing where it is optional.

import type { TSchema } from 'typebox';
import { isRecord } from '../body/json.ts';

export type SchemaCheck = (value: unknown) => boolean;

/** The keywords that the routes' schemas use. Any other is refused: a value would not be checked against it. */
export interface Keywords {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly maxProperties?: number;
  readonly items?: TSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const ANNOTATIONS: ReadonlySet<string> = new Set(['title', 'description', 'examples', 'x-expected', 'x-secret']);
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'const',
  'enum',
  'anyOf',
  'properties',
  'patternProperties',
  'required',
  'additionalProperties',
  'maxProperties',
  'items',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
] satisfies (keyof Keywords)[]);

const TYPES: Readonly<Record<string, SchemaCheck>> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const compiled = new WeakMap<TSchema, SchemaCheck>();

/** Compiles a schema once. Throws for a keyword or type that it does not know. */
export function checkOf(schema: TSchema): SchemaCheck {
  const before = compiled.get(schema);
  if (before) return before;
  const check = compile(schema);
  compiled.set(schema, check);
  return check;
}

function compile(schema: TSchema): SchemaCheck {
  const shape = schema as Keywords;
  const unknown = Object.keys(schema).find((name) => !KEYWORDS.has(name) && !ANNOTATIONS.has(name));
  if (unknown !== undefined) throw new Error(`values are not checked against the keyword ${unknown}`);
  const checks = [...valueChecks(shape), ...stringChecks(shape), ...numberChecks(shape)];
  if (shape.type === 'array') checks.push(...arrayChecks(shape));
  if (shape.type === 'object') checks.push(...objectChecks(shape));
  const [first, second, third] = checks;
  // Most parts have one to three, which a loop over them would call at a multiple of the time.
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  if (third === undefined) return (value) => first(value) && second(value);
  return (value) => checks.every((check) => check(value));
}

/** Returns the checks of a value. That of its type comes first: the others rely on it. */
function valueChecks(shape: Keywords): SchemaCheck[] {
  const { type, const: constant, enum: words, anyOf } = shape;
  const checks: SchemaCheck[] = [];
  if (type !== undefined) {
    if (!Object.hasOwn(TYPES, type)) throw new Error(`there is no check of the type ${type}`);
    checks.push(TYPES[type] as SchemaCheck);
  }
  if (constant !== undefined) checks.push((value) => value === constant);
  if (words !== undefined) checks.push((value) => words.includes(value));
  if (anyOf !== undefined) {
    const members = anyOf.map(checkOf);
    checks.push((value) => members.some((check) => check(value)));
  }
  return checks;
}

/**
 * Returns the checks of a string. Lengths are in code points, of which a string has as many as code units, or up to half as
 * few.
 */
function stringChecks({ minLength, maxLength, pattern }: Keywords): SchemaCheck[] {
  const checks: SchemaCheck[] = [];
  const text = (check: (value: string) => boolean): void => {
    checks.push((value) => typeof value !== 'string' || check(value));
  };
  if (minLength !== undefined) {
    text(({ length }) => length >= minLength);
    text((value) => value.length >= 2 * minLength || codePoints(value) >= minLength);
  }
  if (maxLength !== undefined) {
    text((value) => value.length <= maxLength || (value.length <= 2 * maxLength && codePoints(value) <= maxLength));
  }
  if (pattern !== undefined) {
    const regExp = new RegExp(pattern, 'u');
    text((value) => regExp.test(value));
  }
  return checks;
}

/** Returns the length in characters of Unicode, as JSON Schema counts. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function numberChecks({ minimum, maximum }: Keywords): SchemaCheck[] {
  const checks: SchemaCheck[] = [];
  if (minimum !== undefined) checks.push((value) => typeof value !== 'number' || value >= minimum);
  if (maximum !== undefined) checks.push((value) => typeof value !== 'number' || value <= maximum);
  return checks;
}

function arrayChecks({ items, minItems = 0, maxItems = Infinity, uniqueItems }: Keywords): SchemaCheck[] {
  const all = (check: (values: readonly unknown[]) => boolean): SchemaCheck => {
    return (value) => check(value as readonly unknown[]);
  };
  const checks = [all(({ length }) => length >= minItems && length <= maxItems)];
  if (items !== undefined) {
    const item = checkOf(items);
    // Scalars alone: what is equal is then the same.
    if (uniqueItems && !isScalar(items)) throw new Error('uniqueItems is for words and numbers');
    checks.push(all((values) => values.every((value) => item(value))));
  }
  if (uniqueItems) checks.push(all((values) => new Set(values).size === values.length));
  return checks;
}

function isScalar(schema: TSchema): boolean {
  const { type } = schema as Keywords;
  return type !== undefined && type !== 'object' && type !== 'array';
}

function objectChecks(shape: Keywords): SchemaCheck[] {
  const { required = [], maxProperties = Infinity } = shape;
  const members = (check: (value: Record<string, unknown>) => boolean): SchemaCheck => {
    return (value) => check(value as Record<string, unknown>);
  };
  const checks: SchemaCheck[] = [];
  if (required.length > 0) checks.push(members((value) => required.every((name) => Object.hasOwn(value, name))));
  if (maxProperties < Infinity) checks.push(members((value) => Object.keys(value).length <= maxProperties));
  if (hasMemberKeywords(shape)) checks.push(members(memberCheck(shape)));
  return checks;
}

function hasMemberKeywords({ properties, patternProperties, additionalProperties = true }: Keywords): boolean {
  return properties !== undefined || patternProperties !== undefined || !additionalProperties;
}

function memberCheck(shape: Keywords): (value: Record<string, unknown>) => boolean {
  const { properties = {}, patternProperties = {}, additionalProperties = true, required = [] } = shape;
  const named = new Map(Object.entries(properties).map(([name, schema]) => [name, checkOf(schema)]));
  const patterns = Object.entries(patternProperties).map(([pattern, schema]) => {
    return { regExp: new RegExp(pattern, 'u'), check: checkOf(schema) };
  });
  const isFitting = (name: string, value: unknown): boolean => {
    const check = named.get(name);
    if (check && !check(value) && (value !== undefined || required.includes(name))) return false;
    const fitting = patterns.filter(({ regExp }) => regExp.test(name));
    if (fitting.some((pattern) => !pattern.check(value))) return false;
    return additionalProperties || check !== undefined || fitting.length > 0;
  };
  return (value) => Object.keys(value).every((name) => isFitting(name, value[name]));
}

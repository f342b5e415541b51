// A route's schema is its validation. Its compiled check decides; only when it fails, the value is walked again to say
// which member is wrong, with which value, and what would be right.

import type { TSchema } from 'typebox';
import { type ParameterFault, Refusal } from '../domain/refusal.ts';
import { isRecord } from './body/json.ts';
import { checkOf, codePoints, type Keywords } from './schema/check.ts';
import { knownNames } from './suggestion.ts';

const SHOWN_CHARS = 80;
const MAX_FAULTS = 20;

/**
 * `x-expected` describes what a pattern or union accepts; the value of an `x-secret` member is not repeated, since answers end
 * up in logs.
 */
interface JsonSchema extends Keywords {
  readonly 'x-expected'?: string;
  readonly 'x-secret'?: boolean;
}

/**
 * Returns a check of `schema`: undefined, or the refusal that names every fault. Compiled at its first use: a start needs
 * none of the routes' 180 schemas.
 */
export function validatorOf(schema: TSchema): (value: unknown) => Refusal | undefined {
  return (value) => {
    if (checkOf(schema)(value)) return undefined;
    const errors: ParameterFault[] = [];
    describe(schema, value, { path: '', errors, isSecret: false });
    const detail = errors.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
    return new Refusal('malformed', detail || 'The request does not have the shape that it needs', { errors });
  };
}

interface FaultLocation {
  readonly path: string;
  readonly errors: ParameterFault[];
  readonly isSecret: boolean;
}

function explain(schema: TSchema, value: unknown, place: FaultLocation): void {
  if (place.errors.length >= MAX_FAULTS) return;
  // Much too long values are not walked.
  if (isOversized(schema as JsonSchema, value)) fault(place, `must be ${expectation(schema)}, but was ${sized(value)}`);
  else if (!checkOf(schema)(value)) describe(schema, value, place);
}

function isOversized(shape: JsonSchema, value: unknown): boolean {
  if (shape.anyOf) {
    const member = onlyOfKind(shape.anyOf, value);
    return member !== undefined && isOversized(member as JsonSchema, value);
  }
  const { type, maxItems = Infinity, maxProperties = Infinity } = shape;
  if (type === 'array') return Array.isArray(value) && value.length > maxItems;
  return type === 'object' && isRecord(value) && Object.keys(value).length > maxProperties;
}

/** Records what is wrong with a value that the schema refuses. */
function describe(schema: TSchema, value: unknown, outer: FaultLocation): void {
  const shape = schema as JsonSchema;
  const place = isSecret(shape) ? { ...outer, isSecret: true } : outer;
  if (shape.anyOf) {
    explainUnion(shape.anyOf, schema, { value, place });
  } else if (shape.type === 'object' && isRecord(value)) {
    explainObject(shape, value, place);
  } else if (shape.type === 'array' && Array.isArray(value) && hasItemFaults(shape, value)) {
    const items: readonly unknown[] = value;
    items.forEach((item, i) => {
      explain(shape.items as TSchema, item, { ...place, path: `${place.path}[${i}]` });
    });
  } else {
    fault(place, `must be ${expectation(schema)}, but was ${shownAt(place, value)}`);
  }
}

function isSecret(shape: JsonSchema): boolean {
  return shape['x-secret'] === true || (shape.anyOf ?? []).some((member) => isSecret(member as JsonSchema));
}

/** Returns whether items are wrong; otherwise there are too many or too few of them. */
function hasItemFaults({ items, minItems = 0, maxItems = Infinity }: JsonSchema, given: readonly unknown[]): boolean {
  if (items === undefined || given.length < minItems || given.length > maxItems) return false;
  return given.some((item) => !checkOf(items)(item));
}

function explainObject(shape: JsonSchema, value: Record<string, unknown>, place: FaultLocation): void {
  const properties = shape.properties ?? {};
  const within = (name: string): string => (place.path === '' ? name : `${place.path}.${name}`);
  for (const name of shape.required ?? []) {
    if (!Object.hasOwn(value, name)) {
      fault({ ...place, path: within(name) }, `is missing; it must be ${expectation(properties[name] as TSchema)}`);
    }
  }
  for (const [name, inner] of Object.entries(value)) {
    if (place.errors.length >= MAX_FAULTS) return;
    const own = Object.hasOwn(properties, name) ? properties[name] : patternOf(shape, name);
    if (own) explain(own, inner, { ...place, path: within(name) });
    else if (shape.additionalProperties === false) {
      const known = shape.properties ? knownNames(name, Object.keys(properties)) : expectation(shape as TSchema);
      fault({ ...place, path: within(name) }, `is not a known member; ${known}`);
    }
  }
}

function patternOf(shape: JsonSchema, name: string): TSchema | undefined {
  const found = Object.entries(shape.patternProperties ?? {}).find(([pattern]) => new RegExp(pattern, 'u').test(name));
  return found?.[1];
}

/** Explains a union of objects by their `type`; any other union as a whole. */
function explainUnion(members: readonly TSchema[], union: TSchema, at: { value: unknown; place: FaultLocation }): void {
  const { value, place } = at;
  const type = (value as { type?: unknown } | null)?.type;
  const literals = members.map((member) => ((member as JsonSchema).properties?.type as JsonSchema | undefined)?.const);
  const chosen = literals.findIndex((literal) => literal !== undefined && literal === type);
  const known = literals.filter((literal) => literal !== undefined);
  const ofKind = onlyOfKind(members, value);
  if (chosen >= 0) {
    explain(members[chosen] as TSchema, value, place);
  } else if (known.length > 0 && isRecord(value)) {
    const path = place.path === '' ? 'type' : `${place.path}.type`;
    fault({ ...place, path }, `must be one of ${known.map(shown).join(', ')}, but was ${shownAt(place, type)}`);
  } else if (ofKind) {
    explain(ofKind, value, place);
  } else {
    fault(place, `must be ${expectation(union)}, but was ${shownAt(place, value)}`);
  }
}

/** Returns the only member of the same kind as `value`, object or array, so that its parts are explained. */
function onlyOfKind(members: readonly TSchema[], value: unknown): TSchema | undefined {
  const kind = Array.isArray(value) ? 'array' : isRecord(value) ? 'object' : undefined;
  const fitting = members.filter((member) => kind !== undefined && (member as JsonSchema).type === kind);
  return fitting.length === 1 ? fitting[0] : undefined;
}

function fault(place: FaultLocation, message: string): void {
  place.errors.push({ parameter: place.path, message });
}

function shownAt(place: FaultLocation, value: unknown): string {
  return place.isSecret && value !== undefined && typeof value !== 'object' ? `a ${typeof value}` : shown(value);
}

function sized(value: unknown): string {
  return isRecord(value) ? `an object of ${Object.keys(value).length} members` : shown(value);
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  if (text.length <= SHOWN_CHARS) return text;
  const start = text.slice(0, SHOWN_CHARS);
  // Not half of a pair, and counted as the schema counts: without the quotes and escapes of the text.
  const whole = start.isWellFormed() ? start : start.slice(0, -1);
  return `${whole}… (${codePoints(String(value))} characters)`;
}

/** Describes what a schema accepts. */
function expectation(schema: TSchema): string {
  const shape = schema as JsonSchema;
  if (shape['x-expected'] !== undefined) return shape['x-expected'];
  if (shape.const !== undefined) return shown(shape.const);
  if (shape.enum) return `one of ${shape.enum.map(shown).join(', ')}`;
  if (shape.anyOf) return [...new Set(shape.anyOf.map(expectation))].join(' or ');
  switch (shape.type) {
    case 'integer':
      return `a whole number${range(shape.minimum, shape.maximum, '')}`;
    case 'number':
      return `a number${range(shape.minimum, shape.maximum, '')}`;
    case 'string':
      return `a string${range(shape.minLength, shape.maxLength, ' characters')}`;
    case 'array':
      return `an array${range(shape.minItems, shape.maxItems, shape.uniqueItems ? ' different items' : ' items')}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'object':
      return `an object${range(undefined, shape.maxProperties, ' members')}`;
    case undefined:
      return 'any JSON value';
    default:
      return 'something else';
  }
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  if (from !== undefined && to !== undefined) return ` ${unit === '' ? 'from' : 'of'} ${from} to ${to}${unit}`;
  const counted = (count: number): string => `${count}${count === 1 ? unit.replace(/s$/, '') : unit}`;
  if (from !== undefined) return ` of at least ${counted(from)}`;
  return to === undefined ? '' : ` of at most ${counted(to)}`;
}

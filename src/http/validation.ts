// The schema of a route is its validation. TypeBox's compiled check decides; only when it says no, the value is walked
// again to say in words what was wrong, with which value, and what would be right.

import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Check } from 'typebox/value';
import { type ParameterFault, Refusal } from '../domain/fault.ts';
import { isRecord } from './json.ts';

const SHOWN_CHARS = 80;
const MAX_FAULTS = 20;

/** The JSON Schema keywords that our schemas use. `x-expected` says in words what a pattern or union wants. */
interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: TSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly 'x-expected'?: string;
}

/** A check of `schema` that returns nothing, or the refusal that names every fault. */
export function validatorOf(schema: TSchema): (value: unknown) => Refusal | undefined {
  const check = Compile(schema);
  return (value) => {
    if (check.Check(value)) return undefined;
    const errors: ParameterFault[] = [];
    explain(schema, value, { path: '', errors });
    const detail = errors.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
    return new Refusal('malformed', detail || 'The request does not have the shape that it needs', { errors });
  };
}

interface Place {
  readonly path: string;
  readonly errors: ParameterFault[];
}

function explain(schema: TSchema, value: unknown, place: Place): void {
  if (place.errors.length >= MAX_FAULTS || Check(schema, value)) return;
  const shape = schema as Shape;
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
    fault(place, `must be ${expectation(schema)}, but was ${shown(value)}`);
  }
}

function hasItemFaults(shape: Shape, items: readonly unknown[]): boolean {
  const countFits = items.length >= (shape.minItems ?? 0) && items.length <= (shape.maxItems ?? Infinity);
  return countFits && shape.items !== undefined;
}

function explainObject(shape: Shape, value: Record<string, unknown>, place: Place): void {
  const properties = shape.properties ?? {};
  const within = (name: string): string => (place.path === '' ? name : `${place.path}.${name}`);
  for (const name of shape.required ?? []) {
    if (!Object.hasOwn(value, name)) {
      fault({ ...place, path: within(name) }, `is missing; it must be ${expectation(properties[name] as TSchema)}`);
    }
  }
  for (const [name, inner] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : patternOf(shape, name);
    if (own) explain(own, inner, { ...place, path: within(name) });
    else if (shape.additionalProperties === false) {
      const known = shape.properties
        ? `known are ${Object.keys(properties).join(', ')}`
        : expectation(shape as TSchema);
      fault({ ...place, path: within(name) }, `is not a known member; ${known}`);
    }
  }
}

function patternOf(shape: Shape, name: string): TSchema | undefined {
  const found = Object.entries(shape.patternProperties ?? {}).find(([pattern]) => new RegExp(pattern, 'u').test(name));
  return found?.[1];
}

/** A union of objects is told apart by `type`; any other is explained as a whole. */
function explainUnion(members: readonly TSchema[], union: TSchema, at: { value: unknown; place: Place }): void {
  const { value, place } = at;
  const type = (value as { type?: unknown } | null)?.type;
  const literals = members.map((member) => ((member as Shape).properties?.type as Shape | undefined)?.const);
  const chosen = literals.findIndex((literal) => literal !== undefined && literal === type);
  const known = literals.filter((literal) => literal !== undefined);
  if (chosen >= 0) {
    explain(members[chosen] as TSchema, value, place);
  } else if (known.length > 0 && isRecord(value)) {
    const path = place.path === '' ? 'type' : `${place.path}.type`;
    fault({ ...place, path }, `must be one of ${known.map(shown).join(', ')}, but was ${shown(type)}`);
  } else {
    fault(place, `must be ${expectation(union)}, but was ${shown(value)}`);
  }
}

function fault(place: Place, message: string): void {
  place.errors.push({ parameter: place.path, message });
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}… (${text.length} characters)` : text;
}

/** What a schema wants, in words. */
function expectation(schema: TSchema): string {
  const shape = schema as Shape;
  if (shape['x-expected'] !== undefined) return shape['x-expected'];
  if (shape.const !== undefined) return shown(shape.const);
  if (shape.enum) return `one of ${shape.enum.map(shown).join(', ')}`;
  if (shape.anyOf) return shape.anyOf.map(expectation).join(' or ');
  switch (shape.type) {
    case 'integer':
      return `a whole number${range(shape.minimum, shape.maximum, '')}`;
    case 'string':
      return `a string${range(shape.minLength, shape.maxLength, ' characters')}`;
    case 'array':
      return `an array${range(shape.minItems, shape.maxItems, ' items')}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'object':
      return 'an object';
    default:
      return 'something else';
  }
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  if (from !== undefined && to !== undefined) return ` ${unit === '' ? 'from' : 'of'} ${from} to ${to}${unit}`;
  if (from !== undefined) return ` of at least ${from}${unit}`;
  return to === undefined ? '' : ` of at most ${to}${unit}`;
}

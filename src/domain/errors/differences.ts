// What differs between the events of runs that failed and of runs that succeeded: of each field, in how many of each kind of run
// it is missing, has a type, or has one value. Pure; what is remembered is bounded, whatever the events are.

import { COMPARED } from './compared.ts';
import type { ErrorGroup } from './group.ts';
import type { StepDiff } from './line-diff.ts';

/** A JSON value other than an object or array. */
export type Scalar = string | number | boolean | null;

/** Something that can be said of a field. */
export interface Fact {
  /** `missing`, or a type: `null`, `boolean`, `number`, `string`, `empty string`, `object`, `array`, `empty array`. */
  readonly type: string;
  /** One value that the field has; undefined: any of the type. */
  readonly value?: Scalar;
}

export interface Difference {
  /** As `body.items[].price`. */
  readonly path: string;
  readonly fact: Fact;
  /** So many events of each kind are so. */
  readonly failures: number;
  readonly successes: number;
}

/** The types of the fields of one event, by path. Of elements of arrays there may be several. */
export type Shape = ReadonlyMap<string, ReadonlySet<string>>;

interface Field {
  /** How many events have it. */
  events: number;
  readonly types: Map<string, number>;
  /** By JSON text; null: there were too many. */
  values: Map<string, number> | null;
}

/** Counts what the events of one kind of run have in common. */
export class EventFacts {
  readonly fields = new Map<string, Field>();
  events = 0;

  add(event: unknown): void {
    this.events++;
    for (const [path, seen] of fieldsOf(event)) {
      const field = this.#field(path);
      if (field === undefined) continue;
      field.events++;
      for (const type of seen.types) field.types.set(type, (field.types.get(type) ?? 0) + 1);
      for (const value of seen.values) this.#addValue(field, value);
    }
  }

  #field(path: string): Field | undefined {
    const known = this.fields.get(path);
    if (known || this.fields.size >= COMPARED.paths) return known;
    const field: Field = { events: 0, types: new Map(), values: new Map() };
    this.fields.set(path, field);
    return field;
  }

  #addValue(field: Field, value: string): void {
    if (field.values === null) return;
    field.values.set(value, (field.values.get(value) ?? 0) + 1);
    if (field.values.size > COMPARED.values) field.values = null;
  }
}

interface SeenField {
  readonly types: Set<string>;
  readonly values: Set<string>;
}

/** Returns the types of an event's fields. */
export function shapeOf(event: unknown): Shape {
  return new Map([...fieldsOf(event)].map(([path, { types }]) => [path, types]));
}

function fieldsOf(event: unknown): ReadonlyMap<string, SeenField> {
  const fields = new Map<string, SeenField>();
  const visit = (path: string, value: unknown, depth: number): void => {
    const known = fields.get(path);
    if (!known && fields.size >= COMPARED.paths) return;
    const seen = known ?? { types: new Set(), values: new Set() };
    fields.set(path, seen);
    seen.types.add(typeOf(value));
    if (isValue(path, value)) seen.values.add(JSON.stringify(value));
    if (depth === COMPARED.depth) return;
    if (Array.isArray(value)) {
      for (const element of value.slice(0, COMPARED.elements)) visit(`${path}[]`, element, depth + 1);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) visit(pathOf(path, name), member, depth + 1);
    }
  };
  visit('', event, 0);
  return fields;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === '') return 'empty string';
  if (Array.isArray(value)) return value.length === 0 ? 'empty array' : 'array';
  return typeof value;
}

/** Returns whether a value may be shown: a short one, of a field whose name promises no secret. */
function isValue(path: string, value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  if (SECRET.test(path.slice(path.lastIndexOf('.') + 1))) return false;
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value === 'string' && value !== '' && value.length <= COMPARED.valueChars;
}

const SECRET = /auth|cookie|token|secret|passw|signature|api.?key|session|credential/i;

const NAME = /^[A-Za-z_$][\w$-]*$/;

function pathOf(path: string, name: string): string {
  if (!NAME.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** What follows from other fields: of a body that differs, the length does, too. */
const IMPLIED: ReadonlySet<string> = new Set(['headers.content-length']);

/** The least difference of the two shares that says something. */
const LEAST_GAP = 0.5;

interface RankedDifference extends Difference {
  /** The share of the failures less that of the successes. */
  readonly gap: number;
}

/** Returns what separates failures from successes, the clearest first: of each field one fact. */
export function differencesOf(failures: EventFacts, successes: EventFacts): readonly Difference[] {
  if (failures.events === 0 || successes.events === 0) return [];
  const paths = new Set([...failures.fields.keys(), ...successes.fields.keys()]).difference(IMPLIED);
  const clearest = [...paths].flatMap((path) => clearestOf(path, failures, successes) ?? []);
  const sorted = clearest.sort((a, b) => Math.abs(b.gap) - Math.abs(a.gap) || a.path.length - b.path.length);
  const told: RankedDifference[] = [];
  for (const one of sorted) {
    // Where an object is missing, its members are, too.
    const isImplied = told.some((other) => isWithin(one.path, other.path) && Math.abs(other.gap) >= Math.abs(one.gap));
    if (!isImplied) told.push(one);
  }
  return told.slice(0, COMPARED.shown).map(({ gap: _, ...difference }) => difference);
}

function isWithin(path: string, other: string): boolean {
  return path !== other && path.startsWith(other) && (other === '' || /^[.[]/.test(path.slice(other.length)));
}

function clearestOf(path: string, failures: EventFacts, successes: EventFacts): RankedDifference | undefined {
  const [failed, passed] = [failures.fields.get(path), successes.fields.get(path)];
  const candidate = (fact: Fact, inFailures: number, inSuccesses: number): RankedDifference => {
    const gap = inFailures / failures.events - inSuccesses / successes.events;
    return { path, fact, failures: inFailures, successes: inSuccesses, gap };
  };
  const missing = candidate(
    { type: 'missing' },
    failures.events - (failed?.events ?? 0),
    successes.events - (passed?.events ?? 0),
  );
  const types = new Set([...(failed?.types.keys() ?? []), ...(passed?.types.keys() ?? [])]);
  const ofTypes = [...types].map((type) => {
    return candidate({ type }, failed?.types.get(type) ?? 0, passed?.types.get(type) ?? 0);
  });
  const clear = [missing, ...ofTypes, ...valuesOf(failed, passed, candidate)].filter(
    ({ gap }) => Math.abs(gap) >= LEAST_GAP,
  );
  // What failures have says more than what they lack.
  const better = (a: RankedDifference, b: RankedDifference): number =>
    Number(b.gap > 0) - Number(a.gap > 0) || Math.abs(b.gap) - Math.abs(a.gap);
  return clear.sort(better)[0];
}

function valuesOf(
  failed: Field | undefined,
  passed: Field | undefined,
  candidate: (fact: Fact, inFailures: number, inSuccesses: number) => RankedDifference,
): readonly RankedDifference[] {
  // Of values that were not counted on one side, nothing can be said on the other.
  if (failed?.values === null || passed?.values === null) return [];
  const values = new Set([...(failed?.values.keys() ?? []), ...(passed?.values.keys() ?? [])]);
  return [...values].map((json) => {
    const value = JSON.parse(json) as Scalar;
    const fact = { type: typeOf(value), value };
    return candidate(fact, failed?.values?.get(json) ?? 0, passed?.values?.get(json) ?? 0);
  });
}

/** Says a difference in words. */
export function inWords(
  { path, fact, failures, successes }: Difference,
  of: { failures: number; successes: number },
): string {
  const field = path === '' ? 'the event' : `\`${path}\``;
  const is = fact.value === undefined ? wordOf(fact.type) : JSON.stringify(fact.value);
  const count = (n: number): string => n.toLocaleString('en');
  return `${field} is ${is} in ${count(failures)} of ${count(of.failures)} failures, in ${count(successes)} of ${count(of.successes)} successes`;
}

function wordOf(type: string): string {
  if (type === 'missing' || type === 'null') return type;
  return /^[aeo]/.test(type) ? `an ${type}` : `a ${type}`;
}

export interface ShapeChange {
  readonly path: string;
  /** Types; empty: the field is missing. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Returns the fields whose types differ between two events. */
export function shapeChanges(before: Shape, after: Shape): readonly ShapeChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  const all = paths.map((path) => {
    return { path, before: [...(before.get(path) ?? [])].sort(), after: [...(after.get(path) ?? [])].sort() };
  });
  return all.filter((one) => one.before.join() !== one.after.join()).slice(0, COMPARED.shown);
}

export interface Differences {
  readonly group: ErrorGroup;
  readonly failures: ComparedCount;
  readonly successes: ComparedCount;
  readonly fields: readonly Difference[];
  /** Null: none is kept. */
  readonly lastGood: ComparedRun | null;
  readonly firstBad: ComparedRun | null;
  /** Null: one of the two runs is not known, or both have the same deployment, or one is no longer kept. */
  readonly code: readonly StepDiff[] | null;
  /** Null: one of the two events is not known. */
  readonly shape: readonly ShapeChange[] | null;
}

export interface ComparedCount {
  readonly count: number;
  /** There are more, which were not looked at. */
  readonly isPart: boolean;
}

export interface ComparedRun {
  readonly run: number | null;
  readonly entry: number;
  readonly deploymentId: string | null;
}

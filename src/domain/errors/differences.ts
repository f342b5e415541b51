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

/** The fields of one event. */
export interface Shape {
  /** Their types, by path. Of elements of arrays there may be several. */
  readonly types: ReadonlyMap<string, ReadonlySet<string>>;
  /** It has more fields, which were not looked at. */
  readonly isCut: boolean;
}

interface Field {
  /** How many events have it. */
  events: number;
  /** And how many of these have fields that were not looked at. */
  cutEvents: number;
  readonly types: Map<string, number>;
  /** By JSON text; null: there were too many. */
  values: Map<string, number> | null;
}

/** Counts what the events of one kind of run have in common. */
export class EventFacts {
  readonly fields = new Map<string, Field>();
  events = 0;
  /** Events with fields that were not looked at. */
  #cutEvents = 0;
  /** There are fields that are not counted. */
  #isFull = false;

  add(event: unknown): void {
    this.events++;
    const { fields, isCut } = fieldsOf(event);
    if (isCut) this.#cutEvents++;
    for (const [path, seen] of fields) {
      const field = this.#field(path);
      if (field === undefined) continue;
      field.events++;
      if (isCut) field.cutEvents++;
      for (const type of seen.types) field.types.set(type, (field.types.get(type) ?? 0) + 1);
      for (const value of seen.values) this.#addValue(field, value);
    }
  }

  /** Returns whether it is known of every event what it has there. */
  isKnown(path: string): boolean {
    const field = this.fields.get(path);
    return field ? field.cutEvents === this.#cutEvents : !this.#isFull && this.#cutEvents === 0;
  }

  #field(path: string): Field | undefined {
    const known = this.fields.get(path);
    if (known) return known;
    this.#isFull ||= this.fields.size >= COMPARED.paths;
    if (this.#isFull) return undefined;
    const field: Field = { events: 0, cutEvents: 0, types: new Map(), values: new Map() };
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

export function shapeOf(event: unknown): Shape {
  const { fields, isCut } = fieldsOf(event);
  return { types: new Map([...fields].map(([path, { types }]) => [path, types])), isCut };
}

interface FoundValue {
  readonly path: string;
  readonly value: unknown;
  readonly depth: number;
  /** A name that it stands under promises a secret. */
  readonly isSecret: boolean;
}

/** Looks at the fields of an event level by level: those near its top, which most events have, come before those of a large list. */
function fieldsOf(event: unknown): { readonly fields: ReadonlyMap<string, SeenField>; readonly isCut: boolean } {
  const fields = new Map<string, SeenField>();
  let isCut = false;
  let level: FoundValue[] = [{ path: '', value: event, depth: 0, isSecret: false }];
  while (level.length > 0) {
    const next: FoundValue[] = [];
    for (const found of level) {
      const { path, value, depth, isSecret } = found;
      const known = fields.get(path);
      if (!known && fields.size >= COMPARED.paths) {
        isCut = true;
        continue;
      }
      const seen = known ?? { types: new Set(), values: new Set() };
      fields.set(path, seen);
      seen.types.add(typeOf(value));
      if (isValue(value, isSecret)) seen.values.add(JSON.stringify(value));
      if (depth < COMPARED.depth) next.push(...within(found));
    }
    level = next;
  }
  return { fields, isCut };
}

function within({ path, value, depth, isSecret }: FoundValue): FoundValue[] {
  const one = { depth: depth + 1, isSecret };
  if (Array.isArray(value)) {
    return value.slice(0, COMPARED.elements).map((element) => ({ ...one, path: `${path}[]`, value: element }));
  }
  if (typeof value !== 'object' || value === null) return [];
  // No more of one object than is counted of an event: the entries of 30,000 members alone take 20 ms.
  const names = Object.keys(value).slice(0, COMPARED.paths);
  return names.map((name) => {
    const member = (value as Record<string, unknown>)[name];
    return { ...one, path: pathOf(path, name), value: member, isSecret: isSecret || SECRET.test(name) };
  });
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === '') return 'empty string';
  if (Array.isArray(value)) return value.length === 0 ? 'empty array' : 'array';
  return typeof value;
}

/** Returns whether a value may be shown: a short one, of a field whose name promises no secret. */
function isValue(value: unknown, isSecret: boolean): boolean {
  if (typeof value === 'boolean') return true;
  if (isSecret) return false;
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value === 'string' && value !== '' && value.length <= COMPARED.valueChars;
}

/** An author is none. */
const SECRET = /auth(?!or(?!i[sz]))|cookie|token|secret|passw|signature|api.?key|session|credential/i;

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
  const known = [...paths].filter((path) => failures.isKnown(path) && successes.isKnown(path));
  const clearest = known.flatMap((path) => clearestOf(path, failures, successes) ?? []);
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

/** Returns the fields whose types differ between two events, as far as both were looked at. */
export function shapeChanges(before: Shape, after: Shape): readonly ShapeChange[] {
  const isKnown = ({ types, isCut }: Shape, path: string): boolean => types.has(path) || !isCut;
  const paths = [...new Set([...before.types.keys(), ...after.types.keys()])].filter(
    (path) => isKnown(before, path) && isKnown(after, path),
  );
  const all = paths.map((path) => {
    return {
      path,
      before: [...(before.types.get(path) ?? [])].sort(),
      after: [...(after.types.get(path) ?? [])].sort(),
    };
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

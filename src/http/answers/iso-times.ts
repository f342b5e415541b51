// Each time in an answer has two forms: a number, whose name tells the unit (`created_at` in seconds, `started_at_ms` in
// milliseconds), and the same instant as ISO 8601 text in UTC, whose name ends with `_iso` instead of the unit
// (`created_at_iso`, `started_at_iso`). A route's schema says where its times are, so that the text is added in one place, and
// never within events, values and other data of callers.
//
// Records of emissions, in lists, streams and exports, have the number alone: the interface fixes their members, they hold
// ISO 8601 times of their own, and there are many of them.

import type { TSchema } from 'typebox';
import { concat, text, utf8 } from '../../domain/bytes.ts';
import { elementsOf, memberOf } from '../../domain/json-member.ts';
import { SECOND_MS } from '../../domain/limits.ts';
import { isRecord, Verbatim } from '../body/json.ts';
import type { Keywords } from '../schema/check.ts';

const TIME = /(?:^|_)(?:at|ts|from|since|until|seen)_ms$|_at$/;
/** A number of records, for all its name. */
const NO_TIME = 'looked_at';
/** Titles of records whose members the interface fixes. */
const FIXED: ReadonlySet<string> = new Set(['ErrorRecord', 'EventRecord']);

/** Where times are in a value. */
export interface Shape {
  /** Names of times, and of their texts. */
  readonly times: ReadonlyMap<string, string>;
  readonly members: ReadonlyMap<string, Shape>;
  /** Of an array's items, and of a record's members of any name. */
  readonly each: Shape | null;
}

const shapes = new WeakMap<TSchema, Shape | null>();

type Unit = 'at' | 'ts' | 'from' | 'since' | 'until' | 'seen';
type TimeName = `${string}_at` | `${Unit}_ms` | `${string}_${Unit}_ms`;
type IsoName<Name> = Name extends typeof NO_TIME
  ? never
  : Name extends TimeName
    ? Name extends `${infer Of}_ms`
      ? `${Of}_iso`
      : `${Name}_iso`
    : never;

/** A record with the text beside each time. */
export type WithIso<T> = T extends readonly (infer Item)[]
  ? WithIso<Item>[]
  : T extends object
    ? { [Name in keyof T]: WithIso<T[Name]> } & {
        [Name in keyof T as IsoName<Name>]: null extends T[Name] ? string | null : string;
      }
    : T;

/** Returns an answer with the text beside each time. `schema`: the answer's. */
export function withIsoTimes<T>(answer: T, schema: TSchema): WithIso<T> {
  const shape = shapeOf(schema);
  return (shape ? withIso(answer, shape) : answer) as WithIso<T>;
}

/** Returns where times are in values of a schema; null: it has none. */
export function shapeOf(schema: TSchema): Shape | null {
  const before = shapes.get(schema);
  if (before !== undefined) return before;
  const shape = FIXED.has((schema as { title?: string }).title ?? '') ? null : findShape(schema);
  shapes.set(schema, shape);
  return shape;
}

function findShape(schema: TSchema): Shape | null {
  const { properties = {}, patternProperties = {}, items, anyOf = [] } = schema as Keywords;
  const times = new Map<string, string>();
  const members = new Map<string, Shape>();
  for (const [name, member] of Object.entries(properties)) {
    if (isTime(name, member)) times.set(name, isoName(name));
    const shape = shapeOf(member);
    if (shape) members.set(name, shape);
  }
  const others = [...Object.values(patternProperties), ...(items ? [items] : [])].map(shapeOf);
  const own: Shape = { times, members, each: others.find((shape) => shape !== null) ?? null };
  const all = [own, ...anyOf.map(shapeOf)].filter((shape) => shape !== null).reduce(merged);
  return all.times.size + all.members.size > 0 || all.each ? all : null;
}

function merged(one: Shape, other: Shape): Shape {
  return {
    times: new Map([...one.times, ...other.times]),
    members: new Map([...one.members, ...other.members]),
    each: one.each ?? other.each,
  };
}

export function isTime(name: string, schema: TSchema): boolean {
  return TIME.test(name) && name !== NO_TIME && isNumber(schema);
}

function isNumber(schema: TSchema): boolean {
  const { type, anyOf = [] } = schema as Keywords;
  return type === 'integer' || type === 'number' || anyOf.some(isNumber);
}

/** Returns the name of a time's text. */
export function isoName(name: string): string {
  return `${name.replace(/_ms$/, '')}_iso`;
}

/** Returns the text of a time; what is no number stays. */
export function isoOf(name: string, time: unknown): unknown {
  if (typeof time !== 'number') return time;
  return new Date(name.endsWith('_ms') ? time : time * SECOND_MS).toISOString();
}

/** Adds the text behind each time of a value. */
export function withIso(value: unknown, shape: Shape): unknown {
  if (value instanceof Verbatim) return new Verbatim(addedToText(value.bytes, shape));
  const { times, members, each } = shape;
  if (Array.isArray(value)) return each ? value.map((item) => withIso(item, each)) : value;
  if (!isRecord(value)) return value;
  const entries: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const within = members.get(name) ?? each;
    entries.push([name, within ? withIso(inner, within) : inner]);
    const iso = times.get(name);
    if (iso !== undefined) entries.push([iso, isoOf(name, inner)]);
  }
  return Object.fromEntries(entries);
}

const COMMA = utf8(',');

/** Adds to the objects of a JSON text, a list or an object, and changes no other byte: they hold what code returned. */
function addedToText(json: Uint8Array, { times, each }: Shape): Uint8Array {
  if (each) {
    const items = elementsOf(json).flatMap((item) => [COMMA, addedToText(item, each)]);
    return concat([utf8('['), ...items.slice(1), utf8(']')]);
  }
  const texts = [...times].flatMap(([name, iso]) => {
    const time = memberOf(json, name);
    if (!time) return [];
    const end = time.byteOffset - json.byteOffset + time.length;
    return [{ end, member: utf8(`,"${iso}":${JSON.stringify(isoOf(name, JSON.parse(text(time))))}`) }];
  });
  texts.sort((one, other) => one.end - other.end);
  const ends = texts.map(({ end }) => end);
  const parts = texts.flatMap(({ end, member }, at) => [json.subarray(ends[at - 1] ?? 0, end), member]);
  return concat([...parts, json.subarray(ends.at(-1) ?? 0)]);
}

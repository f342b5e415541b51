// Parameters of POST, PUT and DELETE come from the query string or from a JSON object in the body; the query wins. Unknown
// ones are refused by name: those of the query in query.ts, before the body is read.
//
// Names are looked up in the schema with hasOwn, so that `__proto__` is an unknown name like any other.

import { isUtf8 } from 'node:buffer';
import type { TSchema } from 'typebox';
import { memberOf } from '../domain/json-member.ts';
import { LIMITS } from '../domain/limits.ts';
import { Refusal } from '../domain/refusal.ts';
import { isRecord } from './body/json.ts';
import { hasMoreValues } from './body/json-count.ts';
import { checkDepth, depthOf } from './body/nesting.ts';
import { knownNames } from './suggestion.ts';

/** Members that are events, which are cut out of a body as they came. */
const EVENTS: ReadonlySet<string> = new Set(['event', 'original_event']);
/** Nesting limit of members; events have their own (see `eventOf`). */
const MAX_NESTING = 100;
/** As long as the largest of 64 bits, signed or not, which callers in other languages give for "all". */
const WHOLE_NUMBER = /^-?\d{1,20}$/;
const NUMBER = /^-?\d{1,16}(?:\.\d{1,16})?$/;

type Properties = Readonly<Record<string, TSchema>>;

/** Returns the properties of an object's schema; none for any other schema. */
export function propertiesOf(schema: TSchema | undefined): Properties {
  return (schema as { properties?: Properties } | undefined)?.properties ?? {};
}

/** Returns how large the body of a route may be: beside its event, nothing in it is large. */
export function maxBytesOf(schema: TSchema | undefined, maxEventBytes: number): number {
  const hasEvent = Object.keys(propertiesOf(schema)).some((name) => EVENTS.has(name));
  return hasEvent ? Math.min(LIMITS.apiBodyBytes, maxEventBytes + LIMITS.besideEventBytes) : LIMITS.apiBodyBytes;
}

interface BodyShape {
  readonly contentType: string | undefined;
  /** The route's. Members that may be any JSON are read as bytes (`jsonOf`), and count as one value each. */
  readonly schema: TSchema | undefined;
}

/** Returns the JSON object of a request's body; an empty body is an empty object, whatever its content type. */
export function parseBody(raw: Buffer | undefined, { contentType, schema }: BodyShape): Record<string, unknown> {
  if (!raw || raw.length === 0) return {};
  if (contentType !== undefined && !/^(application|text)\/([^;\s]*\+)?json\s*(;|$)/i.test(contentType)) {
    throw new Refusal('unsupported_media', `Content-Type is "${contentType}", but a body here is application/json`);
  }
  if (!isUtf8(raw)) throw new Refusal('malformed', 'The body is not valid UTF-8');
  const json = hasMoreValues(raw, LIMITS.bodyValues) ? withoutVerbatim(raw, schema) : raw;
  let body: unknown;
  try {
    body = JSON.parse(json.toString());
  } catch (error) {
    throw new Refusal('malformed', `The body is not valid JSON: ${withoutSnippet((error as Error).message)}`);
  }
  if (isRecord(body)) return body;
  const kind = Array.isArray(body) ? 'an array' : body === null ? 'null' : `a ${typeof body}`;
  throw new Refusal('malformed', `The body must be a JSON object such as {"name": "…"}, but it is ${kind}`);
}

/**
 * Replaces by null what the server itself does not read (an event, a record's value) in a body of very many values. Throws
 * `Refusal` (413) when too many are left: they would be parsed, checked and copied one by one while everything else waits.
 */
function withoutVerbatim(raw: Buffer, schema: TSchema | undefined): Buffer {
  // First: everything below walks to the end of the body.
  if (hasMoreValues(raw, LIMITS.verbatimValues)) {
    throw new Refusal('too_large', `The body holds more than ${LIMITS.verbatimValues} values (verbatimValues)`);
  }
  const names = Object.entries(propertiesOf(schema)).flatMap(([name, property]) => (isAnyJson(property) ? [name] : []));
  let rest = raw;
  // Cutting needs valid JSON.
  if (names.length > 0 && depthOf(raw) !== null) {
    for (const name of names) {
      const value = memberOf(rest, name);
      if (!value) continue;
      if (!EVENTS.has(name) && (depthOf(value) as number) > MAX_NESTING) throw tooDeep(name);
      const start = value.byteOffset - rest.byteOffset;
      rest = Buffer.concat([rest.subarray(0, start), NULL, rest.subarray(start + value.length)]);
    }
  }
  if (!hasMoreValues(rest, LIMITS.bodyValues)) return rest;
  throw new Refusal('too_large', `The body holds more than ${LIMITS.bodyValues} values (bodyValues)`);
}

const NULL = Buffer.from('null');

function isAnyJson(schema: TSchema): boolean {
  const { type, anyOf, enum: words } = schema as { type?: unknown; anyOf?: unknown; enum?: unknown };
  return type === undefined && anyOf === undefined && words === undefined && !Object.hasOwn(schema, 'const');
}

/**
 * Returns a parser's message without a part of the text. V8's message quotes the text around the fault, which may be a secret.
 */
function withoutSnippet(message: string): string {
  return message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '').slice(0, 200);
}

/** Merges known query parameters over known members of the body, for the route's schema to check. */
export function mergeParams(
  schema: TSchema | undefined,
  query: Record<string, unknown>,
  body: Record<string, unknown>,
): Record<string, unknown> {
  const properties = propertiesOf(schema);
  const names = Object.keys(properties);
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length > 0) {
    const errors = unknown
      .slice(0, 20)
      .map((name) => ({ parameter: name, message: `is not a known member; ${knownNames(name, names)}` }));
    const first = unknown[0] as string;
    throw new Refusal('malformed', `Unknown member ${JSON.stringify(first)}: ${knownNames(first, names)}`, { errors });
  }
  const merged: Record<string, unknown> = {};
  for (const name of names) {
    if (Object.hasOwn(query, name)) merged[name] = fromQuery(properties[name] as TSchema, query[name]);
    else if (Object.hasOwn(body, name)) merged[name] = checkNesting(name, body[name]);
  }
  return merged;
}

/** Converts known query parameters to the types of the schema; what cannot be converted stays text, and the schema refuses it. */
export function convertQuery(schema: TSchema, query: Record<string, unknown>): Record<string, unknown> {
  const converted: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    if (Object.hasOwn(query, name)) converted[name] = fromQuery(property, query[name]);
  }
  return converted;
}

function fromQuery(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const types = typesOf(schema);
  if (types.has('string')) return value;
  if (types.has('integer') && WHOLE_NUMBER.test(value)) return Number(value);
  if (types.has('number') && NUMBER.test(value)) return Number(value);
  if (types.has('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  if (types.has('array') && !value.startsWith('[')) return value.split(',').filter((item) => item !== '');
  if (types.has('array') || types.has('object')) return parsedOr(value);
  return value;
}

function parsedOr(value: string): unknown {
  try {
    return checkNesting('', JSON.parse(value));
  } catch {
    return value;
  }
}

function typesOf(schema: TSchema): Set<string> {
  const { type, anyOf } = schema as { type?: string; anyOf?: readonly TSchema[] };
  const types = new Set<string>(type === undefined ? [] : [type]);
  for (const member of anyOf ?? []) for (const inner of typesOf(member)) types.add(inner);
  return types;
}

function checkNesting(name: string, value: unknown): unknown {
  if (EVENTS.has(name)) return value;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_NESTING) throw tooDeep(name);
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return value;
}

function tooDeep(name: string): Refusal {
  const message = `nests deeper than ${MAX_NESTING} levels`;
  return new Refusal('malformed', `${name} ${message}`, { errors: [{ parameter: name, message }] });
}

interface JsonRequest {
  readonly query: unknown;
  readonly rawBody: Buffer | null;
}

/** Returns the exact bytes of the parameter `event`, or another one that is an event; undefined when there is none. Throws when it is nested too deep. */
export function eventOf(request: JsonRequest, maxBytes: number, name = 'event'): Uint8Array | undefined {
  const event = jsonOf(request, { name, maxBytes });
  // Parsed before, so it is valid JSON with a closing byte for each opening one: shorter text cannot be too deep.
  if (event && event.byteLength > 2 * LIMITS.nestingDepth) checkDepth(depthOf(event) ?? 0);
  return event;
}

/**
 * Returns the exact bytes of a parameter that may be any JSON: the member of the body as sent, or the query parameter,
 * which must be JSON text. Undefined when there is none.
 */
export function jsonOf(request: JsonRequest, of: { name: string; maxBytes: number }): Uint8Array | undefined {
  const { name, maxBytes } = of;
  const query = request.query as Record<string, unknown>;
  const json = Object.hasOwn(query, name)
    ? queryJson(name, query[name])
    : request.rawBody && memberOf(request.rawBody, name);
  if (!json) return undefined;
  if (json.byteLength <= maxBytes) return json;
  throw new Refusal('too_large', `The ${name} has ${json.byteLength} bytes, but at most ${maxBytes} are taken`);
}

function queryJson(name: string, value: unknown): Uint8Array {
  if (typeof value === 'string') {
    try {
      JSON.parse(value);
      return Buffer.from(value);
    } catch {
      // falls through to the refusal
    }
  }
  const message = 'must be JSON text when it is given in the query string';
  throw new Refusal('malformed', `${name} ${message}`, { errors: [{ parameter: name, message }] });
}

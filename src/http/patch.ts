// PATCH beside PUT: a JSON merge patch (RFC 7396) of what GET shows, written by the PUT of the same address. PUT takes members
// whole; a patch may change a part of one, and null takes that part away.
//
// What is patched was read before it is written. Where the record has a version, the write holds for that version only, and
// is done again when another caller was faster.

import type { FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import { Refusal } from '../domain/refusal.ts';
import type { App } from './app-type.ts';
import { isRecord } from './body/json.ts';
import { propertiesOf } from './params.ts';
import { Type } from './schema/type.ts';
import { validatorOf } from './validation.ts';

/** What PUT does with the members of a record. */
export interface PutRules {
  /** `whole`: what is left out is empty, or its default. */
  readonly takes: 'members' | 'whole';
  /** Objects whose own members are changed one by one; null brings the default back, or takes one away. */
  readonly oneByOne?: readonly string[];
  /** What the route does, without how it takes members. */
  readonly about?: string;
}

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string;
    summary?: string;
    description?: string;
    /** The route is a PUT that has a PATCH beside it. */
    put?: PutRules;
  }
}

export const MERGE_PATCH = 'application/merge-patch+json';
const TRIES = 5;

/** Collects the routes that are added from now on. Returns what adds a PATCH to each PUT that says how it takes members. */
export function collectPuts(app: App): () => void {
  const reads = new Map<string, RouteOptions>();
  const puts: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (route.method === 'GET') reads.set(route.url, route);
    if (route.method === 'PUT' && route.schema?.put) puts.push(route);
  });
  return () => {
    for (const put of puts) addPatch(app, put, reads.get(put.url));
  };
}

function addPatch(app: App, put: RouteOptions, read: RouteOptions | undefined): void {
  if (!read) throw new Error(`nothing reads ${put.url}`);
  const { schema = {}, url } = put;
  const { rules, check } = { rules: schema.put as PutRules, check: validatorOf(schema.body as TSchema) };
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const given = request.headers['if-match'];
    for (let tries = 1; ; tries++) {
      const shown = (await read.handler.call(app, request, reply)) as { data: Record<string, unknown> };
      const body = patched(shown.data, request.body as Record<string, unknown>, { rules, schema });
      const refusal = check(body);
      if (refusal) throw refusal;
      const version = schema.takesIfMatch ? (given ?? reply.getHeader('etag')) : undefined;
      try {
        return await put.handler.call(app, requestWith(request, body, version), reply);
      } catch (error) {
        const isLate = error instanceof Refusal && error.code === 'precondition_failed';
        if (!isLate || given !== undefined || tries === TRIES) throw error;
      }
    }
  };
  app.route({ method: 'PATCH', url, schema: patchSchema(schema), handler });
}

/** Returns the request as PUT would have got it. */
function requestWith(request: FastifyRequest, body: unknown, version: unknown): FastifyRequest {
  const headers = { ...request.headers, ...(version === undefined ? {} : { 'if-match': version }) };
  return Object.create(request, { body: { value: body }, headers: { value: headers } }) as FastifyRequest;
}

interface Puts {
  readonly rules: PutRules;
  readonly schema: FastifySchema;
}

function patched(shown: Record<string, unknown>, patch: Record<string, unknown>, { rules, schema }: Puts): object {
  const { takes, oneByOne = [] } = rules;
  const names = Object.keys(propertiesOf(schema.body as TSchema));
  const kept = takes === 'whole' ? names.filter((name) => Object.hasOwn(shown, name) && shown[name] !== null) : [];
  const changed = Object.entries(patch).map(([name, value]): [string, unknown] => {
    const before = shown[name];
    if (oneByOne.includes(name) && isRecord(value)) return [name, eachMerged(before, value)];
    return [name, value === null ? null : mergePatch(before, value)];
  });
  const all = [...kept.map((name): [string, unknown] => [name, shown[name]]), ...changed];
  return Object.fromEntries(takes === 'whole' ? all.filter(([name]) => patch[name] !== null) : all);
}

/** Merges the members that a patch names; PUT itself knows what null means for them. */
function eachMerged(before: unknown, patch: Record<string, unknown>): object {
  const known = isRecord(before) ? before : {};
  const members = Object.entries(patch).map(([name, value]) => [
    name,
    value === null ? null : mergePatch(Object.hasOwn(known, name) ? known[name] : undefined, value),
  ]);
  return Object.fromEntries(members);
}

/** Returns a value with a merge patch applied to it, as RFC 7396 says. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = new Map<string, unknown>(isRecord(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function patchSchema(put: FastifySchema): FastifySchema {
  const { operationId = '', summary = '', body, put: rules, ...rest } = put;
  const { required: _, properties = {}, ...others } = body as TSchema & Shape;
  const members = Object.entries(properties).map(([name, one]) => [
    name,
    // What null means for the members of these, PUT says.
    loosened(one, rules?.oneByOne?.includes(name) === true ? keptAs : orNull),
  ]);
  return {
    ...rest,
    operationId: operationId.replace(/^(update|set)/, 'patch'),
    summary: `${summary} with a merge patch`,
    description:
      `A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. ${rules?.about ?? ''}`.trimEnd(),
    consumes: [MERGE_PATCH],
    body: { ...others, properties: Object.fromEntries(members) },
  };
}

interface Shape {
  readonly type?: string;
  readonly anyOf?: readonly TSchema[];
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
}

/** Returns the schema of a part of a patch: no member is required; `shown` says what a member may be instead. */
function loosened(schema: TSchema, shown: (member: TSchema) => TSchema): TSchema {
  const { anyOf, type, required, minProperties, ...rest } = schema as TSchema & Shape;
  if (anyOf) return { ...schema, anyOf: anyOf.map((one) => loosened(one, shown)) } as TSchema;
  if (type !== 'object') return schema;
  const { properties, patternProperties } = rest;
  const each = (members: Readonly<Record<string, TSchema>>) =>
    Object.fromEntries(Object.entries(members).map(([name, one]) => [name, shown(loosened(one, orNull))]));
  return {
    ...rest,
    type,
    ...(properties ? { properties: each(properties) } : {}),
    ...(patternProperties ? { patternProperties: each(patternProperties) } : {}),
  } as TSchema;
}

function keptAs(member: TSchema): TSchema {
  return member;
}

function orNull(member: TSchema): TSchema {
  const { anyOf, type, examples, description } = member as TSchema &
    Shape & { examples?: unknown[]; description?: string };
  const takesNull = (type === undefined && !anyOf) || anyOf?.some((one) => (one as Shape).type === 'null');
  if (takesNull) return member;
  return Type.Union([member, Type.Null()], {
    ...(examples ? { examples } : {}),
    ...(description === undefined ? {} : { description }),
  });
}

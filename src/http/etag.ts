// ETag and If-Match: a caller that sends the ETag that it has read overwrites no change of another caller, and with
// If-None-Match: * none that exists. The store compares in the transaction of the change. A route that does not compare
// refuses these headers, since ignoring them would overwrite what the caller wants to keep.

import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';
import { checkVersion, type Expected, type Versioned } from '../domain/requests.ts';
import type { App } from './app-type.ts';
import { text } from './openapi/schema.ts';
import { Type } from './schema/type.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** The route compares `If-Match` (`expectedBy`). */
    takesIfMatch?: boolean;
    /** The route creates, and compares `If-None-Match` (`createsOnly`). */
    takesIfNoneMatch?: boolean;
  }
}

export const IF_MATCH = Type.Object({
  'if-match': Type.Optional(
    text({
      description: 'The `ETag` of the record as it was read: 412 when it was changed since, and nothing is changed.',
      example: '"mq7kdz2o"',
    }),
  ),
});

export const IF_NONE_MATCH = Type.Object({
  'if-none-match': Type.Optional(
    text({
      description: '`*`: create only. 412 when there is one already, and nothing is changed.',
      example: '*',
    }),
  ),
});

/** A proxy that compresses makes a tag weak (`W/`); it names the same version. */
const TAG = /^\s*(?:W\/)?"([!#-~\x80-\xff]*)"\s*$/;
const VERSION = /^[0-9a-z]{1,10}$/;

/** Sets the `ETag` of an answer that shows a record of this version. */
export function tag(reply: FastifyReply, version: Pick<Versioned, 'updatedAtMs'> | number): void {
  const number = typeof version === 'number' ? version : version.updatedAtMs;
  reply.header('etag', `"${number.toString(36)}"`);
}

/** Returns the versions that `If-Match` names, if it is given; a tag that is none of ours names a version that nothing has. */
export function expectedBy({ headers }: Pick<FastifyRequest, 'headers'>): { expected?: Expected } {
  const given = headers['if-match'];
  if (given === undefined || given.trim() === '*') return {};
  const expected = given.split(',').map((one) => {
    const [, version] = TAG.exec(one) ?? [];
    if (version === undefined) throw malformed(given);
    return VERSION.test(version) ? Number.parseInt(version, 36) : Number.NaN;
  });
  return { expected };
}

/** Returns whether the record is only to be created: `If-None-Match: *`. */
export function createsOnly({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const given = headers['if-none-match'];
  if (given === undefined) return false;
  if (given.trim() === '*') return true;
  const message = `must be *, but was ${given.slice(0, 80)}`;
  throw new Refusal('malformed', `If-None-Match ${message}`, { errors: [{ parameter: 'If-None-Match', message }] });
}

/** As many as a tag has room for, and a number holds exactly. */
const VERSION_BYTES = 6;

/** Returns the version of a record without a time of its last change: made of what can be changed of it, plain JSON. */
export function contentVersion(content: unknown): number {
  return createHash('sha256').update(JSON.stringify(content)).digest().readUIntBE(0, VERSION_BYTES);
}

/** Returns what refuses a change, given what can be changed of the record before it, when `If-Match` names another content. */
export function contentCheck(request: Pick<FastifyRequest, 'headers'>, id: string): (before: unknown) => void {
  const { expected } = expectedBy(request);
  return (before) => checkVersion({ id, updatedAtMs: contentVersion(before) }, expected);
}

export function addVersions(app: App): void {
  app.addHook('onRequest', async ({ is404, method, headers, routeOptions }) => {
    if (is404 || method === 'GET' || method === 'HEAD') return;
    const { takesIfMatch, takesIfNoneMatch } = routeOptions.schema ?? {};
    if (headers['if-match'] !== undefined && !takesIfMatch) throw notTaken('If-Match');
    if (headers['if-none-match'] !== undefined && !takesIfNoneMatch) throw notTaken('If-None-Match');
  });
}

function notTaken(header: string): Refusal {
  return new Refusal('malformed', `This request does not take ${header}`);
}

function malformed(given: string): Refusal {
  const message = `must be the ETag of an answer, in its quotes, but was ${given.slice(0, 80)}`;
  return new Refusal('malformed', `If-Match ${message}`, { errors: [{ parameter: 'If-Match', message }] });
}

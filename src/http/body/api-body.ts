// Turns the body of an API request into the parameters of its route. Bodies stay bytes until then: an event is cut out of
// them as it came.

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { KIB } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { App } from '../app-type.ts';
import { convertQuery, maxBytesOf, mergeParams, parseBody } from '../params.ts';
import { validatorOf } from '../validation.ts';
import { type Body, readBody } from './body.ts';
import type { BodyMemory } from './body-memory.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came. */
    rawBody: Buffer | null;
    /** Null: there is no body. */
    heldBody: HeldBody | null;
  }
}

/** A body that takes memory until its answer is sent, and its handler has ended, which may be long after the caller is gone. */
class HeldBody {
  readonly #release: () => void;
  #uses = 1;

  constructor(release: () => void) {
    this.#release = release;
  }

  use(): void {
    this.#uses++;
  }

  done(): void {
    this.#uses--;
    if (this.#uses === 0) this.#release();
  }
}

/** The owner of bodies of public routes, whose callers are not known before they are read. */
const NO_OWNER = '';
/** Of such a body: signing in takes a key. */
const UNKNOWN_CALLER_BYTES = 16 * KIB;

/**
 * Adds the reading of bodies. It is called after every hook that refuses callers: a body is read only once its caller may use
 * the route.
 */
export function addBodies(app: App, memory: BodyMemory, maxEventBytes: number): void {
  app.decorateRequest('rawBody', null);
  app.decorateRequest('heldBody', null);
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function (request, reply) {
      const { heldBody } = request;
      if (heldBody === null) return handler.call(this, request, reply);
      heldBody.use();
      return Promise.try(() => handler.call(this, request, reply)).finally(() => heldBody.done());
    };
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    // A request that no route matches is refused with its body unread.
    if (request.is404) return null;
    const { ownerId } = request.caller ?? { ownerId: NO_OWNER };
    const schema = request.routeOptions.schema?.body as TSchema | undefined;
    const maxBytes = ownerId === NO_OWNER ? UNKNOWN_CALLER_BYTES : maxBytesOf(schema, maxEventBytes);
    const body = await readBody(payload, { maxBytes, memory, ownerId });
    if (body === null) throw new Refusal('malformed', 'The body was cut short');
    return body;
  });
  // Not in the content type parser: Fastify closes the connection when that fails.
  app.addHook('preParsing', async (request) => {
    const encoding = request.headers['content-encoding'];
    if (encoding === undefined || encoding === 'identity' || request.is404) return;
    throw new Refusal('unsupported_media', 'A compressed body is accepted by HTTP triggers only; send it uncompressed');
  });
  app.addHook('preValidation', async (request, reply) => {
    if (request.method === 'GET' || request.method === 'HEAD' || request.is404) return;
    const read = request.body as Body | null | undefined;
    if (read) {
      const held = new HeldBody(read.release);
      request.heldBody = held;
      reply.raw.once('close', () => held.done());
    }
    request.rawBody = read?.bytes ?? null;
    const schema = request.routeOptions.schema?.body as TSchema | undefined;
    const body = parseBody(read?.bytes, { contentType: request.headers['content-type'], schema });
    request.body = mergeParams(schema, request.query as Record<string, unknown>, body);
  });
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => {
    const validate = validatorOf(schema);
    return (value: unknown) => {
      const converted = httpPart === 'querystring' ? convertQuery(schema, value as Record<string, unknown>) : value;
      const error = validate(converted);
      return error ? { error } : { value: converted };
    };
  });
}

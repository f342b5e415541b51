// Everything but the ingress: Fastify with a schema on every route. The parts that all routes share stand here, in the
// order in which a request meets them: its id, its key, its parameters, its answer.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import swagger from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { TSchema } from 'typebox';
import { FAULTS, Refusal } from '../domain/fault.ts';
import { LIMITS } from '../domain/limits.ts';
import { addAccess } from './access.ts';
import { addNotFound } from './allow.ts';
import { readBody } from './body.ts';
import type { HttpDeps } from './deps.ts';
import { encodeJson } from './json.ts';
import { openApiOptions } from './openapi-options.ts';
import { convertQuery, mergeParams, parseBody } from './params.ts';
import { problemOf, sendProblem, writeProblem } from './problem.ts';
import { addRoutes } from './routes.ts';
import { validatorOf } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came. */
    rawBody: Buffer | null;
  }
}

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>;

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

export interface AppOptions {
  /** Makes the server around Fastify's own request handler. */
  readonly serverFactory: (handler: Handler) => Server;
  readonly clientErrorHandler: (error: NodeJS.ErrnoException, socket: import('node:net').Socket) => void;
  readonly nextRequestId: () => string;
}

export async function createApp(deps: HttpDeps, options: AppOptions): Promise<App> {
  const app: App = fastify({
    serverFactory: options.serverFactory,
    clientErrorHandler: options.clientErrorHandler,
    genReqId: options.nextRequestId,
    frameworkErrors: (error, request, reply) => {
      const problem = problemOf(error, { requestId: request.id, log: deps.log });
      sendProblem(reply as FastifyReply, problem);
    },
    return503OnClosing: false,
    bodyLimit: LIMITS.apiBodyBytes,
    routerOptions: { maxParamLength: LIMITS.pathPartChars },
  });
  addRequestParts(app, deps);
  addAccess(app, deps);
  await app.register(swagger, openApiOptions());
  addBodies(app);
  addAnswers(app, deps);
  addNotFound(app);
  addRoutes(app, deps);
  return app;
}

function addRequestParts(app: App, deps: HttpDeps): void {
  app.decorateRequest('rawBody', null);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = `${request.method} ${request.routeOptions.url ?? '?'}`;
    const fields = { request_id: request.id, route, status: reply.statusCode, took_ms: Math.round(reply.elapsedTime) };
    deps.log.debug(fields, 'http.answered');
  });
}

function addBodies(app: App): void {
  // Bodies stay bytes until the route's parameters are read: an event is cut out of them as it came.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (_request: FastifyRequest, payload: IncomingMessage) => {
    const read = await readBody(payload, LIMITS.apiBodyBytes);
    if (read.kind === 'whole') return read.bytes;
    if (read.kind === 'aborted') throw new Refusal('malformed', 'The body was cut short');
    throw new Refusal('too_large', `The body is larger than ${LIMITS.apiBodyBytes} bytes`);
  });
  app.addHook('preValidation', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD' || request.is404) return;
    if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity') {
      throw new Refusal('unsupported_media', 'A compressed body is taken by HTTP triggers only; send it as it is');
    }
    const raw = Buffer.isBuffer(request.body) ? request.body : undefined;
    request.rawBody = raw ?? null;
    const body = parseBody(raw, request.headers['content-type']);
    const schema = request.routeOptions.schema?.body as TSchema | undefined;
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

function addAnswers(app: App, deps: HttpDeps): void {
  // The schemas of answers are for the document and the tests; nothing is dropped or converted on the way out.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setReplySerializer((payload) => encodeJson(payload) as string);
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error, { requestId: request.id, log: deps.log });
    // Of any other refused request, Node reads and throws away the rest of the body, and the connection stays good.
    if (problem.status === FAULTS.too_large.status && !request.raw.complete) {
      reply.hijack();
      writeProblem(request.raw, reply.raw, problem);
      return;
    }
    sendProblem(reply, problem);
  });
}

// Everything but the ingress: Fastify with a schema on every route. This file adds what all routes share, in the order in
// which a request passes it: its id, its key, its parameters, its answer.

import type { Server } from 'node:http';
import { type FastifyReply, fastify } from 'fastify';
import { LIMITS } from '../domain/limits.ts';
import { addAccess } from './access/access.ts';
import { addAudit } from './access/audit.ts';
import type { AuditLog } from './access/audit-log.ts';
import { addShownForm } from './answers/shown-form.ts';
import { addTurns } from './answers/turns.ts';
import type { App } from './app-type.ts';
import { addBodies } from './body/api-body.ts';
import type { BodyMemory } from './body/body-memory.ts';
import { encodeJson } from './body/json.ts';
import type { HttpDeps } from './deps.ts';
import { addVersions } from './etag.ts';
import { asPage } from './missing-page.ts';
import type { ApiDocument } from './openapi/document.ts';
import { collectPuts } from './patch.ts';
import { problemOf, sendProblem } from './problem.ts';
import { addQueryCheck } from './query.ts';
import type { RequestHandler } from './response.ts';
import { addRoutes } from './routes.ts';
import { addNotFound } from './server/allow.ts';

export interface AppOptions {
  /** Creates the server around Fastify's request handler. */
  readonly serverFactory: (handler: RequestHandler) => Server;
  readonly clientErrorHandler: (error: NodeJS.ErrnoException, socket: import('node:net').Socket) => void;
  readonly nextRequestId: () => string;
  readonly bodyMemory: BodyMemory;
  readonly auditLog: AuditLog;
  /** Returns the OpenAPI document, which says that the service is at `publicUrl`. */
  readonly buildDocument: (publicUrl: string) => Promise<ApiDocument>;
  /** Adds what must see all routes as they are added. */
  readonly beforeRoutes?: (app: App) => Promise<void>;
}

/** Fastify's own compilers, 100 modules of which nothing is used, are loaded unless there are others. */
const NO_COMPILERS = {
  compilersFactory: { buildValidator: () => unused, buildSerializer: () => unused },
} as const;

function unused(): never {
  throw new Error('the app has compilers of its own');
}

export async function createApp(deps: HttpDeps, options: AppOptions): Promise<App> {
  const app: App = fastify({
    serverFactory: options.serverFactory,
    clientErrorHandler: options.clientErrorHandler,
    genReqId: options.nextRequestId,
    frameworkErrors: (error, request, reply) => {
      const problem = problemOf(error, request.id, deps);
      sendProblem(reply as FastifyReply, problem);
    },
    return503OnClosing: false,
    bodyLimit: LIMITS.apiBodyBytes,
    schemaController: NO_COMPILERS,
    routerOptions: { maxParamLength: LIMITS.pathPartChars },
  });
  addRequestParts(app, deps);
  addAccess(app, deps);
  addQueryCheck(app);
  addVersions(app);
  addAudit(app, deps, options.auditLog);
  await options.beforeRoutes?.(app);
  addBodies(app, options.bodyMemory, deps.maxBodyBytes);
  addAnswers(app, deps);
  addNotFound(app, deps);
  const addPatches = collectPuts(app);
  addRoutes(app, deps, { log: options.auditLog, buildDocument: options.buildDocument });
  addPatches();
  return app;
}

function addRequestParts(app: App, deps: HttpDeps): void {
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

function addAnswers(app: App, deps: HttpDeps): void {
  addShownForm(app);
  addTurns(app);
  // Answers' schemas serve the document and the tests; sending drops and converts nothing.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setReplySerializer((payload) => encodeJson(payload) as string);
  app.setErrorHandler((error, request, reply) => {
    sendProblem(reply, asPage(problemOf(error, request.id, deps), request));
  });
}

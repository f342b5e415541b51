// One node:http server, two ways through it: `/e/…`, `/r/…`, `/h/…`, `/api/…` and hosts of endpoints go to the ingress on the
// bare request, everything else to Fastify. The ingress is the hot path and needs the raw bytes; on two cores, bare node:http answers 66k POST/s of 1 KB,
// Fastify with an empty handler 38k.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { createServer } from '../../node-http.ts';
import { outageOf } from '../access/access.ts';
import { AuditLog } from '../access/audit-log.ts';
import { createApp } from '../app.ts';
import { awaitContinue } from '../body/body.ts';
import { createBodyMemory } from '../body/body-memory.ts';
import type { HttpDeps } from '../deps.ts';
import { createIngress } from '../ingress/ingress.ts';
import { createNoticeLinkPages } from '../ingress/notice-links.ts';
import { createPinging } from '../ingress/ping.ts';
import { placeByHost, placeByPath } from '../ingress/place.ts';
import { createResuming } from '../ingress/resume.ts';
import { type Problem, refused, writeProblem } from '../problem.ts';
import { createSentryEndpoint, sentryPlace } from '../reports/sentry.ts';
import { GuardedResponse, type RequestHandler } from '../response.ts';
import { BOUNDS, type HttpBounds } from './bounds.ts';
import { clientErrors } from './client-error.ts';
import { boundConnections, isClosing } from './connections.ts';
import { headFault } from './head.ts';
import { createMetricsServer } from './metrics-server.ts';
import { Pauses } from './pauses.ts';
import { normalizeTarget } from './target.ts';

export interface HttpServer {
  /** Listens; port 0 takes any free port, which the result names. */
  listen(at: { host: string; port: number }): Promise<{ port: number }>;
  /** Answers only `/metrics`, without a key, at a separate address. */
  listenForMetrics(at: { host: string; port: number }): Promise<{ port: number }>;
  /** Returns the address; null while not listening. */
  address(): AddressInfo | null;
  /** Accepts no more connections, waits for answers in progress, then closes. May be called twice, or before listening. */
  stop(): Promise<void>;
}

/** How long `stop` waits for answers; callers that still wait for a run are then cut off, and may try again. */
const STOP_GRACE_MS = 10 * SECOND_MS;
const SWEEP_MS = 50;

export async function createHttpServer(deps: HttpDeps, given: Partial<HttpBounds> = {}): Promise<HttpServer> {
  const bounds = { ...BOUNDS, ...given };
  const nextRequestId = requestIds(deps);
  const problemTo = (refusal: Refusal): Problem => refused(refusal, nextRequestId(), deps);
  const errors = clientErrors(problemTo);
  const { bodyMemoryBytes: maxBytes, ownerBodyMemoryBytes: maxOwnerBytes } = bounds;
  const bodyMemory = createBodyMemory({ maxBytes, maxOwnerBytes });
  const auditLog = new AuditLog(deps);
  const ingress = createIngress({ ...deps, bodyMemory }, nextRequestId);
  const resuming = createResuming({ ...deps, bodyMemory }, nextRequestId);
  const pinging = createPinging({ ...deps, bodyMemory }, nextRequestId);
  const sentry = createSentryEndpoint({ ...deps, bodyMemory, auditLog }, nextRequestId);
  const noticeLinks = createNoticeLinkPages(deps, nextRequestId);
  const { endpointHosts, publicUrl } = deps.urls;
  const unlessOut = (req: IncomingMessage, res: ServerResponse, handle: () => void): void => {
    const outage = outageOf(deps, {});
    if (outage) refuse(req, res, problemTo(outage));
    else handle();
  };
  /** Handles a request that is to bring an event; where traces are on, they tell that it was refused, too. */
  const accepting = (req: IncomingMessage, res: ServerResponse, handle: () => void): void => {
    const { tracing } = deps;
    const onAnswer = (answered: (status: number) => void): void => {
      res.once('finish', () => answered(res.statusCode));
    };
    if (!tracing) unlessOut(req, res, handle);
    else tracing.accepting({ method: req.method ?? '', onAnswer }, () => unlessOut(req, res, handle));
  };
  const handlerAround = (toFastify: RequestHandler): RequestHandler => {
    return (req, res) => {
      if (isClosing(req)) return;
      errors.begin(req, res);
      const isTooFar = (res as GuardedResponse).queued(req.socket) > LIMITS.requestsAhead;
      const fault = isTooFar ? TOO_FAR : headFault(req);
      if (fault) return refuse(req, res, problemTo(fault));
      const place = endpointHosts === null ? null : placeByHost(req, endpointHosts);
      if (place) return accepting(req, res, () => ingress(req, res, place));
      const url = normalizeTarget(req);
      if (url.startsWith('/e/')) accepting(req, res, () => ingress(req, res, placeByPath(url, publicUrl())));
      else if (url.startsWith('/r/')) unlessOut(req, res, () => resuming(req, res));
      else if (url.startsWith('/h/')) unlessOut(req, res, () => pinging(req, res));
      else if (url.startsWith('/n/')) unlessOut(req, res, () => noticeLinks(req, res));
      else {
        const project = url.startsWith('/api/') ? sentryPlace(url) : null;
        if (project === null) toFastify(req, res);
        else accepting(req, res, () => sentry(req, res, project));
      }
    };
  };
  const app = await createApp(deps, {
    serverFactory: (handler) => serverWith(tracedBy(deps, handlerAround(handler)), bounds),
    clientErrorHandler: errors.handle,
    nextRequestId,
    bodyMemory,
    auditLog,
    // Loaded on demand: a start does not pay for what builds it.
    buildDocument: async (at) => (await import('../openapi/openapi.ts')).buildDocument(at),
  });
  await app.ready();
  boundConnections(app.server, { bounds, errors, problemTo });
  const metricsAt = (host: string): Server => createMetricsServer(deps, { nextRequestId, ownHost: host });
  return lifecycle({ server: app.server, metricsAt, closeApp: () => app.close() });
}

/** Returns the handler, with what a request leads to in its caller's trace. */
function tracedBy({ tracing }: HttpDeps, handle: RequestHandler): RequestHandler {
  if (!tracing) return handle;
  return (req, res) => {
    const { traceparent, tracestate } = req.headers as Readonly<Record<string, string | undefined>>;
    const answer = (traceresponse: string): void => {
      if (!res.headersSent) res.setHeader('traceresponse', traceresponse);
    };
    tracing.during({ traceparent, tracestate, answer }, () => handle(req, res));
  };
}

/** Each answer is held in memory until earlier ones are sent, and one packet has room for a thousand requests. */
const TOO_FAR = new Refusal(
  'unavailable',
  `More than ${LIMITS.requestsAhead} requests were sent ahead on this connection; wait for their answers`,
);

function serverWith(handler: RequestHandler, bounds: HttpBounds): Server {
  const timeouts = {
    keepAliveTimeout: bounds.keepAliveMs,
    headersTimeout: bounds.headersMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: bounds.checkMs,
  };
  // Node would refuse a missing Host with an empty answer.
  const options = { ...timeouts, maxHeaderSize: LIMITS.requestHeaderBytes, requireHostHeader: false };
  const server = createServer({ ...options, ServerResponse: GuardedResponse }, handler);
  // Without these listeners Node sends 100 Continue before the key is checked, and answers 417 with an empty body.
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    awaitContinue(req, res);
    handler(req, res);
  });
  server.on('checkExpectation', handler);
  allowPauses(server, bounds);
  return server;
}

/** Gives callers the time on top in which the server stood still. Node reads both limits with each check. */
function allowPauses(server: Server, { headersMs, requestMs }: HttpBounds): void {
  const pauses = new Pauses(Math.max(headersMs, requestMs));
  server.once('listening', () => pauses.start());
  server.once('close', () => pauses.stop());
  const limit = (ms: number): PropertyDescriptor => ({ get: () => ms + pauses.lately(ms) });
  Object.defineProperties(server, { headersTimeout: limit(headersMs), requestTimeout: limit(requestMs) });
}

function refuse(req: IncomingMessage, res: ServerResponse, problem: Problem): void {
  res.shouldKeepAlive = false;
  writeProblem(req, res, problem);
}

interface Closed {
  readonly server: Server;
  /** Creates the server that answers only `/metrics`, at that host. */
  readonly metricsAt: (host: string) => Server;
  readonly closeApp: () => PromiseLike<unknown>;
}

function lifecycle({ server, metricsAt, closeApp }: Closed): HttpServer {
  let metrics: Server | null = null;
  let stopped: Promise<void> | null = null;

  async function stop(): Promise<void> {
    await Promise.all([server, metrics].map(closed));
    await closeApp();
  }

  return {
    listen: (at) => listen(server, at),
    listenForMetrics: (at) => {
      metrics = metricsAt(at.host);
      return listen(metrics, at);
    },
    address: () => server.address() as AddressInfo | null,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

async function closed(server: Server | null): Promise<void> {
  if (!server?.listening) return;
  const closing = new Promise((resolve) => server.close(resolve));
  // A connection that becomes idle after `close` would be kept for its next request.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const cutOff = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
  await closing;
  clearInterval(sweep);
  clearTimeout(cutOff);
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve({ port: (server.address() as AddressInfo).port });
    });
  });
}

/** Returns a source of request ids: random per process, then counted. Random bytes per request would cost too much. */
function requestIds({ ids }: Pick<HttpDeps, 'ids'>): () => string {
  const prefix = `req_${ids
    .secret()
    .replace(/[^0-9A-Za-z]/g, '')
    .slice(0, 8)}`;
  let count = 0;
  return () => prefix + (count++).toString(36);
}

// One node:http server, two ways through it: `/e/…` and `/r/…` go to the ingress on the bare request, everything else to
// Fastify. The ingress is the hot path and needs the raw bytes; on two cores, bare node:http answers 66k POST/s of 1 KB, and
// Fastify with a handler that does nothing 38k.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Refusal } from '../domain/fault.ts';
import { LIMITS, SECOND_MS } from '../domain/limits.ts';
import { outageOf } from './access.ts';
import { createApp } from './app.ts';
import { clientErrors } from './client-error.ts';
import type { HttpDeps } from './deps.ts';
import { headFault } from './head.ts';
import { createIngress } from './ingress/ingress.ts';
import { createResuming } from './ingress/resume.ts';
import { problemFrom, writeProblem } from './problem.ts';
import { requestIds } from './request-ids.ts';
import { GuardedResponse } from './response.ts';
import { normalizeTarget } from './target.ts';

export interface HttpServer {
  /** Port 0 takes any free one; the answer says which. */
  listen(at: { host: string; port: number }): Promise<{ port: number }>;
  /** Null while not listening. */
  address(): AddressInfo | null;
  /** Takes no more connections, waits for answers under way, then closes. May be called twice, or before listening. */
  stop(): Promise<void>;
}

/** Longer than the idle timeout of the usual load balancers, so that it is they who close first. */
const KEEP_ALIVE_MS = 72 * SECOND_MS;
const HEADERS_MS = 20 * SECOND_MS;
const REQUEST_MS = 60 * SECOND_MS;
/** How long `stop` waits for answers; callers that wait for a run are cut off after it, and may try again. */
const STOP_GRACE_MS = 10 * SECOND_MS;
const SWEEP_MS = 50;

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

export async function createHttpServer(deps: HttpDeps): Promise<HttpServer> {
  const nextRequestId = requestIds(deps.ids);
  const errors = clientErrors(nextRequestId);
  const unlessOut = (handle: Handler): Handler => {
    return (req, res) => {
      const outage = outageOf(deps, {});
      if (outage) refuse(req, res, { refusal: outage, requestId: nextRequestId() });
      else handle(req, res);
    };
  };
  const ingress = unlessOut(createIngress(deps, nextRequestId));
  const resuming = unlessOut(createResuming(deps, nextRequestId));
  const handlerAround = (toFastify: Handler): Handler => {
    return (req, res) => {
      errors.begin(req, res);
      const fault = headFault(req);
      if (fault) return refuse(req, res, { refusal: fault, requestId: nextRequestId() });
      const url = normalizeTarget(req);
      if (url.startsWith('/e/')) ingress(req, res);
      else if (url.startsWith('/r/')) resuming(req, res);
      else toFastify(req, res);
    };
  };
  const app = await createApp(deps, {
    serverFactory: (handler) => serverWith(handlerAround(handler)),
    clientErrorHandler: errors.handle,
    nextRequestId,
  });
  await app.ready();
  return lifecycle(app.server, () => app.close());
}

function serverWith(handler: Handler): Server {
  const timeouts = { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS };
  // Node would refuse a missing Host with an empty answer.
  const options = { ...timeouts, maxHeaderSize: LIMITS.requestHeaderBytes, requireHostHeader: false };
  return createServer({ ...options, ServerResponse: GuardedResponse }, handler);
}

function refuse(req: IncomingMessage, res: ServerResponse, why: { refusal: Refusal; requestId: string }): void {
  res.shouldKeepAlive = false;
  writeProblem(req, res, problemFrom(why.refusal, why.requestId));
}

function lifecycle(server: Server, closeApp: () => PromiseLike<unknown>): HttpServer {
  let stopped: Promise<void> | null = null;

  async function stop(): Promise<void> {
    if (server.listening) {
      const closed = new Promise((resolve) => server.close(resolve));
      // A connection that falls idle after `close` would be kept for its next request.
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      const cutOff = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
      await closed;
      clearInterval(sweep);
      clearTimeout(cutOff);
    }
    await closeApp();
  }

  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve({ port: (server.address() as AddressInfo).port });
        });
      }),
    address: () => server.address() as AddressInfo | null,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

// Serves `/metrics` at a separate address, without a key: every caller that reaches that address may read them. They cover the
// whole process and all owners, so that at the service's own address they need a key with the scope `admin`.

import type { IncomingMessage, Server } from 'node:http';
import { isIP } from 'node:net';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { createServer } from '../../node-http.ts';
import type { HttpDeps } from '../deps.ts';
import { problemOf, refused, writeProblem } from '../problem.ts';
import { type Exchange, GuardedResponse } from '../response.ts';
import { isFromLoopback } from './client-ip.ts';
import { headFault } from './head.ts';
import { pathOf } from './target.ts';

const TIMEOUT_MS = 10 * SECOND_MS;
const MAX_CONNECTIONS = 100;
const MAX_HEADER_BYTES = 8 * 1024;

const NOT_HERE = new Refusal('not_found', 'Only /metrics is served here');
const NOT_SO = new Refusal('method_not_allowed', 'Metrics are read with GET or HEAD');
const OTHER_NAME = new Refusal(
  'malformed',
  'The Host header names another host; on this machine metrics are read at its address, at localhost, or at the name in ERRAND_METRICS_HOST',
);
const TOO_FAR = new Refusal(
  'unavailable',
  'Too many requests were sent ahead on this connection; wait for their answers',
);

/** Creates the server. `ownHost`: where it listens, as the setting names it. */
export function createMetricsServer(
  deps: Pick<HttpDeps, 'metrics' | 'log'>,
  { nextRequestId, ownHost }: { readonly nextRequestId: () => string; readonly ownHost: string },
): Server {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: TIMEOUT_MS,
    requestTimeout: TIMEOUT_MS,
    requireHostHeader: false,
    ServerResponse: GuardedResponse,
  };
  const server = createServer(options, (req, res) => {
    const requestId = nextRequestId();
    answer(deps, { req, res, requestId }, ownHost).catch((error: unknown) => {
      writeProblem(req, res, problemOf(error, requestId, deps));
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function answer(
  deps: Pick<HttpDeps, 'metrics'>,
  { req, res, requestId }: Exchange,
  ownHost: string,
): Promise<void> {
  // Each answer is held in memory until earlier ones are sent.
  if ((res as GuardedResponse).queued(req.socket) > LIMITS.requestsAhead) {
    res.shouldKeepAlive = false;
    throw TOO_FAR;
  }
  const fault = headFault(req);
  if (fault) throw fault;
  if (isRebound(req, ownHost)) throw OTHER_NAME;
  if (pathOf(req.url as string) !== '/metrics') throw NOT_HERE;
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    const problem = refused(NOT_SO, requestId, deps);
    return writeProblem(req, res, { ...problem, headers: { ...problem.headers, allow: 'GET, HEAD' } });
  }
  const { contentType, body } = await deps.metrics.text();
  if (res.destroyed) return;
  const length = String(Buffer.byteLength(body));
  const headers = { 'content-type': contentType, 'cache-control': 'no-store', 'x-request-id': requestId };
  res.writeHead(200, { ...headers, 'content-length': length });
  res.end(body);
}

/**
 * Returns whether the caller may be a page of another site whose name was made to lead to this machine, so that its browser lets
 * it read the answer. Such a name has a dot. On another address than a loopback one, any name may be meant.
 */
function isRebound(req: IncomingMessage, ownHost: string): boolean {
  const { host } = req.headers;
  if (host === undefined || !isFromLoopback(req)) return false;
  const name = host.toLowerCase().replace(/\.?(?::\d*)?$/, '');
  const isAddress = name.startsWith('[') || isIP(name) !== 0;
  return name.includes('.') && !isAddress && !name.endsWith('.localhost') && name !== ownHost.toLowerCase();
}

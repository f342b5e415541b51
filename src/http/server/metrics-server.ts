// Serves `/metrics` at a separate address, without a key: every caller that reaches that address may read them. They cover the
// whole process and all owners, so that at the service's own address they need a key with the scope `admin`.

import type { Server } from 'node:http';
import { SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { createServer } from '../../node-http.ts';
import type { HttpDeps } from '../deps.ts';
import { problemOf, refused, writeProblem } from '../problem.ts';
import { type Exchange, GuardedResponse } from '../response.ts';
import { headFault } from './head.ts';
import { pathOf } from './target.ts';

const TIMEOUT_MS = 10 * SECOND_MS;
const MAX_CONNECTIONS = 100;
const MAX_HEADER_BYTES = 8 * 1024;

const NOT_HERE = new Refusal('not_found', 'Only /metrics is served here');
const NOT_SO = new Refusal('method_not_allowed', 'Metrics are read with GET or HEAD');

export function createMetricsServer(deps: Pick<HttpDeps, 'metrics' | 'log'>, nextRequestId: () => string): Server {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: TIMEOUT_MS,
    requestTimeout: TIMEOUT_MS,
    requireHostHeader: false,
    ServerResponse: GuardedResponse,
  };
  const server = createServer(options, (req, res) => {
    const requestId = nextRequestId();
    answer(deps, { req, res, requestId }).catch((error: unknown) => {
      writeProblem(req, res, problemOf(error, requestId, deps));
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function answer(deps: Pick<HttpDeps, 'metrics'>, { req, res, requestId }: Exchange): Promise<void> {
  const fault = headFault(req);
  if (fault) throw fault;
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

// `/r/{run id}/{waits}.{token}/resume` and `…/cancel`: a caller with the address ends a run's wait. Any method works,
// also GET, since people follow such links in mails; but not HEAD and OPTIONS, with which programs check links, nor a
// browser's prefetch.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { numberedId, numberOf, PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WaitAddress } from '../../domain/requests.ts';
import type { RunState } from '../../domain/run/run.ts';
import { type Problem, problemOf, writeProblem } from '../problem.ts';
import type { Exchange, RequestHandler } from '../response.ts';
import { eventBytes } from './event.ts';
import { checkEncoding, readInflated } from './inflate.ts';
import type { IngressDeps } from './ingress.ts';
import { endedPage, prefersHtml, problemPage } from './resume-page.ts';

const ADDRESS = /^\/r\/([^/?]{1,32})\/([1-9]\d{0,8})\.([A-Za-z0-9_-]{1,64})\/(resume|cancel)(?=\/?(?:\?|$))/;
const METHODS = 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS';

export function createResuming(deps: IngressDeps, nextRequestId: () => string): RequestHandler {
  return (req, res) => {
    const requestId = nextRequestId();
    if (req.method === 'HEAD' || req.method === 'OPTIONS') {
      answer(res, { status: req.method === 'HEAD' ? 200 : 204, headers: { allow: METHODS }, body: '', requestId });
      return;
    }
    if (isPrefetch(req)) {
      // Not 2xx: the browser must ask again when its user follows the link.
      answer(res, { status: 503, headers: {}, body: '', requestId });
      return;
    }
    take(deps, { req, res, requestId }).catch((error: unknown) => {
      const problem = problemOf(error, requestId, deps);
      writeProblem(req, res, prefersHtml(req.headers.accept) ? problemPage(problem) : problem);
    });
  };
}

function isPrefetch({ headers }: IncomingMessage): boolean {
  const said = [headers['sec-purpose'], headers.purpose, headers['x-moz']];
  return said.some((purpose) => typeof purpose === 'string' && purpose.startsWith('prefetch'));
}

async function take(deps: IngressDeps, { req, res, requestId }: Exchange): Promise<void> {
  const { maxBodyBytes: maxBytes, bodyMemory: memory, actions } = deps;
  const address = addressOf(req.url as string);
  if (!address) throw new Refusal('not_found', 'No run waits at this address');
  const { wait, pathStart } = address;
  const ownerId = await actions.findWait(wait);
  deps.quotas.takeRequest(ownerId);
  checkEncoding(req.headers['content-encoding']);
  const body = await readInflated(req, { maxBytes, memory, ownerId });
  if (body === null) return;
  let state: RunState;
  try {
    const options = { pathStart, baseUrl: deps.urls.publicUrl(), isVerified: false, isForSource: false };
    state = await actions.endWait({ ...wait, request: eventBytes(req, body.bytes, options).toString() });
  } finally {
    body.release();
  }
  const ended = { run: numberedId(PREFIX.run, wait.run), order: wait.order, state };
  if (prefersHtml(req.headers.accept)) answer(res, { status: 200, ...endedPage(ended), requestId });
  else {
    const text = JSON.stringify({ data: { run_id: ended.run, state } });
    answer(res, { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: text, requestId });
  }
}

/** Returns what an address asks for, and where the path after it starts; null when it is not such an address. */
function addressOf(url: string): { wait: WaitAddress; pathStart: number } | null {
  const match = ADDRESS.exec(url);
  const [address = '', id = '', waits, token = '', order] = match ?? [];
  const run = numberOf(PREFIX.run, id);
  if (run === undefined || (order !== 'resume' && order !== 'cancel')) return null;
  return { wait: { run, waits: Number(waits), token, order }, pathStart: address.length };
}

function answer(res: ServerResponse, given: Problem & { readonly requestId: string }): void {
  if (res.destroyed) return;
  const { status, headers, body, requestId } = given;
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  res.writeHead(status, { 'cache-control': 'no-store', 'x-request-id': requestId, ...headers, ...length });
  res.end(body);
}

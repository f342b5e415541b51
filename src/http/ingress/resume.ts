// `/r/{run id}/{waits}.{token}/resume` and `…/cancel`: where a run's wait is ended, by whoever was given its address. Any
// method does it, also GET, since people follow such links in mails; but not HEAD and OPTIONS, with which programs look at
// links that nobody has followed, nor what a browser asks for ahead of its user.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '../../domain/fault.ts';
import { numberedId, numberOf, PREFIX } from '../../domain/ids.ts';
import type { WaitOrder } from '../../domain/requests.ts';
import { readBody } from '../body.ts';
import type { HttpDeps } from '../deps.ts';
import { type Problem, problemOf, writeProblem } from '../problem.ts';
import { eventBytes } from './event.ts';
import { inflate } from './inflate.ts';
import { endedPage, prefersHtml, problemPage } from './resume-page.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

const ADDRESS = /^\/r\/([^/?]{1,32})\/([1-9]\d{0,8})\.([A-Za-z0-9_-]{1,64})\/(resume|cancel)(?=\/?(?:\?|$))/;
const METHODS = 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS';

export function createResuming(deps: HttpDeps, nextRequestId: () => string): Handler {
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
      const problem = problemOf(error, { requestId, log: deps.log });
      writeProblem(req, res, prefersHtml(req.headers.accept) ? problemPage(problem) : problem);
    });
  };
}

function isPrefetch({ headers }: IncomingMessage): boolean {
  const said = [headers['sec-purpose'], headers.purpose, headers['x-moz']];
  return said.some((purpose) => typeof purpose === 'string' && purpose.startsWith('prefetch'));
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
}

async function take(deps: HttpDeps, { req, res, requestId }: Exchange): Promise<void> {
  const { maxBodyBytes, actions } = deps;
  const read = await readBody(req, maxBodyBytes);
  if (read.kind === 'aborted') return;
  if (read.kind === 'too_large') throw new Refusal('too_large', `The body is larger than ${maxBodyBytes} bytes`);
  const encoding = req.headers['content-encoding'];
  const body = encoding === undefined ? read.bytes : await inflate(read.bytes, encoding, maxBodyBytes);
  const order = orderOf(req, body, deps.publicUrl());
  if (!order) throw new Refusal('not_found', 'No run waits at this address');
  const state = await actions.endWait(order);
  const ended = { run: numberedId(PREFIX.run, order.run), order: order.order, state };
  if (prefersHtml(req.headers.accept)) answer(res, { status: 200, ...endedPage(ended), requestId });
  else {
    const text = JSON.stringify({ data: { run_id: ended.run, state } });
    answer(res, { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: text, requestId });
  }
}

function orderOf(req: IncomingMessage, body: Buffer, publicUrl: string): WaitOrder | null {
  const match = ADDRESS.exec(req.url as string);
  const [address = '', id = '', waits, token = '', order] = match ?? [];
  const run = numberOf(PREFIX.run, id);
  if (run === undefined || (order !== 'resume' && order !== 'cancel')) return null;
  const options = { pathStart: address.length, publicUrl, isVerified: false, withRaw: false };
  return { run, waits: Number(waits), token, order, request: eventBytes(req, body, options).toString() };
}

function answer(res: ServerResponse, given: Problem & { readonly requestId: string }): void {
  if (res.destroyed) return;
  const { status, headers, body, requestId } = given;
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  res.writeHead(status, { 'cache-control': 'no-store', 'x-request-id': requestId, ...headers, ...length });
  res.end(body);
}

// `/h/{key}`, `/h/{key}/start`, `/h/{key}/fail` and `/h/{key}/{exit code}`: a job that runs elsewhere tells that it began or ended.
// GET, HEAD and POST; what the job wrote may come as the body, of which the beginning is kept when it failed. A job writes much
// when it fails: the address says what happened, and counts whatever the size of the body. The answer does not say what the
// heartbeat's state is: the caller is a script.

import type { IncomingMessage } from 'node:http';
import { KIB, LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Ping } from '../../domain/watch/heartbeat.ts';
import { discard, keepsConnection } from '../body/body.ts';
import { problemOf, writeProblem } from '../problem.ts';
import type { Exchange, RequestHandler } from '../response.ts';
import { checkEncoding, readInflated } from './inflate.ts';
import type { IngressDeps } from './ingress.ts';

const ADDRESS = /^\/h\/([A-Za-z0-9_-]{1,64})(?:\/(start|fail|\d{1,3}))?\/?(?:\?|$)/;
const METHODS = 'GET, HEAD, POST';
const MAX_EXIT_CODE = 255;
const ANSWER = 'OK\n';

/** How much of a body is read behind what is kept. Many clients read no answer before they have sent all. */
const REST = { bytes: 8 * 1024 * KIB, ms: 10 * SECOND_MS };

export function createPinging(deps: IngressDeps, nextRequestId: () => string): RequestHandler {
  return (req, res) => {
    const requestId = nextRequestId();
    const allowed = { methods: METHODS };
    take(deps, { req, res, requestId }, allowed).catch((error: unknown) => {
      const problem = problemOf(error, requestId, deps);
      const isMethod = error instanceof Refusal && error.code === 'method_not_allowed';
      writeProblem(
        req,
        res,
        isMethod ? { ...problem, headers: { ...problem.headers, allow: allowed.methods } } : problem,
      );
    });
  };
}

/** Takes a ping. `allowed`: gets the methods that the heartbeat takes, if they are fewer. */
async function take(deps: IngressDeps, { req, res, requestId }: Exchange, allowed: { methods: string }): Promise<void> {
  const address = addressOf(req.url as string);
  if (!address) throw new Refusal('not_found', 'There is no heartbeat at this address');
  if (!METHODS.split(', ').includes(req.method ?? '')) {
    throw new Refusal('method_not_allowed', `${req.method} is not allowed here; allowed: ${METHODS}`);
  }
  const { key, ping } = address;
  const { heartbeat } = await deps.actions.findHeartbeat(key);
  if (heartbeat.postOnly && req.method !== 'POST') {
    allowed.methods = 'POST';
    throw new Refusal('method_not_allowed', `${req.method} is no ping of this heartbeat; allowed: POST`);
  }
  deps.quotas.takeRequest(heartbeat.ownerId);
  const log = await logOf(deps, req, heartbeat.ownerId);
  if (log === null) return;
  const isKept = ping.kind === 'fail';
  if (isKept) deps.quotas.takeStored(heartbeat.ownerId, log.length);
  await deps.actions.ping(key, { ...ping, log: isKept ? log : '' });
  if (!keepsConnection(req)) await new Promise<void>((resolve) => discard(req, resolve, REST));
  answer({ req, res, requestId });
}

function addressOf(url: string): { key: string; ping: Ping } | null {
  const [, key, what] = ADDRESS.exec(url) ?? [];
  if (key === undefined) return null;
  if (what === undefined) return { key, ping: { kind: 'success', exitCode: null, log: '' } };
  if (what === 'start' || what === 'fail') return { key, ping: { kind: what, exitCode: null, log: '' } };
  const exitCode = Number(what);
  if (exitCode > MAX_EXIT_CODE) return null;
  return { key, ping: { kind: exitCode === 0 ? 'success' : 'fail', exitCode, log: '' } };
}

/** Returns the beginning of the body as text; null when the caller disconnected before its end. */
async function logOf(deps: IngressDeps, req: IncomingMessage, ownerId: string): Promise<string | null> {
  const { maxBodyBytes: maxBytes, bodyMemory: memory } = deps;
  checkEncoding(req.headers['content-encoding']);
  const body = await readInflated(req, { maxBytes, memory, ownerId, keepsStart: true });
  if (body === null) return null;
  try {
    return body.bytes.subarray(0, LIMITS.heartbeatLogBytes).toString();
  } finally {
    body.release();
  }
}

function answer({ req, res, requestId }: Exchange): void {
  if (res.destroyed) return;
  const isKept = keepsConnection(req);
  res.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': String(ANSWER.length),
    'x-request-id': requestId,
    ...(isKept ? {} : { connection: 'close' }),
  });
  if (isKept) return void res.end(ANSWER);
  res.write(ANSWER);
  // Closing at once would reset the connection, and the caller would never see the answer.
  discard(req, () => res.end());
}

// Accepts events. The hot path: bare node:http; the body's bytes are copied once into the event, and parsed
// only to check that they are JSON.
//
// The order is: find the trigger, check the caller, read the body, accept. A request that its head alone shows to be wrong
// is refused before its body is read.

import { createHash, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PLAIN_EMISSION } from '../../domain/emission.ts';
import { LINEAGE_HEADER } from '../../domain/endpoint.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WhenGone } from '../../domain/requests.ts';
import type { Trigger } from '../../domain/resource.ts';
import type { Idempotency } from '../../store/contract/store.ts';
import { bearerOf, ownerDeleted } from '../access/auth.ts';
import type { BodyMemory } from '../body/body-memory.ts';
import type { Accepted, HttpDeps } from '../deps.ts';
import { problemOf, writeProblem } from '../problem.ts';
import { CORS, writePreflight } from '../reports/cors.ts';
import { acceptReport, checkReportMethod } from '../reports/trigger.ts';
import type { Exchange } from '../response.ts';
import { isPartOfOwnPage } from '../session/same-origin.ts';
import { writeAnswer, writeEmitId } from './answer.ts';
import { eventBytes } from './event.ts';
import { checkIdempotencyKey } from './idempotency.ts';
import { checkEncoding, readInflated } from './inflate.ts';
import type { Place } from './place.ts';

/** What the ingress needs. */
export interface IngressDeps extends HttpDeps {
  readonly bodyMemory: BodyMemory;
}

export type Ingress = (req: IncomingMessage, res: ServerResponse, place: Place) => void;

export function createIngress(deps: IngressDeps, nextRequestId: () => string): Ingress {
  return (req, res, place) => {
    const requestId = nextRequestId();
    take(deps, { req, res, requestId }, place).catch((error: unknown) => {
      writeProblem(req, res, problemOf(error, requestId, deps));
    });
  };
}

async function take(deps: IngressDeps, { req, res, requestId }: Exchange, place: Place): Promise<void> {
  const trigger = place.key === null ? undefined : await deps.store.triggerByKey(place.key);
  if (trigger === undefined || trigger.kind === 'schedule') {
    throw new Refusal('not_found', 'There is no endpoint at this address, or its workflow or source is not active');
  }
  if (trigger.ownerPurgeAtMs !== undefined) throw ownerDeleted(trigger.ownerPurgeAtMs);
  if (trigger.kind === 'errors') return takeError(deps, { req, res, requestId }, trigger);
  checkCaller(req, trigger);
  deps.quotas.takeRequest(trigger.ownerId);
  const accepted = await acceptBody(deps, { req, res, trigger, place });
  if (accepted === null) return;
  const { appended } = accepted;
  if (!trigger.customResponse) return writeEmitId(res, appended.emitId, requestId);
  const answer = await answerOf(accepted, isOfSource(trigger));
  if (answer === null) writeEmitId(res, appended.emitId, requestId);
  else writeAnswer({ req, res, requestId }, answer, place);
}

const NO_ANSWER_OF_SOURCE =
  'The run of the source failed without respond(), which an http prop with customResponse asks for';

const CANCELLED = 'The run of the source was cancelled before it called respond()';

const STOPPING =
  'This process stops before the run has answered. The event is stored and will be run again: send it again only with the same Idempotency-Key, and you get its answer';

/** Its error, which quotes what was passed, is for its owner. */
const ANSWER_REFUSED =
  'The run failed, since what it passed to respond cannot be sent as an answer; its error says why';

/** When a caller whose workflow had no room may try again. */
const QUEUE_FULL_RETRY_S = 5;

interface TriggerCall {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly trigger: Trigger;
  readonly place: Place;
}

/** Throws `Refusal` for what the head alone shows to be wrong. */
function checkCaller(req: IncomingMessage, { tokenHash }: Trigger): void {
  const { headers } = req;
  if (isPartOfOwnPage(req)) throw new Refusal('forbidden', 'The answer of an endpoint is no script or style of a page');
  if (tokenHash !== null && !isBearer(headers.authorization, tokenHash)) {
    throw new Refusal('unauthenticated', 'This endpoint needs its token; send "Authorization: Bearer <token>"');
  }
  checkIdempotencyKey(headers['idempotency-key'] as string | undefined);
  checkEncoding(headers['content-encoding']);
}

/** Takes an error, in the same way. Pages of other origins may send there, and read the answer. */
async function takeError(deps: IngressDeps, { req, res, requestId }: Exchange, trigger: Trigger): Promise<void> {
  if (req.method === 'OPTIONS') return writePreflight(res, requestId);
  for (const [name, value] of Object.entries(CORS)) res.setHeader(name, value);
  checkReportMethod(req, res);
  checkCaller(req, trigger);
  deps.quotas.takeRequest(trigger.ownerId);
  const lineage = lineageOf(deps, req, trigger);
  const emitId = await withBody(deps, { req, trigger }, (body) => acceptReport(deps, req, { trigger, body, lineage }));
  if (emitId !== null) writeEmitId(res, emitId, requestId);
}

/** Returns null when the caller disconnected before the body's end. */
function acceptBody(deps: IngressDeps, incoming: TriggerCall): Promise<Accepted | null> {
  return withBody(deps, incoming, (body) => accept(deps, { ...incoming, body }));
}

async function withBody<T>(
  deps: IngressDeps,
  { req, trigger }: Pick<TriggerCall, 'req' | 'trigger'>,
  act: (body: Buffer) => Promise<T>,
): Promise<T | null> {
  const { maxBodyBytes: maxBytes, bodyMemory: memory } = deps;
  const body = await readInflated(req, { maxBytes, memory, ownerId: trigger.ownerId });
  if (body === null) return null;
  try {
    return await act(body.bytes);
  } finally {
    body.release();
  }
}

function accept(
  deps: HttpDeps,
  { req, res, trigger, body, place }: TriggerCall & { readonly body: Buffer },
): Promise<Accepted> {
  const verified = trigger.tokenHash !== null;
  deps.quotas.takeStored(trigger.ownerId, body.length);
  const emission = {
    ...PLAIN_EMISSION,
    ownerId: trigger.ownerId,
    lineage: lineageOf(deps, req, trigger),
    emitterId: trigger.id,
    originId: trigger.id,
    sourceType: 'HTTP',
    verified,
    body: eventBytes(req, body, {
      ...place,
      isVerified: verified,
      isForSource: isOfSource(trigger),
    }),
  } as const;
  const idempotency = idempotencyOf(req, { triggerId: trigger.id, pathStart: place.pathStart, body });
  const gone = trigger.customResponse ? { whenGone: whenGoneOf(res) } : {};
  return deps.actions.accept(emission, { idempotency, wantsAnswer: trigger.customResponse, ...gone });
}

/** Returns what led to a request of this server's own. Its header is not the event's. */
function lineageOf({ lineageIn }: HttpDeps, { headers }: IncomingMessage, { ownerId }: Trigger): readonly string[] {
  const header = headers[LINEAGE_HEADER];
  if (typeof header !== 'string') return PLAIN_EMISSION.lineage;
  delete headers[LINEAGE_HEADER];
  return lineageIn(header, ownerId);
}

function isOfSource({ runnableId }: Trigger): boolean {
  return runnableId.startsWith('dc_');
}

/**
 * Tells when the caller closes the connection before it is answered. The accepted event is processed all the same. (An
 * AbortSignal would make an exception with its stack for each answered request, 4 % of the server's time.)
 */
function whenGoneOf(res: ServerResponse): WhenGone {
  return (leave) => {
    if (res.destroyed) leave();
    else res.once('close', () => res.writableEnded || leave());
  };
}

interface HashedRequest {
  readonly triggerId: string;
  readonly pathStart: number;
  readonly body: Buffer;
}

/** Hashes what makes two requests different: method, path after the trigger's key, query, inflated body. */
function idempotencyOf(req: IncomingMessage, { triggerId, pathStart, body }: HashedRequest): Idempotency | undefined {
  const key = req.headers['idempotency-key'] as string | undefined;
  if (key === undefined) return undefined;
  const line = `${req.method} ${(req.url as string).slice(pathStart)}\n`;
  return { triggerId, key, requestHash: createHash('sha256').update(line).update(body).digest('base64') };
}

/**
 * Returns what the workflow answers; null when there is only the emit id to give. A repeated request gets the stored
 * answer, or waits with the first call for it. Many public sources call `respond` for some calls alone, such as the first one
 * of a service that checks the address: a source that took an event has not refused it.
 */
async function answerOf(accepted: Accepted, isSource: boolean) {
  const { repeated } = accepted.appended;
  if (repeated?.answer) return repeated.answer;
  if (accepted.answer === null) return null;
  const answered = await accepted.answer;
  if (answered.kind === 'answer') return answered.answer;
  if (answered.kind === 'timeout') throw new Refusal('run_timeout', 'The workflow did not answer within its time');
  if (answered.kind === 'full') {
    const detail = 'The queue of the workflow is full; the event is kept among its errors, and can be replayed';
    throw new Refusal('rate_limited', detail, { retryAfterS: QUEUE_FULL_RETRY_S });
  }
  if (answered.kind === 'stopping') throw new Refusal('unavailable', STOPPING);
  if (answered.kind === 'silent' && isSource) return null;
  if (answered.kind === 'cancelled' && isSource) throw new Refusal('no_answer', CANCELLED);
  if (answered.kind === 'refused') throw new Refusal('no_answer', ANSWER_REFUSED);
  throw new Refusal('no_answer', isSource ? NO_ANSWER_OF_SOURCE : 'No $.respond called in workflow');
}

/** Returns whether the header carries the token with this SHA-256 (hex), in constant time. */
function isBearer(authorization: string | undefined, tokenHash: string): boolean {
  const token = bearerOf(authorization);
  if (token === undefined) return false;
  const wanted = Buffer.from(tokenHash, 'hex');
  const given = hash('sha256', token, 'buffer');
  return wanted.length === given.length && timingSafeEqual(given, wanted);
}

// `/e/{key}…`: where events come in. The hot path: bare node:http, the body's bytes copied once into the event, parsed
// only to see that they are JSON.
//
// The order is: find the trigger, read the body, check the caller, accept. A refusal is given only once the body was
// read (413 apart), so that the connection stays good for the caller's next request.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { PLAIN_EMISSION } from '../../domain/emission.ts';
import { Refusal } from '../../domain/fault.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Trigger } from '../../domain/resource.ts';
import type { Idempotency } from '../../store/store.ts';
import { type BodyRead, readBody } from '../body.ts';
import type { Accepted, HttpDeps } from '../deps.ts';
import { problemOf, writeProblem } from '../problem.ts';
import { writeAnswer, writeEmitId } from './answer.ts';
import { isBearer } from './bearer.ts';
import { eventBytes } from './event.ts';
import { inflate } from './inflate.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Where the key begins in `/e/{key}`. */
const KEY_START = 3;

export function createIngress(deps: HttpDeps, nextRequestId: () => string): Handler {
  return (req, res) => {
    const requestId = nextRequestId();
    take(deps, { req, res, requestId }).catch((error: unknown) => {
      writeProblem(req, res, problemOf(error, { requestId, log: deps.log }));
    });
  };
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
}

async function take(deps: HttpDeps, exchange: Exchange): Promise<void> {
  const { req, res, requestId } = exchange;
  const pathStart = endOfKey(req.url as string);
  // Both are under way at once. Reading never rejects, so that it may wait for the lookup.
  const reading = readBody(req, deps.maxBodyBytes);
  const trigger = await deps.store.triggerByKey((req.url as string).slice(KEY_START, pathStart));
  const read = reading instanceof Promise ? await reading : reading;
  if (read.kind === 'aborted') return;
  const body = bytesOf(read, deps.maxBodyBytes);
  if (trigger === undefined || trigger.kind !== 'http') {
    throw new Refusal('not_found', 'There is no endpoint at this address, or its workflow or source is not active');
  }
  const encoding = req.headers['content-encoding'];
  const plain = encoding === undefined ? body : await inflate(body, encoding, deps.maxBodyBytes);
  const accepted = await accept(deps, { req, res, trigger, body: plain, pathStart });
  const { appended } = accepted;
  if (!trigger.customResponse) return writeEmitId(res, appended.emitId, requestId);
  const answer = await answerOf(accepted, isOfSource(trigger));
  if (answer === null) writeEmitId(res, appended.emitId, requestId);
  else writeAnswer(res, answer, requestId);
}

function endOfKey(url: string): number {
  for (let at = KEY_START; at < url.length; at++) {
    const code = url.charCodeAt(at);
    if (code === 0x2f || code === 0x3f) return at;
  }
  return url.length;
}

function bytesOf(read: BodyRead, maxBytes: number): Buffer {
  if (read.kind === 'whole') return read.bytes;
  throw new Refusal('too_large', `The body is larger than ${maxBytes} bytes`);
}

const NO_ANSWER_OF_SOURCE =
  'The run of the source ended without respond(), which an http prop with customResponse asks for';

/** When a caller may try again whose workflow had no room. */
const QUEUE_FULL_RETRY_S = 5;

interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly trigger: Trigger;
  readonly body: Buffer;
  /** Where the path after the key begins in the request's URL. */
  readonly pathStart: number;
}

function accept(deps: HttpDeps, { req, res, trigger, body, pathStart }: Incoming): Promise<Accepted> {
  const verified = trigger.tokenHash !== null;
  if (trigger.tokenHash !== null && !isBearer(req.headers.authorization, trigger.tokenHash)) {
    throw new Refusal('unauthenticated', 'This endpoint needs its token; send "Authorization: Bearer <token>"');
  }
  deps.quotas.takeRequest(trigger.ownerId);
  deps.quotas.takeStored(trigger.ownerId, body.length);
  const emission = {
    ...PLAIN_EMISSION,
    ownerId: trigger.ownerId,
    emitterId: trigger.id,
    originId: trigger.id,
    sourceType: 'HTTP',
    verified,
    body: eventBytes(req, body, {
      pathStart,
      publicUrl: deps.publicUrl(),
      isVerified: verified,
      withRaw: isOfSource(trigger),
    }),
  } as const;
  const idempotency = idempotencyOf(req, trigger.id);
  const gone = trigger.customResponse ? { gone: goneOf(res) } : {};
  return deps.actions.accept(emission, { idempotency, wantsAnswer: trigger.customResponse, ...gone });
}

function isOfSource({ runnableId }: Trigger): boolean {
  return runnableId.startsWith('dc_');
}

/** Its caller has closed the connection, or was answered. What was accepted goes on. */
function goneOf(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (res.destroyed) gone.abort();
  else res.once('close', () => gone.abort());
  return gone.signal;
}

function idempotencyOf(req: IncomingMessage, triggerId: string): Idempotency | undefined {
  const key = req.headers['idempotency-key'] as string | undefined;
  if (key === undefined) return undefined;
  if (key.length > 0 && key.length <= LIMITS.idempotencyKeyChars) return { triggerId, key };
  const message = `must have 1 to ${LIMITS.idempotencyKeyChars} characters, but has ${key.length}`;
  throw new Refusal('malformed', `Idempotency-Key ${message}`, {
    errors: [{ parameter: 'Idempotency-Key', message }],
  });
}

/**
 * What the workflow answers; null when there is only the emit id to give. A repeat gets the answer that is kept, or
 * waits with the first call for the one that is to come.
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
  throw new Refusal('no_answer', isSource ? NO_ANSWER_OF_SOURCE : 'No $.respond called in workflow');
}

// Takes errors from clients of Sentry: `/api/{project}/envelope/`, and `/api/{project}/store/` of older ones. Their key is one of
// ours with the scope `ingest` alone, since a DSN is written into programs and web pages.
//
// The order is that of the ingress: find the key, then its workflow, read the body, accept. 200 means that every error in it
// is on disk. An event that comes twice, with its id, is one error.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { workflowOfProject } from '../../domain/errors/dsn.ts';
import { type ApiKey, isIngestOnly } from '../../domain/keys.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ReportInput } from '../../domain/requests.ts';
import { auditRecordOf } from '../access/audit.ts';
import type { AuditLog } from '../access/audit-log.ts';
import { keyOf } from '../access/auth.ts';
import { KeyUses } from '../access/key-uses.ts';
import type { BodyMemory } from '../body/body-memory.ts';
import type { HttpDeps } from '../deps.ts';
import { checkEncoding, readInflated } from '../ingress/inflate.ts';
import { type Problem, problemOf, writeProblem } from '../problem.ts';
import type { Exchange } from '../response.ts';
import { AuditedReport } from './audited.ts';
import { CORS, writePreflight } from './cors.ts';
import { SENTRY_OPERATIONS } from './document.ts';
import { readEnvelope } from './envelope.ts';
import { eventIdOf, readSentryEvent, type SentryEvent } from './sentry-event.ts';
import { checkReportMethod } from './trigger.ts';

export interface SentryDeps extends HttpDeps {
  readonly bodyMemory: BodyMemory;
  readonly auditLog: AuditLog;
}

interface TakingDeps extends SentryDeps {
  readonly uses: KeyUses;
}

export type SentryEndpoint = (req: IncomingMessage, res: ServerResponse, place: SentryPlace) => void;

export interface SentryPlace {
  readonly project: string;
  readonly format: 'envelope' | 'store';
}

type Target = ReportInput['to'];

const ACCEPTED = 200;

const PLACE = /^\/api\/(\d{1,40})\/(envelope|store)\/?(?:\?|$)/;

/** Returns null for an address that is none of these endpoints. */
export function sentryPlace(url: string): SentryPlace | null {
  const [, project, format] = PLACE.exec(url) ?? [];
  return project === undefined ? null : { project, format: format as SentryPlace['format'] };
}

export function createSentryEndpoint(deps: SentryDeps, nextRequestId: () => string): SentryEndpoint {
  const uses = new KeyUses(deps.store);
  return (req, res, place) => {
    const requestId = nextRequestId();
    if (req.method === 'OPTIONS') return writePreflight(res, requestId);
    void answer({ ...deps, uses }, { req, res, requestId }, place);
  };
}

/** Answers. Without a good key there is no owner to record a refusal for. */
async function answer(deps: TakingDeps, exchange: Exchange, place: SentryPlace): Promise<void> {
  const { req, res, requestId } = exchange;
  let audited: AuditedReport | null = null;
  try {
    checkReportMethod(req, res);
    const key = await keyOf(deps.store, tokenIn(req));
    const operation = SENTRY_OPERATIONS[place.format];
    const targetId = workflowOfProject(place.project);
    audited = new AuditedReport(
      deps.auditLog,
      auditRecordOf(deps, { caller: key, operation, targetId, req, requestId }),
    );
    await take(deps, exchange, { ...place, key, audited });
    audited.end(ACCEPTED);
  } catch (error) {
    const problem = problemOf(error, requestId, deps);
    audited?.end(problem.status);
    writeProblem(req, res, refusedTo(problem));
  }
}

/** Returns the refusal with the headers by which clients of Sentry go. */
function refusedTo(problem: Problem): Problem {
  const { status, headers } = problem;
  const limits: Record<string, string> =
    status === 429 ? { 'x-sentry-rate-limits': `${headers['retry-after']}::organization` } : {};
  const { detail } = JSON.parse(problem.body) as { detail: string };
  const error = { 'x-sentry-error': detail.replace(/[^\x20-\x7e]/g, '?').slice(0, 500) };
  return { ...problem, headers: { ...headers, ...CORS, ...limits, ...error } };
}

async function take(
  deps: TakingDeps,
  { req, res, requestId }: Exchange,
  { project, format, key, audited }: SentryPlace & { key: ApiKey; audited: AuditedReport },
): Promise<void> {
  if (!isIngestOnly(key)) {
    throw new Refusal(
      'forbidden',
      `The key of a DSN must have the scope "ingest" alone; "${key.label}" has ${key.scopes.join(', ')}`,
    );
  }
  deps.uses.used(key, deps.store.clock.nowMs());
  const to = targetOf(key, project, () => audited.begin());
  checkEncoding(req.headers['content-encoding']);
  deps.quotas.takeRequest(key.ownerId);
  const { bodyMemory: memory } = deps;
  const body = await readInflated(req, { maxBytes: LIMITS.apiBodyBytes, memory, ownerId: key.ownerId });
  if (body === null) return;
  try {
    const id = await accept(deps, { key, to, format, body: body.bytes });
    writeId(res, id, requestId);
  } finally {
    body.release();
  }
}

const SENT_KEY = /(?:^|[\s,])sentry_key\s*=\s*([\x21-\x2b\x2d-\x7e]+)/i;

/** Returns the key that the request carries: in the query, or in a header of its own or that of HTTP. */
function tokenIn({ headers, url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  const inQuery = query < 0 ? null : new URLSearchParams(url.slice(query + 1)).get('sentry_key');
  const inHeader = SENT_KEY.exec(String(headers['x-sentry-auth'] ?? headers.authorization ?? ''))?.[1];
  const token = inHeader ?? inQuery;
  if (token !== null && token !== undefined && token !== '') return token;
  throw new Refusal(
    'unauthenticated',
    'The key of the DSN is missing: send X-Sentry-Auth with sentry_key, or sentry_key in the query',
  );
}

function targetOf({ workflowId: own, service }: ApiKey, project: string, beforeMaking: () => Promise<void>): Target {
  const workflowId = workflowOfProject(project);
  if (workflowId === null) throw new Refusal('not_found', `there is no project ${project}`);
  if (own === workflowId && service !== null) return { service, beforeMaking };
  if (own === null || own === workflowId) return { workflowId };
  throw new Refusal('forbidden', `This key reports errors of another project than ${project}`);
}

interface TakenRequest {
  readonly key: ApiKey;
  readonly to: Target;
  readonly format: SentryPlace['format'];
  readonly body: Buffer;
}

/** Returns the id to answer with. */
async function accept(deps: SentryDeps, { key, to, format, body }: TakenRequest): Promise<string | null> {
  const { eventId, payloads } = format === 'store' ? { eventId: null, payloads: [body] } : eventsIn(deps, body);
  const events = payloads.map((payload) => checkedEvent(payload, deps.maxBodyBytes));
  deps.quotas.takeStored(
    key.ownerId,
    payloads.reduce((bytes, { length }) => bytes + length, 0),
  );
  await Promise.all(events.map((event) => report(deps, { key, to, event })));
  return events.at(-1)?.eventId ?? eventIdOf(eventId);
}

/** Counts the items, and returns the payloads of those that are errors. */
function eventsIn({ metrics }: SentryDeps, body: Buffer): { eventId: string | null; payloads: readonly Buffer[] } {
  const { eventId, items } = readEnvelope(body);
  for (const { type } of items) metrics.enveloped(type === 'event' ? 'taken' : 'ignored');
  return { eventId, payloads: items.filter(({ type }) => type === 'event').map(({ payload }) => payload) };
}

function checkedEvent(payload: Buffer, maxBytes: number): SentryEvent {
  if (payload.length <= maxBytes) return readSentryEvent(payload);
  throw new Refusal('too_large', `The event has ${payload.length} bytes, but at most ${maxBytes} are taken`);
}

async function report(
  { actions }: SentryDeps,
  { key, to, event }: { key: ApiKey; to: Target; event: SentryEvent },
): Promise<void> {
  const { eventId, report } = event;
  await actions.reportError(key.ownerId, {
    to,
    report,
    originId: key.ownerId,
    sourceType: 'API',
    // A DSN is no secret.
    verified: false,
    idempotency: eventId === null ? undefined : { key: `sentry ${eventId}`, requestHash: eventId },
  });
}

function writeId(res: ServerResponse, id: string | null, requestId: string): void {
  if (res.destroyed) return;
  const body = id === null ? '{}' : `{"id":"${id}"}`;
  res.writeHead(200, {
    ...CORS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    'x-request-id': requestId,
  });
  res.end(body);
}

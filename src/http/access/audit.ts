// Audit records of every request that may change something: one that needs a scope, and is not GET or HEAD; and of the export of an
// owner, which takes everything out.
//
// A change is one transaction or several with hooks of code between them, so its record cannot be in the same transaction.
// The record is written before the handler runs, and completed with the status of the answer. No change is without a record:
// when the process dies in between, the record has no status; when the record cannot be written, nothing is changed, and the
// answer is 503. A request that is refused before its handler (403, 400) is recorded with its answer; refusals beyond a few
// are counted (audit-log.ts). A request without a good key (401) has no owner to record it for.

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { AuditRecord } from '../../domain/audit.ts';
import { PREFIX } from '../../domain/ids.ts';
import type { ApiKey } from '../../domain/keys.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { App } from '../app-type.ts';
import { isRecord } from '../body/json.ts';
import type { HttpDeps } from '../deps.ts';
import { clientIp } from '../server/client-ip.ts';
import { pathOf } from '../server/target.ts';
import type { AuditLog } from './audit-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Written before the handler ran: in the log of the key's owner, and in that of the owner that the request is about. */
    auditRecords: readonly AuditRecord[] | null;
    /** The records are complete. */
    isAudited: boolean;
  }
  interface FastifySchema {
    /** The path parameter that names what is changed; `answer`: the id of the created record. */
    auditTarget?: string;
    /** `refusals`: only those. `reading`: each request, though it changes nothing. */
    audits?: 'refusals' | 'reading';
  }
}

export function addAudit(app: App, deps: HttpDeps, log: AuditLog): void {
  app.decorateRequest('auditRecords', null);
  app.decorateRequest('isAudited', false);
  app.addHook('preHandler', async (request) => {
    if (isAudited(request) && !isOfRefusals(request)) await auditNow(deps, log, request);
  });
  app.addHook('preSerialization', (request, _reply, payload, done) => {
    if (request.auditRecords?.[0]?.targetId === null) {
      const targetId = idIn(payload);
      request.auditRecords = request.auditRecords.map((record) => ({ ...record, targetId }));
    }
    done(null, payload);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    end(deps, log, { request, status: reply.statusCode });
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    end(deps, log, { request, status: reply.statusCode });
    done();
  });
  app.addHook('onClose', () => log.flush());
}

/** Writes the records of a request before it changes anything. For routes whose requests seldom do: see `audits`. */
export async function auditNow(deps: HttpDeps, log: AuditLog, request: FastifyRequest): Promise<void> {
  const records = await recordsOf(deps, request);
  await log.put(records);
  request.auditRecords = records;
}

function isOfRefusals({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.schema?.audits === 'refusals';
}

const FIRST_REFUSAL = 400;

const READING: readonly string[] = ['GET', 'HEAD'];

function isAudited(request: FastifyRequest): boolean {
  const isChange = !READING.includes(request.method) || request.routeOptions.schema?.audits === 'reading';
  return isChange && !request.is404 && request.caller !== undefined && !request.isAudited;
}

async function recordsOf(deps: HttpDeps, request: FastifyRequest): Promise<AuditRecord[]> {
  const record = recordOf(deps, request);
  const { id = '' } = request.params as { id?: string };
  const isAbout = id.startsWith(PREFIX.owner) && id !== record.ownerId && (await deps.store.getOwner(id)) !== undefined;
  if (!isAbout) return [record];
  return [record, { ...record, id: deps.ids.next(PREFIX.audit), ownerId: id }];
}

function recordOf(deps: HttpDeps, { caller, params, raw, id, routeOptions }: FastifyRequest): AuditRecord {
  const { operationId: operation = '', auditTarget = 'id' } = routeOptions.schema ?? {};
  const targetId = (params as Record<string, string>)[auditTarget] ?? null;
  return auditRecordOf(deps, { caller, operation, targetId, req: raw, requestId: id });
}

export interface AuditedRequest extends Pick<AuditRecord, 'operation' | 'targetId' | 'requestId'> {
  readonly caller: ApiKey;
  readonly req: IncomingMessage;
}

/** Returns the record of a request that is not answered yet. */
export function auditRecordOf({ ids, store }: HttpDeps, request: AuditedRequest): AuditRecord {
  const { caller, operation, targetId, req, requestId } = request;
  return {
    id: ids.next(PREFIX.audit),
    ownerId: caller.ownerId,
    keyId: caller.id,
    keyLabel: caller.label,
    byOwnerId: caller.ownerId,
    operation,
    targetId,
    method: req.method ?? '',
    path: pathOf(req.url ?? '').slice(0, LIMITS.auditPathChars),
    clientIp: clientIp(req),
    requestId,
    status: null,
    count: 1,
    atMs: store.clock.nowMs(),
  };
}

/** Returns the id of the record in an answer, or of the first one; null when there is none. */
function idIn(payload: unknown): string | null {
  const data = isRecord(payload) ? payload.data : null;
  const made: unknown = Array.isArray(data) ? data[0] : data;
  return isRecord(made) && typeof made.id === 'string' ? made.id : null;
}

/** Records the status, once per request: it is known when the first byte of the answer is to be sent. */
function end(deps: HttpDeps, log: AuditLog, { request, status }: { request: FastifyRequest; status: number }): void {
  if (!isAudited(request)) return;
  request.isAudited = true;
  const { auditRecords } = request;
  if (auditRecords === null && isOfRefusals(request) && status < FIRST_REFUSAL) return;
  const records = auditRecords ?? [recordOf(deps, request)];
  log.ended(
    records.map((record) => ({ ...record, status })),
    { written: auditRecords !== null },
  );
}

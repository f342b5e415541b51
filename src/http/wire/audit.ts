// Records of the audit log as shown, and the filters of their list.

import type { Static } from 'typebox';
import type { AuditQuery, AuditRecord } from '../../domain/audit.ts';
import { LIMITS } from '../../domain/limits.ts';
import { id, msAt, nullable, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { TIME_WANTED, timeOf, wrong } from './times.ts';

export const AUDIT_RECORD = Type.Object(
  {
    id: id('au_'),
    at_ms: msAt('When the request came'),
    owner_id: id('u_', 'In whose log it stands.'),
    key_id: nullable(id('key_', 'The key of the request; null: the command line, on the store itself.')),
    key_label: text({ description: 'Label of that key.', example: 'deploy script' }),
    by_owner_id: nullable(id('u_', 'The owner of that key: another owner, when an admin’s key was used.')),
    operation: text({ description: '`operationId` of this document.', example: 'updateWorkflow' }),
    target_id: nullable(id('p_', 'The id of what was changed or created.')),
    method: text({ description: 'HTTP method of the request.', example: 'PUT' }),
    path: text({ description: 'Without the query string.', example: '/v1/workflows/p_0Vj3aBc9dEfGhIjK' }),
    client_ip: text({ description: 'The caller’s address: a proxy’s, if there is one.', example: '192.0.2.7' }),
    request_id: text({ description: 'The `x-request-id` of the answer.', example: 'req_0Vj3aBc9dEfGhIjK' }),
    status: nullable(
      Type.Integer({
        description:
          'What was answered; null while nothing was, and for ever when the process died meanwhile: then it may have been done.',
        examples: [200],
      }),
    ),
    count: Type.Integer({
      description: `How many requests it stands for. Of a key that is refused more than ${LIMITS.auditedRefusals} times within a minute, one record counts the rest, and shows the first of them.`,
      examples: [1],
    }),
  },
  { title: 'AuditRecord' },
);

export const AUDIT_QUERY = {
  key: Type.Optional(text({ description: 'Only by this key.', example: 'key_0Vj3aBc9dEfGhIjK' })),
  operation: Type.Optional(text({ description: 'Only this `operationId`.', example: 'updateWorkflow' })),
  target: Type.Optional(text({ description: 'Only changes of this one.', example: 'p_0Vj3aBc9dEfGhIjK' })),
  since: Type.Optional(text({ description: `From then on: ${TIME_WANTED}.`, example: '2026-01-31T12:00:00Z' })),
  until: Type.Optional(text({ description: 'Before then.', example: '2026-02-01T00:00:00Z' })),
};

const QUERY_OBJECT = Type.Object(AUDIT_QUERY);

export function auditQuery(ownerId: string, query: Static<typeof QUERY_OBJECT>): AuditQuery {
  const sinceMs = query.since === undefined ? undefined : timeOf('since', query.since);
  const untilMs = query.until === undefined ? undefined : timeOf('until', query.until);
  if (sinceMs !== undefined && untilMs !== undefined && untilMs <= sinceMs) {
    throw wrong('until', 'must be later than since', query.until);
  }
  return {
    ownerId,
    ...(query.key === undefined ? {} : { keyId: query.key }),
    ...(query.operation === undefined ? {} : { operation: query.operation }),
    ...(query.target === undefined ? {} : { targetId: query.target }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

export function auditToWire(record: AuditRecord): Static<typeof AUDIT_RECORD> {
  return {
    id: record.id,
    at_ms: record.atMs,
    owner_id: record.ownerId,
    key_id: record.keyId,
    key_label: record.keyLabel,
    by_owner_id: record.byOwnerId,
    operation: record.operation,
    target_id: record.targetId,
    method: record.method,
    path: record.path,
    client_ip: record.clientIp,
    request_id: record.requestId,
    status: record.status,
    count: record.count,
  };
}

// The audit log in the store. Same promises as store.ts.

import { type AuditQuery, type AuditRecord, firstIdAt } from '../../domain/audit.ts';
import { PREFIX } from '../../domain/ids.ts';
import type { Row } from '../rows/rows.ts';
import type { Page, PageQuery } from './records.ts';

export interface AuditStore {
  /**
   * Writes records, each with an id of its own, and deletes those with the ids in `dropped`. Of a record that is there
   * already, status, target and count are replaced: writing the same again changes nothing.
   */
  writeAudit(records: readonly AuditRecord[], dropped?: readonly string[]): Promise<void>;
  /** `prune` deletes what is older than retention. */
  listAudit(of: AuditQuery, page: PageQuery): Promise<Page<AuditRecord>>;
}

/** Of the table, in the order of `valuesOf`. */
export const AUDIT_COLUMNS = [
  'id',
  'owner_id',
  'key_id',
  'key_label',
  'by_owner_id',
  'operation',
  'target_id',
  'method',
  'path',
  'client_ip',
  'request_id',
  'status',
  'count',
  'at_ms',
] as const;

export function auditValuesOf(record: AuditRecord): (string | number | null)[] {
  return [
    record.id,
    record.ownerId,
    record.keyId,
    record.keyLabel,
    record.byOwnerId,
    record.operation,
    record.targetId,
    record.method,
    record.path,
    record.clientIp,
    record.requestId,
    record.status,
    record.count,
    record.atMs,
  ];
}

export function toAuditRecord(row: Row): AuditRecord {
  return {
    id: row.id as string,
    ownerId: row.owner_id as string,
    keyId: row.key_id as string | null,
    keyLabel: row.key_label as string,
    byOwnerId: row.by_owner_id as string | null,
    operation: row.operation as string,
    targetId: row.target_id as string | null,
    method: row.method as string,
    path: row.path as string,
    clientIp: row.client_ip as string,
    requestId: row.request_id as string,
    status: row.status as number | null,
    count: row.count as number,
    atMs: row.at_ms as number,
  };
}

/** Conditions by column; an id is of the time of its record. */
export function auditFilters(of: AuditQuery): readonly (readonly [condition: string, value: string])[] {
  const filters: [string, string | undefined][] = [
    ['owner_id =', of.ownerId],
    ['key_id =', of.keyId],
    ['operation =', of.operation],
    ['target_id =', of.targetId],
    ['id >=', of.sinceMs === undefined ? undefined : firstIdAt(PREFIX.audit, of.sinceMs)],
    ['id <', of.untilMs === undefined ? undefined : firstIdAt(PREFIX.audit, of.untilMs)],
  ];
  return filters.filter((filter): filter is [string, string] => filter[1] !== undefined);
}

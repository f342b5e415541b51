// The audit log in the store. Same promises as store.ts.

import { type AuditQuery, type AuditRecord, firstIdAt } from '../../domain/audit.ts';
import { PREFIX } from '../../domain/ids.ts';
import { number, numberOrNull, text, textOrNull } from '../rows/cells.ts';
import type { Row } from '../rows/rows.ts';
import type { Page, PageQuery } from './records.ts';

export interface AuditStore {
  /**
   * Writes records, each with its own id, and deletes those with the ids in `dropped`. Writing an existing record again replaces
   * its status, target and count.
   */
  writeAudit(records: readonly AuditRecord[], dropped?: readonly string[]): Promise<void>;
  /** Lists records. `prune` deletes those older than retention. */
  listAudit(of: AuditQuery, page: PageQuery): Promise<Page<AuditRecord>>;
}

export function toAuditRecord(row: Row): AuditRecord {
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    keyId: textOrNull(row, 'key_id'),
    keyLabel: text(row, 'key_label'),
    byOwnerId: textOrNull(row, 'by_owner_id'),
    operation: text(row, 'operation'),
    targetId: textOrNull(row, 'target_id'),
    method: text(row, 'method'),
    path: text(row, 'path'),
    clientIp: text(row, 'client_ip'),
    requestId: text(row, 'request_id'),
    status: numberOrNull(row, 'status'),
    count: number(row, 'count'),
    atMs: number(row, 'at_ms'),
  };
}

/** Returns conditions on columns, each with its value. An id holds the time of its record. */
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

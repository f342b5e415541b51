// The audit log.

import { type AuditRecord, firstIdAt } from '../../domain/audit.ts';
import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { type AuditStore, auditFilters, toAuditRecord } from '../contract/audit.ts';
import type { ConfigCore } from './config-database.ts';
import { readPage } from './pages.ts';
import { isAmong, isAmongRows, raw, type Sql, sql, tableOf } from './sql.ts';
import { all, type Steps, send } from './steps.ts';

const RECORDS_PER_STEP = 5000;

const COLUMNS = {
  id: 'text',
  owner_id: 'text',
  key_id: 'text',
  key_label: 'text',
  by_owner_id: 'text',
  operation: 'text',
  target_id: 'text',
  method: 'text',
  path: 'text',
  client_ip: 'text',
  request_id: 'text',
  status: 'bigint',
  count: 'bigint',
  at_ms: 'bigint',
} as const;

const NAMES = raw(Object.keys(COLUMNS).join(', '));

export function auditVerbs({ database }: ConfigCore): AuditStore {
  return {
    writeAudit: async (records, dropped = []) => {
      if (dropped.length === 0) return database.put(putAudit(records));
      await database.write(function* () {
        yield* send(putAudit(records));
        yield* send(sql`DELETE FROM audit WHERE id ${isAmong(dropped)}`);
      });
    },

    listAudit: (of, page) =>
      readPage(database, {
        from: raw('audit'),
        columns: raw('*'),
        where: auditFilters(of).map(([condition, value]) => sql`${raw(condition)} ${value}`),
        within: { column: raw('owner_id'), value: of.ownerId },
        countUpTo: LIMITS.countedRecords,
        page,
        map: toAuditRecord,
      }),
  };
}

/** Returns the statement that writes records, or completes those that are there. */
export function putAudit(records: readonly AuditRecord[]): Sql {
  return sql`INSERT INTO audit (${NAMES}) SELECT ${NAMES} FROM ${tableOf(COLUMNS, records.map(cellsOf))} WHERE true
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, target_id = excluded.target_id, count = excluded.count`;
}

/** Deletes old records in one bounded step. Returns whether there may be more. */
export function* pruneAudit(beforeMs: number): Steps<boolean> {
  const old = sql`SELECT id FROM audit WHERE id < ${firstIdAt(PREFIX.audit, beforeMs)} ORDER BY id LIMIT ${RECORDS_PER_STEP}`;
  const deleted = yield* all(sql`DELETE FROM audit WHERE id ${isAmongRows(old)} RETURNING 1 AS one`);
  return deleted.length === RECORDS_PER_STEP;
}

const cellsOf = (record: AuditRecord): Record<keyof typeof COLUMNS, string | number | null> => ({
  id: record.id,
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
  at_ms: record.atMs,
});

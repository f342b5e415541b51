// The audit log.

import { firstIdAt } from '../../../domain/audit.ts';
import { PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { AUDIT_COLUMNS, type AuditStore, auditFilters, auditValuesOf, toAuditRecord } from '../../contract/audit.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';

const RECORDS_PER_STEP = 5000;

const WRITE = `INSERT INTO audit (${AUDIT_COLUMNS.join(', ')}) VALUES (${AUDIT_COLUMNS.map(() => '?').join(',')})
  ON CONFLICT (id) DO UPDATE SET status = excluded.status, target_id = excluded.target_id, count = excluded.count`;

export function auditVerbs(core: Core): AuditStore {
  return {
    writeAudit: (records, dropped = []) =>
      core.batch.write(() => {
        for (const record of records) core.writer.run(WRITE, ...auditValuesOf(record));
        for (const id of dropped) core.writer.run('DELETE FROM audit WHERE id = ?', id);
      }),

    listAudit: async (of, page) => {
      const filters = auditFilters(of);
      const listing = {
        from: 'audit',
        columns: '*',
        key: 'id',
        where: filters.map(([condition]) => `${condition} ?`),
        values: filters.map(([, value]) => value),
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(core.reader, listing, { page, map: toAuditRecord });
    },
  };
}

/** One bounded step of retention. Whether there may be more. */
export function pruneAudit({ writer }: Core, beforeMs: number): boolean {
  const deleted = writer.run(
    `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE id < ? ORDER BY id LIMIT ${RECORDS_PER_STEP})`,
    firstIdAt(PREFIX.audit, beforeMs),
  );
  return deleted === RECORDS_PER_STEP;
}

// The audit log. Written over the pool: a record waits for no other write, and nothing of it is kept from one try to the next.

import { firstIdAt } from '../../../domain/audit.ts';
import { PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { AUDIT_COLUMNS, type AuditStore, auditFilters, auditValuesOf, toAuditRecord } from '../../contract/audit.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';

const RECORDS_PER_STEP = 5000;

const TYPES: Partial<Record<(typeof AUDIT_COLUMNS)[number], string>> = {
  status: 'int',
  count: 'bigint',
  at_ms: 'bigint',
};

const DROPPED = `$${AUDIT_COLUMNS.length + 1}`;

const WRITE = `WITH dropped AS (DELETE FROM audit WHERE id = ANY (${DROPPED}::text[]))
  INSERT INTO audit (${AUDIT_COLUMNS.join(', ')})
  SELECT * FROM unnest(${AUDIT_COLUMNS.map((column, i) => `$${i + 1}::${TYPES[column] ?? 'text'}[]`).join(', ')})
  ON CONFLICT (id) DO UPDATE SET status = excluded.status, target_id = excluded.target_id, count = excluded.count`;

export function auditVerbs({ pool }: Core): AuditStore {
  return {
    writeAudit: async (records, dropped = []) => {
      const rows = records.map(auditValuesOf);
      // As a read: after a connection that broke it is tried again, since a second time changes nothing.
      const columns = AUDIT_COLUMNS.map((_, i) => arrayLiteral(rows.map((row) => row[i] ?? null)));
      await pool.all(WRITE, ...columns, arrayLiteral(dropped));
    },

    listAudit: (of, page) => {
      const filters = auditFilters(of);
      const listing = {
        from: 'audit',
        columns: '*',
        key: 'id',
        where: filters.map(([condition], i) => `${condition} $${i + 1}`),
        values: filters.map(([, value]) => value),
        within: { column: 'owner_id', place: '$1' },
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: toAuditRecord });
    },
  };
}

/** In bounded steps, until there is no more. */
export async function pruneAudit({ pool }: Core, beforeMs: number): Promise<void> {
  for (;;) {
    const gone = await pool.write(
      `DELETE FROM audit WHERE id = ANY (ARRAY(SELECT id FROM audit WHERE id < $1 ORDER BY id LIMIT ${RECORDS_PER_STEP}))
        RETURNING 1`,
      firstIdAt(PREFIX.audit, beforeMs),
    );
    if (gone.length < RECORDS_PER_STEP) return;
  }
}

// Emissions that wait for their time.

import { LIMITS } from '../../../domain/limits.ts';
import type { LaterStore } from '../../contract/resources.ts';
import { toEmissionRecord } from '../../rows/log-rows.ts';
import type { Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';

export function laterVerbs(core: Core): LaterStore {
  const { pool } = core;
  return {
    listLater: (ownerId, sourceId, page, withBody) => {
      const listing = {
        from: 'later_emissions',
        columns: `entry, due_at_ms, emitter_id, name, summary, item_id, item_ts, NULL::text AS code${withBody ? ', body' : ''}`,
        key: 'entry',
        where: ['emitter_id = $1', 'owner_id = $2'],
        values: [sourceId, ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      const map = (row: Row) => ({ ...toEmissionRecord(row, core), dueAtMs: row.due_at_ms as number });
      return readPage(pool, listing, { page, map });
    },

    deleteLater: async ({ ownerId, sourceId, from, to }) => {
      const [row] = await core.config.transact((tx) =>
        tx.query(
          `WITH gone AS (DELETE FROM later_emissions WHERE emitter_id = $1 AND owner_id = $2
              AND entry >= $3::bigint AND entry <= $4::bigint RETURNING 1)
            SELECT count(*) AS n FROM gone`,
          sourceId,
          ownerId,
          from,
          to,
        ),
      );
      return row?.n as number;
    },
  };
}

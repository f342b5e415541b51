// Emissions that wait for their time.

import { LIMITS } from '../../../domain/limits.ts';
import type { LaterStore } from '../../contract/resources.ts';
import type { Claims } from '../../contract/store.ts';
import { writeEmission } from '../../log/write-emission.ts';
import { NOT_OF_SOURCES, toEmissionRecord } from '../../rows/log-rows.ts';
import type { Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';
import { toEmission } from '../rows.ts';
import type { PlannedLogWriter } from './log-writer.ts';

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

/** The rows are deleted in the transaction that emits them: of several nodes that want one, one has it. */
export function releaseLater(log: PlannedLogWriter): { claims: Claims; isMore: boolean } {
  const { pass } = log;
  const due = pass.due('dueLater');
  for (const row of due) {
    const { entry: _entry, emitId: _emitId, ...made } = toEmission({ ...row, ...NOT_OF_SOURCES }, pass.core);
    // Its source was deleted meanwhile.
    if (pass.runnable(made.ownerId, made.emitterId)) writeEmission(log, made);
  }
  return { claims: log.claims, isMore: due.length === LIMITS.laterStep };
}

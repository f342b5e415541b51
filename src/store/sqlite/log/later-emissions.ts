// Emissions that wait for their time.

import { LIMITS } from '../../../domain/limits.ts';
import type { EventsOf, LaterStore } from '../../contract/resources.ts';
import type { Claims } from '../../contract/store.ts';
import { writeEmission } from '../../log/write-emission.ts';
import { NOT_OF_SOURCES, toEmissionRecord } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { readPage } from '../pages.ts';
import type { SqliteLogWriter } from './log-writer.ts';
import { toEmission } from './rows.ts';

export function laterVerbs(core: Core): LaterStore {
  return {
    listLater: async (ownerId, sourceId, page, withBody) => {
      const listing = {
        from: 'later_emissions',
        columns: `entry, due_at_ms, emitter_id, name, summary, item_id, item_ts, NULL AS code${withBody ? ', body' : ''}`,
        key: 'entry',
        where: ['emitter_id = ?', 'owner_id = ?'],
        values: [sourceId, ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      const map = (row: Row) => ({ ...toEmissionRecord(row, core), dueAtMs: row.due_at_ms as number });
      return readPage(core.reader, listing, { page, map });
    },

    deleteLater: ({ ownerId, sourceId, from, to }) =>
      core.batch.write(() =>
        core.writer.run(
          'DELETE FROM later_emissions WHERE emitter_id = ? AND owner_id = ? AND entry >= ? AND entry <= ?',
          sourceId,
          ownerId,
          from,
          to,
        ),
      ),
  };
}

/** In the transaction that emits it, it waits no longer. */
export function releaseLater(core: Core, w: SqliteLogWriter): { claims: Claims; isMore: boolean } {
  const due = core.writer.all(
    `SELECT * FROM later_emissions WHERE due_at_ms <= ? ORDER BY due_at_ms, entry LIMIT ${LIMITS.laterStep}`,
    w.tx.nowMs,
  );
  for (const row of due) {
    core.writer.run('DELETE FROM later_emissions WHERE entry = ?', row.entry as number);
    const { entry: _entry, emitId: _emitId, ...made } = toEmission({ ...row, ...NOT_OF_SOURCES }, core);
    writeEmission(w, made);
  }
  return { claims: w.claims, isMore: due.length === LIMITS.laterStep };
}

/** Conditions on the events of a source, behind those that all have. */
export function selected({ name, from, to }: EventsOf): { where: string; values: (string | number)[] } {
  const range = { where: ' AND entry >= ? AND entry <= ?', values: [from, to] };
  return name === null ? range : { where: `${range.where} AND name = ?`, values: [...range.values, name] };
}

// Emissions that wait for their time.

import { LIMITS } from '../../../domain/limits.ts';
import type { EventsOf, LaterStore } from '../../contract/resources.ts';
import { toEmissionRecord } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { readPage } from '../pages.ts';

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

/** Conditions on the events of a source, behind those that all have. */
export function selected({ name, from, to }: EventsOf): { where: string; values: (string | number)[] } {
  const range = { where: ' AND entry >= ? AND entry <= ?', values: [from, to] };
  return name === null ? range : { where: `${range.where} AND name = ?`, values: [...range.values, name] };
}

// Sources: their records, their db, and the events that they emitted.

import { LIMITS } from '../../domain/limits.ts';
import type { SourceStore } from '../contract/resources.ts';
import { text } from '../rows/cells.ts';
import { toSource } from '../rows/runnable-rows.ts';
import type { ConfigCore } from './config-database.ts';
import { readPage } from './pages.ts';
import { deleteRunnable, insertRunnable, updateRunnable } from './runnables.ts';
import { endChange, goOnChanging, insertChange, isOurs } from './source-changes.ts';
import { raw, sql } from './sql.ts';

export function sourceVerbs({ database, seal }: ConfigCore): SourceStore {
  const { marks } = database;
  return {
    createSource: (write) =>
      database.writeRouting(write.source.ownerId, function* (w) {
        const { id: sourceId, ownerId } = write.source;
        yield* insertRunnable({ ...write, record: write.source, seal });
        if (write.goesOn) yield* insertChange(w, marks, { ownerId, sourceId, kind: 'create' });
      }),

    updateSource: (write) =>
      database.writeListener(write.source, function* (w) {
        const { id: sourceId, ownerId } = write.source;
        const which = { ownerId, sourceId };
        const isOwn = write.goesOn ? yield* goOnChanging(w, marks, which) : yield* endChange(marks, which);
        return isOwn && (yield* updateRunnable(w, { ...write, record: write.source, seal }));
      }),

    deleteSource: async (ownerId, id) => {
      if (!id.startsWith('dc_')) return false;
      // The row before its mark: see source-changes.ts.
      const only = sql`EXISTS (SELECT 1 FROM source_changes WHERE source_id = ${id} AND ${isOurs(marks)})`;
      return database.writeListener({ ownerId, id }, (w) => deleteRunnable(w, { ownerId, id }, only));
    },

    getSource: async (ownerId, id) => {
      if (!id.startsWith('dc_')) return undefined;
      const row = await database.get(sql`SELECT * FROM runnables WHERE id = ${id} AND owner_id = ${ownerId}`);
      return row && toSource(row, seal);
    },

    listSources: (ownerId, page) =>
      readPage(database, {
        from: raw('runnables'),
        columns: raw('*'),
        where: [sql`owner_id = ${ownerId} AND substr(id, 1, 3) = 'dc_'`],
        countUpTo: LIMITS.countedRecords,
        page,
        map: (row) => toSource(row, seal),
      }),

    readSourceDb: async (sourceId) => {
      const rows = await database.all(sql`SELECT name, value FROM source_db WHERE source_id = ${sourceId}`);
      return Object.fromEntries(rows.map((row) => [text(row, 'name'), text(row, 'value')]));
    },

    deleteSourceEvents: database.hideEvents,
  };
}

// Event sources: their records, their db, and the events that they emitted.

import { ERRORS } from '../../../domain/emission.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { ALL_EVENTS, type SourceStore } from '../../contract/resources.ts';
import { toSource } from '../../rows/runnable-rows.ts';
import type { Core } from '../core.ts';
import { selected } from '../log/later-emissions.ts';
import { readPage } from '../pages.ts';
import { configWrite } from './config-write.ts';
import { deleteRunnable, insertRunnable, updateRunnable } from './runnables.ts';
import { endChange, goOnChanging, insertChange } from './source-changes.ts';

const whichOf = ({ ownerId, id: sourceId }: { ownerId: string; id: string }) => ({ ownerId, sourceId });

export function sourceVerbs(core: Core): SourceStore {
  const { reader } = core;
  return {
    createSource: (write) =>
      configWrite(core, (tx) => {
        insertRunnable(core, { ...write, record: write.source });
        if (write.goesOn) insertChange(core, tx, { ...whichOf(write.source), kind: 'create' });
      }),
    updateSource: (write) =>
      configWrite(core, (tx) => {
        const which = whichOf(write.source);
        const isHeld = write.goesOn ? goOnChanging(core, tx, which) : endChange(core, which);
        return isHeld && updateRunnable(core, { ...write, record: write.source });
      }),
    deleteSource: (ownerId, id) =>
      configWrite(
        core,
        (tx) => endChange(core, { ownerId, sourceId: id }) && deleteRunnable(core, tx, { ownerId, id }),
      ),

    getSource: async (ownerId, id) => {
      if (!id.startsWith('dc_')) return undefined;
      const row = reader.get('SELECT * FROM runnables WHERE id = ? AND owner_id = ?', id, ownerId);
      return row && toSource(row, core.seal);
    },

    listSources: async (ownerId, page) => {
      const listing = {
        from: 'runnables',
        columns: '*',
        key: 'id',
        where: ['owner_id = ?', "id GLOB 'dc_*'"],
        values: [ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(reader, listing, { page, map: (row) => toSource(row, core.seal) });
    },

    readSourceDb: async (sourceId) => {
      const rows = reader.all('SELECT name, value FROM source_db WHERE source_id = ?', sourceId);
      return Object.fromEntries(rows.map((row) => [row.name as string, row.value as string]));
    },

    // The emissions stay in the log for the runs and deliveries that point at them; the source just lists them no more.
    deleteSourceEvents: (ownerId, sourceId, which = ALL_EVENTS) => {
      const { where, values } = selected(which);
      return core.batch.write(() =>
        core.writer.run(
          `UPDATE emissions SET flags = flags & ~8
            WHERE emitter_id = ? AND owner_id = ? AND flags & 8 AND name <> ?${where}`,
          sourceId,
          ownerId,
          ERRORS,
          ...values,
        ),
      );
    },
  };
}

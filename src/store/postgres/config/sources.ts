// Event sources: their records, their db, and the events that they emitted.

import { ERRORS } from '../../../domain/emission.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { ALL_EVENTS, type EventsOf, type SourceStore } from '../../contract/resources.ts';
import { toSource } from '../../rows/runnable-rows.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';
import { configWrite, lineWrite } from './config-write.ts';
import { deleteRunnable, insertRunnable, updateRunnable } from './runnables.ts';
import { holdsChange, insertChange } from './source-changes.ts';

/** Events hidden by one statement: a source may have millions, and a statement has its time limit. */
const EVENTS_PER_STEP = 20_000;

const whichOf = ({ ownerId, id: sourceId }: { ownerId: string; id: string }) => ({ ownerId, sourceId });

export function sourceVerbs(core: Core): SourceStore {
  const { pool } = core;
  return {
    createSource: (write) =>
      configWrite(core, write.source.ownerId, async (w) => {
        await insertRunnable(w.tx, { ...write, record: write.source, seal: core.seal });
        if (write.goesOn) insertChange(core, w, { ...whichOf(write.source), kind: 'create' });
      }),
    updateSource: (write) =>
      lineWrite(core, write.source, async (w) => {
        const isLast = write.goesOn !== true;
        if (!(await holdsChange(core, w, { ...whichOf(write.source), isLast }))) return false;
        return updateRunnable(w.tx, { ...write, record: write.source, seal: core.seal });
      }),
    deleteSource: async (ownerId, id) => id.startsWith('dc_') && deleteRunnable(core, { ownerId, id }),

    getSource: async (ownerId, id) => {
      if (!id.startsWith('dc_')) return undefined;
      const row = await pool.get('SELECT * FROM runnables WHERE id = $1 AND owner_id = $2', id, ownerId);
      return row && toSource(row, core.seal);
    },

    listSources: (ownerId, page) => {
      const listing = {
        from: 'runnables',
        columns: '*',
        key: 'id',
        where: ['owner_id = $1', "id LIKE 'dc\\_%'"],
        values: [ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: (row) => toSource(row, core.seal) });
    },

    readSourceDb: async (sourceId) => {
      const rows = await pool.all('SELECT name, value FROM source_db WHERE source_id = $1', sourceId);
      return Object.fromEntries(rows.map((row) => [row.name as string, row.value as string]));
    },

    deleteSourceEvents: (ownerId, sourceId, which = ALL_EVENTS) =>
      core.config.transact((tx) => hideEvents(tx, { ownerId, sourceId, ...which })),
  };
}

/**
 * The emissions stay in the log for the runs and deliveries that point at them; the source just lists them no more.
 * Walks along the index of what is listed: each step would otherwise begin with all that the ones before have hidden.
 */
async function hideEvents(tx: Tx, of: EventsOf & { ownerId: string; sourceId: string }): Promise<number> {
  let hidden = 0;
  for (let last = { name: '', entry: 0 }; ; ) {
    const [step] = await tx.query(
      `WITH events AS (SELECT entry, name FROM emissions
          WHERE emitter_id = $1 AND owner_id = $2 AND listed AND name <> '${ERRORS}' AND (name, entry) > ($3, $4::bigint)
            AND entry >= $5::bigint AND entry <= $6::bigint AND ($7::text IS NULL OR name = $7::text)
          ORDER BY name, entry LIMIT ${EVENTS_PER_STEP}),
        hidden AS (UPDATE emissions AS e SET listed = false FROM events WHERE e.entry = events.entry)
        SELECT name, entry, (SELECT count(*) FROM events) AS n FROM events ORDER BY name DESC, entry DESC LIMIT 1`,
      of.sourceId,
      of.ownerId,
      last.name,
      last.entry,
      of.from,
      of.to,
      of.name,
    );
    if (!step) return hidden;
    hidden += step.n as number;
    if ((step.n as number) < EVENTS_PER_STEP) return hidden;
    last = { name: step.name as string, entry: step.entry as number };
  }
}

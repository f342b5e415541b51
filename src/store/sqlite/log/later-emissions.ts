// Emissions that wait for their time.

import type { NewEmission } from '../../../domain/emission.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { EventsOf, LaterStore } from '../../contract/resources.ts';
import type { Claims } from '../../contract/store.ts';
import { NOT_OF_SOURCES, toEmissionRecord } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { readPage } from '../pages.ts';
import { flagsOf, toEmission } from './rows.ts';
import { claimsOf, type Writing, writeEmission } from './write.ts';

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

/** What a run has emitted: at once, or when its time has come. Returns the entries of what is emitted now. */
export function emitOrKeep(core: Core, w: Writing, emissions: readonly NewEmission[]): number[] {
  const entries: number[] = [];
  for (const made of emissions) {
    const { deliverAtMs = null } = made;
    if (deliverAtMs === null || deliverAtMs <= w.tx.nowMs) entries.push(writeEmission(core, w, made).emission.entry);
    else keep(core, w, { made, dueAtMs: deliverAtMs });
  }
  return entries;
}

function keep(core: Core, w: Writing, { made, dueAtMs }: { made: NewEmission; dueAtMs: number }): void {
  // Its source was deleted while it ran.
  if (!core.routes.runnable(made.emitterId)) return;
  const entry = w.tx.number();
  w.tx.kept();
  core.writer.run(
    `INSERT INTO later_emissions (entry, due_at_ms, owner_id, emitter_id, name, source_type, origin_id, flags, trace_id,
      lineage, hops, cause_run, summary, item_id, item_ts, body) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
    entry,
    dueAtMs,
    made.ownerId,
    made.emitterId,
    made.name,
    made.sourceType,
    made.originId,
    flagsOf(made),
    made.traceId ?? '',
    made.lineage.join(' '),
    made.hops,
    made.causeRun,
    made.summary,
    made.itemId,
    made.itemTs,
    made.body,
  );
}

/** In the transaction that emits it, it waits no longer. */
export function releaseLater(core: Core, w: Writing): { claims: Claims; isMore: boolean } {
  const due = core.writer.all(
    `SELECT * FROM later_emissions WHERE due_at_ms <= ? ORDER BY due_at_ms, entry LIMIT ${LIMITS.laterStep}`,
    w.tx.nowMs,
  );
  for (const row of due) {
    core.writer.run('DELETE FROM later_emissions WHERE entry = ?', row.entry as number);
    const { entry: _entry, emitId: _emitId, ...made } = toEmission({ ...row, ...NOT_OF_SOURCES }, core);
    writeEmission(core, w, made);
  }
  return { claims: claimsOf(w), isMore: due.length === LIMITS.laterStep };
}

/** Conditions on the events of a source, behind those that all have. */
export function selected({ name, from, to }: EventsOf): { where: string; values: (string | number)[] } {
  const range = { where: ' AND entry >= ? AND entry <= ?', values: [from, to] };
  return name === null ? range : { where: `${range.where} AND name = ?`, values: [...range.values, name] };
}

// Sources: their records, their db, and the events that they emitted.

import { ERRORS } from '../../domain/emission.ts';
import { LIMITS } from '../../domain/limits.ts';
import { SOURCE_STATE, type StateValue } from '../../domain/run/source-state.ts';
import { ALL_EVENTS, type EventsOf, type SourceStore } from '../contract/resources.ts';
import { LISTED } from '../log/log-tables.ts';
import { number, text, textOrNull } from '../rows/cells.ts';
import type { Row } from '../rows/rows.ts';
import { toConfiguredSource, toSource } from '../rows/runnable-rows.ts';
import type { ConfigCore } from './config-database.ts';
import { readPage } from './pages.ts';
import { deleteRunnable, insertRunnable, updateRunnable } from './runnables.ts';
import { endChange, goOnChanging, insertChange, isOurs } from './source-changes.ts';
import { differs, isAmongRows, raw, sql } from './sql.ts';
import { all, type Steps } from './steps.ts';
import { exists, putSubscriptions } from './subscriptions.ts';

const FROM = raw('runnables AS r LEFT JOIN codes AS c ON c.owner_id = r.owner_id AND c.hash = r.component_code_hash');

const COLUMNS = raw('r.*, coalesce(c.text, r.component_code) AS code');

export function sourceVerbs({ database, seal }: ConfigCore): SourceStore {
  const { marks } = database;
  return {
    createSource: (write) =>
      database.writeRouting(write.source.ownerId, function* (w) {
        const { id: sourceId, ownerId } = write.source;
        const { listeners = [] } = write;
        for (const { listenerId } of listeners) if (!(yield* exists(ownerId, listenerId))) return listenerId;
        yield* insertRunnable({ ...write, record: write.source, seal });
        yield* putSubscriptions(listeners);
        if (write.goesOn) yield* insertChange(w, marks, { ownerId, sourceId, kind: 'create' });
        return null;
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
      const row = await database.get(
        sql`SELECT ${COLUMNS} FROM ${FROM} WHERE r.id = ${id} AND r.owner_id = ${ownerId}`,
      );
      return row && toSource(row, seal);
    },

    getConfiguredSource: async (ownerId, id) => {
      if (!id.startsWith('dc_')) return undefined;
      const row = await database.get(sql`SELECT * FROM runnables WHERE id = ${id} AND owner_id = ${ownerId}`);
      return row && toConfiguredSource(row, seal);
    },

    listSources: (ownerId, page) =>
      readPage(database, {
        from: FROM,
        countFrom: raw('runnables AS r'),
        columns: COLUMNS,
        where: [sql`r.owner_id = ${ownerId} AND substr(r.id, 1, 3) = 'dc_'`],
        countUpTo: LIMITS.countedRecords,
        page,
        map: (row) => toSource(row, seal),
      }),

    readSourceDb: async (sourceId) => {
      const rows = await database.all(sql`SELECT name, value FROM source_db WHERE source_id = ${sourceId}`);
      return Object.fromEntries(rows.map((row) => [text(row, 'name'), text(row, 'value')]));
    },

    readMemory: async (ownerId, id) => {
      if (!(await database.get(sql`SELECT 1 AS one FROM runnables WHERE id = ${id} AND owner_id = ${ownerId}`)))
        return undefined;
      const [values, seen] = await Promise.all([
        database.all(sql`SELECT name, value FROM source_db WHERE source_id = ${id} ORDER BY ${BY_NAME}`),
        database.all(sql`SELECT item_id FROM dedupe WHERE source_id = ${id} ORDER BY entry`),
      ]);
      const db = values.map((row) => ({ name: text(row, 'name'), value: text(row, 'value') }));
      return { db, seenIds: seen.map((row) => text(row, 'item_id')) };
    },

    sourceState: async (ownerId, sourceId, skip = 0) => {
      const kept = sql`source_db WHERE source_id = ${sourceId}`;
      const [row] = await database.all(sql`SELECT (SELECT count(*) FROM ${kept}) AS total
        FROM runnables WHERE id = ${sourceId} AND owner_id = ${ownerId} AND substr(id, 1, 3) = 'dc_'`);
      if (!row) return undefined;
      const { values, nameChars, valueChars } = SOURCE_STATE;
      const rows = await database.all(sql`SELECT CASE WHEN length(name) <= ${nameChars} THEN name END AS name,
          CASE WHEN length(name) <= ${nameChars} AND length(value) <= ${valueChars} THEN value END AS value,
          length(value) AS chars
        FROM ${kept} ORDER BY ${BY_NAME} LIMIT ${values} OFFSET ${skip}`);
      return { count: number(row, 'total'), values: rows.map(toStateValue) };
    },

    deleteSourceEvents: (ownerId, sourceId, which = ALL_EVENTS) =>
      database.write(() => hideEvents({ ownerId, sourceId, ...which })),
  };
}

/** In the order of its bytes, as SQLite has it. */
const BY_NAME = sql`${differs({ sqlite: 'source_db.name', postgres: 'source_db.name COLLATE "C"' })}`;

function toStateValue(row: Row): StateValue {
  return { name: textOrNull(row, 'name'), value: textOrNull(row, 'value'), chars: number(row, 'chars') };
}

/** Events that one statement hides: a source may have millions, and statements have a time limit. */
const EVENTS_PER_STEP = 20_000;
const HIDDEN = differs({ sqlite: 'flags = flags & ~8', postgres: 'listed = false' });

/**
 * Hides events in lists. The emissions stay in the log for the runs and deliveries that refer to them. Each step goes on along
 * the index of listed events: otherwise it would begin with all that earlier steps have hidden.
 */
function* hideEvents(of: EventsOf & { readonly ownerId: string; readonly sourceId: string }): Steps<number> {
  const named = of.name === null ? sql`` : sql`AND name = ${of.name}`;
  let hidden = 0;
  for (let last = { name: '', entry: 0 }; ; ) {
    const next = sql`SELECT entry FROM emissions WHERE emitter_id = ${of.sourceId} AND owner_id = ${of.ownerId} AND ${LISTED}
      AND name <> '${raw(ERRORS)}' AND (name, entry) > (${last.name}, ${last.entry})
      AND entry >= ${of.from} AND entry <= ${of.to} ${named} ORDER BY name, entry LIMIT ${EVENTS_PER_STEP}`;
    const step = yield* all(sql`UPDATE emissions SET ${HIDDEN} WHERE entry ${isAmongRows(next)} RETURNING name, entry`);
    hidden += step.length;
    if (step.length < EVENTS_PER_STEP) return hidden;
    for (const row of step) {
      const [name, entry] = [text(row, 'name'), number(row, 'entry')];
      if (name > last.name || (name === last.name && entry > last.entry)) last = { name, entry };
    }
  }
}

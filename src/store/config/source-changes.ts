// Marks of sources that are being changed, each with the process that changes it.
//
// Locks: a write of a source locks its queue, the owner's version, the mark, and then its row. Beginning a change locks the
// row (so that it is not deleted meanwhile) and then the mark. A deletion therefore locks the row before the mark.

import { HOOK_NAMES } from '../../domain/emission.ts';
import { NUMBERS_PER_MS } from '../../domain/ids.ts';
import { type SourceChange, type SourceChangeStore, toHookRuns, toSourceChange } from '../contract/source-changes.ts';
import type { ChangeMarks, ConfigCore, Writing } from './config-database.ts';
import { differs, FOR_KEY_SHARE, isNotAmong, raw, type Sql, sql } from './sql.ts';
import { all, get, type Steps } from './steps.ts';

/** Returns a condition on a mark: this process made it. */
export const isOurs = ({ column, self }: ChangeMarks): Sql => sql`${column} = ${self()}`;

export function sourceChangeVerbs({ database }: ConfigCore): SourceChangeStore {
  const { marks } = database;
  return {
    beginSourceChange: async (change) => {
      if (!change.sourceId.startsWith('dc_')) return undefined;
      return database.write((w) => beginChange(w, marks, change));
    },

    endSourceChange: (ownerId, sourceId) => database.write(() => endChange(marks, { ownerId, sourceId })),

    takeSourceChanges: (underWay) =>
      database.write(function* () {
        const taken = yield* all(sql`UPDATE source_changes AS c SET ${marks.column} = ${marks.self()}
          WHERE source_id ${isNotAmong(underWay)} AND (${isOurs(marks)} OR ${marks.isAbandoned()})
          RETURNING owner_id, source_id, kind`);
        return taken.map(toSourceChange);
      }),

    hookRuns: async (ownerId, sourceId) => toHookRuns(await database.all(hookRunsOf(marks, { ownerId, sourceId }))),
  };
}

const HOOKS = HOOK_NAMES.map((name) => `'${name}'`).join(', ');

/**
 * Returns a condition, as text, on an expired run `o` with the emission `e`: it is a hook, and the process that finishes its change
 * runs its own. `isAbandoned`: as that of ChangeMarks.
 */
export const abandonedHook = (isAbandoned: string): string => `(e.name IN (${HOOKS})
  AND EXISTS (SELECT 1 FROM source_changes AS c WHERE c.source_id = o.runnable_id AND ${isAbandoned}))`;

/** Runs, and whether each was ever claimed. In Postgres, ended ones keep no fence. */
const RUNS = differs({
  sqlite: '(SELECT run, runnable_id, entry, state, fence > 0 AS has_begun FROM runs)',
  postgres: `(SELECT run, runnable_id, entry, state, fence > 0 AS has_begun FROM open_runs UNION ALL
    SELECT run, runnable_id, entry, state, state <> 'cancelled' OR attempt > 1 OR started_at_ms IS NOT NULL FROM runs)`,
});

function hookRunsOf(marks: ChangeMarks, { ownerId, sourceId }: ChangeMark): Sql {
  const since = sql`(SELECT since_ms * ${raw(String(NUMBERS_PER_MS))} FROM source_changes WHERE source_id = ${sourceId})`;
  return sql`SELECT r.run, r.name, r.state, r.has_begun FROM source_changes AS c LEFT JOIN (
      SELECT o.run, e.name, o.state, o.has_begun FROM ${RUNS} AS o JOIN emissions AS e ON e.entry = o.entry
        WHERE o.runnable_id = ${sourceId} AND o.run >= ${since} AND e.name IN (${raw(HOOKS)})) AS r ON true
    WHERE c.source_id = ${sourceId} AND c.owner_id = ${ownerId} AND ${isOurs(marks)} ORDER BY r.run DESC`;
}

function* beginChange(w: Writing, marks: ChangeMarks, change: SourceChange): Steps<'begun' | 'busy' | undefined> {
  const { ownerId, sourceId } = change;
  const source = yield* get(sql`SELECT id FROM runnables WHERE id = ${sourceId} AND owner_id = ${ownerId}
    ${FOR_KEY_SHARE}`);
  if (!source) return undefined;
  return (yield* insertChange(w, marks, change)) ? 'begun' : 'busy';
}

/** Inserts a mark. Returns false when the source has one already. */
export function* insertChange(
  w: Writing,
  { column, self }: ChangeMarks,
  { ownerId, sourceId, kind }: SourceChange,
): Steps<boolean> {
  const inserted = yield* get(sql`INSERT INTO source_changes (source_id, owner_id, kind, ${column}, since_ms)
    VALUES (${sourceId}, ${ownerId}, ${kind}, ${self()}, ${w.now}) ON CONFLICT DO NOTHING RETURNING source_id`);
  return inserted !== undefined;
}

type ChangeMark = Omit<SourceChange, 'kind'>;

/** Counts runs of hooks from now on. Returns false when the change is not this process's. */
export function* goOnChanging(w: Writing, marks: ChangeMarks, { ownerId, sourceId }: ChangeMark): Steps<boolean> {
  const updated = yield* get(sql`UPDATE source_changes SET since_ms = ${w.now}
    WHERE source_id = ${sourceId} AND owner_id = ${ownerId} AND ${isOurs(marks)} RETURNING source_id`);
  return updated !== undefined;
}

/** Deletes the mark. Returns false when the change is not this process's. */
export function* endChange(marks: ChangeMarks, { ownerId, sourceId }: ChangeMark): Steps<boolean> {
  const ended = yield* get(sql`DELETE FROM source_changes
    WHERE source_id = ${sourceId} AND owner_id = ${ownerId} AND ${isOurs(marks)} RETURNING source_id`);
  return ended !== undefined;
}

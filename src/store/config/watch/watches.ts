// Watches: those of a workflow follow from its settings, and time without a server is taken off all of them. How they are
// decided: log/watch/decisions.ts.

import { type GroupingRule, keyOf, ruleFor } from '../../../domain/errors/fingerprint.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Runnable } from '../../../domain/resource.ts';
import { type NamedWatch, NO_PINGS, type Watch, type WatchKind, watchesOf } from '../../../domain/watch/watch.ts';
import { faultsOf } from '../../../domain/watch/watch-emissions.ts';
import type { CloseGap, DueWatch, WatchStore } from '../../contract/watches.ts';
import { groupId, setResolved } from '../../log/groups/error-groups.ts';
import { OF_LIVE_OWNER } from '../../log/log-tables.ts';
import { lockWatches } from '../../log/watch/notes.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import {
  CELLS_OF_WATCH,
  HEARTBEAT_COLUMNS,
  toWatch,
  toWatchedHeartbeat,
  WATCH_COLUMNS,
  watchCells,
} from '../../rows/watch-rows.ts';
import type { ConfigCore, Listener } from '../config-database.ts';
import { FOR_UPDATE, isAmong, isNotAmong, raw, type Sql, sql, tableOf } from '../sql.ts';
import { all, get, type Steps, send } from '../steps.ts';

type WatchVerbs = Pick<WatchStore, 'listWatches' | 'keepWatch' | 'dueWatches' | 'endedRuns'>;

export function watchVerbs({ database, clock }: ConfigCore): WatchVerbs {
  return {
    listWatches: async (ownerId, workflowId) => {
      const rows = await database.all(sql`SELECT ${raw(WATCH_COLUMNS)} FROM watches AS w
        WHERE w.id = ${workflowId} AND w.owner_id = ${ownerId} ORDER BY w.kind`);
      return rows.map(toWatch);
    },

    keepWatch: async (settle) => {
      const row = await database.get(sql`SELECT (SELECT id FROM watches LIMIT 1) AS one,
        (SELECT at_ms FROM watch_clock WHERE name = 'watches') AS at_ms`);
      const nowMs = clock.nowMs();
      const atMs = row ? numberOrNull(row, 'at_ms') : null;
      if (!row || textOrNull(row, 'one') === null) {
        if (atMs !== null) await database.write(forget);
        return nowMs;
      }
      const isKept = atMs !== null && nowMs >= atMs && nowMs - atMs < LIMITS.watchKeptMs;
      return isKept ? nowMs : database.write((w) => keep(settle, w.nowMs));
    },

    dueWatches: async (upToMs, limit) => {
      const rows = await database.all(sql`SELECT ${raw(WATCH_COLUMNS)}, ${raw(HEARTBEAT_COLUMNS)},
          h.id AS heartbeat_id, r.name AS workflow_name, r.deployment_id
        FROM watches AS w LEFT JOIN heartbeats AS h ON h.id = w.id LEFT JOIN runnables AS r ON r.id = w.id
        WHERE w.due_at_ms <= ${upToMs} AND w.${OF_LIVE_OWNER} ORDER BY w.due_at_ms LIMIT ${limit}`);
      return rows.map((row): DueWatch => {
        const heartbeat = textOrNull(row, 'heartbeat_id') === null ? null : toWatchedHeartbeat(row);
        const name = heartbeat?.heartbeat.name ?? textOrNull(row, 'workflow_name') ?? text(row, 'id');
        const watch: NamedWatch = { ...toWatch(row), name, deploymentId: textOrNull(row, 'deployment_id') };
        return { watch, heartbeat };
      });
    },

    endedRuns: async (workflowId, { from, to }) => {
      const row = await database.get(sql`SELECT CAST(coalesce(sum(succeeded), 0) AS BIGINT) AS succeeded,
          CAST(coalesce(sum(failed), 0) AS BIGINT) AS failed
        FROM watch_counts WHERE id = ${workflowId} AND part >= ${from} AND part <= ${to}`);
      return row ? { succeeded: number(row, 'succeeded'), failed: number(row, 'failed') } : { succeeded: 0, failed: 0 };
    },
  };
}

/** Forgets the kept time when there is no watch: behind the next one, it would look as if no server had been there. */
function* forget(): Steps<void> {
  yield* send(sql`DELETE FROM watch_clock WHERE name = 'watches' AND NOT EXISTS (SELECT 1 FROM watches)`);
}

function* keep(settle: CloseGap, nowMs: number): Steps<number> {
  const row = yield* get(sql`SELECT at_ms FROM watch_clock WHERE name = 'watches' ${FOR_UPDATE}`);
  if (!row) {
    yield* send(sql`INSERT INTO watch_clock (name, at_ms) VALUES ('watches', ${nowMs}) ON CONFLICT DO NOTHING`);
    return nowMs;
  }
  const atMs = number(row, 'at_ms');
  if (nowMs >= atMs && nowMs - atMs < LIMITS.watchKeptMs) return nowMs;
  yield* send(sql`UPDATE watch_clock SET at_ms = ${nowMs} WHERE name = 'watches'`);
  if (Math.abs(nowMs - atMs) <= LIMITS.watchGapMs) return nowMs;
  // In the order in which the ends of runs lock them.
  yield* send(sql`SELECT 1 FROM watches WHERE due_at_ms IS NOT NULL ORDER BY id, kind ${FOR_UPDATE}`);
  if (nowMs > atMs) yield* excuse(atMs, nowMs);
  else yield* turnBack(nowMs, atMs - nowMs);
  yield* settleHeartbeats(settle, { isBack: nowMs < atMs, nowMs });
  return nowMs;
}

/** Takes the time without a server off the silence of workflows: nothing could run. Errors that were told of stay. */
function* excuse(fromMs: number, nowMs: number, only: Sql = sql`true`): Steps<void> {
  const since = sql`coalesce(last_at_ms, watched_at_ms)`;
  const gap = sql`(${nowMs} - CASE WHEN ${since} > ${fromMs} THEN ${since} ELSE ${fromMs} END)`;
  yield* send(sql`UPDATE watches SET version = version + 1, excused_ms = excused_ms + ${gap},
      due_at_ms = due_at_ms + ${gap}
    WHERE kind IN ('silence', 'success') AND open IS NULL AND due_at_ms IS NOT NULL AND ${since} <= ${nowMs} AND ${only}`);
}

/**
 * Corrects watches behind a clock that was set back: what would still come has just been, and all are looked at again. The time
 * without a server is less by as much: a clock that was ahead for a while had seemed to show a year of it.
 */
function* turnBack(nowMs: number, backMs: number): Steps<void> {
  const isAhead = sql`coalesce(last_at_ms, watched_at_ms) > ${nowMs}`;
  yield* send(sql`DELETE FROM watch_counts`);
  yield* send(sql`UPDATE watches SET version = version + 1,
      excused_ms = CASE WHEN ${isAhead} OR excused_ms < ${backMs} THEN 0 ELSE excused_ms - ${backMs} END,
      last_at_ms = CASE WHEN last_at_ms > ${nowMs} THEN ${nowMs} ELSE last_at_ms END,
      watched_at_ms = CASE WHEN watched_at_ms > ${nowMs} THEN ${nowMs} ELSE watched_at_ms END, due_at_ms = ${nowMs}
    WHERE kind <> 'heartbeat' AND due_at_ms IS NOT NULL`);
}

function* settleHeartbeats(
  settle: CloseGap,
  gap: { isBack: boolean; nowMs: number },
  only: Sql = sql`true`,
): Steps<void> {
  const rows = yield* all(sql`SELECT ${raw(WATCH_COLUMNS)}, ${raw(HEARTBEAT_COLUMNS)}
    FROM watches AS w JOIN heartbeats AS h ON h.id = w.id
    WHERE w.kind = 'heartbeat' AND w.due_at_ms IS NOT NULL AND ${only} ORDER BY w.id`);
  if (rows.length === 0) return;
  yield* putWatch(rows.map((row) => settle(toWatchedHeartbeat(row), gap)));
}

/** Takes the time in which an owner was being deleted off its watches: nothing of it could run, and its pings were refused. */
export function* restoreWatches(
  ownerId: string,
  { fromMs, nowMs, settle }: { readonly fromMs: number; readonly nowMs: number; readonly settle: CloseGap },
): Steps<void> {
  yield* send(sql`SELECT 1 FROM watches WHERE owner_id = ${ownerId} ORDER BY id, kind ${FOR_UPDATE}`);
  yield* excuse(fromMs, nowMs, sql`owner_id = ${ownerId}`);
  yield* settleHeartbeats(settle, { isBack: false, nowMs }, sql`w.owner_id = ${ownerId}`);
}

/** Writes watches as they are now. */
export function* putWatch(watches: readonly Watch[]): Steps<void> {
  yield* send(sql`INSERT INTO watches (id, kind, owner_id, version, heard, rule, watched_at_ms, last_at_ms, excused_ms,
      expected_at_ms, due_at_ms, open, counts)
    SELECT id, kind, owner_id, version, heard, rule, watched_at_ms, last_at_ms, excused_ms, expected_at_ms, due_at_ms,
        open, counts
      FROM ${tableOf(CELLS_OF_WATCH, watches.map(watchCells))} WHERE true ORDER BY id, kind
    ON CONFLICT (id, kind) DO UPDATE SET version = watches.version + 1, rule = excluded.rule,
      last_at_ms = excluded.last_at_ms, excused_ms = excluded.excused_ms, expected_at_ms = excluded.expected_at_ms,
      due_at_ms = excluded.due_at_ms, open = excluded.open, counts = excluded.counts`);
}

/** Writes the watches that a workflow's settings ask for. One that is inactive has none; one whose rule changed is judged again. */
export function* watchRunnable(record: Runnable & { updatedAtMs: number }): Steps<void> {
  const { id, ownerId, active, settings, updatedAtMs } = record;
  if (!id.startsWith('p_')) return;
  const wanted = active ? watchesOf(settings.watch) : [];
  const kinds = wanted.map(({ kind }) => kind);
  // All of them in one order, as ends of runs and decisions do; and before groups of errors.
  yield* lockWatches([id]);
  const gone = yield* all(sql`DELETE FROM watches WHERE id = ${id} AND kind ${isNotAmong(kinds)} RETURNING kind, open`);
  const down = gone.filter((row) => textOrNull(row, 'open') !== null).map((row) => text<WatchKind>(row, 'kind'));
  yield* resolveWatched({ ownerId, id, kinds: down, rules: settings.grouping }, updatedAtMs);
  const rows = wanted.map(({ kind, rule }) =>
    watchCells({
      id,
      ownerId,
      kind,
      version: 1,
      heard: 0,
      rule,
      watchedAtMs: updatedAtMs,
      lastAtMs: null,
      excusedMs: 0,
      expectedAtMs: null,
      dueAtMs: updatedAtMs,
      open: [],
      counts: NO_PINGS,
    }),
  );
  const changed =
    rows.length === 0
      ? []
      : yield* all(sql`INSERT INTO watches (id, kind, owner_id, version, heard, rule, watched_at_ms, last_at_ms, excused_ms,
            expected_at_ms, due_at_ms, open, counts)
          SELECT id, kind, owner_id, version, heard, rule, watched_at_ms, last_at_ms, excused_ms, expected_at_ms,
              due_at_ms, open, counts
            FROM ${tableOf(CELLS_OF_WATCH, rows)} WHERE true ORDER BY kind
          ON CONFLICT (id, kind) DO UPDATE SET version = watches.version + 1, rule = excluded.rule,
            due_at_ms = excluded.due_at_ms WHERE watches.rule <> excluded.rule
          RETURNING kind`);
  // Another window has other parts.
  const isRecounted = !kinds.includes('ratio') || changed.some((row) => text(row, 'kind') === 'ratio');
  if (isRecounted) yield* send(sql`DELETE FROM watch_counts WHERE id = ${id}`);
}

interface Unwatched extends Listener {
  readonly kinds: readonly WatchKind[];
  readonly rules: readonly GroupingRule[];
}

/** Resolves the groups of errors that nothing will end: they are not watched for any more. */
export function* resolveWatched({ ownerId, id, kinds, rules }: Unwatched, nowMs: number): Steps<void> {
  const faults = kinds.flatMap(faultsOf).filter((fault) => ruleFor(fault, rules) === null);
  const groups = faults.map((fault) => groupId({ ownerId, emitterId: id }, keyOf(fault, null)));
  if (groups.length > 0) yield* send(setResolved(sql`id ${isAmong(groups)}`, nowMs));
}

/** Deletes the watches of a workflow or heartbeat. */
export function* unwatch({ id }: Listener): Steps<void> {
  yield* lockWatches([id]);
  yield* send(sql`DELETE FROM watches WHERE id = ${id}`);
  yield* send(sql`DELETE FROM watch_counts WHERE id = ${id}`);
}

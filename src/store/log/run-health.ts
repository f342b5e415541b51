// What the newest runs of workflows tell, for a page of their list.
//
// The work of a page is bounded however many runs there are: of each workflow the newest ones are read by an index that all stores
// have anyway. With 1,000 workflows and 2,000,000 runs, SQLite takes some 40 ms for the 100 of a page, in steps of 4 ms.
// (Rejected: counters of each workflow, kept by the transactions that end runs. Every run would pay for a page that few look at,
// and they cannot tell how long 95 of 100 took.)

import { HEALTH, type Health, healthOf, type JudgedRun } from '../../domain/run/health.ts';
import type { RunState } from '../../domain/run/run.ts';
import { either, isAmong, raw, type Sql, sql } from '../config/sql.ts';
import type { StatsStore } from '../contract/stats.ts';
import { json, text, textOrNull } from '../rows/cells.ts';
import type { Row } from '../rows/rows.ts';
import { ALL_RUNS, type LogReader } from './log-tables.ts';

/** SQLite's reads stop everything else meanwhile. */
const WORKFLOWS_PER_STEP = 10;

type RunCells = readonly [run: number, state: RunState, startedAtMs: number | null, endedAtMs: number];

export function healthReads({ database }: Pick<LogReader, 'database'>): Pick<StatsStore, 'runHealth'> {
  return {
    runHealth: async (ownerId, workflowIds) => {
      const health = new Map<string, Health>();
      for (let from = 0; from < workflowIds.length; from += WORKFLOWS_PER_STEP) {
        const ids = workflowIds.slice(from, from + WORKFLOWS_PER_STEP);
        const rows = await database.all(sql`SELECT w.id, ${LAST} AS last, ${JUDGED} AS judged
          FROM runnables AS w WHERE w.id ${isAmong(ids)} AND w.owner_id = ${ownerId}`);
        for (const row of rows) health.set(text(row, 'id'), toHealth(row));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return health;
    },
  };
}

/** As a range and named in the order: Postgres would otherwise walk the primary key. */
const OF_WORKFLOW = either({
  sqlite: sql`runs.runnable_id = w.id`,
  postgres: sql`runs.runnable_id >= w.id AND runs.runnable_id <= w.id`,
});
const NEWEST_FIRST = raw('ORDER BY runs.runnable_id DESC, runs.run DESC');

const LAST = either({
  sqlite: jsonOf('json_array(run, state)'),
  postgres: jsonOf('CAST(json_build_array(run, state) AS TEXT)'),
});

function jsonOf(record: string): Sql {
  return sql`(SELECT ${raw(record)} FROM ${ALL_RUNS} AS runs WHERE ${OF_WORKFLOW} ${NEWEST_FIRST} LIMIT 1)`;
}

/**
 * The newest runs that are over. Postgres has a table of them. SQLite reads behind what is queued, of which there may be any
 * number: the oldest that is queued is the next one to start, and only newer ones stand behind it.
 */
const OVER = sql`SELECT runs.run, runs.state, runs.started_at_ms, runs.ended_at_ms FROM runs WHERE ${OF_WORKFLOW}
  ${either({
    sqlite: sql`AND runs.run < coalesce((SELECT min(run) FROM runs AS q WHERE q.state = 'queued' AND q.runnable_id = w.id),
      ${Number.MAX_SAFE_INTEGER})`,
    postgres: raw(''),
  })} ${NEWEST_FIRST} LIMIT ${raw(String(HEALTH.lookedAt))}`;

/** Neither database reads more of what is over than it takes for the runs that are judged. */
const NEWEST = sql`SELECT * FROM (${OVER}) AS ended WHERE state IN ('succeeded', 'failed')
  ORDER BY run DESC LIMIT ${raw(String(HEALTH.runs))}`;

const JUDGED = either({
  sqlite: sql`(SELECT json_group_array(json_array(run, state, started_at_ms, ended_at_ms)) FROM (${NEWEST}) AS judged)`,
  postgres: sql`(SELECT CAST(json_agg(json_build_array(run, state, started_at_ms, ended_at_ms)) AS TEXT)
    FROM (${NEWEST}) AS judged)`,
});

function toHealth(row: Row): Health {
  const last = textOrNull(row, 'last') === null ? null : json<readonly [number, RunState]>(row, 'last');
  const judged = textOrNull(row, 'judged') === null ? [] : json<readonly RunCells[]>(row, 'judged');
  return healthOf(last && { run: last[0], state: last[1] }, judged.map(toJudged));
}

function toJudged([run, state, startedAtMs, endedAtMs]: RunCells): JudgedRun {
  return { run, hasFailed: state === 'failed', startedAtMs, endedAtMs };
}

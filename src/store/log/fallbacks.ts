// Errors that the global error workflow gets only when no subscriber has taken them (`settings.global_errors`). Which one that is
// shows at the end of its last run or delivery, which may be days later and at another process. So the error is looked at again
// and again, less and less often; until then the global error workflow is among the withheld listeners. (Rejected: looking at the end of each
// run. Every end would read what else its event has caused, and few are the end of a subscriber to errors.)

import { msOf } from '../../domain/ids.ts';
import { NOTICE_LIMITS } from '../../domain/notices/limits.ts';
import { FALLBACK, reasonAgainstGlobal } from '../../domain/route.ts';
import { differs, isAmongNumbers, raw, sql } from '../config/sql.ts';
import { all, type Steps, send } from '../config/steps.ts';
import type { Claims } from '../contract/store.ts';
import { flag, number } from '../rows/cells.ts';
import { type EmissionReader, toEmission } from '../rows/log-rows.ts';
import { ALL_DELIVERIES, ALL_RUNS } from './log-tables.ts';
import type { DueFallback, FallbackDecision, LogWriter } from './port.ts';
import { routeTableOf } from './route-table.ts';
import { writeGlobalRun } from './write-emission.ts';

/** Implements TimeStore.tellGlobal. */
export function tellGlobal(log: LogWriter): { claims: Claims; isMore: boolean } {
  const due = log.takeFallbacks();
  for (const one of due) log.writeFallback(decided(log, one));
  return { claims: log.claims, isMore: due.length === NOTICE_LIMITS.fallbacksPerStep };
}

function decided(log: LogWriter, { emission, subscribers }: DueFallback): FallbackDecision {
  const { entry } = emission;
  const kept = (reason: string, dueAtMs: number | null): FallbackDecision => ({ entry, told: false, dueAtMs, reason });
  if (subscribers === 'taken') return kept('a subscriber to this error has succeeded', null);
  if (subscribers === 'open') return kept(FALLBACK, log.nowMs + pauseMs(log.nowMs - msOf(entry)));
  // It may be restored, and is told then.
  if (log.owner(emission.ownerId)?.deletion) return kept(FALLBACK, log.nowMs + NOTICE_LIMITS.fallbackMostMs);
  const { globalWorkflow, notify } = routeTableOf(emission, log);
  if (!globalWorkflow) return kept('there is no global error workflow', null);
  const reason = reasonAgainstGlobal(emission, globalWorkflow, notify);
  if (reason !== null) return kept(reason, null);
  writeGlobalRun(log, emission, globalWorkflow);
  return { entry, told: true };
}

/** Returns a pause as long as the error is old, within bounds. */
function pauseMs(ageMs: number): number {
  return Math.min(NOTICE_LIMITS.fallbackMostMs, Math.max(NOTICE_LIMITS.fallbackFirstMs, ageMs));
}

const SKIP_LOCKED = differs({ sqlite: '', postgres: 'FOR UPDATE SKIP LOCKED' });

/** Reads errors that are to be looked at. A delivery that is held waits for a webhook that is disabled: it is not under way. */
export function* readFallbacks(nowMs: number, reader: EmissionReader): Steps<readonly DueFallback[]> {
  const due = yield* all(sql`SELECT entry FROM withheld WHERE due_at_ms <= ${nowMs} ORDER BY due_at_ms, entry
    LIMIT ${NOTICE_LIMITS.fallbacksPerStep} ${SKIP_LOCKED}`);
  if (due.length === 0) return [];
  // By a row of its own, and not EXISTS: for that Postgres may read all runs into a table of its own.
  const is = (from: typeof ALL_RUNS, states: string) =>
    sql`(SELECT 1 FROM ${from} AS caused
      WHERE caused.entry = emissions.entry AND caused.state IN (${raw(states)}) LIMIT 1) IS NOT NULL`;
  const rows = yield* all(sql`SELECT emissions.*,
      (${is(ALL_RUNS, "'succeeded'")} OR ${is(ALL_DELIVERIES, "'delivered'")}) AS is_taken,
      (${is(ALL_RUNS, "'queued', 'running', 'waiting'")}
        OR ${is(ALL_DELIVERIES, "'pending', 'sending', 'retrying'")}) AS is_open
    FROM emissions WHERE entry ${isAmongNumbers(due.map((row) => number(row, 'entry')))} ORDER BY entry`);
  return rows.map((row) => ({
    emission: toEmission(row, reader),
    subscribers: flag(row, 'is_taken') ? 'taken' : flag(row, 'is_open') ? 'open' : 'left',
  }));
}

export function* writeFallbacks(made: readonly FallbackDecision[]): Steps<void> {
  for (const one of made) {
    yield* send(
      one.told
        ? sql`DELETE FROM withheld WHERE entry = ${one.entry} AND via = 'global'`
        : sql`UPDATE withheld SET due_at_ms = ${one.dueAtMs}, reason = ${one.reason}
            WHERE entry = ${one.entry} AND via = 'global'`,
    );
  }
}

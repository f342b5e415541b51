// A schedule's tick.

import type { NewEmission } from '../../domain/emission.ts';
import { differs, isAmong, raw, sql, tableOf } from '../config/sql.ts';
import { all, type Steps, send } from '../config/steps.ts';
import type { Appended, Tick } from '../contract/store.ts';
import { flag, number, text } from '../rows/cells.ts';
import { OPEN_RUN } from '../rows/run-rows.ts';
import { appendedOf } from './append.ts';
import type { LogWriter } from './port.ts';
import { writeEmission } from './write-emission.ts';

/** Throws when the next tick is not later: then the trigger would fire again and again. */
export function checkTick({ triggerId, expectedAtMs, nextAtMs }: Tick): void {
  if (nextAtMs > expectedAtMs) return;
  throw new RangeError(`the tick of ${triggerId} at ${expectedAtMs} is to be followed by one at ${nextAtMs}`);
}

/** Implements TimeStore.fireTrigger. */
export function fireTrigger(log: LogWriter, tick: Tick, emission: NewEmission): Appended | null {
  return log.takeTick(tick) ? appendedOf(log, writeEmission(log, emission)) : null;
}

/** SQLite would look through all runs of the owner. */
const OPEN_RUNS_OF = differs({ sqlite: 'runs AS o INDEXED BY runs_open', postgres: 'open_runs AS o' });

/**
 * Whether a source's trigger has an open run. The emission is not joined: a plan of Postgres that was made for few events would
 * read all of them.
 */
const IS_BUSY = sql`(substr(triggers.runnable_id, 1, 3) = 'dc_' AND EXISTS (SELECT 1 FROM ${OPEN_RUNS_OF}
  WHERE o.owner_id = triggers.owner_id AND o.runnable_id = triggers.runnable_id AND ${raw(OPEN_RUN)}
    AND (SELECT e.emitter_id FROM emissions AS e WHERE e.entry = o.entry) = triggers.id))`;

/**
 * Sets triggers to their next ticks, and returns the ticks that are to be emitted. Of several nodes with the same tick one
 * succeeds, and no due time fires twice. A source's tick that comes while the run of the tick before is open is only counted as
 * skipped.
 */
export function* takeTicks(ticks: readonly Tick[]): Steps<Pick<Tick, 'triggerId' | 'expectedAtMs'>[]> {
  const given = tableOf(
    { trigger_id: 'text', schedule: 'text', expected: 'bigint', next: 'bigint' },
    ticks.map(({ triggerId, schedule, expectedAtMs, nextAtMs }) => {
      return { trigger_id: triggerId, schedule: JSON.stringify(schedule), expected: expectedAtMs, next: nextAtMs };
    }),
  );
  // The schedule may be another one by now: its next tick would be one of the schedule before.
  const wanted = sql`FROM ${given} WHERE triggers.id = given.trigger_id AND triggers.next_at_ms = given.expected
    AND triggers.schedule = given.schedule AND triggers.id ${isAmong(ticks.map(({ triggerId }) => triggerId))}`;
  // These ticks were emitted before, and are the next ones again.
  yield* send(sql`UPDATE triggers SET next_at_ms = given.next ${wanted} AND last_due_at_ms >= given.expected`);
  const taken = yield* all(sql`UPDATE triggers SET next_at_ms = given.next, last_due_at_ms = given.expected,
      skipped_ticks = skipped_ticks + CASE WHEN ${IS_BUSY} THEN 1 ELSE 0 END ${wanted}
    RETURNING id, last_due_at_ms, ${IS_BUSY} AS is_skipped`);
  return taken.flatMap((row) =>
    flag(row, 'is_skipped') ? [] : [{ triggerId: text(row, 'id'), expectedAtMs: number(row, 'last_due_at_ms') }],
  );
}

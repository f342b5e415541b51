// A clock that was set back. Whatever waits for a time that was computed from the clock before would wait for the jump, too: an
// hour, a day. So the store keeps the time about once a minute, and when the clock is behind what was kept, it sets back by as
// much what is due later. What was to happen in ten minutes happens in ten minutes. Times that users gave (the end of a mute,
// `delivery_ts`, the expiry of a key) stay: they are meant by the clock as it is.
//
// Each part is followed in a transaction of its own, which also keeps that it was: once per jump, at whichever node, and after a
// crash between two of them. A transaction for all was rejected: it would need the locks of all verbs, in their order.
//
// Nothing tells what was written just after the jump from what was written before it. The engine looks every second, so that
// little is written between.
//
// A row that says when each time was computed was rejected: seven tables would be larger for what happens once in years.

import type { Schedule } from '../../../domain/resource.ts';
import { CLOCK_LIMITS } from '../../../domain/watch/clock-limits.ts';
import type { TimeStore } from '../../contract/store.ts';
import { OPEN_RUNS } from '../../log/log-tables.ts';
import { number, numberOrNull, text } from '../../rows/cells.ts';
import { toTrigger } from '../../rows/resource-rows.ts';
import type { ConfigCore, Writing } from '../config-database.ts';
import { FOR_UPDATE, isAmong, isAmongNumbers, raw, type Sql, sql, tableOf } from '../sql.ts';
import { all, get, type Steps, send, work } from '../steps.ts';

/** Returns the first due time of a schedule after a time. */
type NextTick = (schedule: Schedule, afterMs: number) => number;

interface Jump {
  readonly w: Writing;
  readonly nowMs: number;
  /** How far the clock was set back, at least. */
  readonly backMs: number;
  readonly nextTick: NextTick;
}

const PARTS: Readonly<Record<string, (jump: Jump) => Steps<void>>> = {
  schedules: turnBackSchedules,
  digests: turnBackDigests,
  fallbacks: turnBackFallbacks,
  notices: turnBackNotices,
  waits: turnBackWaits,
  deliveries: turnBackDeliveries,
};
const NAMES = Object.keys(PARTS).toSorted();

export function clockVerbs({ database, clock }: ConfigCore): Pick<TimeStore, 'followClock'> {
  /** The latest time that this process has seen since the clock was set back last, and the one that it has kept. */
  let seenMs: number | null = null;
  let keptMs: number | null = null;

  return {
    followClock: async (nextTick) => {
      const nowMs = clock.nowMs();
      if (keptMs !== null && nowMs >= keptMs && nowMs - keptMs < CLOCK_LIMITS.keptMs) {
        seenMs = Math.max(seenMs ?? nowMs, nowMs);
        return 0;
      }
      const ahead = await database.write((w) => keep(w));
      let mostMs = 0;
      for (const name of ahead) {
        const backMs = await database.write((w) => turnBack(w, { name, seenMs, nextTick }));
        mostMs = Math.max(mostMs, backMs);
      }
      keptMs = nowMs;
      seenMs = nowMs;
      return mostMs;
    },
  };
}

/** Keeps the time. Returns the parts for which a later one was kept. */
function* keep({ now }: Writing): Steps<string[]> {
  const rows = yield* all(
    sql`SELECT name, at_ms FROM watch_clock WHERE name ${isAmong(NAMES)} ORDER BY name ${FOR_UPDATE}`,
  );
  const nowMs = yield* timeOf(now);
  const ahead = rows.filter((row) => isAhead(number(row, 'at_ms'), nowMs)).map((row) => text(row, 'name'));
  const known = new Set(rows.map((row) => text(row, 'name')));
  const missing = NAMES.filter((name) => !known.has(name)).map((name) => ({ name, at_ms: nowMs }));
  if (missing.length > 0) {
    yield* send(sql`INSERT INTO watch_clock (name, at_ms)
      SELECT name, at_ms FROM ${tableOf({ name: 'text', at_ms: 'bigint' }, missing)} WHERE true ON CONFLICT DO NOTHING`);
  }
  const passed = [...known].filter((name) => !ahead.includes(name));
  if (passed.length > 0) {
    yield* send(sql`UPDATE watch_clock SET at_ms = ${nowMs} WHERE name ${isAmong(passed)} AND at_ms < ${nowMs}`);
  }
  return ahead;
}

interface Part {
  readonly name: string;
  readonly seenMs: number | null;
  readonly nextTick: NextTick;
}

/** Sets one part back. Returns by how much; 0: another node has done it. */
function* turnBack(w: Writing, { name, seenMs, nextTick }: Part): Steps<number> {
  const row = yield* get(sql`SELECT at_ms FROM watch_clock WHERE name = ${name} ${FOR_UPDATE}`);
  const nowMs = yield* timeOf(w.now);
  const part = PARTS[name];
  const keptMs = row ? number(row, 'at_ms') : nowMs;
  if (!part || !isAhead(keptMs, nowMs)) return 0;
  const backMs = Math.max(keptMs, seenMs ?? keptMs) - nowMs;
  yield* send(sql`UPDATE watch_clock SET at_ms = ${nowMs} WHERE name = ${name}`);
  yield* part({ w, nowMs, backMs, nextTick });
  return backMs;
}

/** Nodes know the database's time within what the network takes; so little is no jump. */
const isAhead = (keptMs: number, nowMs: number): boolean => keptMs - nowMs > CLOCK_LIMITS.toleranceMs;

/** Returns the time behind the locks that were taken: on Postgres the database's own. */
function* timeOf(now: Sql): Steps<number> {
  const row = yield* get(sql`SELECT CAST (${now} AS BIGINT) AS now_ms`);
  return (row && numberOrNull(row, 'now_ms')) ?? 0;
}

/**
 * Sets back next ticks. An interval goes on as it was. The next tick of a cron expression is its first due time that is no
 * earlier than the tick would have come without the jump: so none is passed over, and an hourly tick comes no second time
 * because the clock was set back by ten minutes.
 */
function* turnBackSchedules({ nowMs, backMs, nextTick }: Jump): Steps<void> {
  const rows = yield* all(sql`SELECT * FROM triggers WHERE next_at_ms > ${nowMs} ORDER BY id ${FOR_UPDATE}`);
  const ticks = rows.map(toTrigger).flatMap(({ id, schedule, nextAtMs }) => {
    if (schedule === null || nextAtMs === null) return [];
    const earliestMs = Math.max(nextAtMs - backMs, nowMs);
    return [{ id, next: schedule.cron === null ? earliestMs : nextTick(schedule, earliestMs - 1) }];
  });
  if (ticks.length === 0) return;
  // A due time that was fired comes again, if the clock passes it again.
  yield* send(sql`UPDATE triggers SET next_at_ms = given.next,
      last_due_at_ms = CASE WHEN last_due_at_ms < given.next THEN last_due_at_ms END
    FROM ${tableOf({ id: 'text', next: 'bigint' }, ticks)} WHERE triggers.id = given.id`);
}

function* turnBackDigests({ nowMs, backMs }: Jump): Steps<void> {
  yield* send(sql`SELECT 1 FROM digests WHERE closes_at_ms > ${nowMs} ORDER BY owner_id, digest_key ${FOR_UPDATE}`);
  yield* send(sql`UPDATE digests SET opened_at_ms = opened_at_ms - ${backMs}, closes_at_ms = closes_at_ms - ${backMs}
    WHERE closes_at_ms > ${nowMs}`);
}

function* turnBackFallbacks({ nowMs, backMs }: Jump): Steps<void> {
  yield* send(sql`UPDATE withheld SET due_at_ms = due_at_ms - ${backMs} WHERE due_at_ms > ${nowMs}`);
}

/** Sets back when groups are told. The time at which a mute ends was given by its owner, and stays. */
function* turnBackNotices({ nowMs, backMs }: Jump): Steps<void> {
  const earlier = (column: string): Sql => {
    const value = raw(column);
    return sql`${value} = CASE WHEN ${value} > ${nowMs} THEN ${value} - ${backMs} ELSE ${value} END`;
  };
  const later = sql`(notice_due_ms > ${nowMs} OR notice_after_ms > ${nowMs} OR notice_told_ms > ${nowMs})`;
  yield* send(sql`SELECT 1 FROM error_groups WHERE ${later} ORDER BY id ${FOR_UPDATE}`);
  yield* send(sql`UPDATE error_groups SET ${earlier('notice_due_ms')}, ${earlier('notice_after_ms')},
    ${earlier('notice_told_ms')} WHERE ${later}`);
}

function* turnBackWaits({ nowMs, backMs }: Jump): Steps<void> {
  const waits = sql`due_at_ms > ${nowMs} AND state = 'waiting'`;
  const rows = yield* all(sql`SELECT run FROM ${OPEN_RUNS} WHERE ${waits} ORDER BY run ${FOR_UPDATE}`);
  if (rows.length === 0) return;
  yield* send(sql`UPDATE ${OPEN_RUNS} SET due_at_ms = due_at_ms - ${backMs}
    WHERE run ${isAmongNumbers(rows.map((row) => number(row, 'run')))} AND ${waits}`);
}

function* turnBackDeliveries({ w, nowMs, backMs }: Jump): Steps<void> {
  yield* work(() => w.turnBackDeliveries({ nowMs, backMs }));
}

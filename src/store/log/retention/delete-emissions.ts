// Deletes emissions with all that belongs to them, unless work of them is open.

import { differs, isAmongNumbers, raw, sql } from '../../config/sql.ts';
import { get, type Steps, send, together } from '../../config/steps.ts';
import { flag, number, numberOrNull } from '../../rows/cells.ts';
import type { Row } from '../../rows/rows.ts';
import { OPEN_DELIVERIES, OPEN_RUNS } from '../log-tables.ts';

/** Emissions that one transaction looks at. */
export const EMISSIONS_PER_STEP = 500;

const SKIP_LOCKED = differs({ sqlite: '', postgres: 'FOR UPDATE SKIP LOCKED' });
const IS_OPEN = raw("state NOT IN ('delivered', 'exhausted', 'cancelled')");

/** A condition on emissions `p`: nothing needs them any more. */
export const HAS_NO_WORK = sql`NOT EXISTS (SELECT 1 FROM ${OPEN_RUNS} AS r
    WHERE r.entry = p.entry AND r.state IN ('queued', 'running', 'waiting'))
  AND NOT EXISTS (SELECT 1 FROM ${OPEN_DELIVERIES} AS d WHERE d.entry = p.entry AND ${IS_OPEN})
  AND NOT EXISTS (SELECT 1 FROM digests AS g WHERE g.newest_entry = p.entry)`;

/**
 * Deletes those of a page of emissions that are doomed; returns how many. The only new work that an old emission may get is a
 * delivery that is resent; that verb locks the emission.
 */
export function* deleteDoomed(page: readonly Row[]): Steps<number> {
  const doomed = page.filter((row) => flag(row, 'is_doomed')).map((row) => number(row, 'entry'));
  if (doomed.length === 0) return 0;
  const among = isAmongNumbers(doomed);
  // The open ones are read after the lock: from then on no delivery of a locked emission is resent.
  const [locked = [], open = []] = yield* together(
    sql`SELECT entry FROM emissions WHERE entry ${among} ORDER BY entry ${SKIP_LOCKED}`,
    sql`SELECT entry FROM ${OPEN_DELIVERIES} WHERE entry ${among} AND ${IS_OPEN}`,
  );
  const isOpen = new Set(open.map((row) => number(row, 'entry')));
  const entries = locked.map((row) => number(row, 'entry')).filter((entry) => !isOpen.has(entry));
  if (entries.length > 0) yield* deleteEmissions(entries);
  return entries.length;
}

/** Deletes emissions with all that they have caused, none of which is open. */
export function* deleteEmissions(entries: readonly number[]): Steps<void> {
  const among = isAmongNumbers(entries);
  // The sums keep the databases from walking the primary key down for the largest number.
  const newest = yield* get(sql`SELECT max(n) AS n FROM (SELECT max(run + 0) AS n FROM runs WHERE entry ${among}
    UNION ALL SELECT max(delivery + 0) FROM deliveries WHERE entry ${among}) AS numbers`);
  const last = Math.max(...entries, (newest && numberOrNull(newest, 'n')) ?? 0);
  yield* send(sql`DELETE FROM attempts WHERE delivery IN (SELECT delivery FROM deliveries WHERE entry ${among})`);
  for (const table of ['deliveries', 'runs', 'withheld', 'emissions']) {
    yield* send(sql`DELETE FROM ${raw(table)} WHERE entry ${among}`);
  }
  // Numbers stay unique even if the newest rows are deleted and the clock was set back.
  yield* send(sql`INSERT INTO meta (name, value) VALUES ('last_number', ${String(last)})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
      WHERE CAST(meta.value AS BIGINT) < CAST(excluded.value AS BIGINT)`);
}

// Retention: deletes old emissions without open work, in steps of one short transaction each, so that no other transaction
// waits long. Keys, operations and audit records, which have their own expiry, are deleted at the end of a round.

import { NUMBERS_PER_MS } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { pruneAudit } from '../config/audit.ts';
import type { ConfigDatabase } from '../config/config-database.ts';
import { pruneGroups } from '../config/error-groups.ts';
import { differs, isAmongNumbers, isAmongRows, raw, type Sql, sql } from '../config/sql.ts';
import { all, get, type Steps, send, together } from '../config/steps.ts';
import type { TimeStore } from '../contract/store.ts';
import { flag, number, numberOrNull, text } from '../rows/cells.ts';
import { LISTED, OPEN_DELIVERIES, OPEN_RUNS } from './log-tables.ts';

const EMISSIONS_PER_STEP = 500;
const KEYS_PER_STEP = 5000;

/** Returns the verbs of retention. `forgetMore`: deletes what a backend alone has, at the end of a round. */
export function retentionVerbs(
  database: ConfigDatabase,
  forgetMore: () => Promise<void> = async () => undefined,
): Pick<TimeStore, 'prune'> {
  return {
    prune: async (beforeMs, from) => {
      const step = await database.write(() => pruneStep({ from, before: beforeMs * NUMBERS_PER_MS }));
      if (step.next !== null) return step;
      for (let isMore = true; isMore; ) isMore = await database.write(({ nowMs }) => pruneKeys(nowMs));
      for (let isMore = true; isMore; ) isMore = await database.write(() => pruneAudit(beforeMs));
      for (let after: string | null = ''; after !== null; ) {
        const from: string = after;
        after = await database.write(({ nowMs }) => pruneGroups({ after: from, beforeMs, nowMs }));
      }
      await database.put(sql`DELETE FROM operations WHERE ended_at_ms < ${beforeMs} AND kind = 'resend'`);
      for (let isMore = true; isMore; ) isMore = await database.write(() => pruneReplays(beforeMs));
      await forgetMore();
      return step;
    },
  };
}

const RESULTS_PER_STEP = 5000;

/** Deletes results of one replay operation that is over, and the operation with the last. Returns false when there is none. */
function* pruneReplays(beforeMs: number): Steps<boolean> {
  const row = yield* get(sql`SELECT id FROM operations WHERE ended_at_ms < ${beforeMs} AND under_way = 0
    ORDER BY ended_at_ms LIMIT 1`);
  if (!row) return false;
  const id = text(row, 'id');
  const doomed = sql`SELECT entry FROM operation_results WHERE operation_id = ${id} ORDER BY entry LIMIT ${RESULTS_PER_STEP}`;
  yield* send(sql`DELETE FROM operation_results WHERE operation_id = ${id} AND entry ${isAmongRows(doomed)}`);
  yield* send(sql`DELETE FROM operations WHERE id = ${id}
    AND NOT EXISTS (SELECT 1 FROM operation_results WHERE operation_id = ${id})`);
  return true;
}

interface Step {
  readonly emissions: number;
  readonly next: number | null;
}

/**
 * Deletes a step of old emissions. The only new work that an old emission may get is a delivery that is resent; that verb locks
 * the emission.
 */
function* pruneStep(of: { readonly from: number; readonly before: number }): Steps<Step> {
  const page = yield* all(findDoomed(of));
  const last = page.length < EMISSIONS_PER_STEP ? undefined : page.at(-1);
  const next = last ? number(last, 'entry') + 1 : null;
  const doomed = page.filter((row) => flag(row, 'is_doomed')).map((row) => number(row, 'entry'));
  if (doomed.length === 0) return { emissions: 0, next };
  const among = isAmongNumbers(doomed);
  // The open ones are read after the lock: from then on no delivery of a locked emission is resent.
  const [locked = [], open = []] = yield* together(
    sql`SELECT entry FROM emissions WHERE entry ${among} ORDER BY entry ${SKIP_LOCKED}`,
    sql`SELECT entry FROM ${OPEN_DELIVERIES} WHERE entry ${among} AND ${IS_OPEN}`,
  );
  const isOpen = new Set(open.map((row) => number(row, 'entry')));
  const entries = locked.map((row) => number(row, 'entry')).filter((entry) => !isOpen.has(entry));
  if (entries.length > 0) yield* deleteEmissions(entries);
  return { emissions: entries.length, next };
}

const SKIP_LOCKED = differs({ sqlite: '', postgres: 'FOR UPDATE SKIP LOCKED' });
const IS_OPEN = raw("state NOT IN ('delivered', 'exhausted', 'cancelled')");

/** Selects the next entries, and whether each may be deleted. */
function findDoomed({ from, before }: { readonly from: number; readonly before: number }): Sql {
  return sql`WITH page AS MATERIALIZED (
      SELECT entry, emitter_id, name, ${LISTED} AS is_listed FROM emissions WHERE entry >= ${from} AND entry < ${before}
        ORDER BY entry LIMIT ${EMISSIONS_PER_STEP}),
    channels AS MATERIALIZED (
      SELECT c.emitter_id, c.name, (SELECT e.entry FROM emissions AS e
          WHERE e.emitter_id = c.emitter_id AND e.name = c.name AND ${LISTED}
          ORDER BY e.entry DESC LIMIT 1 OFFSET ${raw(String(LIMITS.listedPerEmitterAndName - 1))}) AS oldest_kept
        FROM (SELECT DISTINCT emitter_id, name FROM page WHERE is_listed) AS c)
    SELECT p.entry, (NOT p.is_listed OR p.entry < coalesce(c.oldest_kept, 0))
        AND NOT EXISTS (SELECT 1 FROM ${OPEN_RUNS} AS r
          WHERE r.entry = p.entry AND r.state IN ('queued', 'running', 'waiting'))
        AND NOT EXISTS (SELECT 1 FROM ${OPEN_DELIVERIES} AS d WHERE d.entry = p.entry AND ${IS_OPEN})
        AND NOT EXISTS (SELECT 1 FROM digests AS g WHERE g.newest_entry = p.entry) AS is_doomed
      FROM page AS p LEFT JOIN channels AS c ON p.is_listed AND c.emitter_id = p.emitter_id AND c.name = p.name
      ORDER BY p.entry`;
}

function* deleteEmissions(entries: readonly number[]): Steps<void> {
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

const KEY_ROW = differs({ sqlite: 'trigger_id, key', postgres: 'ctid' });

/** Deletes expired idempotency keys in steps: a busy trigger leaves millions a day. Returns whether there may be more. */
function* pruneKeys(nowMs: number): Steps<boolean> {
  const expired = sql`SELECT ${KEY_ROW} FROM idempotency WHERE expires_at_ms <= ${nowMs}
    ORDER BY expires_at_ms LIMIT ${KEYS_PER_STEP}`;
  // The condition is repeated under the lock: a key may have been renewed meanwhile.
  const gone = yield* all(sql`DELETE FROM idempotency WHERE (${KEY_ROW}) ${isAmongRows(expired)}
    AND expires_at_ms <= ${nowMs} RETURNING 1 AS one`);
  return gone.length === KEYS_PER_STEP;
}

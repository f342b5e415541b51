// Retention: deletes old emissions without open work, in steps of one short transaction each, so that no other transaction
// waits long. Keys, operations and audit records, which have their own expiry, are deleted at the end of a round.

import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { pruneAudit } from '../../config/audit.ts';
import type { ConfigDatabase } from '../../config/config-database.ts';
import { pruneGroups } from '../../config/error-groups.ts';
import { differs, isAmongRows, raw, type Sql, sql } from '../../config/sql.ts';
import { all, get, type Steps, send } from '../../config/steps.ts';
import type { TimeStore } from '../../contract/store.ts';
import { number, text } from '../../rows/cells.ts';
import { LISTED } from '../log-tables.ts';
import { deleteDoomed, EMISSIONS_PER_STEP, HAS_NO_WORK } from './delete-emissions.ts';
import { HAS_OWN_RETENTION, pruneErrors } from './errors.ts';

const KEYS_PER_STEP = 5000;

/** Returns the verbs of retention. `forgetMore`: deletes what a backend alone has, at the end of a round. */
export function retentionVerbs(
  database: ConfigDatabase,
  forgetMore: () => Promise<void> = async () => undefined,
): Pick<TimeStore, 'prune' | 'pruneErrors'> {
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

    pruneErrors: (of, from) => database.write(() => pruneErrors(of, from)),
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

interface DeletedStep {
  readonly emissions: number;
  readonly next: number | null;
}

function* pruneStep(of: { readonly from: number; readonly before: number }): Steps<DeletedStep> {
  const page = yield* all(findDoomed(of));
  const last = page.length < EMISSIONS_PER_STEP ? undefined : page.at(-1);
  const next = last ? number(last, 'entry') + 1 : null;
  return { emissions: yield* deleteDoomed(page), next };
}

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
        AND NOT ${HAS_OWN_RETENTION} AND ${HAS_NO_WORK} AS is_doomed
      FROM page AS p LEFT JOIN channels AS c ON p.is_listed AND c.emitter_id = p.emitter_id AND c.name = p.name
      ORDER BY p.entry`;
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

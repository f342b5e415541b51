// Retention: deletes old emissions without open work, in steps of one short transaction each, so that no other transaction
// waits long for a lock. Keys, answers and nodes with their own expiry are deleted at the end of a round.

import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { DAY_MS, LIMITS } from '../../../domain/limits.ts';
import { pruneAudit } from '../../config/audit.ts';
import { number, numberOrNull, textOrNull } from '../../rows/cells.ts';
import { keepLastNumber } from '../claims/node.ts';
import { configDatabase } from '../config/config-database.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';

const EMISSIONS_PER_STEP = 500;
const KEYS_PER_STEP = 5000;
const NODE_KEPT_MS = DAY_MS;

interface Step {
  readonly emissions: number;
  readonly next: number | null;
}

/** See TimeStore. */
export async function prune(core: Core, beforeMs: number, from: number): Promise<Step> {
  const step = await core.config.transact((tx) => pruneStep(tx, { before: beforeMs * NUMBERS_PER_MS, from }));
  if (step.next === null) await forgetOld(core, beforeMs);
  return step;
}

/**
 * Selects the next entries, and as `doomed` those that may be deleted, as the literal of an array. The only new work that an
 * old emission may get is a delivery that is resent; that verb locks the emission.
 */
const FIND_DOOMED = `WITH page AS MATERIALIZED (
    SELECT entry, emitter_id, name, listed FROM emissions WHERE entry >= $1::bigint AND entry < $2::bigint
      ORDER BY entry LIMIT ${EMISSIONS_PER_STEP}),
  channels AS MATERIALIZED (
    SELECT c.emitter_id, c.name, (SELECT e.entry FROM emissions AS e
        WHERE e.emitter_id = c.emitter_id AND e.name = c.name AND e.listed
        ORDER BY e.entry DESC OFFSET ${LIMITS.listedPerEmitterAndName - 1} LIMIT 1) AS oldest_kept
      FROM (SELECT DISTINCT emitter_id, name FROM page WHERE listed) AS c),
  doomed AS (
    SELECT p.entry FROM page AS p LEFT JOIN channels AS c ON p.listed AND c.emitter_id = p.emitter_id AND c.name = p.name
      WHERE (NOT p.listed OR p.entry < c.oldest_kept)
        AND NOT EXISTS (SELECT 1 FROM open_runs AS r WHERE r.entry = p.entry)
        AND NOT EXISTS (SELECT 1 FROM open_deliveries AS d WHERE d.entry = p.entry)
        AND NOT EXISTS (SELECT 1 FROM digests AS g WHERE g.newest_entry = p.entry))
  SELECT (SELECT count(*) FROM page) AS looked, (SELECT max(entry) FROM page) AS last,
    (SELECT array_agg(entry)::text FROM doomed) AS doomed`;

async function pruneStep(tx: Tx, of: { before: number; from: number }): Promise<Step> {
  const [found = {}] = await tx.query(FIND_DOOMED, of.from, of.before);
  const next = number(found, 'looked') < EMISSIONS_PER_STEP ? null : number(found, 'last') + 1;
  const doomed = textOrNull(found, 'doomed');
  if (doomed === null) return { emissions: 0, next };
  const locked = await tx.query(LOCK_DOOMED, doomed);
  // Read after the lock: from now on none of their deliveries is resent.
  const open = await tx.query('SELECT entry FROM open_deliveries WHERE entry = ANY ($1::bigint[])', doomed);
  const isOpen = new Set(open.map(({ entry }) => entry));
  const entries = locked.map((row) => number(row, 'entry')).filter((entry) => !isOpen.has(entry));
  return { emissions: await deleteEmissions(tx, arrayLiteral(entries)), next };
}

const LOCK_DOOMED = `SELECT entry FROM emissions WHERE entry = ANY ($1::bigint[]) ORDER BY entry FOR UPDATE SKIP LOCKED`;

async function deleteEmissions(tx: Tx, doomed: string): Promise<number> {
  void tx.query('DELETE FROM withheld WHERE entry = ANY ($1::bigint[])', doomed);
  const [[deliveries = {}], [runs = {}], [emissions = {}]] = await Promise.all([
    tx.query(
      `WITH gone AS (DELETE FROM deliveries WHERE entry = ANY ($1::bigint[]) RETURNING delivery),
        tried AS (DELETE FROM attempts WHERE delivery IN (SELECT delivery FROM gone))
        SELECT count(*) AS n, max(delivery) AS last FROM gone`,
      doomed,
    ),
    tx.query(
      `WITH gone AS (DELETE FROM runs WHERE entry = ANY ($1::bigint[]) RETURNING run)
        SELECT count(*) AS n, max(run) AS last FROM gone`,
      doomed,
    ),
    tx.query(
      `WITH gone AS (DELETE FROM emissions WHERE entry = ANY ($1::bigint[]) RETURNING entry)
        SELECT count(*) AS n, max(entry) AS last FROM gone`,
      doomed,
    ),
  ]);
  // Keeps numbers unique even if the newest rows are deleted and the clock was set back.
  keepLastNumber(tx, Math.max(...[deliveries, runs, emissions].map((row) => numberOrNull(row, 'last') ?? 0)));
  return number(emissions, 'n');
}

async function forgetOld(core: Core, beforeMs: number): Promise<void> {
  const { pool } = core;
  const nowMs = core.clock.nowMs();
  await forgetKeys(core, nowMs);
  await pool.write('DELETE FROM answers WHERE at_ms <= $1::bigint', nowMs - LIMITS.answerKeptMs);
  await pool.write('DELETE FROM nodes WHERE gone_at_ms <= $1::bigint', nowMs - NODE_KEPT_MS);
  await pool.write('DELETE FROM operations WHERE ended_at_ms < $1::bigint', beforeMs);
  const config = configDatabase(core);
  for (let isMore = true; isMore; ) isMore = await config.write(() => pruneAudit(beforeMs));
  // Queues of deleted listeners and of places of requests. A queue in use is locked, and skipped.
  await pool.write(
    `DELETE FROM listener_queues AS l USING (SELECT owner_id, listener_id FROM listener_queues AS i
        WHERE waiting = 0 AND taken = 0 AND listener_id ~ '^((p|dc|wh)_|http:)'
          AND (paused_until_ms IS NULL OR paused_until_ms <= $1::bigint)
          AND NOT EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = i.listener_id)
          AND NOT EXISTS (SELECT 1 FROM webhooks AS w WHERE w.id = i.listener_id) FOR UPDATE SKIP LOCKED) AS idle
      WHERE l.owner_id = idle.owner_id AND l.listener_id = idle.listener_id`,
    nowMs,
  );
}

/** Deletes expired idempotency keys in steps: a busy trigger leaves millions a day. */
async function forgetKeys(core: Core, nowMs: number): Promise<void> {
  for (;;) {
    // The condition is repeated under the lock: a key may have been renewed meanwhile.
    const [forgotten = {}] = await core.pool.write(
      `WITH gone AS (DELETE FROM idempotency WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency
            WHERE expires_at_ms <= $1::bigint ORDER BY expires_at_ms LIMIT ${KEYS_PER_STEP}))
          AND expires_at_ms <= $1::bigint RETURNING 1)
        SELECT count(*) AS n FROM gone`,
      nowMs,
    );
    if (number(forgotten, 'n') < KEYS_PER_STEP) return;
  }
}

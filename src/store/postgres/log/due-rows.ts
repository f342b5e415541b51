// Rows whose time has come, for a batch: digests whose window is over, and later emissions.

import { LIMITS } from '../../../domain/limits.ts';
import { DIGESTS_PER_STEP } from '../../log/digests.ts';
import { IS_OF_LIVE_OWNER } from '../../log/log-tables.ts';
import { number, text } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import { type DigestNeed, pairKey } from './batch-needs.ts';

export interface PlannedDigest {
  readonly openedAtMs: number;
  readonly closesAtMs: number;
  repeats: number;
  newestEntry: number;
  isNew: boolean;
  /** The group that it is of is muted. */
  readonly isMuted: boolean;
}

/** Returns whether the group that the key of a digest is of is muted, as SQL. */
export function isMutedOf(key: 'digest_key' | 'd.digest_key', nowMs: '$1' | '$3'): string {
  return `EXISTS (SELECT 1 FROM error_groups AS g WHERE g.id = split_part(${key}, ' ', 2) AND g.state = 'muted'
    AND NOT coalesce(g.until_ms <= ${nowMs}::bigint, false))`;
}

/** Locks and returns some of the digests whose window is over, each with its newest mail, if that is kept. */
export async function readOverDigests(tx: Tx, nowMs: number): Promise<Row[]> {
  const over = await tx.query(
    `SELECT owner_id AS digest_owner, digest_key AS over_key, opened_at_ms, closes_at_ms, repeats, newest_entry,
        ${isMutedOf('digest_key', '$1')} AS is_muted
      FROM digests WHERE closes_at_ms <= $1::bigint ORDER BY owner_id, digest_key LIMIT ${DIGESTS_PER_STEP}
      FOR UPDATE SKIP LOCKED`,
    nowMs,
  );
  if (over.length === 0) return [];
  const newest = await tx.query(
    'SELECT * FROM emissions WHERE entry = ANY($1::bigint[])',
    arrayLiteral(over.map((row) => number(row, 'newest_entry'))),
  );
  const byEntry = new Map(newest.map((row) => [row.entry, row]));
  return over.map((row) => ({ entry: null, ...byEntry.get(number(row, 'newest_entry')), ...row }));
}

/** Deletes and returns some of the later emissions that are due, the longest due first. */
export async function takeDueLater(tx: Tx, nowMs: number): Promise<Row[]> {
  const due = await tx.query(
    `DELETE FROM later_emissions WHERE entry = ANY (ARRAY(SELECT entry FROM later_emissions
        WHERE due_at_ms <= $1::bigint AND ${IS_OF_LIVE_OWNER} ORDER BY due_at_ms, entry LIMIT ${LIMITS.laterStep} FOR UPDATE SKIP LOCKED))
      RETURNING *`,
    nowMs,
  );
  const lead = (a: Row, b: Row, column: string): number => number(a, column) - number(b, column);
  return due.sort((a, b) => lead(a, b, 'due_at_ms') || lead(a, b, 'entry'));
}

/**
 * Locks digests, opens those that are not there, and returns all of them, each with the window that it was asked for with. An owner
 * without a window opens none; one that is open still counts.
 */
export async function lockDigests(tx: Tx, needs: readonly DigestNeed[], nowMs: number): Promise<Row[]> {
  const owners = arrayLiteral(needs.map((n) => n.ownerId));
  const keys = arrayLiteral(needs.map((n) => n.digestKey));
  void tx.query(
    `INSERT INTO digests (owner_id, digest_key, opened_at_ms, closes_at_ms, repeats, newest_entry)
      SELECT o, k, $4::bigint, $4::bigint + w, 0, 0 FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (o, k, w)
      WHERE w > 0 ORDER BY o, k ON CONFLICT DO NOTHING`,
    owners,
    keys,
    arrayLiteral(needs.map((n) => n.windowMs)),
    nowMs,
  );
  const rows = await tx.query(
    `SELECT d.owner_id, d.digest_key, d.opened_at_ms, d.closes_at_ms, d.repeats, d.newest_entry = 0 AS is_new,
        ${isMutedOf('d.digest_key', '$3')} AS is_muted
      FROM unnest($1::text[], $2::text[]) AS u (o, k)
      JOIN digests AS d ON d.owner_id = u.o AND d.digest_key = u.k
      WHERE d.owner_id = ANY($1::text[]) AND d.digest_key = ANY($2::text[]) ORDER BY d.owner_id, d.digest_key FOR UPDATE OF d`,
    owners,
    keys,
    nowMs,
  );
  const there = new Map(rows.map((row) => [pairKey(text(row, 'owner_id'), text(row, 'digest_key')), row]));
  const none = { opened_at_ms: nowMs, closes_at_ms: nowMs, repeats: 0, is_new: true, is_muted: false };
  return needs.map(({ ownerId, digestKey, windowMs }) => {
    const row = there.get(pairKey(ownerId, digestKey)) ?? { ...none, owner_id: ownerId, digest_key: digestKey };
    return { ...row, window_ms: windowMs };
  });
}

/** Sends the digests that count a mail. */
export function sendDigests(
  tx: Tx,
  digests: Iterable<Omit<PlannedDigest, 'isMuted'> & { ownerId: string; digestKey: string }>,
): void {
  const used = [...digests].filter((d) => d.newestEntry > 0);
  if (used.length === 0) return;
  void tx.query(
    `UPDATE digests AS d SET repeats = u.repeats, newest_entry = u.newest, opened_at_ms = u.opened, closes_at_ms = u.closes
      FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[])
        AS u (o, k, repeats, newest, opened, closes)
      WHERE d.owner_id = u.o AND d.digest_key = u.k AND d.owner_id = ANY($1::text[]) AND d.digest_key = ANY($2::text[])`,
    arrayLiteral(used.map((d) => d.ownerId)),
    arrayLiteral(used.map((d) => d.digestKey)),
    arrayLiteral(used.map((d) => d.repeats)),
    arrayLiteral(used.map((d) => d.newestEntry)),
    arrayLiteral(used.map((d) => d.openedAtMs)),
    arrayLiteral(used.map((d) => d.closesAtMs)),
  );
}

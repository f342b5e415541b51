// Rows whose time has come, for a batch: digests whose window is over, and later emissions.

import { LIMITS } from '../../../domain/limits.ts';
import { DIGESTS_PER_STEP } from '../../log/digests.ts';
import { IS_OF_LIVE_OWNER } from '../../log/log-tables.ts';
import { number } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';

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

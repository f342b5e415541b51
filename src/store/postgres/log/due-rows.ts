// Rows whose time has come, for a batch: digests whose window is over, and later emissions.

import { groupOfKey } from '../../../domain/delivery/digest.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { DIGESTS_PER_STEP } from '../../log/digests.ts';
import { type GroupNotices, groupNoticeColumns } from '../../log/groups/group-notices.ts';
import { IS_OF_LIVE_OWNER } from '../../log/log-tables.ts';
import { number, text } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import { type DigestNeed, pairKey } from './batch-needs.ts';

export interface PlannedDigest {
  readonly openedAtMs: number;
  readonly closesAtMs: number;
  repeats: number;
  /** 0: that of the row. */
  newestEntry: number;
  isNew: boolean;
  isChanged: boolean;
  /** What the group that it is of says. */
  readonly group: GroupNotices | null;
}

/** Locks and returns some of the digests whose window is over, each with its newest mail, if that is kept. */
export async function readOverDigests(tx: Tx, nowMs: number): Promise<Row[]> {
  const over = await tx.query(
    `SELECT owner_id AS digest_owner, digest_key AS over_key, opened_at_ms, closes_at_ms, repeats, newest_entry
      FROM digests WHERE closes_at_ms <= $1::bigint ORDER BY owner_id, digest_key LIMIT ${DIGESTS_PER_STEP}
      FOR UPDATE SKIP LOCKED`,
    nowMs,
  );
  if (over.length === 0) return [];
  const keys = over.map((row) => ({ ownerId: text(row, 'digest_owner'), digestKey: text(row, 'over_key') }));
  const [newest, groups] = await Promise.all([
    tx.query(
      'SELECT * FROM emissions WHERE entry = ANY($1::bigint[])',
      arrayLiteral(over.map((row) => number(row, 'newest_entry'))),
    ),
    readGroups(tx, keys, nowMs),
  ]);
  const byEntry = new Map(newest.map((row) => [row.entry, row]));
  return over.map((row, i) => ({ entry: null, ...byEntry.get(number(row, 'newest_entry')), ...row, ...groups[i] }));
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
  const locked = tx.query(
    `SELECT d.owner_id, d.digest_key, d.opened_at_ms, d.closes_at_ms, d.repeats, d.newest_entry = 0 AS is_new
      FROM unnest($1::text[], $2::text[]) AS u (o, k)
      JOIN digests AS d ON d.owner_id = u.o AND d.digest_key = u.k
      WHERE d.owner_id = ANY($1::text[]) AND d.digest_key = ANY($2::text[]) ORDER BY d.owner_id, d.digest_key FOR UPDATE OF d`,
    owners,
    keys,
  );
  // Behind the lock, so that what another transaction has said of a group while it held a digest is read.
  const [rows, groups] = await Promise.all([locked, readGroups(tx, needs, nowMs)]);
  const there = new Map(rows.map((row) => [pairKey(text(row, 'owner_id'), text(row, 'digest_key')), row]));
  const none = { opened_at_ms: nowMs, closes_at_ms: nowMs, repeats: 0, is_new: true };
  return needs.map(({ ownerId, digestKey, windowMs }, i) => {
    const row = there.get(pairKey(ownerId, digestKey)) ?? { ...none, owner_id: ownerId, digest_key: digestKey };
    return { ...row, ...groups[i], window_ms: windowMs };
  });
}

/** Returns what the group of each key says; an owner without a window has no digest, and may have muted the group. */
async function readGroups(
  tx: Tx,
  keys: readonly { readonly ownerId: string; readonly digestKey: string }[],
  nowMs: number,
): Promise<Row[]> {
  const rows = await tx.query(
    `SELECT g.id, g.owner_id, ${groupNoticeColumns('$3::bigint')} FROM error_groups AS g
      WHERE g.id = ANY($1::text[]) AND g.owner_id = ANY($2::text[])`,
    arrayLiteral([...new Set(keys.map(({ digestKey }) => groupOfKey(digestKey)))]),
    arrayLiteral([...new Set(keys.map(({ ownerId }) => ownerId))]),
    nowMs,
  );
  const groups = new Map(rows.map((row) => [pairKey(text(row, 'owner_id'), text(row, 'id')), row]));
  return keys.map(({ ownerId, digestKey }) => {
    const { group_withheld = null, group_reopened = null } = groups.get(pairKey(ownerId, groupOfKey(digestKey))) ?? {};
    return { group_withheld, group_reopened };
  });
}

/** Sends the digests that have changed. */
export function sendDigests(
  tx: Tx,
  digests: Iterable<Omit<PlannedDigest, 'group'> & { ownerId: string; digestKey: string }>,
): void {
  const used = [...digests].filter((d) => d.isChanged);
  if (used.length === 0) return;
  void tx.query(
    `UPDATE digests AS d SET repeats = u.repeats, newest_entry = coalesce(nullif(u.newest, 0), d.newest_entry), opened_at_ms = u.opened, closes_at_ms = u.closes
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

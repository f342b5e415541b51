// The rows of windows in which mails about errors are counted.

import { type DigestWindow, groupOfKey } from '../../../domain/delivery/digest.ts';
import { DIGESTS_PER_STEP } from '../../log/digests.ts';
import type { ClosedDigest, OpenedDigest } from '../../log/groups/digest-store.ts';
import { type GroupNotices, groupNoticeColumns, toGroupNotices } from '../../log/groups/group-notices.ts';
import { number, text } from '../../rows/cells.ts';
import { toDigestWindow, toEmission } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';

/** Names a window. */
interface OfKey {
  readonly ownerId: string;
  readonly digestKey: string;
}

export function readDigest({ writer }: Core, { ownerId, digestKey }: OfKey): DigestWindow | null {
  const sql = 'SELECT opened_at_ms, closes_at_ms, repeats FROM digests WHERE owner_id = ? AND digest_key = ?';
  const row = writer.get(sql, ownerId, digestKey);
  return row ? toDigestWindow(row) : null;
}

export function readGroupNotices({ writer }: Core, { ownerId, digestKey }: OfKey, nowMs: number): GroupNotices | null {
  const sql = `SELECT ${groupNoticeColumns('?')} FROM error_groups AS g WHERE g.id = ? AND g.owner_id = ?`;
  return toGroupNotices(writer.get(sql, nowMs, groupOfKey(digestKey), ownerId));
}

export function insertDigest({ writer }: Core, opened: OpenedDigest): void {
  const { ownerId, digestKey, openedAtMs, closesAtMs, repeats, newestEntry } = opened;
  writer.run(
    `INSERT OR REPLACE INTO digests (owner_id, digest_key, opened_at_ms, closes_at_ms, repeats, newest_entry)
      VALUES (?,?,?,?,?,?)`,
    ownerId,
    digestKey,
    openedAtMs,
    closesAtMs,
    repeats,
    newestEntry,
  );
}

export function updateDigest({ writer }: Core, { ownerId, digestKey }: OfKey, window: DigestWindow): void {
  writer.run(
    'UPDATE digests SET opened_at_ms = ?, closes_at_ms = ?, repeats = ? WHERE owner_id = ? AND digest_key = ?',
    window.openedAtMs,
    window.closesAtMs,
    window.repeats,
    ownerId,
    digestKey,
  );
}

export function readOverDigests(core: Core, nowMs: number): readonly ClosedDigest[] {
  const { writer } = core;
  const over = writer.all('SELECT * FROM digests WHERE closes_at_ms <= ? LIMIT ?', nowMs, DIGESTS_PER_STEP);
  return over.map((row) => {
    const newest = writer.get('SELECT * FROM emissions WHERE entry = ?', number(row, 'newest_entry'));
    const of = { ownerId: text(row, 'owner_id'), digestKey: text(row, 'digest_key') };
    return {
      ...of,
      window: toDigestWindow(row),
      withheld: readGroupNotices(core, of, nowMs)?.withheld ?? null,
      newest: newest ? toEmission(newest, core) : null,
    };
  });
}

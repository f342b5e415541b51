// Repeats of notices, counted in windows. What closes a window is in due-times.ts.

import { judgeRepeat, whyCounted } from '../../../domain/delivery/digest.ts';
import type { Emission } from '../../../domain/emission.ts';
import { number } from '../../rows/cells.ts';
import type { Core } from '../core.ts';

/**
 * A repeat of a notice is counted in its window and not sent: says why. Null: the mail is to be sent; the first of a
 * window opens it.
 */
export function countRepeat(core: Core, mail: Emission, nowMs: number): string | null {
  if (mail.digestKey === null) return null;
  const row = core.writer.get(
    'SELECT opened_at_ms, closes_at_ms, repeats FROM digests WHERE owner_id = ? AND digest_key = ?',
    mail.ownerId,
    mail.digestKey,
  );
  const open = row && {
    openedAtMs: number(row, 'opened_at_ms'),
    closesAtMs: number(row, 'closes_at_ms'),
    repeats: number(row, 'repeats'),
  };
  if (!open || judgeRepeat(open) === 'send') {
    const windowMs = core.routes.owner(mail.ownerId)?.digestWindowMs ?? 0;
    if (windowMs > 0) openDigest(core, mail, { openedAtMs: nowMs, closesAtMs: nowMs + windowMs });
    return null;
  }
  core.writer.run(
    'UPDATE digests SET repeats = repeats + 1, newest_entry = ? WHERE owner_id = ? AND digest_key = ?',
    mail.entry,
    mail.ownerId,
    mail.digestKey,
  );
  return whyCounted({ ...open, repeats: open.repeats + 1 });
}

function openDigest(core: Core, mail: Emission, window: { openedAtMs: number; closesAtMs: number }): void {
  core.writer.run(
    `INSERT OR REPLACE INTO digests (owner_id, digest_key, opened_at_ms, closes_at_ms, repeats, newest_entry)
      VALUES (?,?,?,?,0,?)`,
    mail.ownerId,
    mail.digestKey,
    window.openedAtMs,
    window.closesAtMs,
    mail.entry,
  );
}

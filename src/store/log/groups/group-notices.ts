// What groups of errors say of mails and notices that tell of them, for both databases.

import { HEARTBEAT_FAILED, SILENT, UNHEALTHY } from '../../../domain/watch/watch.ts';
import { jsonOrNull, textOrNull } from '../../rows/cells.ts';
import type { Row } from '../../rows/rows.ts';

export interface GroupNotices {
  /**
   * Why none is sent now: the group is muted, or a person has resolved it and so knows of its errors. Null: nothing holds them
   * back.
   */
  readonly withheld: 'muted' | 'resolved' | null;
  /** When the group was opened again last; null: it was not. */
  readonly reopenedAtMs: number | null;
}

/** Watches resolve what they told of as soon as it is over: no person has seen it by then. */
const OF_WATCHES = `('${SILENT}', '${UNHEALTHY}', '${HEARTBEAT_FAILED}')`;

/**
 * The condition under which a person has resolved the group `g`, by an order or by replays: not a watch, and not the deletion of
 * what failed, which says nothing of who has seen its errors.
 */
export const IS_SETTLED = `(g.state = 'resolved' AND g.code NOT IN ${OF_WATCHES} AND CASE substr(g.emitter_id, 1, 2)
    WHEN 'p_' THEN EXISTS (SELECT 1 FROM runnables WHERE runnables.id = g.emitter_id AND runnables.owner_id = g.owner_id)
    WHEN 'dc' THEN EXISTS (SELECT 1 FROM runnables WHERE runnables.id = g.emitter_id AND runnables.owner_id = g.owner_id)
    WHEN 'wh' THEN EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = g.emitter_id AND webhooks.owner_id = g.owner_id)
    WHEN 'hb' THEN EXISTS (SELECT 1 FROM heartbeats WHERE heartbeats.id = g.emitter_id AND heartbeats.owner_id = g.owner_id)
    ELSE true END)`;

/** Returns the columns of `error_groups AS g` that `toGroupNotices` takes. `nowMs`: SQL. */
export function groupNoticeColumns(nowMs: string): string {
  return `CASE WHEN g.state = 'muted' AND NOT coalesce(g.until_ms <= ${nowMs}, false) THEN 'muted'
      WHEN ${IS_SETTLED} THEN 'resolved' END AS group_withheld, g.reopened AS group_reopened`;
}

/** Returns null when there is no group. */
export function toGroupNotices(row: Row | undefined): GroupNotices | null {
  if (!row) return null;
  const reopened = jsonOrNull<{ readonly atMs: number }>(row, 'group_reopened');
  return {
    withheld: textOrNull<'muted' | 'resolved'>(row, 'group_withheld'),
    reopenedAtMs: reopened?.atMs ?? null,
  };
}

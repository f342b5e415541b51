// Deletes, at the end of a round of retention, what only nodes that share a database have.

import { DAY_MS, LIMITS } from '../../../domain/limits.ts';
import type { Core } from '../core.ts';

const NODE_KEPT_MS = DAY_MS;

export async function forgetOld({ pool, clock }: Core): Promise<void> {
  const nowMs = clock.nowMs();
  await pool.write('DELETE FROM answers WHERE at_ms <= $1::bigint', nowMs - LIMITS.answerKeptMs);
  await pool.write('DELETE FROM nodes WHERE gone_at_ms <= $1::bigint', nowMs - NODE_KEPT_MS);
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

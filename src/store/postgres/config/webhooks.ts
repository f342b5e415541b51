// What becomes of a webhook's open deliveries when it is disabled, enabled or deleted.

import { HEALTHY } from '../../../domain/delivery/health.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { WebhookStore } from '../../contract/resources.ts';
import { text } from '../../rows/cells.ts';
import {
  emptyQueue,
  keepCancelled,
  type Listener,
  moveInSteps,
  ROWS_PER_STEP,
  readQueue,
} from '../claims/queued-work.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { cancelOperationsOf } from '../deliveries/operation-rows.ts';
import { forgetHealth, type ListenerQueue, sendQueues, toHealth } from '../log/listener-queue.ts';
import type { ConfigWriting } from './config-write.ts';

export function webhookHealth({ pool }: Core): WebhookStore['webhookHealth'] {
  return async (ownerId, ids) => {
    const rows = await pool.all(
      `SELECT w.id, l.failing_since_ms, coalesce(l.exhausted_in_row, 0) AS exhausted_in_row, l.noticed_at_ms,
          l.paused_until_ms
        FROM webhooks AS w LEFT JOIN listener_queues AS l ON l.owner_id = w.owner_id AND l.listener_id = w.id
        WHERE w.owner_id = $1 AND w.id = ANY($2::text[])`,
      ownerId,
      arrayLiteral(ids),
    );
    return new Map(rows.map((row) => [text(row, 'id'), toHealth(row)]));
  };
}

/** See Writing. The listener's queue is locked by now, unless the webhook is new. */
export async function webhookWritten(
  core: Core,
  w: ConfigWriting,
  { before, after }: { before: Webhook | null; after: Webhook | null },
): Promise<void> {
  if (before === null) return;
  if (after !== null) return webhookChanged(core, w, { before, after });
  cancelOperationsOf(w.tx, { webhookId: before.id, nowMs: w.nowMs });
  await cancelDeliveries(w, before);
}

async function webhookChanged(
  core: Core,
  w: ConfigWriting,
  { before, after }: Record<'before' | 'after', Webhook>,
): Promise<void> {
  const queue = await readQueue(w.tx, after);
  if (!queue) throw new Error(`webhook ${after.id} has no queue`);
  const isWoken = after.active && !before.active;
  if (isWoken || after.url !== before.url) queue.health = HEALTHY;
  if (after.url !== before.url) endPause(w, after);
  if (isWoken) queue.change({ waiting: await moveOpen(w, after, { from: ['held'], to: 'due' }) }, core.node.id);
  if (!after.active && before.active) {
    const held = await moveOpen(w, after, { from: ['pending', 'retrying'], to: 'held' });
    queue.change({ waiting: -held }, core.node.id);
  }
  keepByLimit(queue, before, after);
  const isOtherOrder = after.settings.ordered !== before.settings.ordered;
  if (queue.isChanged || isOtherOrder) sendQueues(w.tx, [queue]);
}

/** What began before counts for as long as the limit says now; without one, for nothing. */
function keepByLimit(queue: ListenerQueue, before: Webhook, after: Webhook): void {
  const [was, is] = [before.settings.rateLimit, after.settings.rateLimit];
  if (queue.keptUntilMs === null || was?.intervalMs === is?.intervalMs) return;
  queue.keep(was && is ? queue.keptUntilMs - was.intervalMs + is.intervalMs : null);
}

/** The address that asked for a pause is gone: what was put off because of it is due. Sent before the queue's own row is. */
function endPause({ tx, nowMs }: ConfigWriting, { ownerId, id }: Listener): void {
  void tx.query(
    `UPDATE open_deliveries SET due_at_ms = $1::bigint WHERE owner_id = $2 AND listener_id = $3 AND state = 'retrying'
      AND due_by = 'retry_after' AND due_at_ms > $1::bigint`,
    nowMs,
    ownerId,
    id,
  );
}

async function cancelDeliveries(w: ConfigWriting, webhook: Listener): Promise<void> {
  emptyQueue(w.tx, webhook);
  forgetHealth(w.tx, webhook);
  await moveOpen(w, webhook, { from: ['pending', 'retrying', 'held'], to: 'cancelled' });
}

interface Move {
  readonly from: readonly ('pending' | 'retrying' | 'held')[];
  readonly to: 'due' | 'held' | 'cancelled';
}

/** What becomes of the rows in `next`. `$4`: due or over since then. */
const MOVES: Readonly<Record<Move['to'], string>> = {
  held: `moved AS (UPDATE open_deliveries AS o SET state = 'held', due_at_ms = $4::bigint FROM next
    WHERE o.delivery = next.delivery RETURNING o.delivery, next.state, o.state AS now_state)`,
  due: `moved AS (UPDATE open_deliveries AS o SET due_at_ms = $4::bigint, state = CASE WHEN o.requests_made = 0
      AND o.due_by = 'event' THEN 'pending' ELSE 'retrying' END FROM next
    WHERE o.delivery = next.delivery RETURNING o.delivery, next.state, o.state AS now_state)`,
  cancelled: `gone AS (DELETE FROM open_deliveries AS o USING next WHERE o.delivery = next.delivery RETURNING o.*),
    kept AS (${keepCancelled('$4')}), moved AS (SELECT delivery, state, 'cancelled' AS now_state FROM gone)`,
};

/** Returns how many; their queue is locked by now. */
async function moveOpen(w: ConfigWriting, webhook: Listener, { from, to }: Move): Promise<number> {
  let total = 0;
  const step = (after: number) =>
    w.tx.query(
      `WITH next AS (SELECT delivery, state FROM open_deliveries
          WHERE owner_id = $1 AND listener_id = $2 AND state IN ('${from.join("', '")}') AND delivery > $3::bigint
          ORDER BY delivery LIMIT ${ROWS_PER_STEP}),
        ${MOVES[to]}
        SELECT state, now_state, count(*) AS n, max(delivery) AS last FROM moved GROUP BY state, now_state`,
      webhook.ownerId,
      webhook.id,
      after,
      to === 'held' ? null : w.nowMs,
    );
  await moveInSteps(step, ({ state, now_state: nowState, n }) => {
    w.ledger.moved(webhook.ownerId, 'deliveries', { from: state as string, to: nowState as string, n: n as number });
    total += n as number;
  });
  return total;
}

// Webhooks, and what becomes of their open deliveries when one is disabled, enabled or deleted.

import { LIMITS } from '../../domain/limits.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { WebhookStore } from '../resources.ts';
import { type ConfigWriting, configWrite, lineWrite } from './config-write.ts';
import type { Core } from './core.ts';
import { readPage } from './pages.ts';
import { toWebhook } from './rows.ts';
import { removeSubscriptions } from './runnables.ts';
import { emptyLine, type Listener, lockLine, moveInSteps, ROWS_PER_STEP } from './waiting.ts';

export function webhookVerbs(core: Core): WebhookStore {
  const { pool } = core;
  return {
    createWebhook: (webhook) =>
      configWrite(core, webhook.ownerId, async ({ tx }) => {
        await tx.query(
          `INSERT INTO webhooks (id, owner_id, url, name, description, active, secrets, created_at_ms, updated_at_ms)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          webhook.id,
          webhook.ownerId,
          webhook.url,
          webhook.name,
          webhook.description,
          webhook.active,
          JSON.stringify(webhook.secrets),
          webhook.createdAtMs,
          webhook.updatedAtMs,
        );
      }),

    updateWebhook: (webhook) => lineWrite(core, webhook, (w) => updateIn(w, webhook)),

    getWebhook: async (ownerId, id) => {
      const row = await pool.get('SELECT * FROM webhooks WHERE id = $1 AND owner_id = $2', id, ownerId);
      return row && toWebhook(row);
    },

    listWebhooks: (ownerId, page) => {
      const listing = {
        from: 'webhooks',
        columns: '*',
        key: 'id',
        where: ['owner_id = $1'],
        values: [ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: toWebhook });
    },

    deleteWebhook: (ownerId, id) =>
      lineWrite(core, { ownerId, id }, async (w) => {
        const [row] = await w.tx.query('DELETE FROM webhooks WHERE id = $1 AND owner_id = $2 RETURNING *', id, ownerId);
        if (!row) return undefined;
        removeSubscriptions(w.tx, { ownerId, id });
        await cancelDeliveries(w, { ownerId, id });
        return toWebhook(row);
      }),
  };
}

async function updateIn(w: ConfigWriting, webhook: Webhook): Promise<boolean> {
  const changed = await w.tx.query(
    `UPDATE webhooks SET url = $1, name = $2, description = $3, active = $4, secrets = $5, updated_at_ms = $6
      WHERE id = $7 AND owner_id = $8 RETURNING id`,
    webhook.url,
    webhook.name,
    webhook.description,
    webhook.active,
    JSON.stringify(webhook.secrets),
    webhook.updatedAtMs,
    webhook.id,
    webhook.ownerId,
  );
  if (changed.length === 0) return false;
  await (webhook.active ? releaseHeld(w, webhook) : holdDeliveries(w, webhook));
  return true;
}

/** What waits for a webhook waits until somebody enables it again; an attempt under way ends by itself. */
export async function holdDeliveries(w: ConfigWriting, webhook: Listener): Promise<void> {
  emptyLine(w.tx, webhook);
  await moveOpen(w, webhook, { from: ['pending', 'retrying'], to: 'held' });
}

async function releaseHeld(w: ConfigWriting, webhook: Listener): Promise<void> {
  lockLine(w.tx, webhook);
  const released = await moveOpen(w, webhook, { from: ['held'], to: 'pending' });
  if (released === 0) return;
  void w.tx.query(
    `UPDATE lines SET waiting = waiting + $1::int, ready_at_ms = least(ready_at_ms, $2::bigint)
      WHERE owner_id = $3 AND listener_id = $4`,
    released,
    w.nowMs,
    webhook.ownerId,
    webhook.id,
  );
}

async function cancelDeliveries(w: ConfigWriting, webhook: Listener): Promise<void> {
  emptyLine(w.tx, webhook);
  await moveOpen(w, webhook, { from: ['pending', 'retrying', 'held'], to: 'cancelled' });
}

interface Move {
  readonly from: readonly ('pending' | 'retrying' | 'held')[];
  readonly to: 'pending' | 'held' | 'cancelled';
}

/** What becomes of the rows in `next`. `$4`: due or over since then. */
const MOVES: Readonly<Record<Move['to'], string>> = {
  held: `moved AS (UPDATE open_deliveries AS o SET state = 'held', due_at_ms = $4::bigint FROM next
    WHERE o.delivery = next.delivery RETURNING o.delivery, next.state)`,
  pending: `moved AS (UPDATE open_deliveries AS o SET state = 'pending', due_at_ms = $4::bigint FROM next
    WHERE o.delivery = next.delivery RETURNING o.delivery, next.state)`,
  cancelled: `moved AS (DELETE FROM open_deliveries AS o USING next WHERE o.delivery = next.delivery RETURNING o.*),
    kept AS (INSERT INTO deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state,
        attempts_made, ended_at_ms)
      SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, 'cancelled', attempts_made, $4::bigint
        FROM moved)`,
};

/** Returns how many; their line is locked by now. */
async function moveOpen(w: ConfigWriting, webhook: Listener, { from, to }: Move): Promise<number> {
  let total = 0;
  const step = (after: number) =>
    w.tx.query(
      `WITH next AS (SELECT delivery, state FROM open_deliveries
          WHERE owner_id = $1 AND listener_id = $2 AND state IN ('${from.join("', '")}') AND delivery > $3::bigint
          ORDER BY delivery LIMIT ${ROWS_PER_STEP}),
        ${MOVES[to]}
        SELECT state, count(*) AS n, max(delivery) AS last FROM moved GROUP BY state`,
      webhook.ownerId,
      webhook.id,
      after,
      to === 'held' ? null : w.nowMs,
    );
  await moveInSteps(step, (state, n) => {
    w.ledger.moved(webhook.ownerId, 'deliveries', { from: state, to, n });
    total += n;
  });
  return total;
}

// Webhooks, and what becomes of their open deliveries when one is disabled, enabled or deleted.

import { LIMITS } from '../../domain/limits.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { WebhookStore } from '../resources.ts';
import { configWrite } from './config-write.ts';
import type { Core } from './core.ts';
import { readPage } from './pages.ts';
import { OPEN_DELIVERY } from './partial.ts';
import { toWebhook } from './rows.ts';
import type { Transaction } from './transaction.ts';

export function webhookVerbs(core: Core): WebhookStore {
  const get = (ownerId: string, id: string): Webhook | undefined => {
    const row = core.reader.get('SELECT * FROM webhooks WHERE id = ? AND owner_id = ?', id, ownerId);
    return row && toWebhook(row);
  };
  return {
    createWebhook: (webhook) =>
      configWrite(core, () => {
        core.writer.run(
          `INSERT INTO webhooks (id, owner_id, url, name, description, active, secrets, created_at_ms, updated_at_ms)
            VALUES (?,?,?,?,?,?,?,?,?)`,
          webhook.id,
          webhook.ownerId,
          webhook.url,
          webhook.name,
          webhook.description,
          webhook.active ? 1 : 0,
          JSON.stringify(webhook.secrets),
          webhook.createdAtMs,
          webhook.updatedAtMs,
        );
      }),

    updateWebhook: (webhook) =>
      configWrite(core, (tx) => {
        const changed = core.writer.run(
          `UPDATE webhooks SET url = ?, name = ?, description = ?, active = ?, secrets = ?, updated_at_ms = ?
            WHERE id = ? AND owner_id = ?`,
          webhook.url,
          webhook.name,
          webhook.description,
          webhook.active ? 1 : 0,
          JSON.stringify(webhook.secrets),
          webhook.updatedAtMs,
          webhook.id,
          webhook.ownerId,
        );
        if (changed === 0) return false;
        if (webhook.active) releaseHeld(core, tx, webhook.id);
        else holdDeliveries(core, tx, webhook.id);
        return true;
      }),

    getWebhook: async (ownerId, id) => get(ownerId, id),

    listWebhooks: async (ownerId, page) => {
      const listing = {
        from: 'webhooks',
        columns: '*',
        key: 'id',
        where: ['owner_id = ?'],
        values: [ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(core.reader, listing, { page, map: toWebhook });
    },

    deleteWebhook: (ownerId, id) =>
      configWrite(core, (tx) => {
        const row = core.writer.get('DELETE FROM webhooks WHERE id = ? AND owner_id = ? RETURNING *', id, ownerId);
        if (!row) return undefined;
        core.writer.run('DELETE FROM subscriptions WHERE owner_id = ? AND listener_id = ?', ownerId, id);
        core.writer.run('DELETE FROM subscriptions WHERE owner_id = ? AND emitter_id = ?', ownerId, id);
        moveOpen(core, tx, { webhookId: id, from: ['pending', 'retrying', 'held'], to: 'cancelled' });
        return toWebhook(row);
      }),
  };
}

/** What waits for a webhook waits until somebody enables it again; an attempt under way ends by itself. */
export function holdDeliveries(core: Core, tx: Transaction, webhookId: string): void {
  moveOpen(core, tx, { webhookId, from: ['pending', 'retrying'], to: 'held' });
}

function releaseHeld(core: Core, tx: Transaction, webhookId: string): void {
  moveOpen(core, tx, { webhookId, from: ['held'], to: 'pending' });
}

interface Move {
  readonly webhookId: string;
  readonly from: readonly ('pending' | 'retrying' | 'held')[];
  readonly to: 'pending' | 'held' | 'cancelled';
}

function moveOpen(core: Core, tx: Transaction, move: Move): void {
  const isOpen = (state: string): boolean => state === 'pending' || state === 'retrying';
  for (const from of move.from) {
    const rows = core.writer.all(
      `UPDATE deliveries SET state = ?, due_at_ms = ?, ended_at_ms = ?
        WHERE listener_id = ? AND state = ? AND ${OPEN_DELIVERY} RETURNING owner_id`,
      move.to,
      isOpen(move.to) ? tx.nowMs : null,
      move.to === 'cancelled' ? tx.nowMs : null,
      move.webhookId,
      from,
    );
    for (const row of rows) tx.moved(row.owner_id as string, 'deliveries', { from, to: move.to });
    if (isOpen(from)) tx.opened('deliveries', move.webhookId, -rows.length);
    if (isOpen(move.to)) tx.opened('deliveries', move.webhookId, rows.length);
  }
}

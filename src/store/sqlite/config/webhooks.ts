// Webhooks, and what becomes of their open deliveries when one is disabled, enabled or deleted.

import type { WebhookHealth } from '../../../domain/delivery/health.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { WebhookStore } from '../../contract/resources.ts';
import { sealedCells, toWebhook } from '../../rows/webhook-rows.ts';
import type { Core } from '../core.ts';
import { forgetHealth, readHealth } from '../deliveries/health.ts';
import { cancelOperations } from '../deliveries/operation-steps.ts';
import type { Transaction } from '../log/transaction.ts';
import { readPage } from '../pages.ts';
import { OPEN_DELIVERY } from '../partial-index.ts';
import { configWrite } from './config-write.ts';

export function webhookVerbs(core: Core): WebhookStore {
  const get = (ownerId: string, id: string): Webhook | undefined => {
    const row = core.reader.get('SELECT * FROM webhooks WHERE id = ? AND owner_id = ?', id, ownerId);
    return row && toWebhook(row, core.seal);
  };
  return {
    createWebhook: (webhook) => core.batch.write((tx) => insertWebhook(core, tx, webhook)),
    updateWebhook: async (ownerId, id, change) => {
      const updated = await core.batch.write((tx) => updateWebhook(core, tx, { ownerId, id, change }));
      if ('thrown' in updated) throw updated.thrown;
      return updated.webhook;
    },

    webhookHealth: async (ownerId, ids) => {
      const health = new Map<string, WebhookHealth>();
      for (const id of ids) if (get(ownerId, id)) health.set(id, readHealth(core.reader, id));
      return health;
    },

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
      return readPage(core.reader, listing, { page, map: (row) => toWebhook(row, core.seal) });
    },

    deleteWebhook: (ownerId, id) =>
      configWrite(core, (tx) => {
        const row = core.writer.get('DELETE FROM webhooks WHERE id = ? AND owner_id = ? RETURNING *', id, ownerId);
        if (!row) return undefined;
        const webhook = toWebhook(row, core.seal);
        readAnew(core, tx, id);
        core.writer.run('DELETE FROM subscriptions WHERE owner_id = ? AND listener_id = ?', ownerId, id);
        core.writer.run('DELETE FROM subscriptions WHERE owner_id = ? AND emitter_id = ?', ownerId, id);
        forgetHealth(core, id);
        cancelOperations(core, tx, id);
        moveOpen(core, tx, { webhook, from: ['pending', 'retrying', 'held'], to: 'cancelled' });
        return webhook;
      }),
  };
}

function insertWebhook(core: Core, tx: Transaction, webhook: Webhook): void {
  const { secrets, settings } = sealedCells(webhook, core.seal);
  core.writer.run(
    `INSERT INTO webhooks (id, owner_id, url, name, description, active, settings, is_ordered, secrets, created_at_ms,
        updated_at_ms)
      VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
    webhook.id,
    webhook.ownerId,
    webhook.url,
    webhook.name,
    webhook.description,
    webhook.active ? 1 : 0,
    settings,
    webhook.settings.ordered ? 1 : 0,
    secrets,
    webhook.createdAtMs,
    webhook.updatedAtMs,
  );
  readAnew(core, tx, webhook.id);
}

interface Update {
  readonly ownerId: string;
  readonly id: string;
  readonly change: (before: Webhook) => Webhook;
}

type Updated = { readonly webhook: Webhook | undefined } | { readonly thrown: unknown };

/** A change that is refused is no reason to roll back the verbs of others in this batch: what it throws is a value here. */
function updateWebhook(core: Core, tx: Transaction, { ownerId, id, change }: Update): Updated {
  const before = core.routes.webhook(id);
  if (before?.ownerId !== ownerId) return { webhook: undefined };
  let changed: Webhook;
  try {
    changed = change(before);
  } catch (thrown) {
    return { thrown };
  }
  const webhook = { ...changed, id, ownerId, createdAtMs: before.createdAtMs };
  writeWebhook(core, tx, { before, webhook });
  return { webhook };
}

function writeWebhook(core: Core, tx: Transaction, { before, webhook }: Record<'before' | 'webhook', Webhook>): void {
  const { id } = webhook;
  const { secrets, settings } = sealedCells(webhook, core.seal);
  core.writer.run(
    `UPDATE webhooks SET url = ?, name = ?, description = ?, active = ?, settings = ?, is_ordered = ?, secrets = ?,
        updated_at_ms = ?
      WHERE id = ?`,
    webhook.url,
    webhook.name,
    webhook.description,
    webhook.active ? 1 : 0,
    settings,
    webhook.settings.ordered ? 1 : 0,
    secrets,
    webhook.updatedAtMs,
    id,
  );
  readAnew(core, tx, id);
  core.turns.unblock(id);
  if (webhook.url !== before.url || (webhook.active && !before.active)) forgetHealth(core, id);
  if (webhook.url !== before.url) endPause(core, tx, id);
  if (webhook.active) releaseHeld(core, tx, webhook);
  else holdDeliveries(core, tx, webhook);
}

/** Who asked to be left alone has gone: what was put off then is due. */
function endPause(core: Core, tx: Transaction, webhookId: string): void {
  const count = core.writer.run(
    `UPDATE deliveries SET due_at_ms = ? WHERE listener_id = ? AND state = 'retrying' AND due_by = 'retry_after'
      AND due_at_ms > ? AND ${OPEN_DELIVERY}`,
    tx.nowMs,
    webhookId,
    tx.nowMs,
  );
  const line = count > 0 && core.turns.find(webhookId);
  if (line) core.turns.knowRetry(line, tx.nowMs);
}

/** Whoever needs it next reads its row. */
function readAnew(core: Core, tx: Transaction, webhookId: string): void {
  core.routes.forgetWebhook(webhookId);
  tx.onRollback(() => core.routes.forgetWebhook(webhookId));
}

/** No more deliveries to it: what waits is held. */
export function disableWebhook(core: Core, tx: Transaction, webhook: Webhook): void {
  core.writer.run('UPDATE webhooks SET active = 0, updated_at_ms = ? WHERE id = ?', tx.nowMs, webhook.id);
  readAnew(core, tx, webhook.id);
  holdDeliveries(core, tx, webhook);
}

/** What waits for a webhook waits until somebody enables it again; an attempt under way ends by itself. */
function holdDeliveries(core: Core, tx: Transaction, webhook: Webhook): void {
  moveOpen(core, tx, { webhook, from: ['pending', 'retrying'], to: 'held' });
}

function releaseHeld(core: Core, tx: Transaction, webhook: Webhook): void {
  const first = "due_by = 'event' AND requests_made = 0";
  moveOpen(core, tx, { webhook, from: ['held'], to: 'pending', only: first });
  moveOpen(core, tx, { webhook, from: ['held'], to: 'retrying' });
}

interface Move {
  readonly webhook: Webhook;
  readonly from: readonly ('pending' | 'retrying' | 'held')[];
  readonly to: 'pending' | 'retrying' | 'held' | 'cancelled';
  /** As SQL; absent: all. */
  readonly only?: string;
}

function moveOpen(core: Core, tx: Transaction, { webhook, from, to, only = 'true' }: Move): void {
  const { id: listenerId, ownerId } = webhook;
  const isOpen = to === 'pending' || to === 'retrying';
  for (const state of from) {
    const count = core.writer.run(
      `UPDATE deliveries SET state = ?, due_at_ms = ?, ended_at_ms = ?
        WHERE listener_id = ? AND state = ? AND ${OPEN_DELIVERY} AND ${only}`,
      to,
      isOpen ? tx.nowMs : null,
      to === 'cancelled' ? tx.nowMs : null,
      listenerId,
      state,
    );
    tx.deliveriesMoved({ ownerId, listenerId, from: state, to, dueAtMs: tx.nowMs, count });
  }
}

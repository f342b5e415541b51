// What becomes of a webhook's open deliveries when it is disabled, enabled or deleted.

import type { Webhook } from '../../../domain/resource.ts';
import type { WebhookStore } from '../../contract/resources.ts';
import type { Core } from '../core.ts';
import { forgetHealth, readHealth } from '../deliveries/health.ts';
import { cancelOperations } from '../deliveries/operation-steps.ts';
import type { Transaction } from '../log/transaction.ts';
import { OPEN_DELIVERY } from '../partial-index.ts';

export function webhookHealth({ reader }: Core): WebhookStore['webhookHealth'] {
  return async (ownerId, ids) => {
    const isThere = (id: string) => reader.get('SELECT 1 FROM webhooks WHERE id = ? AND owner_id = ?', id, ownerId);
    return new Map(ids.filter(isThere).map((id) => [id, readHealth(reader, id)]));
  };
}

/** See Writing. */
export function webhookWritten(
  core: Core,
  tx: Transaction,
  of: { before: Webhook | null; after: Webhook | null },
): void {
  const { before, after } = of;
  if (after !== null) forgetRoute(core, tx, after.id);
  if (before === null) return;
  if (after === null) webhookGone(core, tx, before);
  else webhookChanged(core, tx, { before, after });
}

function webhookGone(core: Core, tx: Transaction, webhook: Webhook): void {
  forgetRoute(core, tx, webhook.id);
  forgetHealth(core, webhook.id);
  cancelOperations(core, tx, webhook.id);
  moveOpen(core, tx, { webhook, from: ['pending', 'retrying', 'held'], to: 'cancelled' });
}

function webhookChanged(core: Core, tx: Transaction, { before, after }: Record<'before' | 'after', Webhook>): void {
  const { id } = after;
  core.turns.unblock(id);
  if (after.url !== before.url || (after.active && !before.active)) forgetHealth(core, id);
  if (after.url !== before.url) endPause(core, tx, id);
  if (after.active) releaseHeld(core, tx, after);
  else holdDeliveries(core, tx, after);
}

/** The address that asked for a pause is gone: what was put off because of it is due. */
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

/** What needs it next reads its row. */
function forgetRoute(core: Core, tx: Transaction, webhookId: string): void {
  core.routes.forgetWebhook(webhookId);
  tx.onRollback(() => core.routes.forgetWebhook(webhookId));
}

/** No more deliveries to it: what waits is held. */
export function disableWebhook(core: Core, tx: Transaction, webhook: Webhook): void {
  core.writer.run('UPDATE webhooks SET active = 0, updated_at_ms = ? WHERE id = ?', tx.nowMs, webhook.id);
  forgetRoute(core, tx, webhook.id);
  holdDeliveries(core, tx, webhook);
}

/** What waits for a webhook waits until it is enabled again; an attempt under way ends by itself. */
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

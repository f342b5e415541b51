// Changes of the configuration to the open deliveries of a listener.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { isWaiting } from '../../../domain/delivery/progress.ts';
import type { Webhook } from '../../../domain/resource.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { Listener, LockedDeliveries } from '../../config/config-database.ts';
import type { WebhookStore } from '../../contract/resources.ts';
import type { Core } from '../core.ts';
import { forgetHealth, readHealth } from '../deliveries/health.ts';
import type { Transaction } from '../log/transaction.ts';
import { OPEN_DELIVERY } from '../partial-index.ts';

export function webhookHealth({ reader }: Core): WebhookStore['webhookHealth'] {
  return async (ownerId, ids) => {
    const isThere = (id: string) => reader.get('SELECT 1 FROM webhooks WHERE id = ? AND owner_id = ?', id, ownerId);
    return new Map(ids.filter(isThere).map((id) => [id, readHealth(reader, id)]));
  };
}

/** Drops a webhook from the cache, also after a rollback. */
export function forgetRoute(core: Core, tx: Transaction, webhookId: string): void {
  core.routes.forgetWebhook(webhookId);
  tx.onRollback(() => core.routes.forgetWebhook(webhookId));
}

/** Disables a webhook, and holds the deliveries that wait for it. */
export function disableWebhook(core: Core, tx: Transaction, webhook: Webhook): void {
  core.writer.run('UPDATE webhooks SET active = 0, updated_at_ms = ? WHERE id = ?', tx.nowMs, webhook.id);
  forgetRoute(core, tx, webhook.id);
  new OpenDeliveries(core, tx, webhook).hold();
}

/** There is one writer, so nothing is locked. */
export class OpenDeliveries implements LockedDeliveries {
  readonly #core: Core;
  readonly #tx: Transaction;
  readonly #of: Listener;

  constructor(core: Core, tx: Transaction, { ownerId, id }: Listener) {
    this.#core = core;
    this.#tx = tx;
    this.#of = { ownerId, id };
  }

  /** Deliveries that are `retrying` come first: the others get that state. */
  sendAgain(deliveries: readonly number[], states: readonly DeliveryState[]): number {
    const { ownerId, id: listenerId } = this.#of;
    const tx = this.#tx;
    let total = 0;
    for (const from of ['retrying', ...states.filter((state) => state !== 'retrying')] as const) {
      if (!states.includes(from)) continue;
      const count = this.#core.writer.run(
        `UPDATE deliveries SET state = 'retrying', due_by = 'resend', due_at_ms = ?, ended_at_ms = NULL,
            tries = ${isWaiting(from) ? 'tries' : '0'}
          WHERE delivery IN (SELECT value FROM json_each(?)) AND +state = ?`,
        tx.nowMs,
        JSON.stringify(deliveries),
        from,
      );
      tx.deliveriesMoved({ ownerId, listenerId, from, to: 'retrying', dueAtMs: tx.nowMs, count });
      // Its error stays, but no exhausted delivery belongs to it now.
      if (from === 'exhausted') tx.count(ownerId, FURTHER_ERRORS, count);
      total += count;
    }
    return total;
  }

  hold(): void {
    this.#move(['pending', 'retrying'], 'held');
  }

  release(): void {
    this.#move(['held'], 'pending', "due_by = 'event' AND requests_made = 0");
    this.#move(['held'], 'retrying');
  }

  cancel(): void {
    this.forgetHealth();
    this.#move(['pending', 'retrying', 'held'], 'cancelled');
  }

  forgetHealth(): void {
    forgetHealth(this.#core, this.#of.id);
  }

  endPause(): void {
    const { queues, writer } = this.#core;
    const { nowMs } = this.#tx;
    const count = writer.run(
      `UPDATE deliveries SET due_at_ms = ? WHERE listener_id = ? AND state = 'retrying' AND due_by = 'retry_after'
        AND due_at_ms > ? AND ${OPEN_DELIVERY}`,
      nowMs,
      this.#of.id,
      nowMs,
    );
    const queue = count > 0 && queues.find(this.#of.id);
    if (queue) queues.knowRetry(queue, nowMs);
  }

  settingsChanged(): void {
    this.#core.queues.unblock(this.#of.id);
  }

  /** `only`: a condition, as SQL. */
  #move(
    from: readonly ('pending' | 'retrying' | 'held')[],
    to: 'pending' | 'retrying' | 'held' | 'cancelled',
    only = 'true',
  ): void {
    const { ownerId, id: listenerId } = this.#of;
    const { nowMs } = this.#tx;
    for (const state of from) {
      const count = this.#core.writer.run(
        `UPDATE deliveries SET state = ?, due_at_ms = ?, ended_at_ms = ?
          WHERE listener_id = ? AND state = ? AND ${OPEN_DELIVERY} AND ${only}`,
        to,
        isWaiting(to) ? nowMs : null,
        to === 'cancelled' ? nowMs : null,
        listenerId,
        state,
      );
      this.#tx.deliveriesMoved({ ownerId, listenerId, from: state, to, dueAtMs: nowMs, count });
    }
  }
}

// Changes of the configuration to the open deliveries of a listener.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { HEALTHY } from '../../../domain/delivery/health.ts';
import {
  type ClosedState,
  HOLD,
  isWaiting,
  type ListenerMove,
  type WaitingState,
} from '../../../domain/delivery/progress.ts';
import type { Webhook } from '../../../domain/resource.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { Listener, LockedDeliveries } from '../../config/config-database.ts';
import { IS_UNSENT, OPEN_DELIVERY } from '../../rows/delivery-rows.ts';
import type { Core } from '../core.ts';
import { writeHealth } from '../deliveries/health.ts';
import type { Transaction } from '../log/transaction.ts';

/** Drops a webhook from the cache, also after a rollback. */
export function forgetRoute(core: Core, tx: Transaction, webhookId: string): void {
  core.routes.forgetWebhook(webhookId);
  tx.onRollback(() => core.routes.forgetWebhook(webhookId));
}

/** Disables a webhook, and holds the deliveries that wait for it. */
export function disableWebhook(core: Core, tx: Transaction, webhook: Webhook): void {
  core.writer.run('UPDATE webhooks SET active = 0, updated_at_ms = ? WHERE id = ?', tx.nowMs, webhook.id);
  forgetRoute(core, tx, webhook.id);
  new OpenDeliveries(core, tx, webhook).move(HOLD);
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

  /** Resends deliveries. Those that are `retrying` come first: the others get that state. */
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

  move({ from, to }: ListenerMove, most?: number): void {
    for (const state of from) {
      if (most !== undefined) this.#moveSome(state, to as ClosedState, most);
      else if (to !== 'waiting') this.#move(state, to);
      else {
        this.#move(state, 'pending', IS_UNSENT);
        this.#move(state, 'retrying');
      }
    }
  }

  forgetHealth(): void {
    writeHealth(this.#core, this.#of.id, HEALTHY);
  }

  settingsChanged(): void {
    this.#core.queues.settingsChanged(this.#of.id);
  }

  /** Moves the deliveries of a state to another. `only`: a condition, as SQL. */
  #move(from: WaitingState | 'held', to: WaitingState | ClosedState, only = 'true'): void {
    const { ownerId, id: listenerId } = this.#of;
    const { nowMs } = this.#tx;
    const count = this.#core.writer.run(
      `UPDATE deliveries SET state = ?, due_at_ms = ?, ended_at_ms = ?
        WHERE listener_id = ? AND state = ? AND ${OPEN_DELIVERY} AND ${only}`,
      to,
      isWaiting(to) ? nowMs : null,
      to === 'cancelled' ? nowMs : null,
      listenerId,
      from,
    );
    this.#tx.deliveriesMoved({ ownerId, listenerId, from, to, dueAtMs: nowMs, count });
  }

  /** Moves some deliveries of a state; those of the mail that are another owner's stay. */
  #moveSome(from: WaitingState | 'held', to: ClosedState, most: number): void {
    const { ownerId, id: listenerId } = this.#of;
    const { nowMs } = this.#tx;
    const count = this.#core.writer.run(
      `UPDATE deliveries SET state = ?, due_at_ms = NULL, ended_at_ms = ? WHERE delivery IN (SELECT delivery FROM deliveries
        WHERE listener_id = ? AND state = ? AND ${OPEN_DELIVERY} AND owner_id = ? ORDER BY due_at_ms, delivery LIMIT ?)`,
      to,
      to === 'cancelled' ? nowMs : null,
      listenerId,
      from,
      ownerId,
      most,
    );
    this.#tx.deliveriesMoved({ ownerId, listenerId, from, to, dueAtMs: nowMs, count });
  }
}

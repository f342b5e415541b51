// SQLite's DeliveryPort: reads and writes the rows of deliveries.

import type { AttemptTrigger, DeliveryLease } from '../../../domain/delivery/delivery.ts';
import { isWebhook } from '../../../domain/delivery/delivery.ts';
import { HEALTHY, type WebhookHealth } from '../../../domain/delivery/health.ts';
import { type DeliveryMove, isWaiting } from '../../../domain/delivery/progress.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { DeliveryPort, LeasedDelivery, NextClaim } from '../../log/delivery-port.ts';
import { number, text } from '../../rows/cells.ts';
import { PROGRESS_COLUMNS, toProgress } from '../../rows/delivery-rows.ts';
import { disableWebhook } from '../config/webhooks.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import type { SqliteLogWriter } from '../log/log-writer.ts';
import { DeliveryClaimer } from './claim-deliveries.ts';
import { readHealth, writeHealth } from './health.ts';

/** A queue is named by the id of its listener. */
type Leased = LeasedDelivery<string>;

const LEASED = `owner_id, listener_id, ${PROGRESS_COLUMNS}`;

/** One for each verb. */
export class SqliteDeliveryPort implements DeliveryPort<string> {
  readonly log: SqliteLogWriter;
  readonly #core: Core;
  #claimer: DeliveryClaimer | undefined;

  constructor(log: SqliteLogWriter) {
    this.log = log;
    this.#core = log.core;
  }

  leasedDelivery({ delivery, fence }: DeliveryLease): Leased | undefined {
    const row = this.#core.writer.get(
      `SELECT ${LEASED} FROM deliveries WHERE delivery = ? AND fence = ? AND boot = ? AND state = 'sending'`,
      delivery,
      fence,
      this.#core.boot,
    );
    return row && toLeased(row, { delivery, fence });
  }

  expiredDeliveries(): readonly Leased[] {
    const { writer, boot } = this.#core;
    const rows = writer.all(
      `SELECT delivery, fence, ${LEASED} FROM deliveries WHERE state = 'sending' AND boot < ?`,
      boot,
    );
    return rows.map((row) => toLeased(row, { delivery: number(row, 'delivery'), fence: number(row, 'fence') }));
  }

  webhook(listenerId: string): Webhook | undefined {
    return isWebhook(listenerId) ? this.#core.routes.webhook(listenerId) : undefined;
  }

  moveDelivery({ delivery, fence, ownerId, listenerId }: Leased, { state, progress, dueAtMs }: DeliveryMove): void {
    this.#core.writer.run(
      `UPDATE deliveries SET state = ?, fence = ?, attempts_made = ?, requests_made = ?, tries = ?, due_by = ?,
        due_at_ms = ?, ended_at_ms = ? WHERE delivery = ?`,
      state,
      fence,
      progress.attemptsMade,
      progress.requestsMade,
      progress.tries,
      progress.dueBy,
      dueAtMs,
      isWaiting(state) || state === 'held' ? null : this.log.nowMs,
      delivery,
    );
    this.log.tx.deliveriesMoved({ ownerId, listenerId, from: 'sending', to: state, dueAtMs });
  }

  /**
   * Returns the health of a listener. The pause of a place of requests has no row: it is lost with the process, until the place
   * answers again.
   */
  health(listenerId: string): WebhookHealth {
    const { writer, queues } = this.#core;
    if (isWebhook(listenerId)) return readHealth(writer, listenerId);
    return { ...HEALTHY, pausedUntilMs: queues.find(listenerId)?.pausedUntilMs ?? null };
  }

  setHealth(listenerId: string, health: WebhookHealth): void {
    if (isWebhook(listenerId)) writeHealth(this.#core, listenerId, health);
    else this.#core.queues.pause(listenerId, health.pausedUntilMs ?? 0);
  }

  disableWebhook(webhookId: string): void {
    const webhook = this.webhook(webhookId);
    if (webhook) disableWebhook(this.#core, this.log.tx, webhook);
  }

  insertAttempt(delivery: number, { n, trigger, made }: { n: number; trigger: AttemptTrigger; made: string }): void {
    this.#core.writer.run(
      'INSERT INTO attempts (delivery, n, trigger, made) VALUES (?,?,?,?)',
      delivery,
      n,
      trigger,
      made,
    );
  }

  claimNext(listenerId: string): NextClaim {
    const queue = this.#core.queues.find(listenerId);
    if (!queue) return 'none';
    this.#claimer ??= new DeliveryClaimer(this.#core, this.log);
    return this.#claimer.takeNext(queue);
  }
}

function toLeased(row: Row, { delivery, fence }: DeliveryLease): Leased {
  const listenerId = text(row, 'listener_id');
  return {
    delivery,
    fence,
    ownerId: text(row, 'owner_id'),
    listenerId,
    queue: listenerId,
    progress: toProgress(row),
  };
}

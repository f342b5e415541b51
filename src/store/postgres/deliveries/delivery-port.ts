// Postgres' DeliveryPort: returns what the batch has read, and plans changes.

import { type AttemptTrigger, type DeliveryLease, isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import type { WebhookHealth } from '../../../domain/delivery/health.ts';
import { closedStateOf, type DeliveryMove, isWaiting } from '../../../domain/delivery/progress.ts';
import { maySend } from '../../../domain/delivery/queue-state.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { DeliveryPort, LeasedDelivery, NextClaim } from '../../log/delivery-port.ts';
import { number, text } from '../../rows/cells.ts';
import { toProgress } from '../../rows/delivery-rows.ts';
import type { Row } from '../connection/values.ts';
import { leaseKey } from '../log/batch-needs.ts';
import type { BatchPlanner } from '../log/batch-planner.ts';
import type { ListenerQueue } from '../log/listener-queue.ts';
import type { PlannedLogWriter } from '../log/log-writer.ts';

type Leased = LeasedDelivery<ListenerQueue>;

/** One for each verb and plan. */
export class PlannedDeliveryPort implements DeliveryPort<ListenerQueue> {
  readonly log: PlannedLogWriter;
  readonly #planner: BatchPlanner;

  constructor(log: PlannedLogWriter) {
    this.log = log;
    this.#planner = log.planner;
  }

  leasedDelivery({ delivery, fence }: DeliveryLease): Leased | undefined {
    const row = this.#planner.leased('attempts', leaseKey(delivery, fence));
    return row && toLeased(this.#planner, row, fence);
  }

  expiredDeliveries(): readonly Leased[] {
    const expired = this.#planner.expired('deliveries');
    return expired.map((row) => toLeased(this.#planner, row, number(row, 'fence')));
  }

  webhook(queue: ListenerQueue): Webhook | undefined {
    return isWebhook(queue.listenerId) ? this.#planner.webhook(queue.ownerId, queue.listenerId) : undefined;
  }

  moveDelivery({ delivery, fence, queue }: Leased, move: DeliveryMove): void {
    const planner = this.#planner;
    const { state, progress } = move;
    if (isWaiting(state) || state === 'held') planner.changes.deliveryChanges.push({ delivery, fence, ...move });
    else planner.changes.deliveryEnds.push({ delivery, state, progress });
    const moved = { from: 'sending', to: state, keptUntilMs: this.#keptUntilMs(queue) } as const;
    queue.deliveriesMoved(moved, planner.ledger, planner.core.node.id);
    if (isWaiting(state)) planner.wentBack.add(queue);
  }

  health(queue: ListenerQueue): WebhookHealth {
    return queue.health;
  }

  setHealth(queue: ListenerQueue, health: WebhookHealth): void {
    queue.health = health;
  }

  /** Disables the webhook. The planned rows are written by `holdQueue` (claims/claim.ts). */
  disableWebhook(queue: ListenerQueue): void {
    this.#planner.goneWebhooks.set(queue.listenerId, queue);
  }

  insertAttempt(delivery: number, { n, trigger, made }: { n: number; trigger: AttemptTrigger; made: string }): void {
    this.#planner.changes.attempts.push({ delivery, n, trigger, made });
  }

  /** Plans the claim of the next delivery, which is found when the plan is written (claims/claim.ts). */
  claimNext(queue: ListenerQueue): NextClaim {
    const { log } = this;
    const planner = this.#planner;
    if (queue.waiting <= queue.granted || !queue.isFor(planner.core.node.id, planner.nowMs)) return 'none';
    const webhook = this.webhook(queue) ?? null;
    if (closedStateOf(queue.listenerId, webhook) !== null) return 'none';
    // Reads the owner's address, which the claim needs.
    if (queue.listenerId === MAIL) planner.owner(queue.ownerId);
    const isOrdered = webhook?.settings.ordered ?? false;
    const isPaused = queue.isPaused(planner.nowMs);
    // A returned delivery is the head again, but its row is not written yet, so a claim would not find it.
    if (isOrdered && !isPaused && planner.wentBack.has(queue)) return 'refused';
    if (!maySend({ sending: queue.taken + queue.granted, isPaused }, isOrdered)) return 'none';
    if (!log.takeDelivery(queue.listenerId, webhook)) return 'refused';
    planner.grant(queue, log, null);
    return 'claimed';
  }

  /** Returns until when an idle queue stays with its node: as long as its requests count against the rate limit. */
  #keptUntilMs(queue: ListenerQueue): number | null {
    const rate = this.webhook(queue)?.settings.rateLimit;
    return rate ? this.#planner.nowMs + rate.intervalMs : null;
  }
}

function toLeased(planner: BatchPlanner, row: Row, fence: number): Leased {
  const [ownerId, listenerId] = [text(row, 'owner_id'), text(row, 'listener_id')];
  const queue = planner.queue(ownerId, listenerId, false);
  return { delivery: number(row, 'delivery'), fence, ownerId, listenerId, queue, progress: toProgress(row) };
}

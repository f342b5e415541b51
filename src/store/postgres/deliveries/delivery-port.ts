// What the rules of deliveries (store/log/deliveries.ts) read and plan.

import { type AttemptTrigger, type DeliveryLease, isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import { HEALTHY, type WebhookHealth } from '../../../domain/delivery/health.ts';
import { type DeliveryMove, isWaiting } from '../../../domain/delivery/progress.ts';
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

/** One per verb and plan. */
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
    const lost = this.#planner.expired('deliveries');
    return lost.map((row) => toLeased(this.#planner, row, number(row, 'fence')));
  }

  webhook(queue: ListenerQueue): Webhook | undefined {
    if (!isWebhook(queue.listenerId)) return undefined;
    const webhook = this.#planner.webhook(queue.ownerId, queue.listenerId);
    return webhook?.active && this.#planner.isGone(queue) ? { ...webhook, active: false } : webhook;
  }

  moveDelivery({ delivery, fence, ownerId, queue }: Leased, move: DeliveryMove): void {
    const planner = this.#planner;
    const { state, progress } = move;
    if (isWaiting(state) || state === 'held') planner.changes.deliveryChanges.push({ delivery, fence, ...move });
    else planner.changes.deliveryEnds.push({ delivery, state, progress });
    planner.ledger.moved(ownerId, 'deliveries', { from: 'sending', to: state });
    const waiting = isWaiting(state) ? 1 : 0;
    queue.change({ taken: -1, waiting, keptUntilMs: this.#keptUntilMs(queue) }, planner.core.node.id);
    if (waiting > 0) planner.wentBack.add(queue);
  }

  health(queue: ListenerQueue): WebhookHealth {
    return queue.health;
  }

  setHealth(queue: ListenerQueue, health: WebhookHealth): void {
    queue.health = health;
  }

  /** Written with the transaction (claims/claim.ts). */
  disableWebhook(queue: ListenerQueue): void {
    this.#planner.goneWebhooks.add(queue);
    queue.health = HEALTHY;
  }

  insertAttempt(delivery: number, { n, trigger, made }: { n: number; trigger: AttemptTrigger; made: string }): void {
    this.#planner.changes.attempts.push({ delivery, n, trigger, made });
  }

  /** What is due is found when the plan is written (claims/claim.ts). */
  claimNext(queue: ListenerQueue): NextClaim {
    const { log } = this;
    const planner = this.#planner;
    if (queue.waiting <= queue.granted || planner.isGone(queue) || queue.isPaused(planner.nowMs)) return 'none';
    if (!queue.isFor(planner.core.node.id, planner.nowMs)) return 'none';
    const webhook = this.webhook(queue) ?? null;
    if (isWebhook(queue.listenerId) && !webhook?.active) return 'none';
    // What a claim will tell with it is read by now.
    if (queue.listenerId === MAIL) planner.owner(queue.ownerId);
    if (webhook?.settings.ordered) {
      // What went back is the head again, and not yet in the rows that a claim would find.
      if (planner.wentBack.has(queue)) return 'refused';
      if (queue.taken + queue.granted > 0) return 'none';
    }
    if (!log.takeDelivery(queue.listenerId, webhook)) return 'refused';
    planner.grant(queue, log, null);
    return 'claimed';
  }

  /** For how long a queue stays with its node when nothing is on its way any more: as long as what began there counts. */
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

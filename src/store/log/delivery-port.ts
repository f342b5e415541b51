// What a backend offers deliveries.ts beside its LogWriter (port.ts): the rows of deliveries and the queues of their
// listeners, in the verb's transaction, as the verbs before it have left them.

import type { AttemptTrigger, DeliveryLease } from '../../domain/delivery/delivery.ts';
import type { WebhookHealth } from '../../domain/delivery/health.ts';
import type { DeliveryMove, DeliveryProgress } from '../../domain/delivery/progress.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { LogWriter } from './port.ts';

/** A delivery that is `sending`. `Q`: the queue of its listener, as the backend keeps it. */
export interface LeasedDelivery<Q> extends DeliveryLease {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly queue: Q;
  readonly progress: DeliveryProgress;
}

export interface DeliveryPort<Q> {
  readonly log: LogWriter;
  /** Returns the leased delivery; undefined: the lease is no longer ours. */
  leasedDelivery(lease: DeliveryLease): LeasedDelivery<Q> | undefined;
  /** Returns deliveries whose lease has expired, or whose process is gone. */
  expiredDeliveries(): readonly LeasedDelivery<Q>[];
  /** Returns the webhook that is the listener; undefined: it is gone, or the listener is no webhook. */
  webhook(queue: Q): Webhook | undefined;
  health(queue: Q): WebhookHealth;
  /** Sets the health. No delivery of the queue is claimed while its health says that it is paused. */
  setHealth(queue: Q, health: WebhookHealth): void;
  /** Disables the webhook, and holds the deliveries that wait for it. */
  disableWebhook(queue: Q): void;
  /** Writes a delivery's new state and fence, and counts it in the ledger and in the queue of its listener. */
  moveDelivery(leased: LeasedDelivery<Q>, move: DeliveryMove): void;
  insertAttempt(delivery: number, attempt: { n: number; trigger: AttemptTrigger; made: string }): void;
  /** Claims the delivery of the queue that is due next, with a slot of this process. */
  claimNext(queue: Q): NextClaim;
}

/** `refused`: no slot was free, or what is due is known only once the transaction is written. `none`: none may be sent now. */
export type NextClaim = 'claimed' | 'refused' | 'none';

// The queue of a listener for a new delivery, counted in memory (listener-queues.ts).

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import type { ClaimsSoFar, DeliveryQueue } from '../../log/port.ts';
import type { Core } from '../core.ts';
import type { Transaction } from '../log/transaction.ts';
import type { ListenerQueue } from './listener-queues.ts';

/** The verb that writes. */
interface QueueingVerb {
  readonly core: Core;
  readonly tx: Transaction;
  readonly claims: ClaimsSoFar;
}

export class SqliteDeliveryQueue implements DeliveryQueue {
  readonly isOurs = true;
  readonly #log: QueueingVerb;
  readonly #ownerId: string;
  readonly #listenerId: string;
  /** Undefined: nothing waits or is under way. */
  readonly #queue: ListenerQueue | undefined;

  constructor(log: QueueingVerb, ownerId: string, listenerId: string) {
    this.#log = log;
    this.#ownerId = ownerId;
    this.#listenerId = listenerId;
    this.#queue = log.core.queues.find(listenerId);
  }

  get waiting(): number {
    return this.#queue ? this.#queue.pending + this.#queue.retrying : 0;
  }

  get sending(): number {
    return this.#queue?.sending ?? 0;
  }

  /** Returns whether a delivery is due. Pending ones are, whatever the clock says. */
  get isSomeDue(): boolean {
    const queue = this.#queue;
    return queue !== undefined && (queue.pending > 0 || this.#log.core.queues.isRetryDue(queue));
  }

  get isPaused(): boolean {
    return this.#queue !== undefined && this.#queue.pausedUntilMs > this.#log.tx.nowMs;
  }

  moved(from: DeliveryState | null, to: DeliveryState): void {
    this.#log.tx.deliveriesMoved({ ownerId: this.#ownerId, listenerId: this.#listenerId, from, to });
  }

  announceWaiting(): void {
    this.#log.claims.deliveriesWaiting ||= this.#log.core.queues.mayGo(this.#listenerId);
  }
}

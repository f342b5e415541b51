// The queue of a listener for a new delivery, counted in memory (listener-queues.ts).

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { ClaimsSoFar, DeliveryQueue } from '../../log/port.ts';
import type { Core } from '../core.ts';
import type { Transaction } from '../log/transaction.ts';

/** The verb that writes. */
interface Verb {
  readonly core: Core;
  readonly tx: Transaction;
  readonly claims: ClaimsSoFar;
}

export class SqliteDeliveryQueue implements DeliveryQueue {
  readonly #log: Verb;
  readonly #ownerId: string;
  readonly #listenerId: string;

  constructor(log: Verb, ownerId: string, listenerId: string) {
    this.#log = log;
    this.#ownerId = ownerId;
    this.#listenerId = listenerId;
  }

  isHeld(webhook: Webhook): boolean {
    return !webhook.active;
  }

  mayGoAtOnce(isOrdered: boolean): boolean {
    return this.#log.core.queues.mayGoAtOnce(this.#listenerId, isOrdered);
  }

  moved(from: DeliveryState | null, to: DeliveryState): void {
    this.#log.tx.deliveriesMoved({ ownerId: this.#ownerId, listenerId: this.#listenerId, from, to });
  }

  announceWaiting(): void {
    this.#log.claims.deliveriesWaiting ||= this.#log.core.queues.mayGo(this.#listenerId);
  }
}

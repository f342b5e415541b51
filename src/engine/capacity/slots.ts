// How much this node does at once: slots per workflow, per webhook (deliveries/delivery-limiter.ts) and in all. The store
// takes slots (FreeSlots) while it writes, so that a row is inserted as leased only when a slot is free.

import { concurrencyOf, type Runnable, type Webhook } from '../../domain/resource.ts';
import type { FreeSlots } from '../../store/contract/store.ts';
import type { DeliveryLimiter } from '../deliveries/delivery-limiter.ts';

/**
 * Runs that one node leases at a time; others wait in the store, not in memory. An owner may have at most as many as are
 * free: one owner alone half of them, two a third each; the next owner always finds some.
 */
const MAX_RUNS = 4000;

class RunCounter {
  readonly #byRunnable = new Map<string, { taken: number; readonly ownerId: string }>();
  readonly #byOwner = new Map<string, number>();
  total = 0;

  take({ id, ownerId }: Pick<Runnable, 'id' | 'ownerId'>, limit: number): boolean {
    const counter = this.#byRunnable.get(id);
    const ofOwner = this.#byOwner.get(ownerId) ?? 0;
    if ((counter?.taken ?? 0) >= limit || ofOwner >= MAX_RUNS - this.total) return false;
    if (counter === undefined) this.#byRunnable.set(id, { taken: 1, ownerId });
    else counter.taken++;
    this.#byOwner.set(ownerId, ofOwner + 1);
    this.total++;
    return true;
  }

  free(id: string): void {
    const counter = this.#byRunnable.get(id);
    if (counter === undefined) return;
    counter.taken--;
    if (counter.taken === 0) this.#byRunnable.delete(id);
    const ofOwner = this.#byOwner.get(counter.ownerId) ?? 0;
    if (ofOwner > 1) this.#byOwner.set(counter.ownerId, ofOwner - 1);
    else this.#byOwner.delete(counter.ownerId);
    this.total--;
  }
}

/** Roles of this node. */
export interface NodeRoles {
  readonly runs: boolean;
  readonly deliveries: boolean;
}

export class Slots implements FreeSlots {
  readonly #runs = new RunCounter();
  readonly #limiter: DeliveryLimiter;
  readonly #roles: NodeRoles;
  readonly #ahead: (runnable: Runnable) => number;
  #isOpen = false;
  /** The same slots, for claims over all webhooks in turn. */
  readonly forClaims: FreeSlots;

  /** `ahead`: how many runs of a runnable may be leased while all of its slots are taken. */
  constructor(limiter: DeliveryLimiter, roles: NodeRoles, ahead: (runnable: Runnable) => number = () => 0) {
    this.#limiter = limiter;
    this.#roles = roles;
    this.#ahead = ahead;
    this.forClaims = {
      takeRun: (runnable, besideHooks) => this.takeRun(runnable, besideHooks),
      dropRun: (id) => this.dropRun(id),
      takeDelivery: (id, webhook) => this.#isOpen && roles.deliveries && limiter.take(id, webhook, true),
      dropDelivery: (id) => this.dropDelivery(id),
    };
  }

  /** Begins to give slots: rows rescued while the service starts stay in the store. */
  open(): void {
    this.#isOpen = true;
  }

  takeRun(runnable: Runnable, besideHooks = false): boolean {
    if (!this.#isOpen || !this.#roles.runs) return false;
    return this.#runs.take(runnable, concurrencyOf(runnable, besideHooks) + this.#ahead(runnable));
  }

  dropRun(runnableId: string): void {
    this.#runs.free(runnableId);
  }

  takeDelivery(listenerId: string, webhook: Webhook | null): boolean {
    return this.#isOpen && this.#roles.deliveries && this.#limiter.take(listenerId, webhook);
  }

  dropDelivery(listenerId: string): void {
    this.#limiter.drop(listenerId);
  }

  /** Gives no more slots: rows accepted from now on stay in the store. */
  close(): void {
    this.#isOpen = false;
  }

  get inFlight(): { runs: number; deliveries: number } {
    return { runs: this.#runs.total, deliveries: this.#limiter.slotsTaken };
  }
}

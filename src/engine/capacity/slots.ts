// How much this node does at once: free hands per workflow, per webhook (deliveries/delivery-limiter.ts) and in all. The store asks (Admission)
// while it writes, so that a row is inserted as ours only when a slot is free for it.

import { concurrencyOf, type Runnable, type Webhook } from '../../domain/resource.ts';
import type { Admission } from '../../store/contract/store.ts';
import type { Lines } from '../deliveries/delivery-limiter.ts';

/**
 * All runs that one node holds at once. What is beyond waits in the store, not in memory. An owner holds no more than it
 * leaves free: one alone half of them, two a third each; the next owner always finds some.
 */
const MAX_RUNS = 4000;

class RunCounter {
  readonly #byRunnable = new Map<string, { taken: number; readonly ownerId: string }>();
  readonly #byOwner = new Map<string, number>();
  total = 0;

  take({ id, ownerId }: Pick<Runnable, 'id' | 'ownerId'>, limit: number): boolean {
    const held = this.#byRunnable.get(id);
    const ofOwner = this.#byOwner.get(ownerId) ?? 0;
    if ((held?.taken ?? 0) >= limit || ofOwner >= MAX_RUNS - this.total) return false;
    if (held === undefined) this.#byRunnable.set(id, { taken: 1, ownerId });
    else held.taken++;
    this.#byOwner.set(ownerId, ofOwner + 1);
    this.total++;
    return true;
  }

  free(id: string): void {
    const held = this.#byRunnable.get(id);
    if (held === undefined) return;
    held.taken--;
    if (held.taken === 0) this.#byRunnable.delete(id);
    const ofOwner = this.#byOwner.get(held.ownerId) ?? 0;
    if (ofOwner > 1) this.#byOwner.set(held.ownerId, ofOwner - 1);
    else this.#byOwner.delete(held.ownerId);
    this.total--;
  }
}

/** What this node is for. */
export interface Hands {
  readonly runs: boolean;
  readonly deliveries: boolean;
}

export class Slots implements Admission {
  readonly #runs = new RunCounter();
  readonly #lines: Lines;
  readonly #hands: Hands;
  #isOpen = false;
  /** The same hands, for the claim that goes round all webhooks. */
  readonly inTurn: Admission;

  constructor(lines: Lines, hands: Hands) {
    this.#lines = lines;
    this.#hands = hands;
    this.inTurn = {
      takeRun: (runnable, besideHooks) => this.takeRun(runnable, besideHooks),
      dropRun: (id) => this.dropRun(id),
      takeDelivery: (id, webhook) => this.#isOpen && hands.deliveries && lines.takeInTurn(id, webhook),
      dropDelivery: (id) => this.dropDelivery(id),
    };
  }

  /** Takes nothing before: what is rescued while the service starts waits in the store. */
  open(): void {
    this.#isOpen = true;
  }

  takeRun(runnable: Runnable, besideHooks = false): boolean {
    return this.#isOpen && this.#hands.runs && this.#runs.take(runnable, concurrencyOf(runnable, besideHooks));
  }

  dropRun(runnableId: string): void {
    this.#runs.free(runnableId);
  }

  takeDelivery(listenerId: string, webhook: Webhook | null): boolean {
    return this.#isOpen && this.#hands.deliveries && this.#lines.take(listenerId, webhook);
  }

  dropDelivery(listenerId: string): void {
    this.#lines.drop(listenerId);
  }

  /** Takes nothing more: what is accepted from now on stays in the store. */
  close(): void {
    this.#isOpen = false;
  }

  get inFlight(): { runs: number; deliveries: number } {
    return { runs: this.#runs.total, deliveries: this.#lines.held };
  }
}

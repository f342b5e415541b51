// How much this node does at once: free hands per workflow, per webhook (lines.ts) and in all. The store asks (Admission)
// while it writes, so that a row is inserted as ours only when somebody is free for it.

import { concurrencyOf, type Runnable, type Webhook } from '../domain/resource.ts';
import type { Admission } from '../store/store.ts';
import type { Lines } from './lines.ts';

/** All runs that one node holds at once. What is beyond waits in the store, not in memory. */
const MAX_RUNS = 2000;

class Counter {
  readonly #byId = new Map<string, number>();
  readonly #max: number;
  total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  take(id: string, limit: number): boolean {
    const taken = this.#byId.get(id) ?? 0;
    if (taken >= limit || this.total >= this.#max) return false;
    this.#byId.set(id, taken + 1);
    this.total++;
    return true;
  }

  free(id: string): void {
    const taken = this.#byId.get(id) ?? 0;
    if (taken > 1) this.#byId.set(id, taken - 1);
    else this.#byId.delete(id);
    this.total--;
  }
}

/** What this node is for. */
export interface Hands {
  readonly runs: boolean;
  readonly deliveries: boolean;
}

export class Slots implements Admission {
  readonly #runs = new Counter(MAX_RUNS);
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
    return this.#isOpen && this.#hands.runs && this.#runs.take(runnable.id, concurrencyOf(runnable, besideHooks));
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

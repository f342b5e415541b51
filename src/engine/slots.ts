// How much this node does at once: free hands per workflow, per webhook and in all. The store asks (Admission) while it
// writes, so that a row is inserted as ours only when somebody is free for it.

import { concurrencyOf, type Runnable } from '../domain/resource.ts';
import type { Admission } from '../store/store.ts';
import type { Lines } from './lines.ts';

/** All runs and deliveries that one node holds at once. What is beyond waits in the store, not in memory. */
const MAX_RUNS = 2000;
const MAX_DELIVERIES = 512;

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
  readonly #deliveries = new Counter(MAX_DELIVERIES);
  readonly #lines: Lines;
  readonly #hands: Hands;
  #isOpen = false;

  constructor(lines: Lines, hands: Hands) {
    this.#lines = lines;
    this.#hands = hands;
  }

  /** Takes nothing before: what is rescued while the service starts waits in the store. */
  open(): void {
    this.#isOpen = true;
  }

  takeRun(runnable: Runnable): boolean {
    return this.#isOpen && this.#hands.runs && this.#runs.take(runnable.id, concurrencyOf(runnable));
  }

  dropRun(runnableId: string): void {
    this.#runs.free(runnableId);
  }

  takeDelivery(listenerId: string): boolean {
    if (!this.#isOpen || !this.#hands.deliveries) return false;
    return this.#deliveries.take(listenerId, this.#lines.limit(listenerId));
  }

  dropDelivery(listenerId: string): void {
    this.#deliveries.free(listenerId);
  }

  /** Takes nothing more: what is accepted from now on stays in the store. */
  close(): void {
    this.#isOpen = false;
  }

  get inFlight(): { runs: number; deliveries: number } {
    return { runs: this.#runs.total, deliveries: this.#deliveries.total };
  }
}

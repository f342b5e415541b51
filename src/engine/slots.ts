// How much this node does at once: free hands per workflow, per webhook and in all. The store asks (Admission) while it
// writes, so that a row is inserted as ours only when somebody is free for it.

import type { Runnable } from '../domain/resource.ts';
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

export class Slots implements Admission {
  readonly #runs = new Counter(MAX_RUNS);
  readonly #deliveries = new Counter(MAX_DELIVERIES);
  readonly #lines: Lines;
  #closed = false;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  takeRun(runnable: Runnable): boolean {
    // A source's runs are serialised, so that its db has no races.
    const limit = runnable.id.startsWith('dc_') ? 1 : runnable.settings.concurrency;
    return !this.#closed && this.#runs.take(runnable.id, limit);
  }

  dropRun(runnableId: string): void {
    this.#runs.free(runnableId);
  }

  takeDelivery(listenerId: string): boolean {
    return !this.#closed && this.#deliveries.take(listenerId, this.#lines.limit(listenerId));
  }

  dropDelivery(listenerId: string): void {
    this.#deliveries.free(listenerId);
  }

  /** Takes nothing more: what is accepted from now on stays in the store. */
  close(): void {
    this.#closed = true;
  }

  get inFlight(): { runs: number; deliveries: number } {
    return { runs: this.#runs.total, deliveries: this.#deliveries.total };
  }
}

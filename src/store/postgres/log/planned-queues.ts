// The queues of listeners in a plan. The transaction has locked each row (listener-queue.ts), so its counters are exact over
// all nodes.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { maySend } from '../../../domain/delivery/queue-state.ts';
import { concurrencyOf, type Runnable } from '../../../domain/resource.ts';
import type { RunState } from '../../../domain/run/run.ts';
import type { FreeSlots } from '../../contract/store.ts';
import type { ClaimsSoFar, DeliveryQueue, RunQueue } from '../../log/port.ts';
import type { BatchPlanner } from './batch-planner.ts';
import type { ListenerQueue } from './listener-queue.ts';

/** The verb that is planned. */
interface QueuePlan {
  readonly planner: BatchPlanner;
  readonly admission: FreeSlots;
  readonly claims: ClaimsSoFar;
}

export class PlannedRunQueue implements RunQueue {
  readonly #log: QueuePlan;
  readonly #queue: ListenerQueue;

  constructor(log: QueuePlan, queue: ListenerQueue) {
    this.#log = log;
    this.#queue = queue;
  }

  get waiting(): number {
    return this.#queue.waiting - this.#queue.granted;
  }

  room({ settings: { throttle } }: Runnable): number {
    return this.#queue.roomAt(throttle, this.#log.planner.nowMs) - this.#queue.granted;
  }

  hasSlot(runnable: Runnable, besideHooks: boolean): boolean {
    return this.#queue.taken + this.#queue.granted < concurrencyOf(runnable, besideHooks);
  }

  moved(from: RunState | null, to: RunState): void {
    const { ledger, core } = this.#log.planner;
    ledger.moved(this.#queue.ownerId, 'runs', { from, to });
    if (from === to) return;
    const waiting = Number(to === 'queued') - Number(from === 'queued');
    const taken = Number(to === 'running') - Number(from === 'running');
    if (waiting !== 0 || taken !== 0) this.#queue.change({ waiting, taken }, core.node.id);
  }

  began({ settings: { throttle } }: Runnable, startedAtMs: number): void {
    this.#queue.began(throttle, { count: 1, atMs: startedAtMs, nowMs: this.#log.planner.nowMs });
  }

  claimOldest(runnable: Runnable): void {
    this.#log.planner.grant(this.#queue, this.#log, runnable);
  }
}

export class PlannedDeliveryQueue implements DeliveryQueue {
  readonly #log: QueuePlan;
  readonly #queue: ListenerQueue;

  constructor(log: QueuePlan, queue: ListenerQueue) {
    this.#log = log;
    this.#queue = queue;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get sending(): number {
    return this.#queue.taken;
  }

  get isSomeDue(): boolean {
    return this.#queue.isSomeDue(this.#log.planner.nowMs);
  }

  get isPaused(): boolean {
    return this.#queue.isPaused(this.#log.planner.nowMs);
  }

  get isOurs(): boolean {
    const { core, nowMs } = this.#log.planner;
    return this.#queue.isFor(core.node.id, nowMs);
  }

  moved(from: DeliveryState | null, to: DeliveryState): void {
    const { ledger, core } = this.#log.planner;
    this.#queue.deliveriesMoved({ from, to }, ledger, core.node.id);
  }

  announceWaiting(isOrdered: boolean): void {
    // Only a claim knows until when the listener is paused.
    this.#log.claims.deliveriesWaiting = true;
    // The process that sends to an ordered webhook claims the next one itself.
    if (maySend(this, isOrdered)) this.#log.planner.notified.add('deliveries');
  }
}

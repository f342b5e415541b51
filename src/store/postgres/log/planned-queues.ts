// The queues of listeners in a plan. The transaction has locked each row (listener-queue.ts), so its counters are exact over
// all nodes.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { concurrencyOf, type Runnable, type Webhook } from '../../../domain/resource.ts';
import type { RunState } from '../../../domain/run/run.ts';
import type { Admission } from '../../contract/store.ts';
import type { ClaimsSoFar, DeliveryQueue, RunQueue } from '../../log/port.ts';
import type { BatchPlanner } from './batch-planner.ts';
import type { ListenerQueue } from './listener-queue.ts';

/** The verb that is planned. */
interface Planning {
  readonly planner: BatchPlanner;
  readonly admission: Admission;
  readonly claims: ClaimsSoFar;
}

export class PlannedRunQueue implements RunQueue {
  readonly #log: Planning;
  readonly #queue: ListenerQueue;

  constructor(log: Planning, queue: ListenerQueue) {
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
  readonly #log: Planning;
  readonly #queue: ListenerQueue;

  constructor(log: Planning, queue: ListenerQueue) {
    this.#log = log;
    this.#queue = queue;
  }

  isHeld(webhook: Webhook): boolean {
    return !webhook.active || this.#log.planner.isGone(this.#queue);
  }

  mayGoAtOnce(isOrdered: boolean): boolean {
    const { core, nowMs } = this.#log.planner;
    return this.#queue.waiting === 0 && this.#queue.isFor(core.node.id, nowMs) && this.#mayGo(isOrdered);
  }

  moved(from: DeliveryState | null, to: DeliveryState): void {
    const { ledger, core } = this.#log.planner;
    ledger.moved(this.#queue.ownerId, 'deliveries', { from, to });
    const waiting = Number(isWaiting(to)) - Number(isWaiting(from));
    const taken = Number(to === 'sending') - Number(from === 'sending');
    if (waiting !== 0 || taken !== 0) this.#queue.change({ waiting, taken }, core.node.id);
  }

  announceWaiting(isOrdered: boolean): void {
    // Only a claim knows until when the listener is paused.
    this.#log.claims.deliveriesWaiting = true;
    if (this.#mayGo(isOrdered)) this.#log.planner.notified.add('deliveries');
  }

  /** An ordered webhook gets one delivery at a time; the process that sends it claims the next one itself. */
  #mayGo(isOrdered: boolean): boolean {
    return (this.#queue.taken === 0 || !isOrdered) && !this.#queue.isPaused(this.#log.planner.nowMs);
  }
}

function isWaiting(state: DeliveryState | null): boolean {
  return state === 'pending' || state === 'retrying';
}

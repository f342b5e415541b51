// The queues of listeners, in memory: for every listener with open deliveries their counts, and when one may be due. Reading them
// from the database would take two statements per listener and claim: with 10,000 waiting webhooks, 20,000 for each claim of 128.
//
// - Ready queues are in two sets, in the order of the round robin: those with first attempts, and those with retries that may be
//   due. Queues that become ready later are in a heap by that time. Other queues are in neither, and cost nothing.
// - Counts are exact. The time of the next retry is a lower bound: taking a retry does not change it, but clears `isExact`; the
//   exact time is then read from the database for that queue, and set with `knowRetry`.
// - Changes apply at once, so that the verbs of one batch see each other's. A rollback restores every changed queue.

import TinyQueue from 'tinyqueue';
import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { isWaiting, type WaitingState } from '../../../domain/delivery/progress.ts';
import { FruitlessLooks, firstsAfter, RetryShare, type Served } from '../../log/round-robin.ts';
import { WaitingRows } from './waiting-rows.ts';

/** States that memory counts. */
export type CountedState = WaitingState | 'sending';

export interface QueueCounts extends Record<CountedState, number> {
  /** No retry is due before then; Infinity: there is none. */
  retryAtMs: number;
}

export function noCounts(): QueueCounts {
  return { pending: 0, retrying: 0, sending: 0, retryAtMs: Number.POSITIVE_INFINITY };
}

export interface ListenerQueue extends QueueCounts {
  /** The id of the listener. */
  readonly id: string;
  /** Whether a retry is due exactly then. */
  isExact: boolean;
  /** The receiver has asked for a pause until then. */
  pausedUntilMs: number;
  /** For an ordered webhook: its head is not due before then; Infinity: a delivery is under way. */
  blockedUntilMs: number;
  /** First attempts since the last retry; see firstsAfter. */
  firsts: number;
  /** The time of its valid entry in the heap; Infinity: there is none. */
  wakeAtMs: number;
}

export interface Moved {
  readonly from: DeliveryState | null;
  readonly to: DeliveryState;
  /** When deliveries that become `retrying` are due. */
  readonly dueAtMs: number | null;
  readonly count: number;
  /** A claim has taken the row that `ListenerQueues.rows` gave it. */
  readonly isClaim?: boolean;
}

/** The most queues that one call of `nextAtMs` looks up; the result may then be too early, never too late. */
const MAX_LOOKED_UP = 32;
/** Outdated entries are removed when there are more of them than queues, and more than this. */
const REBUILT_FROM = 1024;

interface Due {
  readonly atMs: number;
  readonly item: ListenerQueue;
}

const byTime = (a: Due, b: Due): number => a.atMs - b.atMs;

export class ListenerQueues {
  readonly #queues = new Map<string, ListenerQueue>();
  readonly #ready: Readonly<Record<WaitingState, Set<ListenerQueue>>> = { pending: new Set(), retrying: new Set() };
  /** Outdated entries stay in it: what takes one compares it with its queue. */
  #later = new TinyQueue<Due>([], byTime);
  /** Copies of the queues that this transaction has changed. */
  readonly #before = new Map<ListenerQueue, ListenerQueue>();
  /** Listeners whose counts were found wrong; `recount` corrects them. */
  readonly doubtful = new Set<string>();
  readonly retries = new RetryShare();
  readonly vainLooks = new FruitlessLooks();
  /** What this transaction has read ahead. */
  readonly rows = new WaitingRows();
  #nowMs = 0;

  /** Called when a transaction begins. */
  begin(nowMs: number): void {
    this.#nowMs = nowMs;
    this.rows.clear();
  }

  committed(): void {
    for (const queue of this.#before.keys()) this.#forgetIdle(queue);
    this.#before.clear();
  }

  rolledBack(): void {
    for (const [queue, before] of this.#before) {
      Object.assign(queue, before, { wakeAtMs: queue.wakeAtMs });
      this.#place(queue);
    }
    this.committed();
  }

  find(listenerId: string): ListenerQueue | undefined {
    return this.#queues.get(listenerId);
  }

  moved(listenerId: string, { from, to, dueAtMs, count, isClaim = false }: Moved): void {
    const queue = this.#touch(listenerId);
    if (from !== null && !isClaim && (isWaiting(from) || isWaiting(to))) this.rows.drop(listenerId);
    if (from === 'pending' || from === 'retrying' || from === 'sending') queue[from] -= count;
    if (to === 'pending' || to === 'retrying' || to === 'sending') queue[to] += count;
    if (from === 'retrying') queue.isExact = false;
    if (to === 'retrying' && dueAtMs !== null && dueAtMs <= queue.retryAtMs) {
      queue.retryAtMs = dueAtMs;
      queue.isExact = true;
    }
    if (queue.retrying === 0) {
      queue.retryAtMs = Number.POSITIVE_INFINITY;
      queue.isExact = true;
    }
    // A new delivery comes last; any other change may make another delivery the head.
    if (from !== null) queue.blockedUntilMs = 0;
    this.#place(queue);
  }

  /** Pauses a listener. */
  pause(listenerId: string, untilMs: number): void {
    const queue = this.#touch(listenerId);
    queue.pausedUntilMs = untilMs;
    this.#place(queue);
  }

  block(queue: ListenerQueue, untilMs: number): void {
    this.#touch(queue.id);
    queue.blockedUntilMs = untilMs;
    this.#place(queue);
  }

  /** Called when a listener's settings have changed: another delivery may be the head, and retries may be due earlier. */
  settingsChanged(listenerId: string): void {
    const queue = this.#queues.get(listenerId);
    if (!queue) return;
    this.#touch(listenerId);
    this.rows.drop(listenerId);
    if (queue.retrying > 0) Object.assign(queue, { retryAtMs: this.#nowMs, isExact: false });
    this.block(queue, 0);
  }

  /** Called when the clock was set back, and deliveries and pauses with it: all queues are looked at again. */
  turnBack(backMs: number): void {
    for (const [id, queue] of this.#queues) {
      this.#touch(id);
      if (queue.pausedUntilMs > this.#nowMs) queue.pausedUntilMs -= backMs;
      this.settingsChanged(id);
    }
  }

  /** Sets the exact time of the next retry; null: there is none. */
  knowRetry(queue: ListenerQueue, atMs: number | null): void {
    this.#touch(queue.id);
    queue.retryAtMs = atMs ?? Number.POSITIVE_INFINITY;
    queue.isExact = true;
    this.#place(queue);
  }

  served(queue: ListenerQueue, served: Served): void {
    this.#touch(queue.id);
    queue.firsts = firstsAfter(queue.firsts, served);
  }

  /** Sets the counts of the file, which a rollback keeps. */
  recount(listenerId: string, counts: QueueCounts): void {
    const queue = this.correct(listenerId, counts);
    this.#before.set(queue, { ...queue });
    this.doubtful.delete(listenerId);
  }

  /** Sets the counts of the rows, with this transaction's changes. */
  correct(listenerId: string, counts: QueueCounts): ListenerQueue {
    const queue = this.#touch(listenerId);
    this.rows.drop(listenerId);
    Object.assign(queue, counts, { isExact: true, blockedUntilMs: 0 });
    this.#place(queue);
    return queue;
  }

  get listenerIds(): readonly string[] {
    return [...this.#queues.keys()];
  }

  /** Returns whether a queue is neither paused nor blocked. */
  isOpen(queue: ListenerQueue): boolean {
    return Math.max(queue.pausedUntilMs, queue.blockedUntilMs) <= this.#nowMs;
  }

  /** Returns whether a retry is due; exact only while `isExact`. */
  isRetryDue(queue: ListenerQueue): boolean {
    return queue.retrying > 0 && queue.retryAtMs <= this.#nowMs;
  }

  /** Returns whether a delivery to the listener may be due. */
  mayGo(listenerId: string): boolean {
    const queue = this.#queues.get(listenerId);
    return queue !== undefined && (this.#ready.pending.has(queue) || this.#ready.retrying.has(queue));
  }

  /** Makes queues ready whose time has come. */
  advance(): void {
    for (let top = this.#later.peek(); top && top.atMs <= this.#nowMs; top = this.#later.peek()) {
      this.#later.pop();
      if (top.atMs === top.item.wakeAtMs) this.#placeAgain(top.item);
    }
  }

  /** Returns queues with deliveries that may be due, in the order of the round robin. They may change during iteration. */
  ready(state: WaitingState): ReadonlySet<ListenerQueue> {
    return this.#ready[state];
  }

  /** Removes a queue from the ready ones if it is too early, as after the clock was set back. */
  reconsider(queue: ListenerQueue): void {
    this.#place(queue);
  }

  get readyCount(): number {
    return this.#ready.pending.size + this.#ready.retrying.size;
  }

  /** Moves a queue behind the others. */
  toTheEnd(queue: ListenerQueue): void {
    for (const set of [this.#ready.pending, this.#ready.retrying]) if (set.delete(queue)) set.add(queue);
  }

  /** Returns when the next waiting delivery may be sent; null: none. `lookUp` calls `knowRetry` for a queue. */
  nextAtMs(lookUp: (queue: ListenerQueue) => void): number | null {
    let left = MAX_LOOKED_UP;
    for (;;) {
      const top = this.#later.peek();
      if (!top) return null;
      const queue = top.item;
      const holds = top.atMs === queue.wakeAtMs;
      if (holds && !queue.isExact && left-- > 0) lookUp(queue);
      if (holds && this.#opensAtMs(queue) === top.atMs) return top.atMs;
      this.#later.pop();
      if (holds) this.#placeAgain(queue);
    }
  }

  #touch(listenerId: string): ListenerQueue {
    let queue = this.#queues.get(listenerId);
    if (!queue) {
      queue = newQueue(listenerId);
      this.#queues.set(listenerId, queue);
    }
    if (!this.#before.has(queue)) this.#before.set(queue, { ...queue });
    return queue;
  }

  #forgetIdle(queue: ListenerQueue): void {
    if (queue.pending + queue.retrying + queue.sending > 0 || queue.pausedUntilMs > this.#nowMs) return;
    this.#queues.delete(queue.id);
    // Invalidates its entries in the heap.
    queue.wakeAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Places a queue whose valid entry was removed from the heap. */
  #placeAgain(queue: ListenerQueue): void {
    queue.wakeAtMs = Number.POSITIVE_INFINITY;
    this.#place(queue);
  }

  #place(queue: ListenerQueue): void {
    const isOpen = this.isOpen(queue);
    put(this.#ready.pending, queue, isOpen && queue.pending > 0);
    put(this.#ready.retrying, queue, isOpen && this.isRetryDue(queue));
    const atMs = this.#opensAtMs(queue);
    if (atMs >= queue.wakeAtMs) return;
    queue.wakeAtMs = atMs;
    if (this.#later.length >= REBUILT_FROM + 2 * this.#queues.size) {
      const current = this.#later.data.filter((due) => due.atMs === due.item.wakeAtMs);
      this.#later = new TinyQueue(current, byTime);
    }
    this.#later.push({ atMs, item: queue });
  }

  /** Returns when more of the queue may be sent than now; Infinity: not by time alone. */
  #opensAtMs(queue: ListenerQueue): number {
    if (queue.pending + queue.retrying === 0) return Number.POSITIVE_INFINITY;
    const gateMs = Math.max(queue.pausedUntilMs, queue.blockedUntilMs);
    const firstMs = queue.pending > 0 ? gateMs : Math.max(gateMs, queue.retryAtMs);
    if (firstMs > this.#nowMs) return firstMs;
    return queue.retryAtMs > this.#nowMs ? queue.retryAtMs : Number.POSITIVE_INFINITY;
  }
}

function newQueue(id: string): ListenerQueue {
  return {
    id,
    pending: 0,
    retrying: 0,
    sending: 0,
    retryAtMs: Number.POSITIVE_INFINITY,
    isExact: true,
    pausedUntilMs: 0,
    blockedUntilMs: 0,
    firsts: 0,
    wakeAtMs: Number.POSITIVE_INFINITY,
  };
}

/** Adds or removes a queue. One that is in the set keeps its place. */
function put(set: Set<ListenerQueue>, queue: ListenerQueue, isIn: boolean): void {
  if (isIn) set.add(queue);
  else set.delete(queue);
}

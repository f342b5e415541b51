// The queues of listeners, in memory: of every listener (a webhook, or `mail`) with open deliveries how many there are, and
// when something of it may be due. Asking the database instead takes two statements per listener and claim: with
// 10,000 webhooks waiting, 20,000 statements for each claim of 128.
//
// - What may go now stands in two sets, in the order of the round robin: queues with first attempts, and queues with retries
//   that may be due. What opens later stands in a heap by that time. A queue that cannot go is in neither, and costs nothing.
// - Counts are exact. The time of the next retry is a lower bound: taking a retry away leaves it as it is, and `isExact`
//   says so; the exact time is read from the database for that one queue, and kept with `knowRetry`.
// - Changes are made as the transaction goes, so that the verbs of one batch see each other's. A rollback puts every queue
//   that was touched back as it was.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import type { WaitingState } from '../../../domain/delivery/progress.ts';
import { firstsAfter, RetryShare, type Served } from '../../log/round-robin.ts';
import { DueHeap } from '../log/due-heap.ts';

export interface ListenerQueue {
  /** Of the listener. */
  readonly id: string;
  pending: number;
  retrying: number;
  sending: number;
  /** No retry is due before then; Infinity: there is none. */
  retryAtMs: number;
  /** A retry is due just then. */
  isExact: boolean;
  /** The receiver asked to be left alone until then. */
  pausedUntilMs: number;
  /** Of an ordered webhook: its head is not due before then; Infinity: while one is on its way. */
  blockedUntilMs: number;
  /** First attempts since the last retry; see firstsAfter. */
  firsts: number;
  /** Time of its entry in the heap that holds; Infinity: none does. */
  wakeAtMs: number;
}

export interface Moved {
  readonly from: DeliveryState | null;
  readonly to: DeliveryState;
  /** Of those that are `retrying` from now on. */
  readonly dueAtMs: number | null;
  readonly count: number;
}

/** Queues whose next retry is looked up for one answer of `nextAtMs`; what is left is told too early, never too late. */
const MAX_LOOKED_UP = 32;
/** Entries that no longer hold are swept out when there are more of them than queues, and more than this. */
const SWEPT_FROM = 1024;

export class ListenerQueues {
  readonly #queues = new Map<string, ListenerQueue>();
  readonly #ready: Readonly<Record<WaitingState, Set<ListenerQueue>>> = { pending: new Set(), retrying: new Set() };
  readonly #later = new DueHeap<ListenerQueue>();
  /** Queues that this transaction touched, as they were. */
  readonly #before = new Map<ListenerQueue, ListenerQueue>();
  /** Listeners whose counts were found wrong: to be counted again with `recount`. */
  readonly doubtful = new Set<string>();
  readonly retries = new RetryShare();
  #nowMs = 0;
  /** Queues that were looked at in vain since one was served. */
  #inVain = 0;

  /** A transaction begins. */
  begin(nowMs: number): void {
    this.#nowMs = nowMs;
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

  moved(listenerId: string, { from, to, dueAtMs, count }: Moved): void {
    const queue = this.#touch(listenerId);
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

  /** Nothing goes to it before then. */
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

  /** Its settings have changed. */
  unblock(listenerId: string): void {
    const queue = this.#queues.get(listenerId);
    if (queue) this.block(queue, 0);
  }

  /** The truth about its next retry; null: there is none. */
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

  /** What is so in the file. Outside of what a transaction takes back. */
  recount(listenerId: string, counts: Pick<ListenerQueue, 'pending' | 'retrying' | 'sending' | 'retryAtMs'>): void {
    const queue = this.#touch(listenerId);
    Object.assign(queue, counts, { isExact: true, blockedUntilMs: 0 });
    this.#before.set(queue, { ...queue });
    this.#place(queue);
    this.doubtful.delete(listenerId);
  }

  /** What the rows say, this transaction's own included. */
  correct(listenerId: string, counts: Pick<ListenerQueue, 'pending' | 'retrying' | 'sending' | 'retryAtMs'>): void {
    const queue = this.#touch(listenerId);
    Object.assign(queue, counts, { isExact: true, blockedUntilMs: 0 });
    this.#place(queue);
  }

  get listenerIds(): readonly string[] {
    return [...this.#queues.keys()];
  }

  /** Neither paused nor blocked. */
  isOpen(queue: ListenerQueue): boolean {
    return Math.max(queue.pausedUntilMs, queue.blockedUntilMs) <= this.#nowMs;
  }

  /** Exact only while `isExact`. */
  isRetryDue(queue: ListenerQueue): boolean {
    return queue.retrying > 0 && queue.retryAtMs <= this.#nowMs;
  }

  /** Whether a new delivery may go at once: it overtakes no other one. */
  mayGoAtOnce(listenerId: string, isOrdered: boolean): boolean {
    const queue = this.#queues.get(listenerId);
    if (!queue) return true;
    if (queue.pending > 0 || queue.pausedUntilMs > this.#nowMs) return false;
    return isOrdered ? queue.retrying + queue.sending === 0 : !this.isRetryDue(queue);
  }

  /** Whether something of it may be due. */
  mayGo(listenerId: string): boolean {
    const queue = this.#queues.get(listenerId);
    return queue !== undefined && (this.#ready.pending.has(queue) || this.#ready.retrying.has(queue));
  }

  /** Those that opened meanwhile are ready from now on. */
  advance(): void {
    for (let top = this.#later.first(); top && top.atMs <= this.#nowMs; top = this.#later.first()) {
      this.#later.shift();
      if (top.atMs === top.item.wakeAtMs) this.#placeAnew(top.item);
    }
  }

  /** Queues with something that may be due, in turn. They may be changed while this is walked. */
  ready(state: WaitingState): ReadonlySet<ListenerQueue> {
    return this.#ready[state];
  }

  /** Nothing of it could be had: takes it out again when it is too early, as after a clock that was set back. */
  reconsider(queue: ListenerQueue): void {
    this.#place(queue);
  }

  get readyCount(): number {
    return this.#ready.pending.size + this.#ready.retrying.size;
  }

  /** It was served: the others come first. */
  toTheEnd(queue: ListenerQueue): void {
    for (const set of [this.#ready.pending, this.#ready.retrying]) if (set.delete(queue)) set.add(queue);
  }

  /** A claim has ended. Whether queues are left that were not looked at since one was served, or since all were looked at. */
  leavesSome({ isCut, isServed, inVain }: { isCut: boolean; isServed: boolean; inVain: number }): boolean {
    this.#inVain = isServed ? inVain : this.#inVain + inVain;
    const leaves = isCut && this.#inVain < this.readyCount;
    if (!leaves) this.#inVain = 0;
    return leaves;
  }

  /** When something that waits will be due, and may go; null: nothing will. `lookUp` tells `knowRetry` of a queue. */
  nextAtMs(lookUp: (queue: ListenerQueue) => void): number | null {
    let left = MAX_LOOKED_UP;
    for (;;) {
      const top = this.#later.first();
      if (!top) return null;
      const queue = top.item;
      const holds = top.atMs === queue.wakeAtMs;
      if (holds && !queue.isExact && left-- > 0) lookUp(queue);
      if (holds && this.#opensAtMs(queue) === top.atMs) return top.atMs;
      this.#later.shift();
      if (holds) this.#placeAnew(queue);
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
    // Its entries hold no longer.
    queue.wakeAtMs = Number.NEGATIVE_INFINITY;
  }

  /** The entry that held is out of the heap. */
  #placeAnew(queue: ListenerQueue): void {
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
    if (this.#later.size >= SWEPT_FROM + 2 * this.#queues.size) {
      this.#later.keep((entry) => entry.atMs === entry.item.wakeAtMs);
    }
    this.#later.push({ atMs, item: queue });
  }

  /** When more of it may go than now; Infinity: that is not a matter of time. */
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

/** An entry that is in the set keeps its place. */
function put(set: Set<ListenerQueue>, queue: ListenerQueue, isIn: boolean): void {
  if (isIn) set.add(queue);
  else set.delete(queue);
}

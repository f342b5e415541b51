// Whose turn it is to be sent to. In memory, of every listener (a webhook, or `mail`) with open deliveries: how many there
// are, and when something of it may be due. Asking the database instead takes two statements per listener and claim: with
// 10,000 webhooks waiting, 20,000 statements for each claim of 128.
//
// - What may go now stands in two sets, in the order of turns: lines with first attempts, and lines with retries that may
//   be due. What opens later stands in a heap by that time. A line that cannot go is in neither, and costs nothing.
// - Counts are exact. The time of the next retry is a lower bound: taking a retry away leaves it as it is, and `isExact`
//   says so; whoever needs the truth asks the database for that one line, and tells it with `knowRetry`.
// - Changes are made as the transaction goes, so that the verbs of one batch see each other's. A rollback puts every line
//   that was touched back as it was.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import type { WaitingState } from '../../../domain/delivery/progress.ts';
import { firstsAfter, RetryTurns, type Served } from '../../log/round-robin.ts';
import { DueHeap } from '../log/due-heap.ts';

export interface Line {
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

/** Lines whose next retry is looked up for one answer of `nextAtMs`; what is left is told too early, never too late. */
const MAX_LOOKED_UP = 32;
/** Entries that no longer hold are swept out when there are more of them than lines, and more than this. */
const SWEPT_FROM = 1024;

export class Turns {
  readonly #lines = new Map<string, Line>();
  readonly #ready: Readonly<Record<WaitingState, Set<Line>>> = { pending: new Set(), retrying: new Set() };
  readonly #later = new DueHeap<Line>();
  /** Lines that this transaction touched, as they were. */
  readonly #before = new Map<Line, Line>();
  /** Listeners whose counts were found wrong: to be counted anew with `recount`. */
  readonly doubtful = new Set<string>();
  readonly retries = new RetryTurns();
  #nowMs = 0;
  /** Lines that were looked at in vain since one was served. */
  #inVain = 0;

  /** A transaction begins. */
  begin(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  committed(): void {
    for (const line of this.#before.keys()) this.#forgetIdle(line);
    this.#before.clear();
  }

  rolledBack(): void {
    for (const [line, before] of this.#before) {
      Object.assign(line, before, { wakeAtMs: line.wakeAtMs });
      this.#place(line);
    }
    this.committed();
  }

  find(listenerId: string): Line | undefined {
    return this.#lines.get(listenerId);
  }

  moved(listenerId: string, { from, to, dueAtMs, count }: Moved): void {
    const line = this.#touch(listenerId);
    if (from === 'pending' || from === 'retrying' || from === 'sending') line[from] -= count;
    if (to === 'pending' || to === 'retrying' || to === 'sending') line[to] += count;
    if (from === 'retrying') line.isExact = false;
    if (to === 'retrying' && dueAtMs !== null && dueAtMs <= line.retryAtMs) {
      line.retryAtMs = dueAtMs;
      line.isExact = true;
    }
    if (line.retrying === 0) {
      line.retryAtMs = Number.POSITIVE_INFINITY;
      line.isExact = true;
    }
    // One that is new comes last; whatever else there is may make another one the head.
    if (from !== null) line.blockedUntilMs = 0;
    this.#place(line);
  }

  /** Nothing goes to it before then. */
  pause(listenerId: string, untilMs: number): void {
    const line = this.#touch(listenerId);
    line.pausedUntilMs = untilMs;
    this.#place(line);
  }

  block(line: Line, untilMs: number): void {
    this.#touch(line.id);
    line.blockedUntilMs = untilMs;
    this.#place(line);
  }

  /** Its settings have changed. */
  unblock(listenerId: string): void {
    const line = this.#lines.get(listenerId);
    if (line) this.block(line, 0);
  }

  /** The truth about its next retry; null: there is none. */
  knowRetry(line: Line, atMs: number | null): void {
    this.#touch(line.id);
    line.retryAtMs = atMs ?? Number.POSITIVE_INFINITY;
    line.isExact = true;
    this.#place(line);
  }

  served(line: Line, served: Served): void {
    this.#touch(line.id);
    line.firsts = firstsAfter(line.firsts, served);
  }

  /** What is so in the file. Outside of what a transaction takes back. */
  recount(listenerId: string, counts: Pick<Line, 'pending' | 'retrying' | 'sending' | 'retryAtMs'>): void {
    const line = this.#touch(listenerId);
    Object.assign(line, counts, { isExact: true, blockedUntilMs: 0 });
    this.#before.set(line, { ...line });
    this.#place(line);
    this.doubtful.delete(listenerId);
  }

  /** What the rows say, this transaction's own included. */
  correct(listenerId: string, counts: Pick<Line, 'pending' | 'retrying' | 'sending' | 'retryAtMs'>): void {
    const line = this.#touch(listenerId);
    Object.assign(line, counts, { isExact: true, blockedUntilMs: 0 });
    this.#place(line);
  }

  get listenerIds(): readonly string[] {
    return [...this.#lines.keys()];
  }

  /** Neither paused nor blocked. */
  isOpen(line: Line): boolean {
    return Math.max(line.pausedUntilMs, line.blockedUntilMs) <= this.#nowMs;
  }

  /** Exact only while `isExact`. */
  isRetryDue(line: Line): boolean {
    return line.retrying > 0 && line.retryAtMs <= this.#nowMs;
  }

  /** Whether a new delivery may go before it was ever in line: nobody is overtaken. */
  mayGoAtOnce(listenerId: string, isOrdered: boolean): boolean {
    const line = this.#lines.get(listenerId);
    if (!line) return true;
    if (line.pending > 0 || line.pausedUntilMs > this.#nowMs) return false;
    return isOrdered ? line.retrying + line.sending === 0 : !this.isRetryDue(line);
  }

  /** Whether something of it may be due. */
  mayGo(listenerId: string): boolean {
    const line = this.#lines.get(listenerId);
    return line !== undefined && (this.#ready.pending.has(line) || this.#ready.retrying.has(line));
  }

  /** Those that opened meanwhile are ready from now on. */
  advance(): void {
    for (let top = this.#later.first(); top && top.atMs <= this.#nowMs; top = this.#later.first()) {
      this.#later.shift();
      if (top.atMs === top.item.wakeAtMs) this.#placeAnew(top.item);
    }
  }

  /** Lines with something that may be due, in turn. They may be changed while this is walked. */
  ready(state: WaitingState): ReadonlySet<Line> {
    return this.#ready[state];
  }

  /** Nothing of it could be had: takes it out again when it is too early, as after a clock that was set back. */
  reconsider(line: Line): void {
    this.#place(line);
  }

  get readyCount(): number {
    return this.#ready.pending.size + this.#ready.retrying.size;
  }

  /** It was served: the others come first. */
  toTheEnd(line: Line): void {
    for (const set of [this.#ready.pending, this.#ready.retrying]) if (set.delete(line)) set.add(line);
  }

  /** A claim has ended. Whether lines are left that were not looked at since one was served, or since all were looked at. */
  leavesSome({ isCut, isServed, inVain }: { isCut: boolean; isServed: boolean; inVain: number }): boolean {
    this.#inVain = isServed ? inVain : this.#inVain + inVain;
    const leaves = isCut && this.#inVain < this.readyCount;
    if (!leaves) this.#inVain = 0;
    return leaves;
  }

  /** When something that waits will be due, and may go; null: nothing will. `lookUp` tells `knowRetry` of a line. */
  nextAtMs(lookUp: (line: Line) => void): number | null {
    let left = MAX_LOOKED_UP;
    for (;;) {
      const top = this.#later.first();
      if (!top) return null;
      const line = top.item;
      const holds = top.atMs === line.wakeAtMs;
      if (holds && !line.isExact && left-- > 0) lookUp(line);
      if (holds && this.#opensAtMs(line) === top.atMs) return top.atMs;
      this.#later.shift();
      if (holds) this.#placeAnew(line);
    }
  }

  #touch(listenerId: string): Line {
    let line = this.#lines.get(listenerId);
    if (!line) {
      line = newLine(listenerId);
      this.#lines.set(listenerId, line);
    }
    if (!this.#before.has(line)) this.#before.set(line, { ...line });
    return line;
  }

  #forgetIdle(line: Line): void {
    if (line.pending + line.retrying + line.sending > 0 || line.pausedUntilMs > this.#nowMs) return;
    this.#lines.delete(line.id);
    // Its entries hold no longer.
    line.wakeAtMs = Number.NEGATIVE_INFINITY;
  }

  /** The entry that held is out of the heap. */
  #placeAnew(line: Line): void {
    line.wakeAtMs = Number.POSITIVE_INFINITY;
    this.#place(line);
  }

  #place(line: Line): void {
    const isOpen = this.isOpen(line);
    put(this.#ready.pending, line, isOpen && line.pending > 0);
    put(this.#ready.retrying, line, isOpen && this.isRetryDue(line));
    const atMs = this.#opensAtMs(line);
    if (atMs >= line.wakeAtMs) return;
    line.wakeAtMs = atMs;
    if (this.#later.size >= SWEPT_FROM + 2 * this.#lines.size) {
      this.#later.keep((entry) => entry.atMs === entry.item.wakeAtMs);
    }
    this.#later.push({ atMs, item: line });
  }

  /** When more of it may go than now; Infinity: that is not a matter of time. */
  #opensAtMs(line: Line): number {
    if (line.pending + line.retrying === 0) return Number.POSITIVE_INFINITY;
    const gateMs = Math.max(line.pausedUntilMs, line.blockedUntilMs);
    const firstMs = line.pending > 0 ? gateMs : Math.max(gateMs, line.retryAtMs);
    if (firstMs > this.#nowMs) return firstMs;
    return line.retryAtMs > this.#nowMs ? line.retryAtMs : Number.POSITIVE_INFINITY;
  }
}

function newLine(id: string): Line {
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

/** Whoever is in keeps its place. */
function put(set: Set<Line>, line: Line, isIn: boolean): void {
  if (isIn) set.add(line);
  else set.delete(line);
}

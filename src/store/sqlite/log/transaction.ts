// The state of one transaction: numbers, changes of the ledger, counts of queued runs, and what to undo. What must not survive a
// rollback is kept here, and applied after the commit.

import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import type { Clock } from '../../../ports.ts';
import { GroupCaptures } from '../../log/groups/error-groups.ts';
import type { FullEmitters } from '../../log/groups/full-emitters.ts';
import { LedgerChanges, type StateChange } from '../../log/ledger.ts';
import { OwnerRoundRobin } from '../../log/owner-round-robin.ts';
import { WatchNotes } from '../../log/watch/notes.ts';
import type { Connection } from '../database.ts';
import type { ListenerQueues, Moved } from '../deliveries/listener-queues.ts';
import type { Throttles } from './throttles.ts';

/**
 * Numbers for rows: `milliseconds * 1024 + sequence`, strictly growing, also when the clock is set back. All numbers of a
 * transaction are of its one time, so that a run's start is the same in its row and in its throttle.
 */
export class Numbers {
  #last: number;

  constructor(last: number) {
    this.#last = last;
  }

  /** Returns the last number that was given. */
  get last(): number {
    return this.#last;
  }

  next(nowMs: number): number {
    const now = nowMs * NUMBERS_PER_MS;
    this.#last = now > this.#last ? now : this.#last + 1;
    return this.#last;
  }
}

/** Committed counts of queued runs, by workflow or source. */
export class OpenRuns {
  readonly counts = new Map<string, number>();
  readonly owners = new OwnerRoundRobin();

  /** Moves a workflow or source behind the others: claims go in the order of this map, within each owner. */
  toTheEnd(runnableId: string): void {
    const waiting = this.counts.get(runnableId);
    if (waiting === undefined) return;
    this.counts.delete(runnableId);
    this.counts.set(runnableId, waiting);
  }
}

/** What the transactions of a store share. */
export interface Shared {
  readonly numbers: Numbers;
  readonly openRuns: OpenRuns;
  readonly queues: ListenerQueues;
  /** Called when an emission that lists show was written. */
  readonly emitted: () => void;
  /** Called when a later emission was written, or a notice is due. */
  readonly kept: () => void;
  readonly throttles: Throttles;
  readonly fullEmitters: FullEmitters;
  /** Writes the groups of the errors that a transaction has captured. Returns whether a notice of one is due. */
  readonly writeGroups: (tx: Transaction) => boolean;
  /** Writes what a transaction has noted for watches. */
  readonly writeNotes: (tx: Transaction) => void;
}

export interface DeliveriesMoved extends Omit<Moved, 'count' | 'dueAtMs'> {
  readonly ownerId: string;
  readonly listenerId: string;
  /** When deliveries that become `retrying` are due. */
  readonly dueAtMs?: number | null;
  /** Default: 1. */
  readonly count?: number;
}

export class Transaction {
  readonly nowMs: number;
  readonly #writer: Connection;
  readonly #shared: Shared;
  readonly captures: GroupCaptures;
  readonly watchNotes = new WatchNotes();
  readonly #ledger = new LedgerChanges();
  readonly #opened = new Map<string, number>();
  readonly #undo: (() => void)[] = [];
  #hasEmitted = false;
  #hasKept = false;

  constructor(writer: Connection, clock: Clock, shared: Shared) {
    this.#writer = writer;
    this.nowMs = clock.nowMs();
    this.#shared = shared;
    this.captures = new GroupCaptures(shared.fullEmitters);
    shared.queues.begin(this.nowMs);
  }

  number(): number {
    return this.#shared.numbers.next(this.nowMs);
  }

  /** Changes a fact of the ledger, e.g. `runs.queued`, by `by`. */
  count(ownerId: string, fact: string, by: number): void {
    this.#ledger.count(ownerId, fact, by);
  }

  /** Changes of the ledger so far, by `owner fact`. */
  get counted(): [key: string, by: number][] {
    return [...this.#ledger.changes()].map(([ownerId, fact, by]) => [`${ownerId} ${fact}`, by]);
  }

  /** Returns the owners in whose ledger this transaction has changed a count, also back to what it was. */
  countedOwners(): Iterable<string> {
    return this.#ledger.ownerIds();
  }

  /** Returns the workflows and sources whose number of queued runs this transaction changes. */
  get openedIds(): readonly string[] {
    return [...this.#opened.keys()];
  }

  /** Counts runs that changed their state. */
  runsMoved(ownerId: string, change: StateChange): void {
    this.#ledger.moved(ownerId, 'runs', change);
  }

  /** Counts deliveries of a listener that changed from one state to another; null: they are new. */
  deliveriesMoved(moved: DeliveriesMoved): void {
    const { ownerId, listenerId, from, to, dueAtMs = null, count = 1, isClaim = false } = moved;
    if (count === 0) return;
    this.#ledger.moved(ownerId, 'deliveries', { from, to, n: count });
    this.#shared.queues.moved(listenerId, { from, to, dueAtMs, count, isClaim });
  }

  /** Changes the number of queued runs by `by`. */
  runsOpened(runnableId: string, by: number): void {
    this.#opened.set(runnableId, (this.#opened.get(runnableId) ?? 0) + by);
  }

  /** Returns the number of queued runs, with this transaction's changes. */
  runsWaiting(runnableId: string): number {
    return (this.#shared.openRuns.counts.get(runnableId) ?? 0) + (this.#opened.get(runnableId) ?? 0);
  }

  /** Notes that an emission was written that lists show. */
  emitted(): void {
    this.#hasEmitted = true;
  }

  /** Notes that something was written that is due at a time. */
  kept(): void {
    this.#hasKept = true;
  }

  /** Adds a function that runs if the transaction does not commit. */
  onRollback(undo: () => void): void {
    this.#undo.push(undo);
  }

  beforeCommit(): void {
    this.#shared.throttles.beforeCommit(this.#writer);
    if (!this.watchNotes.isEmpty) this.#shared.writeNotes(this);
    if (!this.captures.isEmpty && this.#shared.writeGroups(this)) this.kept();
    for (const [ownerId, fact, by] of this.#ledger.changes()) {
      this.#writer.run(
        'INSERT INTO ledger (owner_id, fact, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
        ownerId,
        fact,
        by,
      );
    }
  }

  committed(): void {
    const { counts } = this.#shared.openRuns;
    for (const [runnableId, by] of this.#opened) {
      const now = (counts.get(runnableId) ?? 0) + by;
      if (now > 0) counts.set(runnableId, now);
      else counts.delete(runnableId);
    }
    this.#shared.queues.committed();
    if (this.#hasEmitted) this.#shared.emitted();
    if (this.#hasKept) this.#shared.kept();
    this.#shared.throttles.committed();
  }

  rolledBack(): void {
    this.#shared.queues.rolledBack();
    this.#shared.throttles.rolledBack();
    for (const undo of this.#undo) undo();
  }
}

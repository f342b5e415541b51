// One transaction's bookkeeping: numbers, the ledger's changes, how much work is open, and what to undo.
// What must not survive a rollback is kept here and applied only when the commit has happened.

import { NUMBERS_PER_MS } from '../../domain/ids.ts';
import type { Clock } from '../../ports.ts';
import type { Connection } from './database.ts';

/** Numbers for rows: `milliseconds * 1024 + sequence`, strictly growing, whatever the clock does. */
export class Numbers {
  readonly #clock: Clock;
  #last: number;

  constructor(clock: Clock, last: number) {
    this.#clock = clock;
    this.#last = last;
  }

  next(): number {
    const now = this.#clock.nowMs() * NUMBERS_PER_MS;
    this.#last = now > this.#last ? now : this.#last + 1;
    return this.#last;
  }
}

/** Rows waiting per listener, committed: queued runs by workflow or source, open deliveries by webhook (or `mail`). */
export class OpenWork {
  readonly runs = new Map<string, number>();
  readonly deliveries = new Map<string, number>();

  /** Claims go round in the order of these maps. */
  toTheEnd(kind: WorkKind, listenerId: string): void {
    const waiting = this[kind].get(listenerId);
    if (waiting === undefined) return;
    this[kind].delete(listenerId);
    this[kind].set(listenerId, waiting);
  }
}

export type WorkKind = 'runs' | 'deliveries';

export class Transaction {
  readonly nowMs: number;
  readonly #writer: Connection;
  readonly #numbers: Numbers;
  readonly #open: OpenWork;
  /** Owner → fact → change. */
  readonly #ledger = new Map<string, Map<string, number>>();
  readonly #opened = { runs: new Map<string, number>(), deliveries: new Map<string, number>() };
  readonly #undo: (() => void)[] = [];

  constructor(writer: Connection, clock: Clock, shared: { numbers: Numbers; open: OpenWork }) {
    this.#writer = writer;
    this.nowMs = clock.nowMs();
    this.#numbers = shared.numbers;
    this.#open = shared.open;
  }

  number(): number {
    return this.#numbers.next();
  }

  /** A row of the ledger changes by `by`, e.g. `runs.queued`. */
  count(ownerId: string, fact: string, by: number): void {
    const facts = this.#ledger.get(ownerId) ?? new Map<string, number>();
    this.#ledger.set(ownerId, facts);
    facts.set(fact, (facts.get(fact) ?? 0) + by);
  }

  /** A run or delivery went from one state to another; null: it was not there before. */
  moved(ownerId: string, kind: WorkKind, states: { from: string | null; to: string }): void {
    if (states.from === states.to) return;
    if (states.from !== null) this.count(ownerId, `${kind}.${states.from}`, -1);
    this.count(ownerId, `${kind}.${states.to}`, 1);
  }

  /** `by` more rows wait for `listenerId` to be claimed. */
  opened(kind: WorkKind, listenerId: string, by: number): void {
    const opened = this.#opened[kind];
    opened.set(listenerId, (opened.get(listenerId) ?? 0) + by);
  }

  /** How many wait, this transaction's own included. */
  waiting(kind: WorkKind, listenerId: string): number {
    return (this.#open[kind].get(listenerId) ?? 0) + (this.#opened[kind].get(listenerId) ?? 0);
  }

  /** Runs when the transaction does not commit. */
  onRollback(undo: () => void): void {
    this.#undo.push(undo);
  }

  beforeCommit(): void {
    for (const [ownerId, facts] of this.#ledger) {
      for (const [fact, by] of facts) {
        if (by === 0) continue;
        this.#writer.run(
          'INSERT INTO ledger (owner_id, fact, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
          ownerId,
          fact,
          by,
        );
      }
    }
  }

  committed(): void {
    for (const kind of ['runs', 'deliveries'] as const) {
      for (const [listenerId, by] of this.#opened[kind]) {
        const now = (this.#open[kind].get(listenerId) ?? 0) + by;
        if (now > 0) this.#open[kind].set(listenerId, now);
        else this.#open[kind].delete(listenerId);
      }
    }
  }

  rolledBack(): void {
    for (const undo of this.#undo) undo();
  }
}

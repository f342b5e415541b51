// Group commit, and the way of a write of the log through it. A transaction on Postgres costs its round trips and its commit
// (a disk's, or a synchronous standby's), so verbs share both: those that come while a transaction is under way share the next
// one. An idle store writes at once, a busy one in batches.
//
// The decisions (store/log/) are synchronous, and Postgres cannot be read in the middle of one. So a batch is planned in
// memory, on what was read before, and written set by set. Each step is one round trip, whatever the number of verbs:
//
//   1. Needs (batch-needs.ts): each verb declares what it is sure to read, before anything is read.
//   2. Reads (batch-reads.ts): one statement for each kind of thing. Rows are locked, and stay as they were read; runs that end
//      are deleted by it, so of two ends with one lease one finds the row.
//   3. The planner (batch-planner.ts) runs the verbs one after the other. Their LogWriter (log-writer.ts) answers from what was
//      read and from what the verbs before have changed, and gathers rows (row-changes.ts) instead of writing them. What is
//      missing, mostly queues of listeners, is noted and answered with something harmless; the plan is then dropped, the
//      missing things are read, and the verbs are planned again, until a plan misses nothing. Queues come last, and are
//      locked all at once, in the order of their keys.
//   4. Grants: runs and deliveries for the slots that ends have freed are claimed (claims/claim.ts). Right before that, the
//      beginnings of waits are written, since what was ordered to go on may be claimed at once.
//   5. Rows: one statement for each table, the queues behind all others, then the ledger. Nothing is waited for but the commit.
//   6. Behind the commit: callers get their answers, slots are in use, other nodes are notified. Without it, all slots are
//      given back.
//
// A verb that throws does not take the others with it: each is then run in a transaction of its own. When storage fails,
// all are rejected as `StoreUnavailable`.

import { StoreUnavailable } from '../../contract/store.ts';
import { FairQueue } from '../../log/fair-queue.ts';
import { number } from '../../rows/cells.ts';
import { isListed } from '../../rows/log-rows.ts';
import { grantRows } from '../claims/claim.ts';
import { keepLastNumber } from '../claims/node.ts';
import { OutcomeUnknown, type TransactionConnection, type Tx } from '../connection/transaction-connection.ts';
import type { Core } from '../core.ts';
import { Needs, type QueueNeed } from './batch-needs.ts';
import { BatchPlanner } from './batch-planner.ts';
import { NodeGone, Reads } from './batch-reads.ts';

/** Verbs that share one commit at most: a verb waits for no huge commit. */
const MAX_VERBS = 1024;
/**
 * With a queue of 50,000 and a concurrency of 1,000, another workflow's answers, one after the other, took 27 ms (16: 27 ms, 24: 30,
 * 32: 34), and meanwhile the queue's runs ended at 2,900/s (16: 2,400/s, 32: 3,600/s).
 */
const BESIDE_SMALL_FLOWS = 20;
/** Plans of one transaction: a listener refused leads to the next one, and so on. */
const MAX_PLANS = 64;

export interface Verb<T> {
  /** What it is sure to need. */
  readonly needs: (needs: Needs) => void;
  /** Plans it. May be called several times, each on a new planner; the last one counts. */
  readonly plan: (planner: BatchPlanner) => T;
}

interface Waiting {
  readonly verb: Verb<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What verbs of the log need: its batch, too. */
export interface LogCore extends Core {
  /** Writes of the log, many at a time. */
  readonly batch: Batch;
}

/** Who asks whether storage is ready sends nothing until it is: later than this it is tried again. */
const FAILING_MS = 10_000;

export class Batch {
  readonly #connection: TransactionConnection;
  readonly #core: Core;
  readonly #queue = new FairQueue<Waiting>(BESIDE_SMALL_FLOWS);
  #working: Promise<void> | undefined;
  #closed = false;

  /** When storage last failed to take a write, unless it has taken one since. */
  #failedAt: number | null = null;

  constructor(connection: TransactionConnection, core: Core) {
    this.#connection = connection;
    this.#core = core;
  }

  /** A small write may find room where others do not: on a full disk, a row takes the place of its last version. */
  get isFailing(): boolean {
    return this.#failedAt !== null && performance.now() - this.#failedAt < FAILING_MS;
  }

  /** Resolves with what the verb planned, once that is committed. Order is kept within a flow. `bytes`: about what it writes. */
  write<T>(verb: Verb<T>, flow = '', bytes = 0): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('the store is closed'));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ verb, resolve: resolve as (value: unknown) => void, reject }, flow, bytes);
      this.#working ??= this.#work();
    });
  }

  /** Commits what waits, and takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    // Whatever else comes in this turn of the event loop goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.size > 0) await this.#flush([...this.#queue.next(MAX_VERBS)]);
    this.#working = undefined;
  }

  async #flush(batch: readonly Waiting[]): Promise<void> {
    try {
      const values = await this.#commit(batch);
      this.#failedAt = null;
      batch.forEach(({ resolve }, i) => {
        resolve(values[i]);
      });
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#failedAt = performance.now();
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const { reject } of batch) reject(error);
        return;
      }
      for (const waiting of batch) await this.#flush([waiting]);
    }
  }

  async #commit(batch: readonly Waiting[]): Promise<unknown[]> {
    const core = this.#core;
    const knownQueues = new Map<string, QueueNeed>();
    let planner: BatchPlanner | undefined;
    core.routes.trim();
    try {
      for (;;) {
        try {
          const values = await this.#connection.transact(async (tx) => {
            planner?.undo();
            const planned = await plan(core, batch, new Reads(core, tx, knownQueues));
            planner = planned.planner;
            planner.changes.sendFirst(tx);
            await grantRows(planner, tx);
            write(planner, tx);
            return planned.values;
          });
          if (planner) committed(core, planner);
          return values;
        } catch (error) {
          if (!(error instanceof NodeGone)) throw error;
          await core.node.register();
        }
      }
    } catch (error) {
      planner?.undo();
      if (error instanceof OutcomeUnknown) core.node.mayHoldUnknown = true;
      throw error;
    }
  }
}

async function plan(
  core: Core,
  batch: readonly Waiting[],
  reads: Reads,
): Promise<{ planner: BatchPlanner; values: unknown[] }> {
  const needs = new Needs();
  for (const { verb } of batch) verb.needs(needs);
  await reads.first(needs);
  for (let n = 0; n < MAX_PLANS; n++) {
    if (!reads.missed.isEmpty) await reads.more();
    const planner = new BatchPlanner(core, reads);
    try {
      const values = batch.map(({ verb }) => verb.plan(planner));
      if (planner.isWhole) return { planner, values };
    } catch (error) {
      planner.undo();
      throw error;
    }
    planner.undo();
  }
  throw new Error(`a transaction was not planned in ${MAX_PLANS} passes`);
}

function write(planner: BatchPlanner, tx: Tx): void {
  planner.changes.send(tx, planner.nowMs);
  planner.sendMemory(tx);
  planner.sendDigests(tx);
  planner.sendQueues(tx);
  planner.ledger.write(tx, planner.core.node.slot);
  const ahead = planner.numbers.aheadOf(planner.core.clock.nowMs());
  if (ahead !== null) keepLastNumber(tx, ahead, planner.core.node.slot);
}

function committed(core: Core, planner: BatchPlanner): void {
  planner.settle();
  core.node.gave(planner.numbers);
  const { endings, returns, attempts } = planner.reads;
  for (const row of [...endings.values(), ...returns.values()]) core.leased.runs.delete(number(row, 'run'));
  for (const row of attempts.values()) core.leased.deliveries.delete(number(row, 'delivery'));
  for (const claims of planner.claims) core.leased.add(claims);
  if (planner.isCounterWrong) core.notices.suspectCounters();
  core.vacuum.ended(endings.size + planner.changes.deliveryEnds.length);
  for (const channel of planner.notified) core.notices.tell(channel);
  if (planner.changes.emissions.some(({ emitterId }) => isListed(emitterId))) core.notices.tellAll('emissions');
  if (planner.changes.later.length > 0) core.notices.tellAll('schedules');
}

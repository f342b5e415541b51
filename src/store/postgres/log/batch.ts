// Group commit. Verbs that come while a transaction is under way share the next one: an idle store writes at once, a
// busy one in batches, and the cost of a commit (a disk's, or a synchronous standby's) is paid once for all of them.
//
// A transaction has these steps; each is one round trip, whatever the number of verbs:
//   1. read what the verbs are sure to need; runs that end are deleted, what they held is thereby ours (batch-reads.ts)
//   2. plan, in memory (batch-planner.ts); what was lacking is read and the plan made anew: mostly the queues, which are locked
//   3. claim the rows that were granted to the hands that ends have freed; right before that, write the beginnings of waits
//   4. write all of it and commit
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
import { Pass } from './batch-planner.ts';
import { NodeGone, Reads } from './batch-reads.ts';

/** Verbs that share one commit at most; the rest waits for the next one, so that nobody waits for a huge one. */
const MAX_VERBS = 1024;
/**
 * With a queue of 50,000 and a concurrency of 1,000, another workflow's answers, one after the other, took 27 ms (16: 27 ms, 24: 30,
 * 32: 34), and meanwhile the queue's runs ended at 2,900/s (16: 2,400/s, 32: 3,600/s).
 */
const BESIDE_GUESTS = 20;
/** Plans of one transaction: a listener refused leads to the next one, and so on. */
const MAX_PLANS = 64;

export interface Verb<T> {
  /** What it is sure to need. */
  readonly needs: (needs: Needs) => void;
  /** Plans it. May be called several times, each on a new pass; the last one counts. */
  readonly plan: (pass: Pass) => T;
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
  readonly #queue = new FairQueue<Waiting>(BESIDE_GUESTS);
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

  /** Resolves with what the verb planned, once that is committed. Order is kept within a lane. `bytes`: about what it writes. */
  write<T>(verb: Verb<T>, lane = '', bytes = 0): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('the store is closed'));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ verb, resolve: resolve as (value: unknown) => void, reject }, lane, bytes);
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
    let pass: Pass | undefined;
    core.routes.trim();
    try {
      for (;;) {
        try {
          const values = await this.#connection.transact(async (tx) => {
            pass?.undo();
            const planned = await plan(core, batch, new Reads(core, tx, knownQueues));
            pass = planned.pass;
            pass.plan.sendFirst(tx);
            await grantRows(pass, tx);
            write(pass, tx);
            return planned.values;
          });
          if (pass) committed(core, pass);
          return values;
        } catch (error) {
          if (!(error instanceof NodeGone)) throw error;
          await core.node.register();
        }
      }
    } catch (error) {
      pass?.undo();
      if (error instanceof OutcomeUnknown) core.node.mayHoldUnknown = true;
      throw error;
    }
  }
}

async function plan(core: Core, batch: readonly Waiting[], reads: Reads): Promise<{ pass: Pass; values: unknown[] }> {
  const needs = new Needs();
  for (const { verb } of batch) verb.needs(needs);
  await reads.first(needs);
  for (let n = 0; n < MAX_PLANS; n++) {
    if (!reads.missed.isEmpty) await reads.more();
    const pass = new Pass(core, reads);
    try {
      const values = batch.map(({ verb }) => verb.plan(pass));
      if (pass.isWhole) return { pass, values };
    } catch (error) {
      pass.undo();
      throw error;
    }
    pass.undo();
  }
  throw new Error(`a transaction was not planned in ${MAX_PLANS} passes`);
}

function write(pass: Pass, tx: Tx): void {
  pass.plan.send(tx, pass.nowMs);
  pass.sendMemory(tx);
  pass.sendDigests(tx);
  pass.sendQueues(tx);
  pass.ledger.write(tx, pass.core.node.slot);
  const ahead = pass.numbers.aheadOf(pass.core.clock.nowMs());
  if (ahead !== null) keepLastNumber(tx, ahead, pass.core.node.slot);
}

function committed(core: Core, pass: Pass): void {
  pass.settle();
  core.node.gave(pass.numbers);
  const { endings, returns, attempts } = pass.reads;
  for (const row of [...endings.values(), ...returns.values()]) core.held.runs.delete(number(row, 'run'));
  for (const row of attempts.values()) core.held.deliveries.delete(number(row, 'delivery'));
  for (const claims of pass.claims) core.held.add(claims);
  if (pass.isCounterWrong) core.notices.suspectCounters();
  core.sweep.ended(endings.size + pass.plan.deliveryEnds.length);
  for (const channel of pass.told) core.notices.tell(channel);
  if (pass.plan.emissions.some(({ emitterId }) => isListed(emitterId))) core.notices.tellAll('emissions');
  if (pass.plan.later.length > 0) core.notices.tellAll('schedules');
}

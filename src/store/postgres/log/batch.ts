// Group commit, and the steps of a write of the log. A transaction on Postgres costs its round trips and its commit (of a disk,
// or of a synchronous standby), so verbs share both: those that come while a transaction is under way share the next one. An
// idle store writes at once, a busy one in batches.
//
// The decisions (store/log/) are synchronous, and Postgres cannot be read in the middle of one. So a batch is planned in
// memory, from what was read before, and written set by set. Each step is one round trip, for any number of verbs:
//
//   1. Needs (batch-needs.ts): each verb declares what it is sure to read.
//   2. Reads (batch-reads.ts): one statement for each kind of row, with the queues that verbs of these kinds have needed before
//      (expected-needs.ts). Rows are locked. Runs that end are deleted at once, so only
//      one of two ends with the same lease finds the row.
//   3. The planner (batch-planner.ts) runs the verbs one after the other. Their LogWriter (log-writer.ts) returns what was read
//      and what earlier verbs have changed, and collects rows (row-changes.ts) instead of writing them. If something is missing,
//      mostly queues of listeners, it is noted, a harmless value is returned, and the plan is dropped. The missing rows are
//      read, and the verbs are planned again, until a plan misses nothing. Queues come last, and are locked together, in the
//      order of their keys; when a plan finds that others are needed (a full queue makes an error, which has a handler), the
//      transaction is repeated with all of them.
//   4. Grants: the slots that ends have freed claim runs and deliveries (claims/claim.ts). Beginnings of waits are written right
//      before, since a run with an early order to resume may be claimed at once.
//   5. Rows: one statement for each table, the queues after all others, then watches, then groups of errors, then the ledger. A batch
//      with errors waits for an answer before the commit, whether one of their groups is to be opened again, and one that decides
//      about watches does, whether they are still as they were read.
//   6. After the commit callers get their results, slots are in use, and other nodes are notified. Without a commit, all slots
//      are given back.
//
// A verb that throws does not fail the others: each verb is then run in a transaction of its own. When storage fails, all are
// rejected with `StoreUnavailable`.

import type { Steps } from '../../config/steps.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { FairQueue } from '../../log/fair-queue.ts';
import { writeFallbacks } from '../../log/fallbacks.ts';
import { writeGroupsOf } from '../../log/groups/error-groups.ts';
import { writeReplays } from '../../log/replays/replay-errors.ts';
import { decisionKey, takeDecisions } from '../../log/watch/decisions.ts';
import { lockWatches, writeNotes } from '../../log/watch/notes.ts';
import { number } from '../../rows/cells.ts';
import { isListed } from '../../rows/emission-cells.ts';
import { grantRows } from '../claims/claim.ts';
import { keepLastNumber } from '../claims/node.ts';
import { runSteps } from '../config/config-database.ts';
import { OutcomeUnknown, type TransactionConnection, type Tx } from '../connection/transaction-connection.ts';
import type { Core } from '../core.ts';
import { type EarlierTries, Needs } from './batch-needs.ts';
import { BatchPlanner } from './batch-planner.ts';
import { LockedTooFew, NodeGone, Reads } from './batch-reads.ts';
import { sendDigests } from './due-rows.ts';
import { type ExpectableVerb, ExpectedNeeds, Seen } from './expected-needs.ts';
import { writeLedger } from './ledger.ts';

/** The most verbs that share one commit, so that no verb waits for a huge one. */
const MAX_VERBS = 1024;
/**
 * Beside a queue of 50,000 with a concurrency of 1,000, consecutive answers of another workflow took 27 ms (16: 27 ms, 24: 30,
 * 32: 34), while the queue's runs ended at 2,900/s (16: 2,400/s, 32: 3,600/s).
 */
const BESIDE_SMALL_FLOWS = 20;
/** The most plans of one transaction: each may miss something that follows from what the last one read. */
const MAX_PLANS = 64;

export interface BatchVerb<T> extends ExpectableVerb {
  /** Declares what the verb is sure to need. */
  readonly needs: (needs: Needs) => void;
  /** Plans the verb. Called once for each new planner; the last call counts. */
  readonly plan: (planner: BatchPlanner) => T;
}

interface QueuedVerb {
  readonly verb: BatchVerb<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What verbs of the log need: the core, and their batch. */
export interface LogCore extends Core {
  /** Commits writes of the log, many at a time. */
  readonly batch: Batch;
}

/** Callers of `isFailing` write nothing while it is true; after this time it turns false, so that they try again. */
const FAILING_MS = 10_000;

export class Batch {
  readonly #connection: TransactionConnection;
  readonly #core: Core;
  readonly #queue = new FairQueue<QueuedVerb>(BESIDE_SMALL_FLOWS);
  readonly #expected = new ExpectedNeeds();
  #working: Promise<void> | undefined;
  #closed = false;

  /** When storage last failed to take a write, unless it has taken one since. */
  #failedAt: number | null = null;

  constructor(connection: TransactionConnection, core: Core) {
    this.#connection = connection;
    this.#core = core;
  }

  /** Returns whether a write failed recently. A probe is not enough: on a full disk, a small write may still find room. */
  get isFailing(): boolean {
    return this.#failedAt !== null && performance.now() - this.#failedAt < FAILING_MS;
  }

  /** Resolves with the verb's result after the commit. Order is kept within a flow. `bytes`: about what it writes. */
  write<T>(verb: BatchVerb<T>, flow = '', bytes = 0): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('the store is closed'));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ verb, resolve: resolve as (value: unknown) => void, reject }, flow, bytes);
      this.#working ??= this.#work();
    });
  }

  /** Commits the waiting verbs, and refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    // Verbs of the same tick of the event loop share the batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.size > 0) await this.#flush([...this.#queue.next(MAX_VERBS)]);
    this.#working = undefined;
  }

  async #flush(batch: readonly QueuedVerb[]): Promise<void> {
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

  async #commit(batch: readonly QueuedVerb[]): Promise<unknown[]> {
    const core = this.#core;
    const earlier: EarlierTries = {
      digests: new Map(),
      queues: new Map(),
      lostDecisions: new Set(),
      lockedTooFew: false,
    };
    let planner: BatchPlanner | undefined;
    core.routes.trim();
    try {
      for (;;) {
        try {
          const values = await this.#connection.transact(async (tx) => {
            planner?.undo();
            const planned = await plan(batch, { core, reads: new Reads(core, tx, earlier), expected: this.#expected });
            planner = planned.planner;
            planner.changes.sendFirst(tx);
            await grantRows(planner, tx);
            await write(planner, tx);
            return planned.values;
          });
          if (planner) committed(core, planner);
          return values;
        } catch (error) {
          if (error instanceof NodeGone) await core.node.register();
          else if (error instanceof LockedTooFew) earlier.lockedTooFew = true;
          else if (error instanceof DecisionsLost) for (const key of error.keys) earlier.lostDecisions.add(key);
          else throw error;
        }
      }
    } catch (error) {
      planner?.undo();
      if (error instanceof OutcomeUnknown) core.node.mayHoldUnknown = true;
      throw error;
    }
  }
}

/** Watches have changed since the transaction read them: it is repeated without these decisions. */
class DecisionsLost extends Error {
  readonly keys: readonly string[];

  constructor(keys: readonly string[]) {
    super('watches changed while they were decided about');
    this.keys = keys;
  }
}

interface Planning {
  readonly core: Core;
  readonly reads: Reads;
  readonly expected: ExpectedNeeds;
}

async function plan(
  batch: readonly QueuedVerb[],
  { core, reads, expected }: Planning,
): Promise<{ planner: BatchPlanner; values: unknown[] }> {
  const needs = new Needs();
  for (const { verb } of batch) verb.needs(needs);
  const verbs = batch.map(({ verb }) => verb);
  await reads.first(needs, expected.of(verbs));
  // One of the queues is gone, or not there yet.
  if (reads.isShort) expected.forget(verbs);
  for (let n = 0; n < MAX_PLANS; n++) {
    if (!reads.missed.isEmpty) await reads.more();
    const planner = new BatchPlanner(core, reads);
    try {
      const seen: Seen[] = [];
      const values = verbs.map((verb) => {
        planner.seen = new Seen();
        seen.push(planner.seen);
        return verb.plan(planner);
      });
      if (planner.isWhole) {
        verbs.forEach((verb, i) => {
          expected.note(verb, seen[i] as Seen);
        });
        return { planner, values };
      }
    } catch (error) {
      planner.undo();
      throw error;
    }
    planner.undo();
  }
  throw new Error(`a transaction was not planned in ${MAX_PLANS} tries`);
}

async function write(planner: BatchPlanner, tx: Tx): Promise<void> {
  planner.changes.send(tx, planner.nowMs);
  planner.sendMemory(tx);
  sendDigests(tx, planner.digests.values());
  const replays = runSteps(tx, writeReplays(planner.replaysMade));
  const fallbacks = runSteps(tx, writeFallbacks(planner.fallbacks));
  planner.sendQueues(tx);
  const { nowMs, captures, decisions, watchNotes } = planner;
  const watches = decisions.length === 0 && watchNotes.isEmpty ? undefined : runSteps(tx, writeWatches(planner));
  // Sent before the ledger, and awaited behind it: only a group that is not open needs an answer.
  const groups = captures.isEmpty ? undefined : runSteps(tx, writeGroupsOf(captures, nowMs));
  writeLedger(tx, planner.ledger, planner.core.node.slot);
  const ahead = planner.numbers.aheadOf(planner.core.clock.nowMs());
  if (ahead !== null) keepLastNumber(tx, ahead, planner.core.node.slot);
  const [isNoticeDue = false] = await Promise.all([groups, replays, watches, fallbacks]);
  planner.isNoticeDue ||= isNoticeDue;
}

function* writeWatches({ decisions, watchNotes, nowMs }: BatchPlanner): Steps<void> {
  yield* lockWatches([...decisions.map(({ next }) => next.id), ...watchNotes.ids()]);
  if (decisions.length > 0) {
    const taken = new Set(yield* takeDecisions(decisions));
    const lost = decisions.map(decisionKey).filter((key) => !taken.has(key));
    if (lost.length > 0) throw new DecisionsLost(lost);
  }
  yield* writeNotes(watchNotes, nowMs);
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
  if (planner.changes.later.length > 0 || planner.isNoticeDue) core.notices.tellAll('schedules');
}

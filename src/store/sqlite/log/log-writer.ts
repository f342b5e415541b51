// SQLite's LogWriter: each row is written where it is decided, within the transaction of the batch.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import type { Emission, NewEmission } from '../../../domain/emission.ts';
import type { Owner, Runnable, Webhook } from '../../../domain/resource.ts';
import type { RouteTable, Withheld } from '../../../domain/route.ts';
import type { RunLease } from '../../../domain/run/run.ts';
import { detailOfCarried, waitsOfCarried } from '../../../domain/run/run-trace.ts';
import type { Admission } from '../../contract/store.ts';
import {
  type ClaimsSoFar,
  type DeliveryQueue,
  type LeasedRun,
  type LogWriter,
  type NewDelivery,
  type NewRun,
  noClaims,
  type Remembered,
  type RunQueue,
  type SourceEnd,
} from '../../log/port.ts';
import { isListed } from '../../rows/log-rows.ts';
import { asKept } from '../../seal/sealed-requests.ts';
import { applySource } from '../config/source-memory.ts';
import type { Core } from '../core.ts';
import { readExpiredRuns, readLeasedRun } from '../runs/leased-run.ts';
import { SqliteRunQueue } from '../runs/run-queue.ts';
import { countRepeat } from './digests.ts';
import { flagsOf } from './rows.ts';
import type { Transaction } from './transaction.ts';

/** One per verb. */
export class SqliteLogWriter implements LogWriter {
  readonly core: Core;
  readonly tx: Transaction;
  readonly admission: Admission;
  readonly claims: ClaimsSoFar = noClaims();

  constructor(core: Core, tx: Transaction, admission: Admission) {
    this.core = core;
    this.tx = tx;
    this.admission = admission;
  }

  get nowMs(): number {
    return this.tx.nowMs;
  }

  get storeTag(): string {
    return this.core.storeTag;
  }

  nextNumber(): number {
    return this.tx.number();
  }

  owner(ownerId: string): Owner | undefined {
    return this.core.routes.owner(ownerId);
  }

  runnable(_ownerId: string, id: string): Runnable | undefined {
    return this.core.routes.runnable(id);
  }

  routeTable(made: NewEmission): RouteTable {
    return this.core.routes.table(made.ownerId, made.emitterId);
  }

  count(ownerId: string, fact: string, by: number): void {
    this.tx.count(ownerId, fact, by);
  }

  insertEmission(emission: Emission): void {
    const e = asKept(emission, this.core.seal);
    this.core.writer.run(
      `INSERT INTO emissions (entry, owner_id, emitter_id, name, source_type, origin_id, flags, trace_id, lineage, hops,
        cause_run, cause_delivery, summary, item_id, item_ts, code, original_start, original_length, only_listener_id,
        digest_key, body) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
      e.entry,
      e.ownerId,
      e.emitterId,
      e.name,
      e.sourceType,
      e.originId,
      flagsOf(e),
      e.traceId,
      e.lineage.join(' '),
      e.hops,
      e.causeRun,
      e.causeDelivery,
      e.summary,
      e.itemId,
      e.itemTs,
      e.code,
      e.originalStart,
      e.originalLength,
      e.onlyListenerId,
      e.digestKey,
      e.body,
    );
    if (isListed(e.emitterId)) this.tx.emitted();
  }

  insertWithheld(entry: number, { listenerId, subscriptionId, via, reason }: Withheld): void {
    this.core.writer.run(
      'INSERT INTO withheld (entry, listener_id, subscription_id, via, reason) VALUES (?,?,?,?,?)',
      entry,
      listenerId,
      subscriptionId,
      via,
      reason,
    );
  }

  insertRun(made: NewRun): void {
    const { writer, boot } = this.core;
    const { run, emission, runnable, state, goingOn, error } = made;
    writer.run(
      `INSERT INTO runs (run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, fence,
        boot, alone, rescues, started_at_ms, ended_at_ms) VALUES (?,?,?,?,?,?,?,?,1,?,?,0,0,?,?)`,
      run,
      emission.ownerId,
      runnable.id,
      runnable.deploymentId,
      emission.entry,
      made.via,
      made.subscriptionId,
      state,
      state === 'running' ? 1 : 0,
      boot,
      made.startedAtMs,
      made.endedAtMs,
    );
    if (goingOn) {
      // What another run has done is behind this one.
      writer.run(
        'UPDATE runs SET attempt = ?, waits = ?, detail = ?, carried = ? WHERE run = ?',
        goingOn.attempt,
        waitsOfCarried(goingOn.carried),
        detailOfCarried(goingOn.carried),
        state === 'failed' ? null : goingOn.carried,
        run,
      );
    }
    if (error) {
      writer.run('UPDATE runs SET error_entry = ?, error_code = ? WHERE run = ?', error.entry, error.code, run);
    }
  }

  insertDelivery(made: NewDelivery): void {
    const { emission, state } = made;
    this.core.writer.run(
      `INSERT INTO deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made,
        fence, boot, due_at_ms) VALUES (?,?,?,?,?,?,?,?,0,?,?,?)`,
      made.delivery,
      emission.ownerId,
      made.kind,
      made.listenerId,
      made.subscriptionId,
      made.via,
      emission.entry,
      state,
      state === 'sending' ? 1 : 0,
      this.core.boot,
      state === 'pending' ? this.tx.nowMs : null,
    );
  }

  countRepeat(mail: Emission): string | null {
    return countRepeat(this.core, mail, this.tx.nowMs);
  }

  runQueue(ownerId: string, runnableId: string): RunQueue {
    return new SqliteRunQueue(this, ownerId, runnableId);
  }

  deliveryQueue(ownerId: string, listenerId: string): DeliveryQueue {
    return new SqliteDeliveryQueue(this, ownerId, listenerId);
  }

  leasedRun(lease: RunLease): LeasedRun | undefined {
    return readLeasedRun(this.core, lease);
  }

  expiredRuns(): readonly LeasedRun[] {
    return readExpiredRuns(this.core);
  }

  applySource(source: SourceEnd, emissions: readonly NewEmission[]): Remembered {
    return applySource(this.core, this.tx, { source, emissions });
  }

  insertLater(made: NewEmission, dueAtMs: number): void {
    this.core.writer.run(
      `INSERT INTO later_emissions (entry, due_at_ms, owner_id, emitter_id, name, source_type, origin_id, flags, trace_id,
        lineage, hops, cause_run, summary, item_id, item_ts, body) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
      this.tx.number(),
      dueAtMs,
      made.ownerId,
      made.emitterId,
      made.name,
      made.sourceType,
      made.originId,
      flagsOf(made),
      made.traceId ?? '',
      made.lineage.join(' '),
      made.hops,
      made.causeRun,
      made.summary,
      made.itemId,
      made.itemTs,
      made.body,
    );
    this.tx.kept();
  }

  takeRun(runnable: Runnable, besideHooks = false): boolean {
    if (!this.admission.takeRun(runnable, besideHooks)) return false;
    this.tx.onRollback(() => this.admission.dropRun(runnable.id));
    return true;
  }

  takeDelivery(listenerId: string, webhook: Webhook | null): boolean {
    if (!this.admission.takeDelivery(listenerId, webhook)) return false;
    this.tx.onRollback(() => this.admission.dropDelivery(listenerId));
    return true;
  }

  /** There is one process. */
  wakeOthers(): void {}
}

/** Open deliveries are counted in memory (round-robin.ts). */
class SqliteDeliveryQueue implements DeliveryQueue {
  readonly #log: SqliteLogWriter;
  readonly #ownerId: string;
  readonly #listenerId: string;

  constructor(log: SqliteLogWriter, ownerId: string, listenerId: string) {
    this.#log = log;
    this.#ownerId = ownerId;
    this.#listenerId = listenerId;
  }

  isHeld(webhook: Webhook): boolean {
    return !webhook.active;
  }

  mayGoAtOnce(isOrdered: boolean): boolean {
    return this.#log.core.turns.mayGoAtOnce(this.#listenerId, isOrdered);
  }

  moved(from: DeliveryState | null, to: DeliveryState): void {
    this.#log.tx.deliveriesMoved({ ownerId: this.#ownerId, listenerId: this.#listenerId, from, to });
  }

  announceWaiting(): void {
    this.#log.claims.deliveriesWaiting ||= this.#log.core.turns.mayGo(this.#listenerId);
  }
}

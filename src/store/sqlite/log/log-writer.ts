// SQLite's LogWriter: writes each row at once, within the transaction of the batch.

import type { DigestWindow } from '../../../domain/delivery/digest.ts';
import type { Emission, NewEmission } from '../../../domain/emission.ts';
import type { GroupedError } from '../../../domain/errors/group.ts';
import type { Replay } from '../../../domain/errors/replay.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Dedupe, Owner, Runnable, Subscription, Webhook } from '../../../domain/resource.ts';
import type { Withheld } from '../../../domain/route.ts';
import type { RunLease } from '../../../domain/run/run.ts';
import type { ReplayStep } from '../../contract/operations.ts';
import type { FreeSlots, Idempotency, RunFailure, Tick } from '../../contract/store.ts';
import type { WatchDecision } from '../../contract/watches.ts';
import { readFallbacks, writeFallbacks } from '../../log/fallbacks.ts';
import type { ClosedDigest, OpenedDigest } from '../../log/groups/digest-store.ts';
import type { GroupNotices } from '../../log/groups/group-notices.ts';
import { IS_OF_LIVE_OWNER } from '../../log/log-tables.ts';
import {
  type ClaimsSoFar,
  type DeliveryQueue,
  type DueFallback,
  type FallbackDecision,
  type KeptKey,
  type LeasedRun,
  type LockedReplay,
  type LogWriter,
  type NewDelivery,
  type NewGroup,
  type NewRun,
  type NotedIn,
  noClaims,
  type ReplaysMade,
  type RunNote,
  type RunQueue,
} from '../../log/port.ts';
import { lockLastReplays } from '../../log/replays/last-replays.ts';
import { lockReplays, writeReplays } from '../../log/replays/replay-errors.ts';
import { takeTicks } from '../../log/ticks.ts';
import { takeDecisions } from '../../log/watch/decisions.ts';
import { parseAnswer } from '../../rows/answers.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { isListed, NOT_OF_SOURCES } from '../../rows/emission-cells.ts';
import { toEmission } from '../../rows/log-rows.ts';
import { asKept } from '../../seal/sealed-requests.ts';
import { runSteps } from '../config/config-database.ts';
import type { Core } from '../core.ts';
import { SqliteDeliveryQueue } from '../deliveries/delivery-queue.ts';
import { readExpiredRuns, readLeasedRun } from '../runs/leased-run.ts';
import { SqliteRunQueue } from '../runs/run-queue.ts';
import { insertDigest, readDigest, readGroupNotices, readOverDigests, updateDigest } from './digest-rows.ts';
import { insertDelivery, insertEmission, insertLater } from './rows.ts';
import type { Transaction } from './transaction.ts';

/** One for each verb. */
export class SqliteLogWriter implements LogWriter {
  readonly core: Core;
  readonly tx: Transaction;
  readonly admission: FreeSlots;
  readonly claims: ClaimsSoFar = noClaims();

  constructor(core: Core, tx: Transaction, admission: FreeSlots) {
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

  runnable(ownerId: string, id: string): Runnable | undefined {
    return ownedBy(ownerId, this.core.routes.runnable(id));
  }

  webhook(ownerId: string, id: string): Webhook | undefined {
    return ownedBy(ownerId, this.core.routes.webhook(id));
  }

  subscriptionsTo(ownerId: string, emitterId: string): readonly Subscription[] {
    return this.core.routes.subscriptionsTo(ownerId, emitterId);
  }

  count(ownerId: string, fact: string, by: number): void {
    this.tx.count(ownerId, fact, by);
  }

  insertEmission(emission: Emission): void {
    insertEmission(this.core.writer, asKept(emission, this.core.seal));
    if (isListed(emission.emitterId)) this.tx.emitted();
  }

  captureError(group: NewGroup, error: GroupedError): string {
    return this.tx.captures.add(group, error);
  }

  lastReplayOf(ownerId: string, error: RunFailure): Replay | undefined {
    return runSteps(this.core, this.tx, () => lockLastReplays(ownerId, [error])).get(error.entry);
  }

  takeReplay(step: ReplayStep): LockedReplay | undefined {
    return runSteps(this.core, this.tx, () => lockReplays([step]))[0];
  }

  writeReplays(made: ReplaysMade): void {
    runSteps(this.core, this.tx, () => writeReplays([made]));
  }

  resolveGroup(id: string): void {
    this.tx.captures.resolve(id);
  }

  noteForWatches(runnableId: string, note: RunNote, where: NotedIn): void {
    this.tx.watchNotes.add(runnableId, note, where);
  }

  insertWithheld(entry: number, { listenerId, subscriptionId, via, reason }: Withheld, dueAtMs: number | null): void {
    this.core.writer.run(
      'INSERT INTO withheld (entry, listener_id, subscription_id, via, reason, due_at_ms) VALUES (?,?,?,?,?,?)',
      entry,
      listenerId,
      subscriptionId,
      via,
      reason,
      dueAtMs,
    );
    if (dueAtMs !== null) this.tx.kept();
  }

  takeFallbacks(): readonly DueFallback[] {
    return runSteps(this.core, this.tx, () => readFallbacks(this.nowMs, this.core));
  }

  writeFallback(made: FallbackDecision): void {
    runSteps(this.core, this.tx, () => writeFallbacks([made]));
  }

  insertRun(made: NewRun): void {
    const { writer, boot } = this.core;
    const { run, emission, runnable, state, continued, error } = made;
    writer.run(
      `INSERT INTO runs (run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, fence,
        boot, alone, rescues, started_at_ms, ended_at_ms, room) VALUES (?,?,?,?,?,?,?,?,?,?,?,0,0,?,?,?)`,
      run,
      emission.ownerId,
      runnable.id,
      runnable.deploymentId,
      emission.entry,
      made.via,
      made.subscriptionId,
      state,
      made.attempt,
      state === 'running' ? 1 : 0,
      boot,
      made.startedAtMs,
      made.endedAtMs,
      made.endedAtMs === null ? this.core.rowRoom.forNew(runnable.id) : null,
    );
    if (continued) {
      writer.run(
        'UPDATE runs SET waits = ?, summary = ?, detail = ?, carried = ? WHERE run = ?',
        continued.waits,
        continued.summary,
        continued.detail,
        state === 'failed' ? null : continued.checkpoint,
        run,
      );
    }
    if (error) {
      writer.run('UPDATE runs SET error_entry = ?, error_code = ? WHERE run = ?', error.entry, error.code, run);
    }
  }

  insertDelivery(made: NewDelivery): void {
    insertDelivery(this.core, made, this.tx.nowMs);
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

  takeTick(tick: Tick): boolean {
    return runSteps(this.core, this.tx, () => takeTicks([tick])).length === 1;
  }

  takeDecision(decision: WatchDecision): boolean {
    return runSteps(this.core, this.tx, () => takeDecisions([decision])).length === 1;
  }

  insertLater(made: NewEmission, dueAtMs: number): void {
    insertLater(this.core.writer, { ...made, entry: this.tx.number() }, dueAtMs);
    this.tx.kept();
  }

  takeDueLater(): readonly Emission[] {
    const { writer } = this.core;
    const due = writer.all(
      `SELECT * FROM later_emissions WHERE due_at_ms <= ? AND ${IS_OF_LIVE_OWNER} ORDER BY due_at_ms, entry LIMIT ${LIMITS.laterStep}`,
      this.nowMs,
    );
    for (const row of due) writer.run('DELETE FROM later_emissions WHERE entry = ?', number(row, 'entry'));
    return due.map((row) => toEmission({ ...row, ...NOT_OF_SOURCES }, this.core));
  }

  findKey({ triggerId, key }: Idempotency): KeptKey | undefined {
    const row = this.core.writer.get(
      'SELECT entry, run, answer, request_hash FROM idempotency WHERE trigger_id = ? AND key = ? AND expires_at_ms > ?',
      triggerId,
      key,
      this.nowMs,
    );
    return (
      row && {
        entry: number(row, 'entry'),
        run: numberOrNull(row, 'run'),
        answer: row.answer === null ? null : parseAnswer(text(row, 'answer')),
        requestHash: textOrNull(row, 'request_hash'),
      }
    );
  }

  keepKey({ triggerId, key, requestHash }: Idempotency, { entry, run }: { entry: number; run: number | null }): void {
    this.core.writer.run(
      `INSERT OR REPLACE INTO idempotency (trigger_id, key, entry, run, expires_at_ms, answer, request_hash)
        VALUES (?,?,?,?,?,NULL,?)`,
      triggerId,
      key,
      entry,
      run,
      this.nowMs + LIMITS.idempotencyMs,
      requestHash,
    );
  }

  digestWindow(ownerId: string, digestKey: string): DigestWindow | null {
    return readDigest(this.core, { ownerId, digestKey });
  }

  groupNotices(ownerId: string, digestKey: string): GroupNotices | null {
    return readGroupNotices(this.core, { ownerId, digestKey }, this.nowMs);
  }

  openDigest(opened: OpenedDigest): void {
    insertDigest(this.core, opened);
  }

  countInDigest(ownerId: string, digestKey: string, newestEntry: number): void {
    const sql = 'UPDATE digests SET repeats = repeats + 1, newest_entry = ? WHERE owner_id = ? AND digest_key = ?';
    this.core.writer.run(sql, newestEntry, ownerId, digestKey);
  }

  changeDigest(ownerId: string, digestKey: string, window: DigestWindow): void {
    updateDigest(this.core, { ownerId, digestKey }, window);
  }

  closedDigests(): readonly ClosedDigest[] {
    return readOverDigests(this.core, this.nowMs);
  }

  endDigest(ownerId: string, digestKey: string): void {
    this.core.writer.run('DELETE FROM digests WHERE owner_id = ? AND digest_key = ?', ownerId, digestKey);
  }

  dedupeOf(sourceId: string): Dedupe | null | undefined {
    const row = this.core.writer.get('SELECT dedupe FROM runnables WHERE id = ?', sourceId);
    return row && textOrNull<Dedupe>(row, 'dedupe');
  }

  setSourceValue(sourceId: string, name: string, value: string | null): void {
    const { writer } = this.core;
    if (value === null) writer.run('DELETE FROM source_db WHERE source_id = ? AND name = ?', sourceId, name);
    else writer.run('INSERT OR REPLACE INTO source_db (source_id, name, value) VALUES (?,?,?)', sourceId, name, value);
  }

  rememberedIds(sourceId: string): readonly string[] {
    const rows = this.core.writer.all('SELECT item_id FROM dedupe WHERE source_id = ? ORDER BY entry', sourceId);
    return rows.map((row) => text(row, 'item_id'));
  }

  rememberIds(sourceId: string, removed: readonly string[], added: readonly string[]): void {
    const { writer } = this.core;
    for (const id of removed) writer.run('DELETE FROM dedupe WHERE source_id = ? AND item_id = ?', sourceId, id);
    for (const id of added) {
      const sql = 'INSERT INTO dedupe (source_id, item_id, entry) VALUES (?,?,?)';
      writer.run(sql, sourceId, id, this.tx.number());
    }
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

  /** Does nothing: there are no other processes. */
  wakeOthers(): void {}
}

function ownedBy<T extends { readonly ownerId: string }>(ownerId: string, found: T | undefined): T | undefined {
  return found?.ownerId === ownerId ? found : undefined;
}

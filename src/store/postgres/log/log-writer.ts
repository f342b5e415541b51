// Postgres' LogWriter: returns what the batch has read, and collects rows to write. See batch.ts.

import type { DigestWindow } from '../../../domain/delivery/digest.ts';
import { type Emission, type NewEmission, REPLAY } from '../../../domain/emission.ts';
import type { GroupedError } from '../../../domain/errors/group.ts';
import type { Replay } from '../../../domain/errors/replay.ts';
import type { Dedupe, Owner, Runnable, Subscription, Webhook } from '../../../domain/resource.ts';
import type { Withheld } from '../../../domain/route.ts';
import type { RunLease } from '../../../domain/run/run.ts';
import type { ReplayStep } from '../../contract/operations.ts';
import type { FreeSlots, Idempotency, RunFailure, Tick } from '../../contract/store.ts';
import type { WatchDecision } from '../../contract/watches.ts';
import type { ClosedDigest, OpenedDigest } from '../../log/groups/digest-store.ts';
import { type GroupNotices, toGroupNotices } from '../../log/groups/group-notices.ts';
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
import { parseAnswer } from '../../rows/answers.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { NOT_OF_SOURCES } from '../../rows/emission-cells.ts';
import { toEmission } from '../../rows/log-rows.ts';
import { asKept } from '../../seal/sealed-requests.ts';
import { DELIVERY_LEASE_MS, runLeaseMs } from '../claims/leases.ts';
import type { NotifyChannel } from '../connection/notify.ts';
import { PlannedLeasedRun } from '../runs/leased-run.ts';
import { leaseKey, pairKey, tickKey } from './batch-needs.ts';
import type { BatchPlanner } from './batch-planner.ts';
import type { PlannedDigest } from './due-rows.ts';
import { PlannedDeliveryQueue, PlannedRunQueue } from './planned-queues.ts';

/** One for each verb and plan. */
export class PlannedLogWriter implements LogWriter {
  readonly planner: BatchPlanner;
  readonly admission: FreeSlots;
  readonly claims: ClaimsSoFar = noClaims();

  constructor(planner: BatchPlanner, admission: FreeSlots) {
    this.planner = planner;
    this.admission = admission;
    planner.claims.push(this.claims);
  }

  get nowMs(): number {
    return this.planner.nowMs;
  }

  get storeTag(): string {
    return this.planner.core.storeTag;
  }

  nextNumber(): number {
    return this.planner.numbers.next();
  }

  owner(ownerId: string): Owner | undefined {
    return this.planner.owner(ownerId);
  }

  runnable(ownerId: string, id: string): Runnable | undefined {
    return this.planner.runnable(ownerId, id);
  }

  webhook(ownerId: string, id: string): Webhook | undefined {
    return this.planner.webhook(ownerId, id);
  }

  subscriptionsTo(ownerId: string, emitterId: string): readonly Subscription[] {
    return this.planner.subscriptionsTo(ownerId, emitterId);
  }

  count(ownerId: string, fact: string, by: number): void {
    this.planner.ledger.count(ownerId, fact, by);
  }

  insertEmission(emission: Emission): void {
    this.planner.changes.emissions.push(asKept(emission, this.planner.core.seal));
  }

  captureError(group: NewGroup, error: GroupedError): string {
    return this.planner.captures.add(group, error);
  }

  lastReplayOf(ownerId: string, error: RunFailure): Replay | undefined {
    return this.planner.lastReplaysOf(ownerId, [error]).get(error.entry);
  }

  takeReplay(step: ReplayStep): LockedReplay | undefined {
    return this.planner.takeReplay(step);
  }

  writeReplays(made: ReplaysMade): void {
    this.planner.replaysMade.push(made);
  }

  resolveGroup(id: string): void {
    this.planner.captures.resolve(id);
  }

  noteForWatches(runnableId: string, note: RunNote, where: NotedIn): void {
    this.planner.watchNotes.add(runnableId, note, where);
  }

  insertWithheld(entry: number, { listenerId, subscriptionId, via, reason }: Withheld, dueAtMs: number | null): void {
    const of = { listener_id: listenerId, subscription_id: subscriptionId, via };
    this.planner.changes.withheld.push({ entry, ...of, reason, due_at_ms: dueAtMs });
    if (dueAtMs !== null) this.planner.isNoticeDue = true;
  }

  takeFallbacks(): readonly DueFallback[] {
    return this.planner.takeFallbacks();
  }

  writeFallback(made: FallbackDecision): void {
    this.planner.fallbacks.push(made);
  }

  insertRun(made: NewRun): void {
    const { changes, core, nowMs } = this.planner;
    const { emission, runnable, state, continued, error } = made;
    const node = core.node.id;
    if (emission.name === REPLAY) this.planner.reruns.push(made);
    const cells = {
      run: made.run,
      owner_id: emission.ownerId,
      runnable_id: runnable.id,
      deployment_id: runnable.deploymentId,
      entry: emission.entry,
      via: made.via,
      subscription_id: made.subscriptionId,
      state,
      attempt: made.attempt,
      started_at_ms: made.startedAtMs,
      awaited_by: made.isAwaited ? node : null,
    };
    if (state === 'failed') {
      const failure = { error_entry: error?.entry ?? null, error_code: error?.code ?? null };
      const { summary = null, detail = null } = continued ?? {};
      changes.runs.push({ ...cells, ended_at_ms: made.endedAtMs, summary, ...failure, detail });
      return;
    }
    const isRunning = state === 'running';
    const open = {
      ...cells,
      fence: isRunning ? 1 : 0,
      node: isRunning ? node : null,
      lease_until_ms: isRunning ? nowMs + runLeaseMs(runnable) : null,
      alone: false,
      rescues: 0,
    };
    if (!continued) {
      changes.openRuns.push(open);
      return;
    }
    const { waits, checkpoint, summary, detail } = continued;
    changes.continuations.push({ ...open, waits, carried: checkpoint, summary_so_far: summary, detail_so_far: detail });
  }

  insertDelivery(made: NewDelivery): void {
    const { changes, core, nowMs } = this.planner;
    const { emission, state } = made;
    const isSending = state === 'sending';
    changes.openDeliveries.push({
      delivery: made.delivery,
      owner_id: emission.ownerId,
      kind: made.kind,
      listener_id: made.listenerId,
      subscription_id: made.subscriptionId,
      via: made.via,
      entry: emission.entry,
      state,
      attempts_made: 0,
      requests_made: 0,
      tries: 0,
      due_by: 'event',
      fence: isSending ? 1 : 0,
      node: isSending ? core.node.id : null,
      lease_until_ms: isSending ? nowMs + DELIVERY_LEASE_MS : null,
      due_at_ms: state === 'pending' ? nowMs : null,
    });
  }

  runQueue(ownerId: string, runnableId: string): RunQueue {
    return new PlannedRunQueue(this, this.planner.queue(ownerId, runnableId, true));
  }

  deliveryQueue(ownerId: string, listenerId: string): DeliveryQueue {
    return new PlannedDeliveryQueue(this, this.planner.queue(ownerId, listenerId, false));
  }

  leasedRun(lease: RunLease): LeasedRun | undefined {
    const key = leaseKey(lease.run, lease.fence);
    const ending = this.planner.leased('endings', key);
    const row = ending ?? this.planner.leased('returns', key);
    return row && new PlannedLeasedRun(this.planner, row, ending !== undefined);
  }

  expiredRuns(): readonly LeasedRun[] {
    return this.planner.expired('runs').map((row) => new PlannedLeasedRun(this.planner, row, false));
  }

  takeTick({ triggerId, expectedAtMs }: Tick): boolean {
    return this.planner.fires(tickKey(triggerId, expectedAtMs));
  }

  takeDecision(decision: WatchDecision): boolean {
    return this.planner.decides(decision);
  }

  insertLater(made: NewEmission, dueAtMs: number): void {
    this.planner.changes.later.push({ ...made, entry: this.planner.numbers.next(), dueAtMs });
  }

  /** Returns the emissions that are due. Their rows were deleted when they were read, so only one node gets each. */
  takeDueLater(): readonly Emission[] {
    return this.planner.due('dueLater').map((row) => toEmission({ ...row, ...NOT_OF_SOURCES }, this.planner.core));
  }

  findKey({ triggerId, key }: Idempotency): KeptKey | undefined {
    const { firsts, reads } = this.planner;
    const pair = pairKey(triggerId, key);
    const row = reads.keys.get(pair);
    const answer = row?.answer ? parseAnswer(text(row, 'answer')) : null;
    const first = firsts.get(pair);
    if (first) return { ...first, answer };
    if (row === undefined || reads.wonKeys.has(pair)) return undefined;
    const requestHash = textOrNull(row, 'request_hash');
    return { entry: number(row, 'entry'), run: numberOrNull(row, 'run'), answer, requestHash };
  }

  keepKey(key: Idempotency, first: { entry: number; run: number | null }): void {
    const { firsts, changes } = this.planner;
    firsts.set(pairKey(key.triggerId, key.key), { ...first, requestHash: key.requestHash });
    changes.keys.push({ ...key, ...first });
  }

  digestWindow(ownerId: string, digestKey: string): PlannedDigest | null {
    const windowMs = this.planner.owner(ownerId)?.digestWindowMs ?? 0;
    const digest = this.planner.digest({ ownerId, digestKey, windowMs });
    return digest === undefined || digest.isNew ? null : digest;
  }

  groupNotices(ownerId: string, digestKey: string): GroupNotices | null {
    return this.planner.digests.get(pairKey(ownerId, digestKey))?.group ?? null;
  }

  openDigest(opened: OpenedDigest): void {
    const key = pairKey(opened.ownerId, opened.digestKey);
    const group = this.planner.digests.get(key)?.group ?? null;
    this.planner.digests.set(key, { ...opened, isNew: false, isChanged: true, group });
    this.planner.changes.endedDigests.delete(key);
  }

  countInDigest(ownerId: string, digestKey: string, newestEntry: number): void {
    const digest = this.planner.digests.get(pairKey(ownerId, digestKey));
    if (!digest) return;
    digest.repeats++;
    digest.newestEntry = newestEntry;
    digest.isChanged = true;
  }

  changeDigest(ownerId: string, digestKey: string, window: DigestWindow): void {
    const key = pairKey(ownerId, digestKey);
    const digest = this.planner.digests.get(key);
    if (!digest) return;
    const { openedAtMs, closesAtMs, repeats } = window;
    this.planner.digests.set(key, { ...digest, openedAtMs, closesAtMs, repeats, isChanged: true });
  }

  /**
   * Returns the windows that have closed. A window in which this transaction has counted is left for the next tick: the row
   * that was read is outdated.
   */
  closedDigests(): readonly ClosedDigest[] {
    const rows = this.planner.due('overDigests').map((row) => ({
      ownerId: text(row, 'digest_owner'),
      digestKey: text(row, 'over_key'),
      window: {
        openedAtMs: number(row, 'opened_at_ms'),
        closesAtMs: number(row, 'closes_at_ms'),
        repeats: number(row, 'repeats'),
      },
      newest: row.entry === null ? null : toEmission(row, this.planner.core),
      withheld: toGroupNotices(row)?.withheld ?? null,
    }));
    return rows.filter(({ ownerId, digestKey }) => !this.planner.digests.has(pairKey(ownerId, digestKey)));
  }

  endDigest(ownerId: string, digestKey: string): void {
    this.planner.changes.endedDigests.set(pairKey(ownerId, digestKey), { ownerId, digestKey });
  }

  dedupeOf(sourceId: string): Dedupe | null | undefined {
    return this.planner.reads.strategies.get(sourceId);
  }

  setSourceValue(sourceId: string, name: string, value: string | null): void {
    this.planner.changes.dbWrites.set(`${sourceId} ${name}`, { sourceId, name, value });
  }

  rememberedIds(sourceId: string): readonly string[] {
    const stored = this.planner.reads.itemIds.get(sourceId) ?? [];
    const changed = this.planner.memories.get(sourceId);
    if (!changed) return stored;
    const { removed, added } = changed;
    return [...stored.filter((id) => !removed.has(id)), ...added.keys()];
  }

  rememberIds(sourceId: string, removed: readonly string[], added: readonly string[]): void {
    const { memories, numbers } = this.planner;
    const memory = memories.get(sourceId) ?? { removed: new Set(), added: new Map() };
    memories.set(sourceId, memory);
    for (const id of removed) if (!memory.added.delete(id)) memory.removed.add(id);
    for (const id of added) memory.added.set(id, numbers.next());
  }

  takeRun(runnable: Runnable, besideHooks = false): boolean {
    return this.planner.takeRun(this, runnable, besideHooks);
  }

  takeDelivery(listenerId: string, webhook: Webhook | null): boolean {
    return this.planner.takeDelivery(this, listenerId, webhook);
  }

  wakeOthers(topic: NotifyChannel): void {
    this.planner.notified.add(topic);
  }
}

// Postgres' LogWriter: rows are planned in memory (batch-planner.ts), and sent when the whole batch is planned.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { whyCounted } from '../../../domain/delivery/digest.ts';
import type { Emission, NewEmission } from '../../../domain/emission.ts';
import { LIMITS, MINUTE_MS } from '../../../domain/limits.ts';
import { concurrencyOf, type Owner, type Runnable, type Webhook } from '../../../domain/resource.ts';
import type { RouteTable, Withheld } from '../../../domain/route.ts';
import type { RunLease, RunState } from '../../../domain/run/run.ts';
import { detailOf, detailOfCarried } from '../../../domain/run/run-trace.ts';
import type { Carried } from '../../../domain/run/wait.ts';
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
import { asKept } from '../../seal/sealed-requests.ts';
import { applySource } from '../config/source-memory.ts';
import type { Channel } from '../connection/notify.ts';
import { PlannedLeasedRun } from '../runs/leased-run.ts';
import { leaseKey } from './batch-needs.ts';
import type { Pass } from './batch-planner.ts';
import type { Line } from './listener-queue.ts';
import type { Cells } from './row-inserts.ts';

/** Beyond a run's timeout, for a process to start, a queue in the node, and a slow database. */
const RUN_LEASE_SLACK_MS = 5 * MINUTE_MS;
/** Of a delivery: the longest attempt, as often as it may stand in line. */
export const DELIVERY_LEASE_MS = 10 * MINUTE_MS;

export function runLeaseMs({ settings }: Runnable): number {
  return (settings.timeoutMs ?? LIMITS.scheduleTimeoutMs) + RUN_LEASE_SLACK_MS;
}

/** One per verb and plan. */
export class PlannedLogWriter implements LogWriter {
  readonly pass: Pass;
  readonly admission: Admission;
  readonly claims: ClaimsSoFar = noClaims();

  constructor(pass: Pass, admission: Admission) {
    this.pass = pass;
    this.admission = admission;
    pass.claims.push(this.claims);
  }

  get nowMs(): number {
    return this.pass.nowMs;
  }

  get storeTag(): string {
    return this.pass.core.storeTag;
  }

  nextNumber(): number {
    return this.pass.numbers.next();
  }

  owner(ownerId: string): Owner | undefined {
    return this.pass.owner(ownerId);
  }

  runnable(ownerId: string, id: string): Runnable | undefined {
    return this.pass.runnable(ownerId, id);
  }

  routeTable(made: NewEmission): RouteTable {
    return this.pass.table(made.ownerId, made.emitterId, made.onlyListenerId);
  }

  count(ownerId: string, fact: string, by: number): void {
    this.pass.ledger.count(ownerId, fact, by);
  }

  insertEmission(emission: Emission): void {
    this.pass.plan.emissions.push(asKept(emission, this.pass.core.seal));
  }

  insertWithheld(entry: number, { listenerId, subscriptionId, via, reason }: Withheld): void {
    this.pass.plan.withheld.push({ entry, listener_id: listenerId, subscription_id: subscriptionId, via, reason });
  }

  insertRun(made: NewRun): void {
    const { plan, core, nowMs } = this.pass;
    const { emission, runnable, state, goingOn, error } = made;
    const node = core.node.id;
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
      const detail = goingOn ? detailOfCarried(goingOn.carried) : null;
      const failure = { error_entry: error?.entry ?? null, error_code: error?.code ?? null };
      plan.runs.push({ ...cells, ended_at_ms: made.endedAtMs, summary: null, ...failure, detail });
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
    if (goingOn) plan.goingOn.push({ ...open, ...carriedCells(goingOn.carried) });
    else plan.openRuns.push(open);
  }

  insertDelivery(made: NewDelivery): void {
    const { plan, core, nowMs } = this.pass;
    const { emission, state } = made;
    const isSending = state === 'sending';
    plan.openDeliveries.push({
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

  /** The first of a window opens it. */
  countRepeat(mail: Emission): string | null {
    const { ownerId, digestKey } = mail;
    if (digestKey === null) return null;
    const windowMs = this.pass.owner(ownerId)?.digestWindowMs ?? 0;
    const digest = this.pass.digest({ ownerId, digestKey, windowMs });
    if (!digest) return null;
    digest.newestEntry = mail.entry;
    if (digest.isNew) {
      digest.isNew = false;
      return null;
    }
    digest.repeats++;
    return whyCounted(digest);
  }

  runQueue(ownerId: string, runnableId: string): RunQueue {
    return new PlannedRunQueue(this, this.pass.line(ownerId, runnableId, true));
  }

  deliveryQueue(ownerId: string, listenerId: string): DeliveryQueue {
    return new PlannedDeliveryQueue(this, this.pass.line(ownerId, listenerId, false));
  }

  leasedRun(lease: RunLease): LeasedRun | undefined {
    const key = leaseKey(lease.run, lease.fence);
    const ending = this.pass.leased('endings', key);
    const row = ending ?? this.pass.leased('returns', key);
    return row && new PlannedLeasedRun(this.pass, row, ending !== undefined);
  }

  expiredRuns(): readonly LeasedRun[] {
    return this.pass.lost('runs').map((row) => new PlannedLeasedRun(this.pass, row, false));
  }

  applySource(source: SourceEnd, emissions: readonly NewEmission[]): Remembered {
    return applySource(this.pass, { source, emissions });
  }

  insertLater(made: NewEmission, dueAtMs: number): void {
    this.pass.plan.later.push({ ...made, entry: this.pass.numbers.next(), dueAtMs });
  }

  takeRun(runnable: Runnable, besideHooks = false): boolean {
    return this.pass.takeRun(this, runnable, besideHooks);
  }

  takeDelivery(listenerId: string, webhook: Webhook | null): boolean {
    return this.pass.takeDelivery(this, listenerId, webhook);
  }

  wakeOthers(topic: Channel): void {
    this.pass.told.add(topic);
  }
}

function carriedCells(carried: string): Cells {
  const { waits, summary, ...course } = JSON.parse(carried) as Carried;
  return { waits, carried, summary_so_far: summary, detail_so_far: detailOf(course) };
}

/** Exact over all nodes: the counters are a row that is locked. */
class PlannedRunQueue implements RunQueue {
  readonly #log: PlannedLogWriter;
  readonly #line: Line;

  constructor(log: PlannedLogWriter, line: Line) {
    this.#log = log;
    this.#line = line;
  }

  get waiting(): number {
    return this.#line.waiting - this.#line.granted;
  }

  room({ settings: { throttle } }: Runnable): number {
    return this.#line.roomAt(throttle, this.#log.nowMs) - this.#line.granted;
  }

  hasSlot(runnable: Runnable, besideHooks: boolean): boolean {
    return this.#line.taken + this.#line.granted < concurrencyOf(runnable, besideHooks);
  }

  moved(from: RunState | null, to: RunState): void {
    const { ledger, core } = this.#log.pass;
    ledger.moved(this.#line.ownerId, 'runs', { from, to });
    if (from === to) return;
    const waiting = Number(to === 'queued') - Number(from === 'queued');
    const taken = Number(to === 'running') - Number(from === 'running');
    if (waiting !== 0 || taken !== 0) this.#line.change({ waiting, taken }, core.node.id);
  }

  began({ settings: { throttle } }: Runnable, startedAtMs: number): void {
    this.#line.began(throttle, { count: 1, atMs: startedAtMs, nowMs: this.#log.nowMs });
  }

  claimOldest(runnable: Runnable): void {
    this.#log.pass.grant(this.#line, this.#log, runnable);
  }
}

class PlannedDeliveryQueue implements DeliveryQueue {
  readonly #log: PlannedLogWriter;
  readonly #line: Line;

  constructor(log: PlannedLogWriter, line: Line) {
    this.#log = log;
    this.#line = line;
  }

  isHeld(webhook: Webhook): boolean {
    return !webhook.active || this.#log.pass.isGone(this.#line);
  }

  mayGoAtOnce(isOrdered: boolean): boolean {
    const { core, nowMs } = this.#log.pass;
    return this.#line.waiting === 0 && this.#line.isFor(core.node.id, nowMs) && this.#mayGo(isOrdered);
  }

  moved(from: DeliveryState | null, to: DeliveryState): void {
    const { ledger, core } = this.#log.pass;
    ledger.moved(this.#line.ownerId, 'deliveries', { from, to });
    const waiting = Number(isWaiting(to)) - Number(isWaiting(from));
    const taken = Number(to === 'sending') - Number(from === 'sending');
    if (waiting !== 0 || taken !== 0) this.#line.change({ waiting, taken }, core.node.id);
  }

  announceWaiting(isOrdered: boolean): void {
    // Only a claim finds out until when the listener is paused.
    this.#log.claims.deliveriesWaiting = true;
    if (this.#mayGo(isOrdered)) this.#log.wakeOthers('deliveries');
  }

  /** Of an ordered webhook, one at a time; the process that sends it goes on with the next by itself. */
  #mayGo(isOrdered: boolean): boolean {
    return (this.#line.taken === 0 || !isOrdered) && !this.#line.isPaused(this.#log.nowMs);
  }
}

function isWaiting(state: DeliveryState | null): boolean {
  return state === 'pending' || state === 'retrying';
}

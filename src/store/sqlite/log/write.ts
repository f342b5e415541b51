// The one way in which rows of the log come to be: an emission with every run and delivery that it causes, inside the
// caller's transaction. append, finishRun, recordAttempt, fireTrigger, rescue and closeDigests all end here.

import type { ClaimedDelivery } from '../../../domain/delivery/delivery.ts';
import { MAIL } from '../../../domain/delivery/delivery.ts';
import { type Emission, ERRORS, type NewEmission } from '../../../domain/emission.ts';
import { failureOfRun, queueFull } from '../../../domain/failure.ts';
import { emitId, msOf } from '../../../domain/ids.ts';
import { isBesideHooks, type Webhook } from '../../../domain/resource.ts';
import { listenerOfTarget, route, type Target, type Withheld } from '../../../domain/route.ts';
import type { ClaimedRun, Fault } from '../../../domain/run/run.ts';
import { detailOfCarried, waitsOfCarried } from '../../../domain/run/run-trace.ts';
import type { Admission, AppendOptions, Claims } from '../../contract/store.ts';
import { isListed } from '../../rows/log-rows.ts';
import { asKept } from '../../seal/sealed-requests.ts';
import type { Core } from '../core.ts';
import { countRepeat } from './digests.ts';
import { flagsOf } from './rows.ts';
import type { Transaction } from './transaction.ts';

/** A transaction with what it hands to this node: one per verb. */
export interface Writing {
  readonly tx: Transaction;
  readonly admission: Admission;
  readonly runs: ClaimedRun[];
  readonly deliveries: ClaimedDelivery[];
  runsWaiting: boolean;
  deliveriesWaiting: boolean;
}

export function writing(tx: Transaction, admission: Admission): Writing {
  return { tx, admission, runs: [], deliveries: [], runsWaiting: false, deliveriesWaiting: false };
}

export function claimsOf(w: Writing): Claims {
  const { runs, deliveries, runsWaiting, deliveriesWaiting } = w;
  return { runs, deliveries, runsWaiting, deliveriesWaiting };
}

export interface Written {
  readonly emission: Emission;
  readonly firstRun: number | null;
  readonly firstRunRefused: boolean;
}

interface Made {
  readonly run: number;
  readonly isRefused: boolean;
}

type GoingOn = AppendOptions['goingOn'];
type Caused = Pick<AppendOptions, 'goingOn' | 'isAwaited'>;

type RunTarget = Extract<Target, { kind: 'run' }>;

/** Writes an emission and what it causes; the options are of the run that it causes. */
export function writeEmission(core: Core, w: Writing, made: NewEmission, options: Caused = {}): Written {
  const { goingOn, isAwaited = false } = options;
  const entry = w.tx.number();
  const id = emitId(core.storeTag, entry);
  const emission: Emission = { ...made, entry, emitId: id, traceId: made.traceId ?? id };
  insertEmission(core, asKept(emission, core.seal));
  if (isListed(emission.emitterId)) w.tx.emitted();
  w.tx.count(made.ownerId, 'emissions', 1);
  if (made.name === ERRORS) w.tx.count(made.ownerId, 'errors', 1);
  const { targets, withheld } = route(made, core.routes.table(made.ownerId, made.emitterId));
  let firstRun: Made | null = null;
  for (const target of targets) {
    if (target.kind === 'run') {
      const run = writeRun(core, w, { emission, target, goingOn, isAwaited: isAwaited && firstRun === null });
      firstRun ??= run;
    } else {
      writeDelivery(core, w, { emission, target });
    }
  }
  for (const held of withheld) insertWithheld(core, entry, held);
  return { emission, firstRun: firstRun?.run ?? null, firstRunRefused: firstRun?.isRefused ?? false };
}

function insertEmission(core: Core, e: Emission): void {
  core.writer.run(
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
}

function insertWithheld(core: Core, entry: number, held: Withheld): void {
  core.writer.run(
    'INSERT INTO withheld (entry, listener_id, subscription_id, via, reason) VALUES (?,?,?,?,?)',
    entry,
    held.listenerId,
    held.subscriptionId,
    held.via,
    held.reason,
  );
}

interface CausedRun {
  readonly emission: Emission;
  readonly target: RunTarget;
  readonly goingOn: GoingOn;
  readonly isAwaited: boolean;
}

function writeRun(core: Core, w: Writing, { emission, target, goingOn, isAwaited }: CausedRun): Made {
  const { runnable, via, subscriptionId } = target;
  const run = w.tx.number();
  // The numbers' clock may be a little ahead of the wall's: nothing starts before it was created.
  const startedAtMs = Math.max(w.tx.nowMs, msOf(run));
  const waiting = w.tx.runsWaiting(runnable.id);
  // Nobody overtakes: while some of its runs wait, a new one waits behind them.
  const room = core.throttles.room(runnable, w.tx.nowMs);
  const besideHooks = isBesideHooks(runnable, { sourceType: emission.sourceType, isAwaited });
  const taken = (waiting === 0 || besideHooks) && room > 0 && takeRun(w, runnable, besideHooks);
  const isFull = !taken && waiting >= runnable.settings.queueLimit;
  const state = taken ? 'running' : isFull ? 'failed' : 'queued';
  core.writer.run(
    `INSERT INTO runs (run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, fence,
      boot, alone, rescues, started_at_ms, ended_at_ms) VALUES (?,?,?,?,?,?,?,?,1,?,?,0,0,?,?)`,
    run,
    emission.ownerId,
    runnable.id,
    runnable.deploymentId,
    emission.entry,
    via,
    subscriptionId,
    state,
    taken ? 1 : 0,
    core.boot,
    taken ? startedAtMs : null,
    isFull ? startedAtMs : null,
  );
  w.tx.runMoved(emission.ownerId, { from: null, to: state });
  const attempt = goingOn?.attempt ?? 1;
  if (goingOn) putBehind(core, run, { goingOn, isOver: isFull });
  if (taken) {
    core.throttles.began(runnable, w.tx.nowMs);
    w.runs.push({
      run,
      fence: 1,
      runnable,
      emission,
      via,
      subscriptionId,
      attempt,
      alone: false,
      isAwaitedElsewhere: false,
      carried: goingOn?.carried ?? null,
      resumed: null,
    });
  } else if (isFull) failFull(core, w, { emission, runnable, run, attempt, isThrottled: room === 0 });
  else {
    w.tx.runsOpened(runnable.id, 1);
    // Behind others that may not begin yet there is nothing for a tick to do: it knows when the first of them may.
    w.runsWaiting ||= waiting === 0 || room > 0;
  }
  return { run, isRefused: isFull };
}

/** What another run has done is behind this one. */
function putBehind(core: Core, run: number, of: { goingOn: NonNullable<GoingOn>; isOver: boolean }): void {
  const { carried, attempt } = of.goingOn;
  core.writer.run(
    'UPDATE runs SET attempt = ?, waits = ?, detail = ?, carried = ? WHERE run = ?',
    attempt,
    waitsOfCarried(carried),
    detailOfCarried(carried),
    of.isOver ? null : carried,
    run,
  );
}

export function takeRun(w: Writing, runnable: ClaimedRun['runnable'], besideHooks = false): boolean {
  if (!w.admission.takeRun(runnable, besideHooks)) return false;
  w.tx.onRollback(() => w.admission.dropRun(runnable.id));
  return true;
}

type Failed = Parameters<typeof failureOfRun>[0];

function failFull(core: Core, w: Writing, failed: Failed & { isThrottled: boolean }): void {
  const fault = queueFull(failed.runnable, failed.isThrottled, w.tx.nowMs);
  failRun(core, w, { ...failed, fault });
}

/** Writes the `$errors` of a run that is already marked as failed. */
export function failRun(core: Core, w: Writing, failed: Failed & { fault: Fault }): void {
  const { fault } = failed;
  const { emission } = writeEmission(core, w, failureOfRun(failed, fault));
  core.writer.run(
    'UPDATE runs SET error_entry = ?, error_code = ? WHERE run = ?',
    emission.entry,
    fault.code,
    failed.run,
  );
}

type DeliveryTarget = Exclude<Target, RunTarget>;

function writeDelivery(core: Core, w: Writing, caused: { emission: Emission; target: DeliveryTarget }): void {
  const { emission, target } = caused;
  const counted = target.kind === 'mail' ? countRepeat(core, emission, w.tx.nowMs) : null;
  if (counted !== null) {
    insertWithheld(core, emission.entry, { listenerId: MAIL, subscriptionId: null, via: 'direct', reason: counted });
    return;
  }
  const webhook = target.kind === 'webhook' ? target.webhook : null;
  const listenerId = listenerOfTarget(target);
  const subscriptionId = target.kind === 'webhook' ? target.subscriptionId : null;
  const isHeld = webhook !== null && !webhook.active;
  const isFirst = core.turns.mayGoAtOnce(listenerId, webhook?.settings.ordered ?? false);
  const taken = !isHeld && isFirst && takeDelivery(w, listenerId, webhook);
  const state = taken ? 'sending' : isHeld ? 'held' : 'pending';
  const delivery = w.tx.number();
  core.writer.run(
    `INSERT INTO deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made,
      fence, boot, due_at_ms) VALUES (?,?,?,?,?,?,?,?,0,?,?,?)`,
    delivery,
    emission.ownerId,
    target.kind,
    listenerId,
    subscriptionId,
    target.via,
    emission.entry,
    state,
    taken ? 1 : 0,
    core.boot,
    state === 'pending' ? w.tx.nowMs : null,
  );
  w.tx.deliveriesMoved({ ownerId: emission.ownerId, listenerId, from: null, to: state });
  if (!taken) {
    w.deliveriesWaiting ||= core.turns.mayGo(listenerId);
    return;
  }
  w.deliveries.push({
    delivery,
    fence: 1,
    kind: target.kind,
    emission,
    subscriptionId,
    via: target.via,
    webhook,
    mailTo: target.kind === 'mail' ? (core.routes.owner(emission.ownerId)?.email ?? null) : null,
    attempt: 1,
    tries: 0,
    trigger: 'event',
  });
}

export function takeDelivery(w: Writing, listenerId: string, webhook: Webhook | null): boolean {
  if (!w.admission.takeDelivery(listenerId, webhook)) return false;
  w.tx.onRollback(() => w.admission.dropDelivery(listenerId));
  return true;
}

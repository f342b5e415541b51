// The one way in which rows of the log come to be: an emission with every run and delivery that it causes, planned in the
// caller's pass. append, finishRun, recordAttempt, fireTrigger, rescue and closeDigests all end here.

import { MAIL } from '../../../domain/delivery/delivery.ts';
import { whyCounted } from '../../../domain/delivery/digest.ts';
import { type Emission, ERRORS, type NewEmission } from '../../../domain/emission.ts';
import { failureOfRun, queueFull } from '../../../domain/failure.ts';
import { emitId, msOf } from '../../../domain/ids.ts';
import { LIMITS, MINUTE_MS } from '../../../domain/limits.ts';
import { concurrencyOf, isBesideHooks, type Runnable } from '../../../domain/resource.ts';
import { listenerOfTarget, route, type Target, type Withheld } from '../../../domain/route.ts';
import type { Fault } from '../../../domain/run/run.ts';
import { detailOf, detailOfCarried } from '../../../domain/run/run-trace.ts';
import type { Carried } from '../../../domain/run/wait.ts';
import type { AppendOptions } from '../../contract/store.ts';
import { asKept } from '../../seal/sealed-requests.ts';
import type { Hands, Pass } from './batch-planner.ts';
import type { Cells } from './row-inserts.ts';

/** Beyond a run's timeout, for a process to start, a queue in the node, and a slow database. */
const RUN_LEASE_SLACK_MS = 5 * MINUTE_MS;
/** Of a delivery: the longest attempt, as often as it may stand in line. */
export const DELIVERY_LEASE_MS = 10 * MINUTE_MS;

export interface Written {
  readonly emission: Emission;
  readonly firstRun: number | null;
  readonly firstRunRefused: boolean;
}

interface Made {
  readonly run: number;
  readonly isRefused: boolean;
}

type RunTarget = Extract<Target, { kind: 'run' }>;
type DeliveryTarget = Exclude<Target, RunTarget>;

export function runLeaseMs({ settings }: Runnable): number {
  return (settings.timeoutMs ?? LIMITS.scheduleTimeoutMs) + RUN_LEASE_SLACK_MS;
}

interface Making {
  readonly made: NewEmission;
  /** Somebody at this node waits for its first run. */
  readonly isAwaited?: boolean;
  /** Its runs go on where another one failed. */
  readonly goingOn?: AppendOptions['goingOn'];
}

/** An emission with what it causes. */
export function writeEmission(pass: Pass, hands: Hands, of: Making): Written {
  const { made, isAwaited = false, goingOn } = of;
  const entry = pass.numbers.next();
  const id = emitId(pass.core.storeTag, entry);
  const emission: Emission = { ...made, entry, emitId: id, traceId: made.traceId ?? id };
  pass.plan.emissions.push(asKept(emission, pass.core.seal));
  pass.ledger.count(made.ownerId, 'emissions', 1);
  if (made.name === ERRORS) pass.ledger.count(made.ownerId, 'errors', 1);
  const { targets, withheld } = route(made, pass.table(made.ownerId, made.emitterId, made.onlyListenerId));
  let firstRun: Made | null = null;
  for (const target of targets) {
    if (target.kind !== 'run') writeDelivery(pass, hands, { emission, target });
    else {
      const run = writeRun(pass, hands, { emission, target, isAwaited: isAwaited && firstRun === null, goingOn });
      firstRun ??= run;
    }
  }
  for (const held of withheld) writeWithheld(pass, entry, held);
  return { emission, firstRun: firstRun?.run ?? null, firstRunRefused: firstRun?.isRefused ?? false };
}

function writeWithheld(pass: Pass, entry: number, held: Withheld): void {
  pass.plan.withheld.push({
    entry,
    listener_id: held.listenerId,
    subscription_id: held.subscriptionId,
    via: held.via,
    reason: held.reason,
  });
}

interface CausedRun {
  readonly emission: Emission;
  readonly target: RunTarget;
  readonly isAwaited: boolean;
  readonly goingOn: AppendOptions['goingOn'];
}

function writeRun(pass: Pass, hands: Hands, { emission, target, isAwaited, goingOn }: CausedRun): Made {
  const { runnable, via, subscriptionId } = target;
  const { ownerId } = emission;
  const node = pass.core.node.id;
  const run = pass.numbers.next();
  // The numbers' clock may be a little ahead of the database's: nothing starts before it was created.
  const startedAtMs = Math.max(pass.nowMs, msOf(run));
  const line = pass.line(ownerId, runnable.id, true);
  // Nobody overtakes: while some of its runs wait, a new one waits behind them.
  const { throttle } = runnable.settings;
  const room = line.roomAt(throttle, pass.nowMs);
  const besideHooks = isBesideHooks(runnable, { sourceType: emission.sourceType, isAwaited });
  const mayBegin = room > 0 && line.taken < concurrencyOf(runnable, besideHooks);
  const isFirst = line.waiting === 0 || besideHooks;
  const isFree = isFirst && mayBegin;
  const taken = isFree && pass.takeRun(hands, runnable, besideHooks);
  const isFull = !taken && line.waiting >= runnable.settings.queueLimit;
  const attempt = goingOn?.attempt ?? 1;
  const cells = {
    run,
    owner_id: ownerId,
    runnable_id: runnable.id,
    deployment_id: runnable.deploymentId,
    entry: emission.entry,
    via,
    subscription_id: subscriptionId,
    attempt,
    awaited_by: isAwaited ? node : null,
  };
  if (isFull) {
    pass.ledger.moved(ownerId, 'runs', { from: null, to: 'failed' });
    const detail = goingOn ? detailOfCarried(goingOn.carried) : null;
    const refused = { emission, runnable, run, attempt, isThrottled: room === 0 };
    failFull(pass, hands, { ...refused, cells, startedAtMs, detail });
    return { run, isRefused: true };
  }
  const open = {
    ...cells,
    state: taken ? 'running' : 'queued',
    fence: taken ? 1 : 0,
    node: taken ? node : null,
    lease_until_ms: taken ? pass.nowMs + runLeaseMs(runnable) : null,
    alone: false,
    rescues: 0,
    started_at_ms: taken ? startedAtMs : null,
  };
  if (goingOn) pass.plan.goingOn.push({ ...open, ...carriedCells(goingOn.carried) });
  else pass.plan.openRuns.push(open);
  pass.ledger.moved(ownerId, 'runs', { from: null, to: taken ? 'running' : 'queued' });
  line.change(taken ? { taken: 1 } : { waiting: 1 }, node);
  if (taken) {
    line.began(throttle, { count: 1, atMs: startedAtMs, nowMs: pass.nowMs });
    const claimed = {
      runnable,
      emission,
      via,
      subscriptionId,
      attempt,
      alone: false,
      isAwaitedElsewhere: false,
      carried: goingOn?.carried ?? null,
      resumed: null,
    };
    hands.runs.push({ run, fence: 1, ...claimed });
  } else {
    // Behind others that may not begin yet there is nothing for a tick to do: it knows when the first of them may.
    hands.runsWaiting ||= isFirst || room > 0;
    // While all that may run do, nobody else could take it either.
    if (mayBegin) pass.told.add('runs');
  }
  return { run, isRefused: false };
}

function carriedCells(carried: string): Cells {
  const { waits, summary, ...course } = JSON.parse(carried) as Carried;
  return { waits, carried, summary_so_far: summary, detail_so_far: detailOf(course) };
}

type Failed = Parameters<typeof failureOfRun>[0];

/** What stands of a run in the table of those that are over, before its end is known. */
interface Standing {
  readonly cells: Readonly<Record<string, string | number | boolean | null>>;
  readonly startedAtMs: number | null;
  /** What there is to tell of it already; none, or what its row has. */
  readonly detail?: string | null;
}

function failFull(pass: Pass, hands: Hands, failed: Failed & Standing & { isThrottled: boolean }): void {
  const fault = queueFull(failed.runnable, failed.isThrottled, pass.nowMs);
  failRun(pass, hands, { ...failed, fault, startedAtMs: null, endedAtMs: failed.startedAtMs ?? pass.nowMs });
}

/** Writes a run that failed without an outcome, and its `$errors`. */
export function failRun(
  pass: Pass,
  hands: Hands,
  failed: Failed & Standing & { fault: Fault; endedAtMs: number },
): void {
  const { fault, cells, startedAtMs, endedAtMs, detail = null } = failed;
  const { emission } = writeEmission(pass, hands, { made: failureOfRun(failed, fault) });
  pass.plan.runs.push({
    ...cells,
    state: 'failed',
    started_at_ms: startedAtMs,
    ended_at_ms: endedAtMs,
    summary: null,
    error_entry: emission.entry,
    error_code: fault.code,
    detail,
  });
}

interface CausedDelivery {
  readonly emission: Emission;
  readonly target: DeliveryTarget;
}

function writeDelivery(pass: Pass, hands: Hands, { emission, target }: CausedDelivery): void {
  if (target.kind === 'mail' && isRepeat(pass, emission)) return;
  const { ownerId } = emission;
  const node = pass.core.node.id;
  const webhook = target.kind === 'webhook' ? target.webhook : null;
  const listenerId = listenerOfTarget(target);
  const subscriptionId = target.kind === 'webhook' ? target.subscriptionId : null;
  const line = pass.line(ownerId, listenerId, false);
  const isHeld = webhook !== null && (!webhook.active || pass.isGone(line));
  const isOurs = line.waiting === 0 && line.isFor(node, pass.nowMs);
  // Of an ordered webhook, one at a time; whoever sends it goes on with the next by itself.
  const isTurn = line.taken === 0 || !webhook?.settings.ordered;
  const mayGo = isTurn && !isHeld && !line.isPaused(pass.nowMs);
  const taken = isOurs && mayGo && pass.takeDelivery(hands, listenerId, webhook);
  const state = taken ? 'sending' : isHeld ? 'held' : 'pending';
  const delivery = pass.numbers.next();
  pass.plan.openDeliveries.push({
    delivery,
    owner_id: ownerId,
    kind: target.kind,
    listener_id: listenerId,
    subscription_id: subscriptionId,
    via: target.via,
    entry: emission.entry,
    state,
    attempts_made: 0,
    requests_made: 0,
    tries: 0,
    due_by: 'event',
    fence: taken ? 1 : 0,
    node: taken ? node : null,
    lease_until_ms: taken ? pass.nowMs + DELIVERY_LEASE_MS : null,
    due_at_ms: state === 'pending' ? pass.nowMs : null,
  });
  pass.ledger.moved(ownerId, 'deliveries', { from: null, to: state });
  if (isHeld) return;
  line.change(taken ? { taken: 1 } : { waiting: 1 }, node);
  if (!taken) {
    hands.deliveriesWaiting = true;
    if (mayGo) pass.told.add('deliveries');
    return;
  }
  const mailTo = target.kind === 'mail' ? (pass.owner(ownerId)?.email ?? null) : null;
  const { kind, via } = target;
  const claimed = { kind, emission, subscriptionId, via, webhook, mailTo, attempt: 1, tries: 0 };
  hands.deliveries.push({ delivery, fence: 1, trigger: 'event', ...claimed });
}

/** A repeat of a notice is counted in its window and not sent; the first of a window opens it. */
function isRepeat(pass: Pass, mail: Emission): boolean {
  const { ownerId, digestKey } = mail;
  if (digestKey === null) return false;
  const windowMs = pass.owner(ownerId)?.digestWindowMs ?? 0;
  const digest = pass.digest({ ownerId, digestKey, windowMs });
  if (!digest) return false;
  digest.newestEntry = mail.entry;
  if (digest.isNew) {
    digest.isNew = false;
    return false;
  }
  digest.repeats++;
  const reason = whyCounted(digest);
  writeWithheld(pass, mail.entry, { listenerId: MAIL, subscriptionId: null, via: 'direct', reason });
  return true;
}

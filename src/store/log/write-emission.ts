// The only place that inserts rows of the log: an emission with every run and delivery that it causes. append, finishRun,
// recordAttempt, fireTrigger, rescue and closeDigests all call it.

import { MAIL } from '../../domain/delivery/delivery.ts';
import {
  counting,
  type DigestWindow,
  groupsKeyOf,
  isMailedAtOnce,
  MUTED_MAIL,
  RESOLVED_MAIL,
  whyCounted,
} from '../../domain/delivery/digest.ts';
import { afterCount } from '../../domain/delivery/given-up.ts';
import { closedStateOf } from '../../domain/delivery/progress.ts';
import { maySendAtOnce } from '../../domain/delivery/queue-state.ts';
import { type Emission, ERRORS, type NewEmission } from '../../domain/emission.ts';
import { failureOfRun, queueFull } from '../../domain/failure.ts';
import { emitId } from '../../domain/ids.ts';
import { NOTICE_LIMITS } from '../../domain/notices/limits.ts';
import { isBesideHooks, type Runnable } from '../../domain/resource.ts';
import { listenerOfTarget, type RouteTarget, route, withheldFromAll } from '../../domain/route.ts';
import type { Fault } from '../../domain/run/run.ts';
import { startOf } from '../../domain/run/run-times.ts';
import { continuedFrom } from '../../domain/run/run-trace.ts';
import type { AppendOptions } from '../contract/store.ts';
import { groupOf } from './groups/error-groups.ts';
import type { GroupNotices } from './groups/group-notices.ts';
import type { LogWriter, RunError } from './port.ts';
import { routeTableOf } from './route-table.ts';
import { noteRun } from './watch/notes.ts';

export interface Written {
  readonly emission: Emission;
  /** The first run that the emission caused. */
  readonly firstRun: number | null;
  /** That run's queue was full. */
  readonly firstRunRefused: boolean;
}

/** About the runs that an emission causes. */
interface RunInsert extends Pick<AppendOptions, 'continuation' | 'isAwaited'> {
  /** Of a digest: its mails open no window, and are in none. `withheld`: why they are not sent; null: they are. */
  readonly digest?: { readonly withheld: string | null };
  /** With a continuation: the deployment that the run has until it ends, instead of the active one. */
  readonly deploymentId?: string;
}
type RunTarget = Extract<RouteTarget, { kind: 'run' }>;
type DeliveryTarget = Exclude<RouteTarget, RunTarget>;

const NOTHING: RunInsert = {};

/** Writes an emission and what it causes. */
export function writeEmission(log: LogWriter, made: NewEmission, options: RunInsert = NOTHING): Written {
  const entry = log.nextNumber();
  const id = emitId(log.storeTag, entry);
  const emission = withGroup(log, { ...made, entry, emitId: id, traceId: made.traceId ?? id });
  log.insertEmission(emission);
  log.count(made.ownerId, 'emissions', 1);
  if (made.name === ERRORS) log.count(made.ownerId, 'errors', 1);
  const routed = route(made, routeTableOf(made, log));
  const { targets, withheld } = log.owner(made.ownerId)?.deletion ? withheldFromAll(routed) : routed;
  let first: { readonly run: number; readonly isRefused: boolean } | null = null;
  for (const target of targets) {
    if (target.kind === 'run') {
      const isAwaited = first === null && options.isAwaited === true;
      const { continuation, deploymentId } = options;
      const pinned = deploymentId === undefined ? target : withDeployment(target, deploymentId);
      const run = writeRun(log, { emission, target: pinned, isAwaited, continuation });
      first ??= run;
    } else {
      writeDelivery(log, { emission, target, digest: options.digest });
    }
  }
  for (const one of withheld)
    log.insertWithheld(entry, one, one.isFallback ? log.nowMs + NOTICE_LIMITS.fallbackFirstMs : null);
  return { emission, firstRun: first?.run ?? null, firstRunRefused: first?.isRefused ?? false };
}

function withDeployment(target: RunTarget, deploymentId: string): RunTarget {
  return { ...target, runnable: { ...target.runnable, deploymentId } };
}

/** Counts a new error in its group. Rules of its workflow apply as they are now. */
function withGroup(log: LogWriter, emission: Emission): Emission {
  const { fault, ...written } = emission;
  if (fault === undefined) return emission;
  const group = groupOf(log, written, fault);
  const groupId = log.captureError(group, { entry: emission.entry, deploymentId: fault.deploymentId });
  return { ...written, groupId };
}

/** Writes the run of the global error workflow for an error that is in the log. */
export function writeGlobalRun(log: LogWriter, emission: Emission, runnable: Runnable): void {
  const target = { kind: 'run', runnable, via: 'global', subscriptionId: null } as const;
  writeRun(log, { emission, target, isAwaited: false, continuation: undefined });
}

interface CausedRun {
  readonly emission: Emission;
  readonly target: RunTarget;
  /** A caller at this process waits for the run. */
  readonly isAwaited: boolean;
  readonly continuation: AppendOptions['continuation'];
}

/** Writes a run: running if it overtakes none and has a slot, else queued, or failed if its queue is full. */
function writeRun(log: LogWriter, caused: CausedRun): { run: number; isRefused: boolean } {
  const { emission, target, isAwaited, continuation } = caused;
  const { runnable, via, subscriptionId } = target;
  const run = log.nextNumber();
  const startedAtMs = startOf(run, log.nowMs);
  const queue = log.runQueue(emission.ownerId, runnable.id);
  const besideHooks = isBesideHooks(runnable, { sourceType: emission.sourceType, isAwaited });
  const room = queue.room(runnable);
  const { waiting } = queue;
  // A new run waits behind those of the same workflow or source.
  const isFirst = waiting === 0 || besideHooks;
  const mayBegin = room > 0 && queue.hasSlot(runnable, besideHooks);
  const taken = isFirst && mayBegin && log.takeRun(runnable, besideHooks);
  const isFull = !taken && waiting >= runnable.settings.queueLimit;
  const state = taken ? 'running' : isFull ? 'failed' : 'queued';
  const attempt = continuation?.attempt ?? 1;
  queue.moved(null, state);
  if (isFull) noteRun(log, { ownerId: emission.ownerId, runnableId: runnable.id }, 'refused');
  const fault = isFull ? queueFull(runnable, room === 0, log.nowMs) : null;
  log.insertRun({
    run,
    emission,
    runnable,
    via,
    subscriptionId,
    state,
    attempt,
    startedAtMs: taken ? startedAtMs : null,
    endedAtMs: isFull ? startedAtMs : null,
    isAwaited,
    continued: continuation ? continuedFrom(continuation.checkpoint) : null,
    error: fault && writeFailure(log, { emission, runnable, run, attempt }, fault),
  });
  if (taken) {
    queue.began(runnable, startedAtMs);
    log.claims.runs.push({
      run,
      fence: 1,
      runnable,
      emission,
      via,
      subscriptionId,
      attempt,
      alone: false,
      isAwaitedElsewhere: false,
      checkpoint: continuation?.checkpoint ?? null,
      resumed: null,
    });
  } else if (!isFull) {
    // Behind runs that may not begin yet, a claim finds nothing: it knows when the first of them may begin.
    log.claims.runsWaiting ||= isFirst || room > 0;
    // With the concurrency used up, no other process could claim it either.
    if (mayBegin) log.wakeOthers('runs');
  }
  return { run, isRefused: isFull };
}

/** Writes the `$errors` emission of a run that failed without an outcome. */
export function writeFailure(log: LogWriter, failed: Parameters<typeof failureOfRun>[0], fault: Fault): RunError {
  const { emission } = writeEmission(log, failureOfRun(failed, fault));
  return { entry: emission.entry, code: fault.code };
}

/**
 * Counts a repeat of a notice instead of sending it, and leaves out one of a group that is muted or resolved. Returns the reason;
 * null: the mail is to be sent, and opens a window.
 */
function countRepeat(log: LogWriter, { ownerId, digestKey, entry }: Emission): string | null {
  if (digestKey === null) return null;
  const groupsKey = groupsKeyOf(digestKey);
  const { nowMs } = log;
  // A window that is over but not yet closed still counts. Both are read first: Postgres locks them together then.
  const [open, groups] = [log.digestWindow(ownerId, digestKey), log.digestWindow(ownerId, groupsKey)];
  const window = counting(open, nowMs);
  const group = log.groupNotices(ownerId, digestKey);
  if (group?.withheld) return whyWithheld(group.withheld);
  const windowMs = log.owner(ownerId)?.digestWindowMs ?? 0;
  // A group that was opened again since is told at once, and what its window has counted stays counted.
  const isOver = window !== null && (group?.reopenedAtMs ?? 0) > window.openedAtMs;
  if (window && !isOver) return countIn(digestKey, window);
  if (groups && !isMailedAtOnce(groups)) return countIn(groupsKey, groups);
  if (windowMs > 0) {
    const opened = { ownerId, openedAtMs: nowMs, closesAtMs: nowMs + windowMs, newestEntry: entry };
    log.openDigest({ ...opened, digestKey, repeats: window?.repeats ?? 0 });
    if (groups) log.countInDigest(ownerId, groupsKey, entry);
    else log.openDigest({ ...opened, digestKey: groupsKey, repeats: 0 });
  }
  return null;

  function countIn(key: string, { openedAtMs, closesAtMs, repeats }: DigestWindow): string {
    const counted = { openedAtMs, closesAtMs, repeats: repeats + 1 };
    const next = afterCount(counted, { nowMs, windowMs });
    log.countInDigest(ownerId, key, entry);
    if (next !== counted) log.changeDigest(ownerId, key, next);
    return whyCounted(key, next);
  }
}

/** Says why no mail tells of a group now. */
export function whyWithheld(by: NonNullable<GroupNotices['withheld']>): string {
  return by === 'muted' ? MUTED_MAIL : RESOLVED_MAIL;
}

interface CausedDelivery {
  readonly emission: Emission;
  readonly target: DeliveryTarget;
  readonly digest: RunInsert['digest'];
}

/** Writes a delivery: sending if it overtakes none and has a slot, else pending, or held. */
function writeDelivery(log: LogWriter, { emission, target, digest }: CausedDelivery): void {
  const { kind, via } = target;
  const isMail = kind === 'mail';
  const reason = isMail ? (digest ? digest.withheld : countRepeat(log, emission)) : null;
  if (reason !== null) {
    const withheld = { listenerId: MAIL, subscriptionId: null, via: 'direct', reason } as const;
    log.insertWithheld(emission.entry, withheld, null);
    return;
  }
  const webhook = kind === 'webhook' ? target.webhook : null;
  const subscriptionId = kind === 'webhook' ? target.subscriptionId : null;
  const listenerId = listenerOfTarget(target);
  const isOrdered = webhook?.settings.ordered ?? false;
  const queue = log.deliveryQueue(emission.ownerId, listenerId);
  const isHeld = closedStateOf(listenerId, webhook) !== null;
  const taken = !isHeld && queue.isOurs && maySendAtOnce(queue, isOrdered) && log.takeDelivery(listenerId, webhook);
  const state = taken ? 'sending' : isHeld ? 'held' : 'pending';
  const delivery = log.nextNumber();
  log.insertDelivery({ delivery, kind, emission, listenerId, subscriptionId, via, state });
  queue.moved(null, state);
  if (!taken) {
    if (!isHeld) queue.announceWaiting(isOrdered);
    return;
  }
  log.claims.deliveries.push({
    delivery,
    fence: 1,
    kind,
    emission,
    subscriptionId,
    via,
    webhook,
    mailTo: isMail ? (log.owner(emission.ownerId)?.email ?? null) : null,
    attempt: 1,
    tries: 0,
    trigger: 'event',
  });
}

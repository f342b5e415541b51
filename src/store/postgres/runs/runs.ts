// Runs: ending, claiming, handing back, rescuing. What is read of them is in run-records.ts.

import { ERRORS } from '../../../domain/emission.ts';
import { workerLost } from '../../../domain/failure.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { concurrencyOf } from '../../../domain/resource.ts';
import type { RunLease } from '../../../domain/run/run.ts';
import { bytesOfEnd, type RunEnd, withSuppressed } from '../../../domain/run/run-end.ts';
import type { Admission, Finished, RunStore } from '../../contract/store.ts';
import { claimRuns } from '../claims/claim-runs.ts';
import { applySource } from '../config/source-memory.ts';
import type { Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { rescueDeliveries } from '../deliveries/rescue.ts';
import type { Verb } from '../log/batch.ts';
import { leaseKey } from '../log/batch-needs.ts';
import { claimsOf, type Hands, type Pass } from '../log/batch-planner.ts';
import { emitOrKeep } from '../log/later-emissions.ts';
import type { Line } from '../log/listener-queue.ts';
import { answerText } from '../log/log-records.ts';
import { failRun } from '../log/write.ts';
import { toEmission } from '../rows.ts';
import { cancelRun } from './cancel.ts';
import { runReads } from './run-records.ts';
import { attemptBehind, beginWait } from './wait-start.ts';

/** Two, so that a queue shrinks also while new hands are free. */
const HANDED_OVER = 2;

export function runVerbs(core: Core): RunStore {
  return {
    ...runReads(core),
    claimRuns: (limit, admission) => claimRuns(core, limit, admission),
    cancelRun: (ownerId, run) => cancelRun(core, ownerId, run),

    finishRun: (end, admission) => {
      const { lease, source } = end;
      const verb: Verb<Finished> = {
        needs: (needs) => {
          if (end.state === 'queued' || end.state === 'waiting') needs.returnRun(lease);
          else needs.endRun(lease);
          if (source) needs.sources.add(source.id);
          for (const { ownerId } of end.emissions) needs.owners.add(ownerId);
        },
        plan: (pass) => finishRun(pass, pass.handsOf(admission), end),
      };
      return core.batch.write(verb, end.runnableId, bytesOfEnd(end));
    },

    releaseRuns: (leases) => releaseLeases(core, leases),

    rescue: (admission) =>
      core.batch.write({
        needs: (needs) => {
          needs.lost = true;
        },
        plan: (pass) => {
          const hands = pass.handsOf(admission);
          const lost = pass.lost('runs');
          for (const row of lost) rescueRun(pass, hands, row);
          const deliveries = rescueDeliveries(pass);
          return { runs: lost.length, deliveries, claims: claimsOf(hands) };
        },
      }),
  };
}

/** Queued again, the attempt not counted; leases that were lost are passed over. */
export function releaseLeases(core: Core, leases: readonly RunLease[]): Promise<void> {
  return core.batch.write({
    needs: (needs) => {
      for (const lease of leases) needs.returnRun(lease);
    },
    plan: (pass) => {
      const hands = pass.handsOf(NOBODY);
      for (const lease of leases) queueAgain(pass, hands, { lease, isAlone: false });
    },
  });
}

/** Takes nothing: for verbs that hand back. */
const NOBODY: Admission = {
  takeRun: () => false,
  dropRun: () => undefined,
  takeDelivery: () => false,
  dropDelivery: () => undefined,
};

function finishRun(pass: Pass, hands: Hands, end: RunEnd): Finished {
  if (end.state === 'queued') {
    const state = queueAgain(pass, hands, { lease: end.lease, isAlone: end.again === 'alone' });
    const isCancelled = state === 'cancelled';
    return { held: state !== undefined, isCancelled, claims: claimsOf(hands), errorEntry: null };
  }
  const row = pass.leased(end.state === 'waiting' ? 'returns' : 'endings', leaseKey(end.lease.run, end.lease.fence));
  if (!row) return { held: false, claims: claimsOf(hands), errorEntry: null };
  if (end.state === 'waiting') return suspend(pass, hands, { row, end });
  const ownerId = row.owner_id as string;
  pass.ledger.moved(ownerId, 'runs', { from: 'running', to: end.state });
  const line = pass.line(ownerId, row.runnable_id as string, true);
  line.change({ taken: -1 }, pass.core.node.id);
  const { entries, suppressed } = takeEffect(pass, hands, { row, end });
  const errorEntry = end.fault === null ? null : (entries.at(-1) ?? null);
  pass.plan.runs.push({
    ...standingOf(row),
    state: end.state,
    started_at_ms: row.started_at_ms as number | null,
    // The numbers' clock, by which it was created and started, may be a little ahead.
    ended_at_ms: Math.max(end.endedAtMs, (row.started_at_ms as number | null) ?? 0),
    summary: end.summary,
    error_entry: errorEntry,
    error_code: end.fault?.code ?? null,
    detail: suppressed === 0 ? end.detail : withSuppressed(end, suppressed),
  });
  handOver(pass, hands, line);
  return { held: true, claims: claimsOf(hands), errorEntry };
}

interface Ending {
  /** Of the lease. */
  readonly row: Row;
  readonly end: RunEnd;
}

/** Whoever waits for it at another node hears of it. */
function takeEffect(
  pass: Pass,
  hands: Hands,
  { row, end }: Ending,
): { entries: readonly number[]; suppressed: number } {
  const { source } = end;
  const { emissions, suppressed } = source
    ? applySource(pass, { source, emissions: end.emissions })
    : { emissions: end.emissions, suppressed: 0 };
  const entries = emitOrKeep(pass, hands, emissions);
  if (end.answer) writeAnswer(pass, row, answerText(end.answer));
  if (isAwaitedElsewhere(pass, row)) pass.told.add('answers');
  return { entries, suppressed };
}

/** It waits from now on; or goes on at once, or is over, if that was ordered before. */
function suspend(pass: Pass, hands: Hands, { row, end }: Ending): Finished {
  const line = pass.line(row.owner_id as string, row.runnable_id as string, true);
  line.change({ taken: -1 }, pass.core.node.id);
  const { entries } = takeEffect(pass, hands, { row, end });
  const state = beginWait(pass, row, end);
  if (state === 'queued') line.change({ waiting: 1 }, pass.core.node.id);
  handOver(pass, hands, line);
  if (state === 'queued' && line.waiting > pass.grantedTo(line)) {
    hands.runsWaiting = true;
    pass.told.add('runs');
  }
  if (state === 'cancelled') closeWaiting(pass, { row, end });
  const errorEntry = end.emissions.at(-1)?.name === ERRORS ? (entries.at(-1) ?? null) : null;
  return { held: true, isCancelled: state === 'cancelled', claims: claimsOf(hands), errorEntry };
}

function closeWaiting(pass: Pass, { row, end }: Ending): void {
  pass.plan.closedRuns.push(row.run as number);
  pass.plan.runs.push({
    ...standingOf(row),
    attempt: end.wait ? attemptBehind(row, end.wait) : (row.attempt as number),
    state: 'cancelled',
    started_at_ms: row.started_at_ms as number | null,
    ended_at_ms: Math.max(end.endedAtMs, (row.started_at_ms as number | null) ?? 0),
    summary: end.summary,
    error_entry: null,
    error_code: null,
    detail: end.detail,
  });
}

function writeAnswer(pass: Pass, row: Row, answer: string): void {
  const run = row.run as number;
  pass.plan.keyAnswers.push({ run, answer });
  if (!isAwaitedElsewhere(pass, row)) return;
  pass.plan.answers.push({ run, owner_id: row.owner_id as string, answer, at_ms: pass.nowMs });
}

function isAwaitedElsewhere(pass: Pass, row: Row): boolean {
  return row.awaited_by !== null && row.awaited_by !== pass.core.node.id;
}

/** The columns that a run keeps when it moves to those that are over. */
function standingOf(row: Row): Readonly<Record<string, string | number | boolean | null>> {
  const { run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, attempt, awaited_by } = row;
  const kept = { run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, attempt, awaited_by };
  return kept as Record<string, string | number | boolean | null>;
}

interface Again {
  readonly lease: RunLease;
  /** A bystander of a crash: its attempt counts, and the next one has a process to itself. */
  readonly isAlone: boolean;
}

/** Undefined: the lease was lost. */
function queueAgain(pass: Pass, hands: Hands, { lease, isAlone }: Again): 'queued' | 'cancelled' | undefined {
  const row = pass.leased('returns', leaseKey(lease.run, lease.fence));
  if (!row) return undefined;
  const ownerId = row.owner_id as string;
  const runnableId = row.runnable_id as string;
  const attempt = (row.attempt as number) + (isAlone ? 1 : 0);
  const line = pass.line(ownerId, runnableId, true);
  // Its workflow may have been deleted meanwhile, or somebody asked for its end.
  if (!pass.runnable(ownerId, runnableId) || row.cancel_asked === true) {
    cancelLost(pass, row, { line, attempt });
    return 'cancelled';
  }
  pass.plan.runsAgain.push({
    run: lease.run,
    attempt,
    alone: (row.alone as boolean) || isAlone,
    rescues: row.rescues as number,
    fence: row.fence as number,
  });
  pass.ledger.moved(ownerId, 'runs', { from: 'running', to: 'queued' });
  line.change({ taken: -1, waiting: 1 }, pass.core.node.id);
  pass.told.add('runs');
  hands.runsWaiting = true;
  return 'queued';
}

/** Of a segment that was lost: one that goes on has begun all the same, and of a hook it is asked later whether it had. */
function startedBefore(row: Row): number | null {
  return (row.waits as number) > 0 || row.is_abandoned === true ? (row.started_at_ms as number | null) : null;
}

function cancelLost(pass: Pass, row: Row, of: { line: Line; attempt: number }): void {
  pass.plan.closedRuns.push(row.run as number);
  pass.plan.runs.push({
    ...standingOf(row),
    attempt: of.attempt,
    state: 'cancelled',
    started_at_ms: startedBefore(row),
    ended_at_ms: pass.nowMs,
    summary: null,
    error_entry: null,
    error_code: null,
    detail: null,
  });
  pass.ledger.moved(row.owner_id as string, 'runs', { from: 'running', to: 'cancelled' });
  of.line.change({ taken: -1 }, pass.core.node.id);
  if (isAwaitedElsewhere(pass, row)) pass.told.add('answers');
}

/** The hands that a run's end freed take the next of the same workflow or source with them, without a tick between. */
function handOver(pass: Pass, hands: Hands, line: Line): void {
  if (line.waiting === 0) return;
  const runnable = pass.runnable(line.ownerId, line.listenerId);
  if (!runnable) return;
  let granted = pass.grantedTo(line);
  const room = line.roomAt(runnable.settings.throttle, pass.nowMs);
  for (let taken = 0; taken < HANDED_OVER && line.waiting > granted; taken++) {
    if (room <= granted) {
      // The next claim tells when.
      hands.runsWaiting = true;
      return;
    }
    if (line.taken + granted >= concurrencyOf(runnable) || !pass.takeRun(hands, runnable)) return;
    pass.grants.push({ line, hands, count: 1, runnable });
    granted++;
  }
}

function rescueRun(pass: Pass, hands: Hands, row: Row): void {
  const run = row.run as number;
  const ownerId = row.owner_id as string;
  const runnableId = row.runnable_id as string;
  const attempt = row.attempt as number;
  const rescues = (row.rescues as number) + 1;
  const line = pass.line(ownerId, runnableId, true);
  const runnable = pass.runnable(ownerId, runnableId);
  if (!runnable || row.cancel_asked === true || row.is_abandoned === true) {
    cancelLost(pass, row, { line, attempt });
    return;
  }
  if (rescues < LIMITS.rescues) {
    const fence = (row.fence as number) + 1;
    pass.plan.runsAgain.push({ run, attempt: attempt + 1, alone: row.alone === true, rescues, fence });
    pass.ledger.moved(ownerId, 'runs', { from: 'running', to: 'queued' });
    line.change({ taken: -1, waiting: 1 }, pass.core.node.id);
    pass.told.add('runs');
    hands.runsWaiting = true;
    return;
  }
  const fault = workerLost(pass.nowMs);
  pass.plan.closedRuns.push(run);
  pass.ledger.moved(ownerId, 'runs', { from: 'running', to: 'failed' });
  line.change({ taken: -1 }, pass.core.node.id);
  const emission = toEmission(row, pass.core);
  const times = { startedAtMs: startedBefore(row), endedAtMs: pass.nowMs };
  failRun(pass, hands, { emission, runnable, run, attempt, fault, cells: standingOf(row), ...times });
  if (isAwaitedElsewhere(pass, row)) pass.told.add('answers');
}

// What a held run comes to: it is over, waits, or is queued again.

import { ERRORS } from '../../../domain/emission.ts';
import type { RunLease } from '../../../domain/run/run.ts';
import { type RunEnd, withSuppressed } from '../../../domain/run/run-end.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { Admission, Finished } from '../../contract/store.ts';
import { applySource } from '../config/source-memory.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { emitOrKeep } from '../log/later-emissions.ts';
import { answerText } from '../log/log.ts';
import type { Transaction } from '../log/transaction.ts';
import { claimsOf, type Writing, writing } from '../log/write.ts';
import { NO_WAIT } from '../partial-index.ts';
import { handOver } from './claim-runs.ts';
import { beginWait, isStopped } from './waits.ts';

/** Takes nothing: for verbs that hand back. */
const NOBODY: Admission = {
  takeRun: () => false,
  dropRun: () => undefined,
  takeDelivery: () => false,
  dropDelivery: () => undefined,
};

const LOST: Finished = {
  held: false,
  claims: { runs: [], deliveries: [], runsWaiting: false, deliveriesWaiting: false },
  errorEntry: null,
};

/** The run's row while this lease on it is still ours. */
function heldRun(core: Core, { run, fence }: RunLease): Row | undefined {
  return core.writer.get(
    "SELECT run, owner_id, runnable_id, early FROM runs WHERE run = ? AND fence = ? AND boot = ? AND state = 'running'",
    run,
    fence,
    core.boot,
  );
}

export function finishRun(core: Core, w: Writing, end: RunEnd): Finished {
  const { run } = end.lease;
  const held = heldRun(core, end.lease);
  if (!held) return LOST;
  const [ownerId, runnableId] = [held.owner_id as string, held.runnable_id as string];
  if (end.state === 'queued') {
    const state = queueAgain(core, w, held, end.again === 'alone');
    return { held: true, claims: claimsOf(w), errorEntry: null, isCancelled: state === 'cancelled' };
  }
  if (end.state === 'waiting') return suspend(core, w, { end, ownerId, runnableId });
  w.tx.runMoved(ownerId, { from: 'running', to: end.state });
  const { entries, suppressed } = takeEffect(core, w, end);
  const errorEntry = end.fault === null ? null : (entries.at(-1) ?? null);
  core.writer.run(
    `UPDATE runs SET state = ?, ended_at_ms = ?, summary = ?, error_entry = ?, error_code = ?, detail = ?, ${NO_WAIT}
      WHERE run = ?`,
    end.state,
    end.endedAtMs,
    end.summary,
    errorEntry,
    end.fault?.code ?? null,
    suppressed === 0 ? end.detail : withSuppressed(end, suppressed),
    run,
  );
  handOver(core, w, runnableId);
  return { held: true, claims: claimsOf(w), errorEntry };
}

/** What it has sent so far takes effect; with the order that came before, it goes on at once. */
function suspend(core: Core, w: Writing, of: { end: RunEnd; ownerId: string; runnableId: string }): Finished {
  const { end, ownerId, runnableId } = of;
  const { entries } = takeEffect(core, w, end);
  const errors = end.emissions.filter(({ name }) => name === ERRORS).length;
  if (errors > 0) w.tx.count(ownerId, FURTHER_ERRORS, errors);
  const state = beginWait(core, w, of);
  handOver(core, w, runnableId);
  const errorEntry = errors > 0 ? (entries.at(-1) ?? null) : null;
  return { held: true, claims: claimsOf(w), errorEntry, isCancelled: state === 'cancelled' };
}

function takeEffect(core: Core, w: Writing, end: RunEnd): { entries: readonly number[]; suppressed: number } {
  const { source, answer } = end;
  const { emissions, suppressed } = source
    ? applySource(core, w, { source, emissions: end.emissions })
    : { emissions: end.emissions, suppressed: 0 };
  const entries = emitOrKeep(core, w, emissions);
  if (answer) core.writer.run('UPDATE idempotency SET answer = ? WHERE run = ?', answerText(answer), end.lease.run);
  return { entries, suppressed };
}

/** `alone`: a bystander of a crash; its attempt counts, and the next one has a process to itself. */
function queueAgain(core: Core, w: Writing, held: Row, alone: boolean): 'queued' | 'cancelled' {
  const { run, owner_id: ownerId, runnable_id: runnableId } = held as { run: number } & Record<string, string>;
  // Its workflow may have been deleted meanwhile, or somebody asked for its end.
  if (!core.routes.runnable(runnableId as string) || isStopped(held)) {
    core.writer.run(`UPDATE runs SET state = 'cancelled', ended_at_ms = ?, ${NO_WAIT} WHERE run = ?`, w.tx.nowMs, run);
    w.tx.runMoved(ownerId as string, { from: 'running', to: 'cancelled' });
    return 'cancelled';
  }
  core.writer.run(
    `UPDATE runs SET state = 'queued', started_at_ms = iif(waits > 0, started_at_ms, NULL), alone = max(alone, ?),
      attempt = attempt + ? WHERE run = ?`,
    alone ? 1 : 0,
    alone ? 1 : 0,
    run,
  );
  w.tx.runMoved(ownerId as string, { from: 'running', to: 'queued' });
  w.tx.runsOpened(runnableId as string, 1);
  w.runsWaiting = true;
  return 'queued';
}

export function releaseRuns(core: Core, tx: Transaction, leases: readonly RunLease[]): void {
  const w = writing(tx, NOBODY);
  for (const { run, fence } of leases) {
    const held = heldRun(core, { run, fence });
    if (held) queueAgain(core, w, held, false);
  }
}

// Who may run next. Queued runs are counted in memory, so a claim asks the file only for those that it takes.

import type { Runnable, Via } from '../../../domain/resource.ts';
import type { ClaimedRun } from '../../../domain/run/run.ts';
import type { Claims } from '../../contract/store.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { toEmission } from '../log/rows.ts';
import { claimsOf, takeRun, type Writing } from '../log/write.ts';
import { OPEN_RUN } from '../partial-index.ts';

/** Two, so that a queue shrinks also while new hands are free. */
const HANDED_OVER = 2;

export function claimRuns(core: Core, w: Writing, limit: number): Claims & { nextDueAtMs: number | null } {
  const { granted, throttled } = grantInTurn(core, w, limit);
  for (const [runnable, count] of granted) claimOldest(core, w, { runnable, count });
  const times = throttled.map((runnable) => core.throttles.nextMs(runnable, w.tx.nowMs));
  return { ...claimsOf(w), nextDueAtMs: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)) };
}

/** The hands that a run's end freed take the next of the same workflow or source with them, without a tick between. */
export function handOver(core: Core, w: Writing, runnableId: string): void {
  for (let taken = 0; taken < HANDED_OVER && w.tx.runsWaiting(runnableId) > 0; taken++) {
    const runnable = core.routes.runnable(runnableId);
    if (!runnable) return;
    if (core.throttles.room(runnable, w.tx.nowMs) === 0) {
      // The next claim tells when.
      w.runsWaiting = true;
      return;
    }
    if (!takeRun(w, runnable)) return;
    claimOldest(core, w, { runnable, count: 1 });
  }
}

interface Granted {
  /** How many runs each workflow or source may start now. */
  readonly granted: ReadonlyMap<Runnable, number>;
  /** Those with more that wait, of which no other may begin yet. */
  readonly throttled: readonly Runnable[];
}

/**
 * One each in turn, until nobody may or the limit is reached. Who was served goes to the end of the line, so that small
 * claims are in turn too.
 */
function grantInTurn(core: Core, w: Writing, limit: number): Granted {
  const granted = new Map<Runnable, number>();
  const throttled: Runnable[] = [];
  let rest = limit;
  let candidates = [...core.openRuns.counts.keys()].flatMap((id) => core.routes.runnable(id) ?? []);
  while (candidates.length > 0) {
    candidates = candidates.filter((runnable) => {
      const count = granted.get(runnable) ?? 0;
      if (count >= w.tx.runsWaiting(runnable.id)) return false;
      if (count >= core.throttles.room(runnable, w.tx.nowMs)) {
        throttled.push(runnable);
        return false;
      }
      if (rest === 0 || !takeRun(w, runnable)) {
        w.runsWaiting = true;
        return false;
      }
      granted.set(runnable, count + 1);
      rest--;
      return true;
    });
  }
  for (const { id } of granted.keys()) core.openRuns.toTheEnd(id);
  return { granted, throttled };
}

function claimOldest(core: Core, w: Writing, of: { runnable: Runnable; count: number }): void {
  const { runnable, count } = of;
  const rows = core.writer.all(
    `SELECT run, deployment_id, entry, via, subscription_id, attempt, fence, alone, resumed, carried FROM runs
      WHERE state = 'queued' AND ${OPEN_RUN} AND runnable_id = ? ORDER BY run LIMIT ?`,
    runnable.id,
    count,
  );
  for (const row of rows) w.runs.push(claimRun(core, w, { row, runnable }));
  for (let unused = rows.length; unused < count; unused++) w.admission.dropRun(runnable.id);
}

function claimRun(core: Core, w: Writing, found: { row: Row; runnable: Runnable }): ClaimedRun {
  const { row } = found;
  const carried = row.carried as string | null;
  // What it has behind it belongs to the code that did it.
  const deploymentId = carried === null ? found.runnable.deploymentId : (row.deployment_id as string);
  const runnable = carried === null ? found.runnable : { ...found.runnable, deploymentId };
  const run = row.run as number;
  const fence = (row.fence as number) + 1;
  core.writer.run(
    `UPDATE runs SET state = 'running', fence = ?, boot = ?, deployment_id = ?,
      started_at_ms = coalesce(started_at_ms, ?) WHERE run = ?`,
    fence,
    core.boot,
    deploymentId,
    w.tx.nowMs,
    run,
  );
  w.tx.runMoved(runnable.ownerId, { from: 'queued', to: 'running' });
  w.tx.runsOpened(runnable.id, -1);
  core.throttles.began(runnable, w.tx.nowMs);
  const emission = core.writer.get('SELECT * FROM emissions WHERE entry = ?', row.entry as number) as Row;
  return {
    run,
    fence,
    runnable,
    emission: toEmission(emission, core),
    via: row.via as Via,
    subscriptionId: row.subscription_id as string | null,
    attempt: row.attempt as number,
    alone: row.alone === 1,
    isAwaitedElsewhere: false,
    carried,
    resumed: row.resumed as string | null,
  };
}

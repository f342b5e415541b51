// The queue of a workflow or source. Its queued runs (log/transaction.ts) and last starts (log/throttles.ts) are in memory, so a
// claim reads only the rows that it takes.

import type { Runnable, Via } from '../../../domain/resource.ts';
import type { ClaimedRun, RunState } from '../../../domain/run/run.ts';
import { startOf } from '../../../domain/run/run-times.ts';
import type { Admission } from '../../contract/store.ts';
import type { ClaimsSoFar, RunQueue } from '../../log/port.ts';
import { number, text, textOrNull } from '../../rows/cells.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { readEmission } from '../log/rows.ts';
import type { Transaction } from '../log/transaction.ts';
import { OPEN_RUN } from '../partial-index.ts';

/** The verb that claims. */
interface Claimer {
  readonly core: Core;
  readonly tx: Transaction;
  readonly admission: Admission;
  readonly claims: ClaimsSoFar;
}

export class SqliteRunQueue implements RunQueue {
  readonly #claimer: Claimer;
  readonly #ownerId: string;
  readonly #runnableId: string;

  constructor(claimer: Claimer, ownerId: string, runnableId: string) {
    this.#claimer = claimer;
    this.#ownerId = ownerId;
    this.#runnableId = runnableId;
  }

  get waiting(): number {
    return this.#claimer.tx.runsWaiting(this.#runnableId);
  }

  room(runnable: Runnable): number {
    return this.#claimer.core.throttles.room(runnable, this.#claimer.tx.nowMs);
  }

  /** Only the slots of this process count (`takeRun`). */
  hasSlot(): boolean {
    return true;
  }

  moved(from: RunState | null, to: RunState): void {
    const { tx } = this.#claimer;
    tx.runMoved(this.#ownerId, { from, to });
    if (from === 'queued') tx.runsOpened(this.#runnableId, -1);
    if (to === 'queued') tx.runsOpened(this.#runnableId, 1);
  }

  began(runnable: Runnable): void {
    this.#claimer.core.throttles.began(runnable, this.#claimer.tx.nowMs);
  }

  claimOldest(runnable: Runnable): void {
    claimOldest(this.#claimer, runnable, 1);
  }
}

/** Claims the oldest queued runs. Their slots are already taken; those without a run are given back. */
export function claimOldest(claimer: Claimer, runnable: Runnable, count: number): void {
  const { core, tx, admission, claims } = claimer;
  const rows = core.writer.all(
    `SELECT run, deployment_id, entry, via, subscription_id, attempt, fence, alone, resumed, carried FROM runs
      WHERE state = 'queued' AND ${OPEN_RUN} AND runnable_id = ? ORDER BY run LIMIT ?`,
    runnable.id,
    count,
  );
  for (const row of rows) claims.runs.push(claim(core, tx, { row, runnable }));
  for (let unused = rows.length; unused < count; unused++) admission.dropRun(runnable.id);
}

function claim(core: Core, tx: Transaction, found: { row: Row; runnable: Runnable }): ClaimedRun {
  const { row } = found;
  const checkpoint = textOrNull(row, 'carried');
  // A run with a checkpoint keeps the deployment that wrote it.
  const deploymentId = checkpoint === null ? found.runnable.deploymentId : text(row, 'deployment_id');
  const runnable = checkpoint === null ? found.runnable : { ...found.runnable, deploymentId };
  const run = number(row, 'run');
  const fence = number(row, 'fence') + 1;
  core.writer.run(
    `UPDATE runs SET state = 'running', fence = ?, boot = ?, deployment_id = ?,
      started_at_ms = coalesce(started_at_ms, ?) WHERE run = ?`,
    fence,
    core.boot,
    deploymentId,
    startOf(run, tx.nowMs),
    run,
  );
  tx.runMoved(runnable.ownerId, { from: 'queued', to: 'running' });
  tx.runsOpened(runnable.id, -1);
  core.throttles.began(runnable, tx.nowMs);
  return {
    run,
    fence,
    runnable,
    emission: readEmission(core, number(row, 'entry')),
    via: text<Via>(row, 'via'),
    subscriptionId: textOrNull(row, 'subscription_id'),
    attempt: number(row, 'attempt'),
    alone: row.alone === 1,
    isAwaitedElsewhere: false,
    checkpoint,
    resumed: textOrNull(row, 'resumed'),
  };
}

// The queue of a workflow or source. Its queued runs (log/transaction.ts) and last starts (log/throttles.ts) are in memory, so a
// claim reads only the rows that it takes.

import type { Runnable } from '../../../domain/resource.ts';
import type { RunState } from '../../../domain/run/run.ts';
import type { Admission } from '../../contract/store.ts';
import type { ClaimsSoFar, RunQueue } from '../../log/port.ts';
import { number } from '../../rows/cells.ts';
import { CLAIMED_COLUMNS, claimedRun, OPEN_RUN, toClaimedRun } from '../../rows/run-rows.ts';
import type { Core } from '../core.ts';
import { readEmission } from '../log/rows.ts';
import type { Transaction } from '../log/transaction.ts';

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
    tx.runsMoved(this.#ownerId, { from, to });
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

const CLAIM = `UPDATE runs AS o SET ${claimedRun({ deployment: '?', now: '?', greatest: 'max' })}, boot = ?
  WHERE run IN (SELECT run FROM runs WHERE state = 'queued' AND ${OPEN_RUN} AND runnable_id = ? ORDER BY run LIMIT ?)
  RETURNING entry, ${CLAIMED_COLUMNS.join(', ')}`;

/** Claims the oldest queued runs. Their slots are already taken; those without a run are given back. */
export function claimOldest({ core, tx, admission, claims }: Claimer, runnable: Runnable, count: number): void {
  const { id, ownerId, deploymentId } = runnable;
  const rows = core.writer.all(CLAIM, deploymentId, tx.nowMs, core.boot, id, count);
  rows.sort((a, b) => number(a, 'run') - number(b, 'run'));
  for (const row of rows) {
    tx.runsMoved(ownerId, { from: 'queued', to: 'running' });
    tx.runsOpened(id, -1);
    core.throttles.began(runnable, tx.nowMs);
    const emission = readEmission(core, number(row, 'entry'));
    claims.runs.push(toClaimedRun(row, { runnable, emission, isAwaitedElsewhere: false }));
  }
  for (let unused = rows.length; unused < count; unused++) admission.dropRun(id);
}

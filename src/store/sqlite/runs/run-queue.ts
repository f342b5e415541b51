// The queue of a workflow or source. Its queued runs (log/transaction.ts) and last starts (log/throttles.ts) are in memory, so a
// claim reads only the rows that it takes.

import type { Runnable } from '../../../domain/resource.ts';
import type { RunState } from '../../../domain/run/run.ts';
import type { FreeSlots } from '../../contract/store.ts';
import type { ClaimsSoFar, RunQueue } from '../../log/port.ts';
import { number } from '../../rows/cells.ts';
import { CLAIMED_COLUMNS, claimedRun, OPEN_RUN, toClaimedRun } from '../../rows/run-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { readEmission } from '../log/rows.ts';
import type { Transaction } from '../log/transaction.ts';
import { ROOM_AFTER_CLAIM } from './row-room.ts';

/** The verb that claims. */
interface Claimer {
  readonly core: Core;
  readonly tx: Transaction;
  readonly admission: FreeSlots;
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

  /** Returns true: only the slots of this process count (`takeRun`). */
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

const claim = (which: string): string =>
  `UPDATE runs AS o SET ${claimedRun({ deployment: '?', now: '?', greatest: 'max' })}, boot = ?, ${ROOM_AFTER_CLAIM} WHERE run ${which}
    RETURNING entry, ${CLAIMED_COLUMNS.join(', ')}`;
const OLDEST = `SELECT run FROM runs WHERE state = 'queued' AND ${OPEN_RUN} AND runnable_id = ? ORDER BY run LIMIT`;
const CLAIM_ONE = claim(`= (${OLDEST} 1)`);
const CLAIM_SOME = claim(`IN (${OLDEST} ?)`);

/** So many runs are claimed one by one. A list costs SQLite 25 µs once, and 5 µs less for each run. */
const ONE_BY_ONE = 5;

/** Claims the oldest queued runs. Their slots are already taken; those without a run are given back. */
export function claimOldest(claimer: Claimer, runnable: Runnable, count: number): void {
  const { core, tx, admission, claims } = claimer;
  const { id, ownerId } = runnable;
  const rows = claimRows(claimer, runnable, count);
  for (const row of rows) {
    tx.runsMoved(ownerId, { from: 'queued', to: 'running' });
    tx.runsOpened(id, -1);
    core.throttles.began(runnable, tx.nowMs);
    const emission = readEmission(core, number(row, 'entry'));
    claims.runs.push(toClaimedRun(row, { runnable, emission, isAwaitedElsewhere: false }));
  }
  for (let unused = rows.length; unused < count; unused++) admission.dropRun(id);
}

/** Returns the claimed rows, oldest first. */
function claimRows({ core, tx }: Claimer, { id, deploymentId }: Runnable, count: number): Row[] {
  const values = [deploymentId, tx.nowMs, core.boot, id];
  if (count > ONE_BY_ONE) {
    return core.writer.all(CLAIM_SOME, ...values, count).sort((a, b) => number(a, 'run') - number(b, 'run'));
  }
  const rows: Row[] = [];
  while (rows.length < count) {
    const row = core.writer.get(CLAIM_ONE, ...values);
    if (!row) break;
    rows.push(row);
  }
  return rows;
}

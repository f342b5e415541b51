// Runs that wait: how a wait begins, and by what it ends. A run that waits is a row and nothing else; when its wait ends it
// is queued as every other one.

import type { WaitOf, WaitStore } from '../../contract/waits.ts';
import { number, text } from '../../rows/cells.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import type { Transaction } from '../log/transaction.ts';
import { CANCEL_RUNS } from '../partial-index.ts';

/** What was ordered of a run before it waits. `stop`: its owner cancels it, whatever it begins to wait for. */
interface Early {
  readonly order: 'resume' | 'cancel' | 'stop';
  readonly request: string | null;
}

export const STOP = earlyText({ order: 'stop', request: null });

function earlyText(early: Early): string {
  return JSON.stringify(early);
}

export function waitVerbs(core: Core): Omit<WaitStore, 'waitingRun'> {
  return {
    endWaits: (limit) => core.batch.write((tx) => endWaits(core, tx, limit)),
    resumeRun: (of, order, request) => core.batch.write((tx) => resumeRun(core, tx, { of, order, request })),
  };
}

function endWaits(
  core: Core,
  tx: Transaction,
  limit: number,
): { queued: number; cancelled: readonly number[]; isMore: boolean } {
  const due = core.writer.all(
    `SELECT run, owner_id, runnable_id, wait_kind FROM runs
      WHERE state = 'waiting' AND due_at_ms <= ? ORDER BY due_at_ms, run LIMIT ?`,
    tx.nowMs,
    limit,
  );
  const cancelled: number[] = [];
  for (const row of due) {
    const to = row.wait_kind === 'suspend' ? 'cancelled' : 'queued';
    endWait(core, tx, { row, to, request: null });
    if (to === 'cancelled') cancelled.push(number(row, 'run'));
  }
  return { queued: due.length - cancelled.length, cancelled, isMore: due.length === limit };
}

interface EndOfWait {
  /** Of a run that waits. */
  readonly row: Row;
  readonly to: 'queued' | 'cancelled';
  readonly request: string | null;
}

function endWait(core: Core, tx: Transaction, { row, to, request }: EndOfWait): void {
  const run = number(row, 'run');
  if (to === 'cancelled') {
    core.writer.run(`${CANCEL_RUNS} WHERE run = ?`, tx.nowMs, run);
  } else {
    core.writer.run(
      "UPDATE runs SET state = 'queued', wait_kind = NULL, due_at_ms = NULL, resumed = ? WHERE run = ?",
      request,
      run,
    );
    tx.runsOpened(text(row, 'runnable_id'), 1);
  }
  tx.runMoved(text(row, 'owner_id'), { from: 'waiting', to });
}

interface Ordered {
  readonly of: WaitOf;
  readonly order: 'resume' | 'cancel';
  readonly request: string | null;
}

function resumeRun(core: Core, tx: Transaction, { of, order, request }: Ordered): 'taken' | 'over' | undefined {
  const row = core.writer.get(
    'SELECT run, owner_id, runnable_id, state, waits, wait_kind, early FROM runs WHERE run = ?',
    of.run,
  );
  if (!row) return undefined;
  const waits = number(row, 'waits');
  if (row.state === 'waiting') {
    if (waits !== of.waits || row.wait_kind === 'retry') return 'over';
    endWait(core, tx, { row, to: order === 'cancel' ? 'cancelled' : 'queued', request });
    return 'taken';
  }
  const mayBegin = (row.state === 'running' || row.state === 'queued') && waits + 1 === of.waits;
  if (!mayBegin || row.early !== null) return 'over';
  core.writer.run('UPDATE runs SET early = ? WHERE run = ?', earlyText({ order, request }), of.run);
  return 'taken';
}

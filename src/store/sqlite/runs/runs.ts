// Runs: the verbs, and of them rescuing and cancelling.

import type { RunState } from '../../../domain/run/run.ts';
import { bytesOfEnd } from '../../../domain/run/run-end.ts';
import type { Claims, RunStore } from '../../contract/store.ts';
import { rescueDeliveries } from '../../log/deliveries.ts';
import { finishRun, NO_SLOTS, releaseRuns } from '../../log/finish-run.ts';
import { rescueRuns } from '../../log/rescue-runs.ts';
import { text } from '../../rows/cells.ts';
import type { Core } from '../core.ts';
import { SqliteDeliveryPort } from '../deliveries/delivery-port.ts';
import { SqliteLogWriter } from '../log/log-writer.ts';
import type { Transaction } from '../log/transaction.ts';
import { CANCEL_RUNS } from '../partial-index.ts';
import { claimRuns } from './claim-runs.ts';
import { STOP } from './waits.ts';

export function runVerbs(core: Core): Omit<RunStore, 'listRuns' | 'getRun'> {
  return {
    finishRun: (end, admission) =>
      core.batch.write(
        (tx) => finishRun(new SqliteLogWriter(core, tx, admission), end),
        end.runnableId,
        bytesOfEnd(end),
      ),
    claimRuns: (limit, admission) =>
      core.batch.write((tx) => claimRuns(core, new SqliteLogWriter(core, tx, admission), limit)),
    releaseRuns: (leases) => core.batch.write((tx) => releaseRuns(new SqliteLogWriter(core, tx, NO_SLOTS), leases)),
    cancelRun: (ownerId, run) => core.batch.write((tx) => cancelRun(core, tx, { ownerId, run })),
    rescue: (admission) => core.batch.write((tx) => rescue(new SqliteLogWriter(core, tx, admission))),
  };
}

function rescue(w: SqliteLogWriter): { runs: number; deliveries: number; claims: Claims } {
  const runs = rescueRuns(w);
  const deliveries = rescueDeliveries(new SqliteDeliveryPort(w));
  return { runs, deliveries, claims: w.claims };
}

function cancelRun(core: Core, tx: Transaction, which: { ownerId: string; run: number }): RunState | undefined {
  const { ownerId, run } = which;
  const row = core.writer.get('SELECT state, runnable_id FROM runs WHERE run = ? AND owner_id = ?', run, ownerId);
  if (!row) return undefined;
  const state = text<RunState>(row, 'state');
  // For the case that it begins to wait, or is queued again, before it hears of this.
  if (state === 'running') core.writer.run('UPDATE runs SET early = ? WHERE run = ?', STOP, run);
  if (state !== 'queued' && state !== 'waiting') return state;
  core.writer.run(`${CANCEL_RUNS} WHERE run = ?`, tx.nowMs, run);
  tx.runMoved(ownerId, { from: state, to: 'cancelled' });
  if (state === 'queued') tx.runsOpened(text(row, 'runnable_id'), -1);
  return 'cancelled';
}

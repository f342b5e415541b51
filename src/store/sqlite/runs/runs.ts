// Runs: the verbs, and of them rescuing, cancelling, listing.

import { utf8 } from '../../../domain/bytes.ts';
import { errorIn } from '../../../domain/failure.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Via } from '../../../domain/resource.ts';
import type { RunState } from '../../../domain/run/run.ts';
import { bytesOfEnd } from '../../../domain/run/run-end.ts';
import type { Claims, RunStore } from '../../contract/store.ts';
import { rescueDeliveries } from '../../log/deliveries.ts';
import { finishRun, NO_SLOTS, releaseRuns } from '../../log/finish-run.ts';
import { rescueRuns } from '../../log/rescue-runs.ts';
import { bytes, number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import type { Core } from '../core.ts';
import { SqliteDeliveryPort } from '../deliveries/delivery-port.ts';
import { causesOf } from '../log/log.ts';
import { SqliteLogWriter } from '../log/log-writer.ts';
import { toRunRecord } from '../log/rows.ts';
import type { Transaction } from '../log/transaction.ts';
import { readPage } from '../pages.ts';
import { CANCEL_RUNS } from '../partial-index.ts';
import { claimRuns } from './claim-runs.ts';
import { STOP } from './waits.ts';

const RUN_COLUMNS = `run, runnable_id, deployment_id, state, attempt, entry, started_at_ms, ended_at_ms, runs.summary,
  error_entry, error_code, origin_id, emissions.name, flags, wait_kind, due_at_ms`;
/** Emissions of one run that its record tells the receipts of. */
const MAX_CAUSES = 100;

export function runVerbs(core: Core): RunStore {
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
    rescue: (admission) => core.batch.write((tx) => rescue(new SqliteLogWriter(core, tx, admission))),
    cancelRun: (ownerId, run) => core.batch.write((tx) => cancelRun(core, tx, { ownerId, run })),

    listRuns: async ({ ownerId, runnableId, state }, page) => {
      const where = ['runnable_id = ?', 'runs.owner_id = ?'];
      const values = [runnableId, ownerId];
      if (state !== undefined) {
        // Spelled out for `failed`, so that the partial index over failed runs serves.
        where.push(state === 'failed' ? "state = 'failed'" : 'state = ?');
        if (state !== 'failed') values.push(state);
      }
      const listing = {
        from: 'runs JOIN emissions USING (entry)',
        countFrom: 'runs',
        columns: RUN_COLUMNS,
        key: 'run',
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(core.reader, listing, { page, map: (row) => toRunRecord(row, core.storeTag) });
    },

    getRun: async (ownerId, run) => {
      const row = core.reader.get(
        `SELECT ${RUN_COLUMNS}, detail, body, cause_run, emissions.summary AS cause_summary, via FROM runs JOIN emissions USING (entry)
          WHERE run = ? AND runs.owner_id = ?`,
        run,
        ownerId,
      );
      if (!row) return undefined;
      return {
        ...toRunRecord(row, core.storeTag),
        event: bytes(row, 'body'),
        detail: textOrNull(row, 'detail'),
        errorBody: errorObject(core, numberOrNull(row, 'error_entry')),
        causedByRun: numberOrNull(row, 'cause_run'),
        causeSummary: textOrNull(row, 'cause_summary'),
        causes: causesOf(core, { run, via: text<Via>(row, 'via') }, MAX_CAUSES),
      };
    },
  };
}

/** The `error` object of an `$errors` emission. */
function errorObject(core: Core, errorEntry: number | null): Uint8Array | null {
  if (errorEntry === null) return null;
  const row = core.reader.get(
    'SELECT body, original_start, original_length FROM emissions WHERE entry = ?',
    errorEntry,
  );
  if (!row) return null;
  const behind = number(row, 'original_start') + number(row, 'original_length') + 1;
  return utf8(JSON.stringify(errorIn(bytes(row, 'body').subarray(behind))));
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

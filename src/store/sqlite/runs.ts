// Runs: ending, claiming, handing back, rescuing, cancelling, listing.

import { type RunEnd, withSuppressed } from '../../domain/end.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Runnable, Via } from '../../domain/resource.ts';
import type { RunLease, RunState } from '../../domain/run.ts';
import type { Admission, Claims, Finished, RunStore } from '../store.ts';
import type { Core } from './core.ts';
import type { Row } from './database.ts';
import { answerText, causesOf } from './log.ts';
import { readPage } from './pages.ts';
import { OPEN_RUN } from './partial.ts';
import { rescueDeliveries } from './rescue.ts';
import { toEmission, toRunRecord } from './rows.ts';
import { applySource } from './source-memory.ts';
import type { Transaction } from './transaction.ts';
import { claimsOf, failRun, takeRun, type Writing, writeEmission, writing } from './write.ts';

const RUN_COLUMNS = `run, runnable_id, deployment_id, state, attempt, entry, started_at_ms, ended_at_ms, runs.summary,
  error_entry, error_code, origin_id, emissions.name, flags`;
/** Two, so that a queue shrinks also while new hands are free. */
const HANDED_OVER = 2;
/** Emissions of one run that its record tells the receipts of. */
const MAX_CAUSES = 100;

export function runVerbs(core: Core): RunStore {
  return {
    finishRun: (end, admission) => core.batch.write((tx) => finishRun(core, writing(tx, admission), end)),
    claimRuns: (limit, admission) => core.batch.write((tx) => claimRuns(core, writing(tx, admission), limit)),
    releaseRuns: (leases) => core.batch.write((tx) => releaseRuns(core, tx, leases)),
    rescue: (admission) => core.batch.write((tx) => rescue(core, tx, admission)),
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
        `SELECT ${RUN_COLUMNS}, detail, body, cause_run, via FROM runs JOIN emissions USING (entry)
          WHERE run = ? AND runs.owner_id = ?`,
        run,
        ownerId,
      );
      if (!row) return undefined;
      return {
        ...toRunRecord(row, core.storeTag),
        event: row.body as Uint8Array,
        detail: row.detail as string | null,
        errorBody: errorObject(core, row.error_entry as number | null),
        causedByRun: row.cause_run as number | null,
        causes: causesOf(core, { run, via: row.via as Via }, MAX_CAUSES),
      };
    },
  };
}

/** The `error` object of an `$errors` emission: the part behind the original event is ours, and small. */
function errorObject(core: Core, errorEntry: number | null): Uint8Array | null {
  if (errorEntry === null) return null;
  const row = core.reader.get(
    'SELECT body, original_start, original_length FROM emissions WHERE entry = ?',
    errorEntry,
  );
  if (!row) return null;
  const behind = (row.original_start as number) + (row.original_length as number) + 1;
  const rest = JSON.parse(`{${Buffer.from(row.body as Uint8Array).toString('utf8', behind)}`) as { error: unknown };
  return Buffer.from(JSON.stringify(rest.error));
}

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
    "SELECT owner_id, runnable_id FROM runs WHERE run = ? AND fence = ? AND boot = ? AND state = 'running'",
    run,
    fence,
    core.boot,
  );
}

function finishRun(core: Core, w: Writing, end: RunEnd): Finished {
  const { run } = end.lease;
  const held = heldRun(core, end.lease);
  if (!held) return LOST;
  const ownerId = held.owner_id as string;
  if (end.state === 'queued') {
    queueAgain(core, w, { run, ownerId, runnableId: held.runnable_id as string, alone: end.again === 'alone' });
    return { held: true, claims: claimsOf(w), errorEntry: null };
  }
  w.tx.runMoved(ownerId, { from: 'running', to: end.state });
  const { source } = end;
  const { emissions, suppressed } = source
    ? applySource(core, w, { source, emissions: end.emissions })
    : { emissions: end.emissions, suppressed: 0 };
  const entries = emissions.map((e) => writeEmission(core, w, e).emission.entry);
  const errorEntry = end.fault === null ? null : (entries.at(-1) ?? null);
  core.writer.run(
    `UPDATE runs SET state = ?, ended_at_ms = ?, summary = ?, error_entry = ?, error_code = ?, detail = ? WHERE run = ?`,
    end.state,
    end.endedAtMs,
    end.summary,
    errorEntry,
    end.fault?.code ?? null,
    suppressed === 0 ? end.detail : withSuppressed(end, suppressed),
    run,
  );
  if (end.answer) core.writer.run('UPDATE idempotency SET answer = ? WHERE run = ?', answerText(end.answer), run);
  handOver(core, w, held.runnable_id as string);
  return { held: true, claims: claimsOf(w), errorEntry };
}

interface Again {
  readonly run: number;
  readonly ownerId: string;
  readonly runnableId: string;
  /** A bystander of a crash: its attempt counts, and the next one has a process to itself. */
  readonly alone: boolean;
}

function queueAgain(core: Core, w: Writing, again: Again): void {
  const { run, ownerId, runnableId, alone } = again;
  // Its workflow may have been deleted meanwhile.
  const state = core.routes.runnable(runnableId) ? 'queued' : 'cancelled';
  core.writer.run(
    `UPDATE runs SET state = ?, started_at_ms = NULL, ended_at_ms = ?, alone = max(alone, ?), attempt = attempt + ?
      WHERE run = ?`,
    state,
    state === 'cancelled' ? w.tx.nowMs : null,
    alone ? 1 : 0,
    alone ? 1 : 0,
    run,
  );
  w.tx.runMoved(ownerId, { from: 'running', to: state });
  if (state === 'cancelled') return;
  w.tx.runsOpened(runnableId, 1);
  w.runsWaiting = true;
}

/** The hands that a run's end freed take the next of the same workflow or source with them, without a tick between. */
function handOver(core: Core, w: Writing, runnableId: string): void {
  for (let taken = 0; taken < HANDED_OVER && w.tx.runsWaiting(runnableId) > 0; taken++) {
    const runnable = core.routes.runnable(runnableId);
    if (!runnable || !takeRun(w, runnable)) return;
    claimOldest(core, w, { runnable, count: 1 });
  }
}

function claimOldest(core: Core, w: Writing, of: { runnable: Runnable; count: number }): void {
  const { runnable, count } = of;
  const rows = core.writer.all(
    `SELECT run, entry, via, subscription_id, attempt, fence, alone FROM runs
      WHERE state = 'queued' AND ${OPEN_RUN} AND runnable_id = ? ORDER BY run LIMIT ?`,
    runnable.id,
    count,
  );
  for (const row of rows) w.runs.push(claimRun(core, w, { row, runnable }));
  for (let unused = rows.length; unused < count; unused++) w.admission.dropRun(runnable.id);
}

function claimRuns(core: Core, w: Writing, limit: number): Claims {
  const granted = grantInTurn(core, w, limit);
  for (const [runnable, count] of granted) claimOldest(core, w, { runnable, count });
  return claimsOf(w);
}

/**
 * How many runs each workflow or source may start now: one each in turn, until nobody may or the limit is reached.
 * Who was served goes to the end of the line, so that small claims are in turn too.
 */
function grantInTurn(core: Core, w: Writing, limit: number): Map<Runnable, number> {
  const granted = new Map<Runnable, number>();
  let rest = limit;
  let candidates = [...core.openRuns.counts.keys()].flatMap((id) => core.routes.runnable(id) ?? []);
  while (candidates.length > 0) {
    candidates = candidates.filter((runnable) => {
      const count = granted.get(runnable) ?? 0;
      if (count >= w.tx.runsWaiting(runnable.id)) return false;
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
  return granted;
}

function claimRun(core: Core, w: Writing, found: { row: Row; runnable: Runnable }): Writing['runs'][number] {
  const { row, runnable } = found;
  const run = row.run as number;
  const fence = (row.fence as number) + 1;
  core.writer.run(
    "UPDATE runs SET state = 'running', fence = ?, boot = ?, deployment_id = ?, started_at_ms = ? WHERE run = ?",
    fence,
    core.boot,
    runnable.deploymentId,
    w.tx.nowMs,
    run,
  );
  w.tx.runMoved(runnable.ownerId, { from: 'queued', to: 'running' });
  w.tx.runsOpened(runnable.id, -1);
  const emission = core.writer.get('SELECT * FROM emissions WHERE entry = ?', row.entry as number) as Row;
  return {
    run,
    fence,
    runnable,
    emission: toEmission(emission, core.storeTag),
    via: row.via as Via,
    subscriptionId: row.subscription_id as string | null,
    attempt: row.attempt as number,
    alone: row.alone === 1,
    isAwaitedElsewhere: false,
    carried: null,
    resumed: null,
  };
}

function releaseRuns(core: Core, tx: Transaction, leases: readonly RunLease[]): void {
  const w = writing(tx, NOBODY);
  for (const { run, fence } of leases) {
    const held = heldRun(core, { run, fence });
    if (!held) continue;
    const { owner_id: ownerId, runnable_id: runnableId } = held as { owner_id: string; runnable_id: string };
    queueAgain(core, w, { run, ownerId, runnableId, alone: false });
  }
}

function rescue(
  core: Core,
  tx: Transaction,
  admission: Admission,
): { runs: number; deliveries: number; claims: Claims } {
  const w = writing(tx, admission);
  const lost = core.writer.all(
    `SELECT run, owner_id, runnable_id, entry, attempt, rescues FROM runs
      WHERE state = 'running' AND ${OPEN_RUN} AND boot < ?`,
    core.boot,
  );
  for (const row of lost) rescueRun(core, w, row);
  const deliveries = rescueDeliveries(core, tx);
  return { runs: lost.length, deliveries, claims: claimsOf(w) };
}

function rescueRun(core: Core, w: Writing, row: Row): void {
  const run = row.run as number;
  const ownerId = row.owner_id as string;
  const runnable = core.routes.runnable(row.runnable_id as string);
  const isLast = (row.rescues as number) + 1 >= LIMITS.rescues;
  const state: RunState = runnable ? (isLast ? 'failed' : 'queued') : 'cancelled';
  core.writer.run(
    'UPDATE runs SET state = ?, rescues = rescues + 1, attempt = attempt + ?, fence = fence + 1, started_at_ms = NULL, ended_at_ms = ? WHERE run = ?',
    state,
    state === 'queued' ? 1 : 0,
    state === 'queued' ? null : w.tx.nowMs,
    run,
  );
  w.tx.runMoved(ownerId, { from: 'running', to: state });
  if (!runnable) return;
  if (!isLast) {
    w.tx.runsOpened(runnable.id, 1);
    return;
  }
  const emission = core.writer.get('SELECT * FROM emissions WHERE entry = ?', row.entry as number) as Row;
  const fault = {
    code: 'WorkerLost',
    msg: `The server stopped ${LIMITS.rescues} times while this run was under way; it is not tried again by itself.`,
    cellId: '',
    namespace: '',
    tsMs: w.tx.nowMs,
    stack: '',
  };
  const attempt = row.attempt as number;
  failRun(core, w, { emission: toEmission(emission, core.storeTag), runnable, run, attempt, fault });
}

function cancelRun(core: Core, tx: Transaction, which: { ownerId: string; run: number }): RunState | undefined {
  const { ownerId, run } = which;
  const row = core.writer.get('SELECT state, runnable_id FROM runs WHERE run = ? AND owner_id = ?', run, ownerId);
  if (!row) return undefined;
  const state = row.state as RunState;
  if (state !== 'queued' && state !== 'waiting') return state;
  core.writer.run("UPDATE runs SET state = 'cancelled', ended_at_ms = ? WHERE run = ?", tx.nowMs, run);
  tx.runMoved(ownerId, { from: state, to: 'cancelled' });
  if (state === 'queued') tx.runsOpened(row.runnable_id as string, -1);
  return 'cancelled';
}

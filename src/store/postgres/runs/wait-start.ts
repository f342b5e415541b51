// How a wait begins: the segment of a run is over, the run is not. Its row stays, with what it keeps; an order that came
// before, while the run was still running, is carried out with it.

import { ERRORS } from '../../../domain/emission.ts';
import type { RunEnd } from '../../../domain/run/run-end.ts';
import type { WaitStart } from '../../../domain/run/wait.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Pass } from '../log/batch-planner.ts';

/** What was ordered of a run before it waits. */
export interface Early {
  readonly order: 'resume' | 'cancel';
  /** JSON text. */
  readonly request: string | null;
}

/** A run that waits from now on, or is queued at once. */
export interface BegunWait {
  readonly run: number;
  readonly state: 'waiting' | 'queued';
  readonly attempt: number;
  readonly wait: WaitStart;
  readonly resumed: string | null;
  readonly summary: string | null;
  readonly detail: string | null;
}

/** `row`: of the lease. Counts what has become of it, but not in its line. */
export function beginWait(pass: Pass, row: Row, end: RunEnd): 'waiting' | 'queued' | 'cancelled' {
  const { wait } = end;
  if (!wait) throw new Error(`run ${end.lease.run} is to wait, and nobody says for what`);
  const ownerId = row.owner_id as string;
  const early = earlyOf(row, wait);
  // Its workflow may have been deleted meanwhile, or its owner has asked for its end.
  const isOver = row.cancel_asked === true || !pass.runnable(ownerId, row.runnable_id as string);
  const state = isOver || early?.order === 'cancel' ? 'cancelled' : early ? 'queued' : 'waiting';
  const errors = end.emissions.filter(({ name }) => name === ERRORS).length;
  pass.ledger.count(ownerId, FURTHER_ERRORS, errors);
  pass.ledger.moved(ownerId, 'runs', { from: 'running', to: state });
  if (state === 'cancelled') return state;
  const attempt = attemptBehind(row, wait);
  const { summary, detail } = end;
  pass.plan.waits.push({ run: end.lease.run, state, attempt, wait, resumed: early?.request ?? null, summary, detail });
  return state;
}

/** A retry counts as an attempt when it begins to wait. */
export function attemptBehind(row: Row, { kind }: WaitStart): number {
  return (row.attempt as number) + (kind === 'retry' ? 1 : 0);
}

/** Before a retry, what was to go on failed first; who wanted it cancelled was told that it will be. */
function earlyOf(row: Row, { kind }: WaitStart): Early | null {
  if (row.early === null) return null;
  const early = JSON.parse(row.early as string) as Early;
  return kind === 'retry' && early.order === 'resume' ? null : early;
}

/** Sends one statement, or none. */
export function sendWaits(tx: Tx, waits: readonly BegunWait[]): void {
  if (waits.length === 0) return;
  void tx.query(
    `UPDATE open_runs AS o SET state = u.state, attempt = u.attempt, waits = u.waits, wait_kind = u.kind,
        due_at_ms = u.due, resumed = u.resumed, early = NULL, carried = u.carried, summary_so_far = u.summary,
        detail_so_far = u.detail, node = NULL, lease_until_ms = NULL
      FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::text[],
        $9::text[], $10::text[]) AS u (run, state, attempt, waits, kind, due, resumed, carried, summary, detail)
      WHERE o.run = u.run AND o.run = ANY($1::bigint[])`,
    arrayLiteral(waits.map(({ run }) => run)),
    arrayLiteral(waits.map(({ state }) => state)),
    arrayLiteral(waits.map(({ attempt }) => attempt)),
    arrayLiteral(waits.map(({ wait }) => wait.waits)),
    arrayLiteral(waits.map(({ state, wait }) => (state === 'waiting' ? wait.kind : null))),
    arrayLiteral(waits.map(({ state, wait }) => (state === 'waiting' ? wait.dueAtMs : null))),
    arrayLiteral(waits.map(({ resumed }) => resumed)),
    arrayLiteral(waits.map(({ wait }) => wait.carried)),
    arrayLiteral(waits.map(({ summary }) => summary)),
    arrayLiteral(waits.map(({ detail }) => detail)),
  );
}

// How a wait is written that a run begins: the segment of the run is over, the run is not, so its row stays.

import type { BegunWait } from '../../log/port.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';

export interface PlannedWait extends BegunWait {
  readonly run: number;
}

/** Sends one statement, or none. */
export function sendWaits(tx: Tx, waits: readonly PlannedWait[]): void {
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
    arrayLiteral(waits.map(({ reported }) => reported.summary)),
    arrayLiteral(waits.map(({ reported }) => reported.detail)),
  );
}

// What became of a commit whose answer was lost. Each transaction that writes leaves a mark behind: its number, counted by
// its lane, in the lane's own row. Whoever asks later reads there how far the lane has come.
//
// The transaction's id, which the database could be asked about (pg_xact_status), does not tell: after a crash or a failover
// the id of a transaction that was lost is given again, to another one, which commits. (With it, one of eight failovers under
// load took a transaction for committed that was not there.) It only tells that the transaction is not over yet.

import type { Row, Value } from './values.ts';

/** Sent right before the commit: nobody waits for it. One that a network has held up does not take back a later one. */
const LEAVE = `INSERT INTO marks (lane, n) VALUES ($1, $2::bigint)
  ON CONFLICT (lane) DO UPDATE SET n = greatest(marks.n, excluded.n), at = now()`;

/** A write: it waits for a transaction that is just leaving its mark, and for the standby to have what came before. */
const READ = 'UPDATE marks SET n = n WHERE lane = $1 RETURNING n';

/** Of processes that have ended: nobody asks for them any more. */
export const FORGET = "DELETE FROM marks WHERE at < now() - interval '1 day'";

/** Of an id that the database has never given, as it is after a failover. */
const NEVER_GIVEN = '22023';

/** One statement of its own. */
export type Ask = (sql: string, ...values: Value[]) => Promise<Row[]>;

export type Outcome = 'committed' | 'aborted' | 'unknown';

export class Marks {
  readonly #lane: string;
  #last = 0;

  /** `lane`: a name that no other lane has ever had. */
  constructor(lane: string) {
    this.#lane = lane;
  }

  /** The next transaction's, which `send` leaves with it. */
  leave(send: (sql: string, values: readonly Value[]) => unknown): number {
    this.#last++;
    send(LEAVE, [this.#lane, this.#last]);
    return this.#last;
  }

  /** `xid`: undefined when even that was not heard; then nobody can tell that it is over. */
  async outcomeOf(ask: Ask, of: { mark: number; xid: string | undefined }): Promise<Outcome> {
    // In this order: a transaction that is over now has left its mark, or never will.
    const isOver = of.xid !== undefined && (await isTransactionOver(ask, of.xid));
    const [row] = await ask(READ, this.#lane);
    if (row?.n === of.mark) return 'committed';
    return isOver ? 'aborted' : 'unknown';
  }
}

async function isTransactionOver(ask: Ask, xid: string): Promise<boolean> {
  try {
    const [row] = await ask('SELECT pg_xact_status($1::text::xid8) AS status', xid);
    return row?.status !== 'in progress';
  } catch (error) {
    if ((error as { code?: unknown }).code === NEVER_GIVEN) return true;
    throw error;
  }
}

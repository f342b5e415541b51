// Tells what became of a commit whose answer was lost. Each transaction that writes leaves a mark behind: its number, counted
// by its connection, in the connection's own row. The number that stands there later is that of the last commit.
//
// The transaction's id, which the database could be asked about (pg_xact_status), does not tell: after a crash or a failover
// the id of a transaction that was lost is given again, to another one, which commits. (With it, one of eight failovers under
// load took a transaction for committed that was not there.) It only tells that the transaction is not over yet.

import type { Row, Value } from './values.ts';

/** Sent right before the commit and not awaited. A statement that the network delays does not overwrite a later one. */
const LEAVE = `INSERT INTO commit_markers (connection, n) VALUES ($1, $2::bigint)
  ON CONFLICT (connection) DO UPDATE SET n = greatest(commit_markers.n, excluded.n), at = now()`;

/** A write: it waits for a transaction that is just leaving its mark, and for the standby to have what came before. */
const READ = 'UPDATE commit_markers SET n = n WHERE connection = $1 RETURNING n';

/** Deletes the rows of processes that have ended: no process asks for them any more. */
export const FORGET = "DELETE FROM commit_markers WHERE at < now() - interval '1 day'";

/** Of an id that the database has never given, as it is after a failover. */
const NEVER_GIVEN = '22023';

/** One statement of its own. */
export type Ask = (sql: string, ...values: Value[]) => Promise<Row[]>;

export type Outcome = 'committed' | 'aborted' | 'unknown';

export class CommitMarkers {
  readonly #connection: string;
  #last = 0;

  /** `connection`: a name that no other connection has ever had. */
  constructor(connection: string) {
    this.#connection = connection;
  }

  /** The next transaction's, which `send` leaves with it. */
  leave(send: (sql: string, values: readonly Value[]) => unknown): number {
    this.#last++;
    send(LEAVE, [this.#connection, this.#last]);
    return this.#last;
  }

  /** `xid`: undefined when its answer was lost, too; then it is unknown whether the transaction is over. */
  async outcomeOf(ask: Ask, of: { mark: number; xid: string | undefined }): Promise<Outcome> {
    // In this order: a transaction that is over now has left its mark, or never will.
    const isOver = of.xid !== undefined && (await isTransactionOver(ask, of.xid));
    const [row] = await ask(READ, this.#connection);
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

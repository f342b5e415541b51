// Finds the outcome of a commit whose answer was lost. Each writing transaction stores a mark: its number, counted by its
// connection, in the connection's own row. That row later has the number of the last commit.
//
// The status of the transaction's id (pg_xact_status) is not enough: after a crash or failover, the id of a lost transaction is
// given to another one, which commits. (With it, one of eight failovers under load took a lost transaction for committed.) It
// only tells whether the transaction is still in progress.

import type { Row, Value } from './values.ts';

/** Sent right before the commit and not awaited. A statement that the network delays does not overwrite a later mark. */
const LEAVE = `INSERT INTO commit_markers (connection, n) VALUES ($1, $2::bigint)
  ON CONFLICT (connection) DO UPDATE SET n = greatest(commit_markers.n, excluded.n), at = now()`;

/** An UPDATE: it waits for a transaction that is storing its mark, and for the standby to have what came before. */
const READ = 'UPDATE commit_markers SET n = n WHERE connection = $1 RETURNING n';

/** Deletes the rows of processes that have ended. */
export const FORGET = "DELETE FROM commit_markers WHERE at < now() - interval '1 day'";

/** SQLSTATE for an id that the database has never given, as after a failover. */
const NEVER_GIVEN = '22023';

/** Runs one statement outside of a transaction. */
export type RunStatement = (sql: string, ...values: Value[]) => Promise<Row[]>;

export type CommitOutcome = 'committed' | 'aborted' | 'unknown';

export class CommitMarkers {
  readonly #connection: string;
  #last = 0;

  /** `connection`: a name that no other connection has ever had. */
  constructor(connection: string) {
    this.#connection = connection;
  }

  /** Sends the mark of the next transaction, and returns its number. */
  leave(send: (sql: string, values: readonly Value[]) => unknown): number {
    this.#last++;
    send(LEAVE, [this.#connection, this.#last]);
    return this.#last;
  }

  /** Returns the outcome of a transaction. `xid`: undefined when it was lost, too; then it is unknown whether it is over. */
  async outcomeOf(run: RunStatement, of: { mark: number; xid: string | undefined }): Promise<CommitOutcome> {
    // The order matters: a transaction that is over now has stored its mark, or never will.
    const isOver = of.xid !== undefined && (await isTransactionOver(run, of.xid));
    const [row] = await run(READ, this.#connection);
    if (row?.n === of.mark) return 'committed';
    return isOver ? 'aborted' : 'unknown';
  }
}

async function isTransactionOver(run: RunStatement, xid: string): Promise<boolean> {
  try {
    const [row] = await run('SELECT pg_xact_status($1::text::xid8) AS status', xid);
    return row?.status !== 'in progress';
  } catch (error) {
    if ((error as { code?: unknown }).code === NEVER_GIVEN) return true;
    throw error;
  }
}

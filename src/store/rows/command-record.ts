// The audit record of a command on a whole store (`errand store rekey`, `move`), for both databases. The transaction of the
// command writes it, without the store's verbs, into the log of the first owner, which is the operator's.

export interface CommandRecord {
  readonly id: string;
  /** The caller of the command. */
  readonly label: string;
  /** In the form of an `operationId`. */
  readonly operation: string;
  readonly command: string;
  readonly atMs: number;
}

/**
 * Returns the statement that records a command. `place`: the placeholder of the nth value, from 1. A store without owners has
 * no log, and gets no record.
 */
export function insertCommandRecord(
  record: CommandRecord,
  place: (n: number) => string,
): { readonly sql: string; readonly values: readonly (string | number)[] } {
  const { id, label, operation, command, atMs } = record;
  const [ofId, ofLabel, ofOperation, ofCommand] = [1, 2, 3, 4].map((n) => `CAST(${place(n)} AS text)`);
  const sql = `INSERT INTO audit (id, owner_id, key_id, key_label, by_owner_id, operation, target_id, method, path, client_ip,
      request_id, status, count, at_ms)
    SELECT ${ofId}, id, NULL, ${ofLabel}, NULL, ${ofOperation}, NULL, 'COMMAND', ${ofCommand}, '', '', 200, 1,
      CAST(${place(5)} AS bigint)
    FROM owners ORDER BY id LIMIT 1`;
  return { sql, values: [id, label, operation, command, atMs] };
}

// A record of the audit log of what a command does to a whole store (`errand store rekey`, `move`): it is written by the
// transaction that does it, where none of the store's verbs are, so its statement stands here for both databases. It stands
// in the log of the first owner, who is the operator's.

export interface CommandRecord {
  readonly id: string;
  /** Who called the command. */
  readonly label: string;
  /** As an `operationId`. */
  readonly operation: string;
  readonly command: string;
  readonly atMs: number;
}

/** `place`: how the database writes the nth value, from 1. A store without owners has no log, and gets no record. */
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

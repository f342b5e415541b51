// Idempotency keys of a batch: new ones are inserted, and expired ones renewed.

import { LIMITS } from '../../../domain/limits.ts';
import type { Idempotency } from '../../contract/store.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';

/**
 * A key that is there is not locked (DO UPDATE would, whatever its WHERE says): the end of its run writes the answer into its row
 * behind the queue of the workflow, and the batch that has the key again may be about to lock that queue.
 */
const TAKE = `WITH given AS (SELECT t, k FROM unnest($1::text[], $2::text[]) AS u (t, k) ORDER BY t, k),
  expired AS (SELECT i.trigger_id, i.key FROM given JOIN idempotency AS i ON i.trigger_id = t AND i.key = k
    WHERE i.trigger_id = ANY($1::text[]) AND i.key = ANY($2::text[]) AND i.expires_at_ms <= $4::bigint
    ORDER BY i.trigger_id, i.key FOR UPDATE OF i),
  renewed AS (UPDATE idempotency AS i SET entry = 0, run = NULL, answer = NULL, request_hash = NULL, expires_at_ms = $3::bigint
    FROM expired AS e WHERE i.trigger_id = e.trigger_id AND i.key = e.key
      AND i.trigger_id = ANY($1::text[]) AND i.key = ANY($2::text[])
    RETURNING i.trigger_id, i.key),
  made AS (INSERT INTO idempotency (trigger_id, key, entry, expires_at_ms) SELECT t, k, 0, $3::bigint FROM given
    ON CONFLICT (trigger_id, key) DO NOTHING RETURNING trigger_id, key)
  SELECT trigger_id, key FROM renewed UNION ALL SELECT trigger_id, key FROM made`;

const READ = `SELECT i.trigger_id, i.key, i.entry, i.run, i.answer, i.request_hash
  FROM unnest($1::text[], $2::text[]) AS u (t, k) JOIN idempotency AS i ON i.trigger_id = u.t AND i.key = u.k
  WHERE i.trigger_id = ANY($1::text[]) AND i.key = ANY($2::text[])`;

/** Takes keys for this transaction. Returns those that it has inserted or renewed (`won`), and the rows of all. */
export async function takeKeys(
  tx: Tx,
  keys: readonly Idempotency[],
  nowMs: number,
): Promise<{ won: readonly Row[]; rows: readonly Row[] }> {
  const triggers = arrayLiteral(keys.map(({ triggerId }) => triggerId));
  const names = arrayLiteral(keys.map(({ key }) => key));
  const [won, rows] = await Promise.all([
    tx.query(TAKE, triggers, names, nowMs + LIMITS.idempotencyMs, nowMs),
    tx.query(READ, triggers, names),
  ]);
  return { won, rows };
}

// The row of `meta` with the key that seals this store's secrets. Several processes may start at once with different keys: each
// replaces only the value that it has read. Running processes have the key in memory.

import { StoreUnavailable } from '../../contract/unavailable.ts';
import { text } from '../../rows/cells.ts';
import { type CommandRecord, insertCommandRecord } from '../../rows/command-record.ts';
import {
  isOpenedWith,
  openSealKey,
  type Rekeying,
  rewrapped,
  SEAL_KEY,
  type SealKey,
  type SecretKey,
} from '../../seal/seal-key.ts';
import type { Pool } from '../connection/pool.ts';

/** The kept key as it was read, and opened. */
export interface CheckedKey {
  readonly kept: string;
  readonly opened: SealKey;
}

interface OperatorKeys {
  readonly secretKeys?: readonly SecretKey[];
  readonly keyRecord?: CommandRecord;
}

interface Replacement {
  /** The wrapped key. */
  readonly to: string;
  readonly record: CommandRecord | undefined;
}

/** The most rounds in which another process was first: no more processes start at once with different keys. */
const MAX_ROUNDS = 10;

const REPLACE = 'UPDATE meta SET value = $3 WHERE name = $1 AND value = $2 RETURNING name';

/** Reads and opens the kept key; null: there is none yet, or not even a table. Throws `SecretKeyRefused`; writes nothing. */
export async function checkSealKey(pool: Pool, keys: readonly SecretKey[]): Promise<CheckedKey | null> {
  const kept = await keptIfAny(pool);
  return kept === null ? null : { kept, opened: openSealKey(kept, keys) };
}

/** Returns the store's key, and wraps or makes it if needed; a replaced key is recorded. `checked`: the result of `checkSealKey`. */
export async function settleSealKey(
  pool: Pool,
  { secretKeys: keys = [], keyRecord }: OperatorKeys,
  checked: CheckedKey | null,
): Promise<SealKey> {
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const kept = await keptSealKey(pool);
    const opened = checked !== null && checked.kept === kept ? checked.opened : openSealKey(kept, keys);
    const { replacement: to, replaces } = opened;
    if (to === null || (await replace(pool, kept, { to, record: replaces === null ? undefined : keyRecord })))
      return opened;
  }
  throw new StoreUnavailable('the key that seals the secrets of this store changes all the time: start again');
}

/**
 * Wraps the kept key with `to`. Returns false when `to` opens it already: a call that was killed may have done it, and the next
 * one still has the old keys. Throws `StoreUnavailable` when none of `keys` opens it.
 */
export async function rekeyPostgres(pool: Pool, { keys, to, record }: Rekeying): Promise<boolean> {
  const kept = await keptIfAny(pool);
  if (isOpenedWith(kept, to)) return false;
  if (kept === null) throw new StoreUnavailable('no server was ever started on the store in this database');
  if (await replace(pool, kept, { to: rewrapped(kept, keys, to), record })) return true;
  // That of a killed call may have gone on in the database, and has let this one wait.
  if (isOpenedWith(await keptSealKey(pool), to)) return false;
  throw new StoreUnavailable('another process replaced the key at the same time: call the command again');
}

/** Returns the kept key; null: there is none yet, or not even a table. */
async function keptIfAny(pool: Pool): Promise<string | null> {
  const [row] = await pool.all("SELECT to_regclass('meta') IS NOT NULL AS is_there");
  return row?.is_there === true ? await keptSealKey(pool) : null;
}

async function keptSealKey(pool: Pool): Promise<string | null> {
  const row = await pool.get('SELECT value FROM meta WHERE name = $1', SEAL_KEY);
  return row ? text(row, 'value') : null;
}

/** Replaces the kept key, and writes the record with it. Returns false when another process has replaced it. */
async function replace(pool: Pool, kept: string | null, { to, record }: Replacement): Promise<boolean> {
  if (kept === null) {
    const insert = 'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING name';
    return (await pool.write(insert, SEAL_KEY, to)).length > 0;
  }
  if (record === undefined) return (await pool.write(REPLACE, SEAL_KEY, kept, to)).length > 0;
  const { sql, values } = insertCommandRecord(record, (n) => `$${n + 3}`);
  const replaced = await pool.write(
    `WITH replaced AS (${REPLACE}), owners AS (SELECT owners.id FROM owners, replaced), noted AS (${sql})
      SELECT name FROM replaced`,
    ...[SEAL_KEY, kept, to, ...values],
  );
  return replaced.length > 0;
}

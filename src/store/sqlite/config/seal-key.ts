// The row of `meta` with the key that seals this store's secrets.

import type { Log } from '../../../ports.ts';
import { type CommandRecord, insertCommandRecord } from '../../rows/command-record.ts';
import {
  isOpenedWith,
  isWrapped,
  openSealKey,
  REPLACED,
  type Rekeying,
  rewrapped,
  SEAL_KEY,
  type SealKey,
  type SecretKey,
} from '../../seal/seal-key.ts';
import { type Connection, openDatabase } from '../database.ts';
import { readMeta, writeMeta } from '../meta.ts';

export interface OperatorKeys {
  /** The first one wraps the store's key. Empty: there is none. */
  readonly secretKeys?: readonly SecretKey[];
  /** Makes a key for a new store, and saves it for the next start before it returns. */
  readonly makeSecretKey?: () => SecretKey;
  /** The audit record of a start that replaces the key; none: it is not recorded. */
  readonly keyRecord?: CommandRecord;
  readonly log?: Log;
}

/** Reads the kept key; null: there is none yet, or no table. */
export function keptSealKey(connection: Connection): string | null {
  if (!connection.get("SELECT 1 FROM sqlite_schema WHERE name = 'meta'")) return null;
  return readMeta(connection, SEAL_KEY);
}

/** Opens a wrapped key; null: there is none. Throws `SecretKeyRefused`; writes nothing. */
export function checkSealKey(connection: Connection, { secretKeys = [] }: OperatorKeys): SealKey | null {
  const kept = keptSealKey(connection);
  return kept !== null && isWrapped(kept) ? openSealKey(kept, secretKeys) : null;
}

/** Returns the store's key, and wraps or makes it if needed; a replaced key is logged and recorded. `checked`: the result of `checkSealKey`. */
export function settleSealKey(writer: Connection, keys: OperatorKeys, checked: SealKey | null): Uint8Array {
  const { secretKeys = [], makeSecretKey, keyRecord, log } = keys;
  const made = checked === null && secretKeys.length === 0 ? makeSecretKey?.() : undefined;
  const opened = checked ?? openSealKey(keptSealKey(writer), made ? [made] : secretKeys);
  const { key, replacement, replaces } = opened;
  if (replacement !== null) write(writer, replacement, replaces === null ? undefined : keyRecord);
  if (replaces !== null) log?.warn({ replaced: replaces, by: secretKeys[0]?.from }, REPLACED);
  return key;
}

/** Writes the wrapped key, with the record, in one transaction. */
function write(writer: Connection, wrapped: string, record: CommandRecord | undefined): void {
  writer.run('BEGIN IMMEDIATE');
  writeMeta(writer, SEAL_KEY, wrapped);
  if (record !== undefined) {
    const { sql, values } = insertCommandRecord(record, () => '?');
    writer.run(sql, ...values);
  }
  writer.run('COMMIT');
}

/**
 * Wraps the kept key with `to`. Returns false when `to` opens it already: a call that was killed may have done it, and the next
 * one still has the old keys. Throws `StoreUnavailable` when a server runs, or none of `keys` opens it.
 */
export function rekeySqlite(path: string, { keys, to, record }: Rekeying): boolean {
  const isDone = (connection: Connection): boolean => isOpenedWith(keptSealKey(connection), to);
  const { writer, close } = openDatabase(path, (connection) => {
    if (!isDone(connection)) checkSealKey(connection, { secretKeys: keys });
  });
  try {
    if (isDone(writer)) return false;
    const wrapped = rewrapped(keptSealKey(writer), keys, to);
    write(writer, wrapped, record);
    return true;
  } finally {
    close();
  }
}

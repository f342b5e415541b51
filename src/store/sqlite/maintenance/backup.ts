// `errand store backup`: the whole store as one file, of one moment, while a server may be running on it. VACUUM INTO
// writes it, from a connection of its own: the server's waits for nothing. Copying pages (sqlite3_backup) would begin again
// with every write of the server. The copy can give free pages back (space.ts), also when the store cannot.

import { chmod, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { countRows, type Figures } from '../../check/checks.ts';
import { StoreUnavailable } from '../../contract/store.ts';
import { openedWith, type SecretKey } from '../../seal/seal-key.ts';
import { keptSealKey } from '../config/seal-key.ts';
import type { Connection } from '../database.ts';
import { flush } from '../flush.ts';
import { openToRead, readerOf } from './check.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { canShrink } from './space.ts';

export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  readonly schema: number;
  readonly integrity: 'ok';
  /** Rows, by fact of the ledger. */
  readonly kept: Figures;
  /** The key that opens its secrets, which is not in the copy. */
  readonly opens_with: string;
}

/**
 * Writes a backup. It gets its name once it is whole and checked. Throws `StoreUnavailable` when the file exists, or cannot be
 * written.
 */
export async function backupSqlite(path: string, file: string, keys: readonly SecretKey[] = []): Promise<BackupReport> {
  await refuseExisting(file);
  const partial = `${file}.${process.pid}.partial`;
  const source = openToRead(path);
  try {
    await reserve(partial);
    copy(source, partial);
    const checked = await checkCopy(partial, keys);
    await flush(partial);
    await refuseExisting(file);
    await rename(partial, file);
    await flush(dirname(file));
    const { size: bytes } = await stat(file);
    return { file, bytes, schema: SCHEMA_VERSION, integrity: 'ok', ...checked };
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {}); // the first error says more
    throw error;
  } finally {
    source.close();
  }
}

async function refuseExisting(file: string): Promise<void> {
  const isThere = await lstat(file).then(
    () => true,
    () => false,
  );
  if (isThere)
    throw new StoreUnavailable(`${file} is there already, and a backup overwrites nothing: name another file`);
}

/** Creates the file, readable by this user alone, before anything is in it. */
async function reserve(partial: string): Promise<void> {
  try {
    await (await open(partial, 'wx', 0o600)).close();
    await chmod(partial, 0o600);
  } catch (error) {
    throw new StoreUnavailable(`no file can be written there: ${(error as Error).message}`, { cause: error });
  }
}

function copy(source: Connection, partial: string): void {
  try {
    // Changes nothing of the source. Of a store that has it already, it would be a write.
    if (!canShrink(source)) source.exec('PRAGMA auto_vacuum = INCREMENTAL');
    source.db.prepare('VACUUM INTO ?').run(partial);
  } catch (error) {
    throw new StoreUnavailable(`the copy could not be written: ${(error as Error).message}`, { cause: error });
  }
}

async function checkCopy(
  partial: string,
  keys: readonly SecretKey[],
): Promise<Pick<BackupReport, 'kept' | 'opens_with'>> {
  const copied = openToRead(partial);
  try {
    const result = copied.get('PRAGMA integrity_check(1)')?.integrity_check;
    if (result !== 'ok') {
      throw new StoreUnavailable(`the store is damaged, and so is every copy of it: ${result}. See errand store check`);
    }
    return { kept: await countRows(readerOf(copied)), opens_with: openedWith(keptSealKey(copied), keys) };
  } finally {
    copied.close();
  }
}

// `errand store salvage`: copies what can be read of a damaged SQLite store into a new one, which passes every check and can be
// used by a server. The damaged files are only read. The file is read with its WAL and without it, and the reading with more rows
// is used: if a WAL was partly copied into the file and then lost its end, it mixes pages of different moments, and the file alone
// is whole.

import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../../make-folder.ts';
import type { TellProgress } from '../../../ports.ts';
import type { Finding } from '../../check/checks.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { refuseUnknownSchema } from '../../schema-version.ts';
import type { SecretKey } from '../../seal/seal-key.ts';
import { withLock } from '../database.ts';
import { placeOf } from '../file-access.ts';
import { flush } from '../flush.ts';
import { checkSqlite } from '../maintenance/check.ts';
import { MIGRATIONS } from '../maintenance/schema.ts';
import { describeFiles } from './damage.ts';
import { readHeader } from './header.ts';
import type { SalvageRepair } from './ledger.ts';
import {
  readDamaged,
  removeStore,
  type SalvageAttempt,
  type SalvagedStore,
  sizeOf,
  type TableReport,
} from './reading.ts';

export interface SalvageReport {
  readonly from: string;
  /** The new store. */
  readonly file: string;
  /** The visible damage. */
  readonly damage: readonly string[];
  /** The reading that was used; `readings` has the result of each. */
  readonly wal: 'used' | 'ignored';
  readonly readings: readonly { readonly wal: 'used' | 'ignored'; readonly rows: number; readonly reason?: string }[];
  readonly tables: Readonly<Record<string, TableReport>>;
  readonly repairs: readonly SalvageRepair[];
  /** False: the secrets are lost with the key that sealed them. */
  readonly secrets: boolean;
  /** The result of `errand store check` on the new store. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

export interface Salvage {
  /** The damaged store. */
  readonly path: string;
  /** The file of the new store; its folder is created, or must be empty. */
  readonly file: string;
  /** The operator's keys, to check that they open what is sealed. */
  readonly keys: readonly SecretKey[];
  readonly tell?: TellProgress;
  /** Called when the new store is made, before it has its name: what a server needs beside it. */
  readonly beside?: () => Promise<void>;
  /** Names of what `beside` makes. */
  readonly besideNames?: readonly string[];
}

const WAYS = ['used', 'ignored'] as const;

/** Salvages a store. Throws `StoreUnavailable` when there is none, a server uses it, the new folder is not empty, or nothing can be read. */
export async function salvageSqlite(salvage: Salvage): Promise<SalvageReport> {
  const { file, keys, tell, beside } = salvage;
  const path = placeOf(salvage.path);
  if (!existsSync(path)) throw new StoreUnavailable(`there is no store at ${path}`);
  return withLock(path, async () => {
    await makeEmptyFolder(salvage);
    const { schemaVersion } = readHeader(path);
    if (schemaVersion !== null && schemaVersion < 1000) refuseUnknownSchema(schemaVersion, MIGRATIONS, path);
    const damage = describeFiles(path);
    const ways = sizeOf(`${path}-wal`) > 0 ? WAYS : (['ignored'] as const);
    const tried = ways.map((wal, n) => {
      const share: TellProgress = (text, done) => tell?.(text, ((done ?? 0) + n) / ways.length);
      return { wal, ...tryReading({ path, place: `${file}.${wal}`, withWal: wal === 'used', tell: share }) };
    });
    const best = tried.reduce((a, b) => ((b.read?.rows ?? -1) > (a.read?.rows ?? -1) ? b : a));
    const readings = tried.map(({ wal, read, reason }) => ({ wal, rows: read?.rows ?? 0, ...(reason && { reason }) }));
    if (!best.read || best.read.rows === 0) {
      for (const { read } of tried) if (read) removeStore(read.file);
      throw new StoreUnavailable(
        `nothing can be read of ${path}: ${[...damage, ...readings.flatMap(({ reason }) => reason ?? [])].join('; ')}. Restore the newest backup`,
      );
    }
    for (const { read } of tried) if (read && read !== best.read) removeStore(read.file);
    // Before the store: a server that found it without its keys would not open what is sealed.
    await beside?.();
    await putInPlace(best.read.file, file);
    const { ok, findings } = await checkSqlite(file, keys, tell);
    const { tables, repairs, isSealKeyThere: secrets } = best.read;
    return { from: path, file, damage, wal: best.wal, readings, tables, repairs, secrets, ok, findings };
  });
}

/** Makes the folder of the new store. What a salvage left there that was killed is removed; the store itself is never overwritten. */
async function makeEmptyFolder({ file, besideNames = [] }: Salvage): Promise<void> {
  const folder = dirname(file);
  const isLeft = (name: string): boolean => WAYS.some((wal) => name.startsWith(`${basename(file)}.${wal}.`));
  try {
    await makeFolder(folder, 0o700);
    const names = await readdir(folder);
    const left = names.filter(isLeft);
    // Keys alone may be the operator's.
    const isOurs = left.length > 0 && names.every((name) => isLeft(name) || besideNames.includes(name));
    if (isOurs) for (const name of left) await rm(join(folder, name), { force: true });
    if (isOurs || names.length === 0) return;
  } catch (error) {
    throw new StoreUnavailable(`${folder} cannot be made: ${(error as Error).message}`, { cause: error });
  }
  throw new StoreUnavailable(`${folder} is not empty, and nothing is overwritten: name a new folder`);
}

function tryReading(attempt: SalvageAttempt): { read?: SalvagedStore; reason?: string } {
  try {
    return { read: readDamaged(attempt) };
  } catch (error) {
    removeStore(`${attempt.place}.new`);
    return { reason: (error as Error).message };
  }
}

/** Gives the new store its name once it is on disk. */
async function putInPlace(made: string, file: string): Promise<void> {
  await flush(made);
  await rename(made, file);
  await rm(`${made}-lock`, { force: true });
  await flush(dirname(file));
}

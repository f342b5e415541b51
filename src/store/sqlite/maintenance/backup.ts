// `errand store backup`: the whole store as one file, of one moment, while a server may be running on it. VACUUM INTO
// writes it, in a thread and on a connection of its own: the server's waits for nothing, and the growing file tells how far it is. Copying pages (sqlite3_backup) would begin again
// with every write of the server. The copy can give free pages back (space.ts), also when the store cannot.

import { rmSync } from 'node:fs';
import { chmod, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { TellProgress } from '../../../ports.ts';
import { countRows, type Figures } from '../../check/checks.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { number, present } from '../../rows/cells.ts';
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
export async function backupSqlite(
  path: string,
  file: string,
  keys: readonly SecretKey[] = [],
  tell?: TellProgress,
): Promise<BackupReport> {
  await refuseExisting(file);
  await removeAbandoned(file);
  const partial = partialOf(file, process.pid);
  const source = openToRead(path);
  try {
    const listening = removeWhenInterrupted(partial);
    try {
      await reserve(partial);
      await copy(source, { path, file, partial, tell });
    } finally {
      // The check stops this thread: a signal ends it at once, and the next backup to the same file removes what is left.
      listening.end();
    }
    tell?.('checking the copy', null);
    const checked = await checkCopy(partial, keys);
    await flush(partial);
    await refuseExisting(file);
    await rename(partial, file);
    await flush(dirname(file));
    const { size: bytes } = await stat(file);
    return { file, bytes, schema: SCHEMA_VERSION, integrity: 'ok', ...checked };
  } catch (error) {
    removePartial(partial);
    throw error;
  } finally {
    source.close();
  }
}

const partialOf = (file: string, pid: number): string => `${file}.${pid}.partial`;

/** Removes what backups to the same file have left that were killed. In a container all of them had the id of this process. */
async function removeAbandoned(file: string): Promise<void> {
  const names = await readdir(dirname(file)).catch(() => []);
  for (const name of names) {
    const [, pid] = /^\.(\d+)\.partial(-journal)?$/.exec(name.slice(basename(file).length)) ?? [];
    if (pid === undefined || !name.startsWith(basename(file)) || isAlive(Number(pid))) continue;
    await rm(join(dirname(file), name), { force: true });
  }
}

/** Removes a copy that is not whole, with SQLite's journal of it. Fails silently: what has happened before says more. */
function removePartial(partial: string): void {
  for (const end of ['', '-journal']) {
    try {
      rmSync(`${partial}${end}`, { force: true });
    } catch {
      // The next backup to the same file removes it.
    }
  }
}

/** Removes the copy before a signal ends the process: the thread that writes it cannot be stopped. */
function removeWhenInterrupted(partial: string): { end(): void } {
  const interrupted = (signal: NodeJS.Signals): void => {
    removePartial(partial);
    process.kill(process.pid, signal);
  };
  for (const signal of ENDING) process.once(signal, interrupted);
  return {
    end: () => {
      for (const signal of ENDING) process.off(signal, interrupted);
    },
  };
}

/** Returns whether another process has the id. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
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

/** `PRAGMA auto_vacuum` changes nothing of the source. Of a store that has it already, it would be a write. */
const WORK = `
  const { DatabaseSync } = require('node:sqlite');
  const { workerData: { path, partial, canShrink } } = require('node:worker_threads');
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  if (!canShrink) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  db.prepare('VACUUM INTO ?').run(partial);
  db.close();`;
const LOOK_MS = 100;
const ENDING = ['SIGINT', 'SIGTERM'] as const;

interface Copying {
  readonly path: string;
  readonly file: string;
  readonly partial: string;
  readonly tell: TellProgress | undefined;
}

async function copy(source: Connection, { path, file, partial, tell }: Copying): Promise<void> {
  const workerData = { path, partial, canShrink: canShrink(source) };
  const worker = new Worker(WORK, { eval: true, workerData, execArgv: ['--no-warnings'], env: {}, name: 'backup' });
  const ended = Promise.withResolvers<void>();
  worker.on('error', ended.reject);
  worker.on('exit', ended.resolve);
  const over = new AbortController();
  const looking = watchSize({ partial, bytes: usedBytes(source), tell, signal: over.signal });
  try {
    await ended.promise;
  } catch (error) {
    throw new StoreUnavailable(`the copy ${file} could not be written: ${(error as Error).message}`, { cause: error });
  } finally {
    over.abort();
    await looking;
  }
}

/** Tells how much of the copy is there, until the signal. */
async function watchSize(of: Omit<Copying, 'path' | 'file'> & { bytes: number; signal: AbortSignal }): Promise<void> {
  const { partial, bytes, tell, signal } = of;
  while (tell && !signal.aborted) {
    const { size } = await stat(partial).catch(() => ({ size: 0 }));
    tell(`copied ${mebibytes(size)} of ${mebibytes(bytes)} MiB`, Math.min(1, size / bytes));
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns how large the store is without its free pages. */
function usedBytes(source: Connection): number {
  const read = (name: string): number => number(present(source.get(`PRAGMA ${name}`)), name);
  return (read('page_count') - read('freelist_count')) * read('page_size');
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
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

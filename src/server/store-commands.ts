// The operations of `errand store`, on the store that the settings name. The driver for Postgres is loaded on demand.

import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { CliError, EXIT } from '../cli/shell/exit.ts';
import type { MoveReport, StoreCommands, StoreTelling } from '../cli/store.ts';
import { whyHidden } from '../closed-path.ts';
import { throwNaming } from '../named-path.ts';
import type { TellProgress } from '../ports.ts';
import type { ExportedStore } from '../store/contract/export.ts';
import type { Import } from '../store/postgres/move/import.ts';
import type { Imported } from '../store/postgres/move/import-tables.ts';
import type { SecretKey } from '../store/seal/seal-key.ts';
import { rekeySqlite } from '../store/sqlite/config/seal-key.ts';
import { backupSqlite } from '../store/sqlite/maintenance/backup.ts';
import { checkSqlite } from '../store/sqlite/maintenance/check.ts';
import { openExport } from '../store/sqlite/maintenance/export.ts';
import { unmarkMoved } from '../store/sqlite/maintenance/moved.ts';
import { type SalvageReport, salvageSqlite } from '../store/sqlite/salvage/salvage.ts';
import { type Config, ConfigError, dataPaths } from './config.ts';
import { databaseLabel, readDatabaseUrl } from './database-url.ts';
import { commandRecord } from './real-ports.ts';
import { secretKeysOf } from './secret-key.ts';
import { readSecretKey } from './settings/readers.ts';

const REPORT_EVERY_MS = 200;
const AFTER_UNDO =
  'before a server starts on the SQLite store, stop all servers on that database, and start none there again: both would do the same work. What the database has accepted since the move stays there';

export function createStoreCommands(config: Config): StoreCommands {
  const { store: path } = dataPaths(config.dataDir);
  const { databaseUrl } = config;
  return {
    backup: async (file, tell) => {
      if (databaseUrl !== null) throw new CliError(adviceFor(databaseUrl, file));
      refuseMissing(path);
      return backupSqlite(path, resolve(file), secretKeysOf(config), tell);
    },

    check: async (tell) => {
      if (databaseUrl === null) refuseMissing(path);
      const keys = secretKeysOf(config);
      const { ok, ...report } =
        databaseUrl === null ? await checkSqlite(path, keys, tell) : await checkDatabase(databaseUrl, keys, tell);
      return { ok, store: labelOf(config), ...report };
    },

    move: (to, telling) => move(config, targetOf(to, databaseUrl), telling),

    undoMove: async () => {
      refuseMissing(path);
      const from = unmarkMoved(path);
      if (from === null) throw new CliError(`the store ${path} was not moved`);
      return { store: path, undone: from, next: AFTER_UNDO };
    },

    salvage: (of, tell) => salvage(config, { dir: of.dir ?? config.dataDir, to: of.to }, tell),

    rekey: async (text) => {
      const to = newKeyOf(text);
      const keys = secretKeysOf(config);
      if (databaseUrl === null) refuseMissing(path);
      const rekeyed =
        databaseUrl === null
          ? rekeySqlite(path, { keys, to, record: commandRecord('rekeyStore', 'errand store rekey') })
          : await rekeyDatabase(databaseUrl, keys, to);
      return { store: labelOf(config), rekeyed, opens_with: 'the new key' };
    },
  };
}

/** Copies keys, too: a server can start on the new folder as it is. */
async function salvage(
  config: Config,
  { dir, to }: { readonly dir: string; readonly to: string },
  tell: TellProgress,
): Promise<SalvageReport & { readonly next: string }> {
  if (resolve(dir) === resolve(to))
    throw new CliError('--to names the damaged store itself: give it a new folder', EXIT.usage);
  const [from, made] = [dataPaths(dir), dataPaths(to)];
  refuseMissing(from.store);
  const keys = keysIn({ ...config, dataDir: dir, databaseUrl: null });
  const copied = [
    [from.secretKey, made.secretKey],
    [from.apiKey, made.apiKey],
  ] as const;
  const report = await salvageSqlite({
    ...{ path: resolve(from.store), file: resolve(made.store), keys, tell },
    beside: async () => {
      for (const [old, name] of copied) if (existsSync(old)) await copyKey(old, name);
    },
    besideNames: copied.map(([, name]) => basename(name)),
  });
  return { ...report, next: `start a server with ERRAND_DATA_DIR=${to}` };
}

/** Copies a key. That of a salvage which was killed is there already; another one is never overwritten. */
async function copyKey(old: string, name: string): Promise<void> {
  const there = await readFile(name).catch(() => null);
  const key = await readFile(old);
  // Cut off: it was killed while it copied.
  if (there && !key.subarray(0, there.length).equals(there))
    throw new CliError(`${name} is another key: name a new folder`);
  await writeFile(name, key, { mode: 0o600, flush: true }).catch(throwNaming(name));
}

function refuseMissing(path: string): void {
  if (existsSync(path)) return;
  const why = whyHidden(path);
  if (why !== null) throw new CliError(why);
  throw new CliError(`there is no store at ${path}`, EXIT.notFound);
}

/** Ignores a file without a key: the check reports it as damage. */
function keysIn(config: Config): SecretKey[] {
  try {
    return secretKeysOf(config);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

/** Returns the command for a backup of Postgres. Without the password: pg_dump asks for it, or reads PGPASSWORD or ~/.pgpass. */
function adviceFor(url: string, file: string): string {
  const [, scheme, user = '', rest] = /^([^:]+:\/\/)(?:([^@:/?#]*)(?::[^@/?#]*)?@)?([^?#]*)/.exec(url) ?? [];
  const bare = `${scheme}${user === '' ? '' : `${user}@`}${rest}`;
  const quoted = [file, bare].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return `ERRAND_DATABASE_URL is set, and Postgres has a backup of its own, of one moment and while servers run:
  pg_dump --format=custom --no-owner --file ${quoted.join(' ')}
What is secret in it opens only with ERRAND_SECRET_KEY, where servers are given one: keep that apart.`;
}

function labelOf({ databaseUrl, dataDir }: Config): string {
  return databaseUrl === null ? `SQLite in ${dataDir}` : `Postgres, ${databaseLabel(databaseUrl)}`;
}

function newKeyOf(text: string): string {
  try {
    return readSecretKey(text.trim());
  } catch (error) {
    throw new CliError(`the new key is not ${(error as Error).message}`, EXIT.usage);
  }
}

async function rekeyDatabase(url: string, keys: readonly SecretKey[], to: string): Promise<boolean> {
  const [{ Pool }, { rekeyPostgres }] = await Promise.all([
    import('../store/postgres/connection/pool.ts'),
    import('../store/postgres/config/seal-key.ts'),
  ]);
  const pool = new Pool({ url, name: 'errand store rekey', connections: 1 });
  try {
    return await reaching(rekeyPostgres(pool, { keys, to, record: commandRecord('rekeyStore', 'errand store rekey') }));
  } finally {
    await pool.close();
  }
}

async function checkDatabase(url: string, keys: readonly SecretKey[], tell: TellProgress) {
  const { checkPostgres } = await import('../store/postgres/maintenance/check.ts');
  return reaching(checkPostgres(url, keys, tell));
}

/** Throws `CliError` with an exit code of its own when the database does not answer: nothing is known of the store then. */
async function reaching<T>(work: Promise<T>): Promise<T> {
  const { isConnectionError } = await import('../store/postgres/connection/storage-error.ts');
  return work.catch((error: Error) => {
    throw isConnectionError(error.cause) ? new CliError(error.message, EXIT.unreachable) : error;
  });
}

function targetOf(to: string | null, databaseUrl: string | null): string {
  if (to === null && databaseUrl === null)
    throw new CliError('the target is missing: give --to, or set ERRAND_DATABASE_URL', EXIT.usage);
  try {
    return readDatabaseUrl(to ?? (databaseUrl as string));
  } catch (error) {
    throw new CliError(`--to: its value is not ${(error as Error).message}`, EXIT.usage);
  }
}

async function move(config: Config, url: string, { note, progress }: StoreTelling): Promise<MoveReport> {
  const { Import } = await import('../store/postgres/move/import.ts');
  const label = databaseLabel(url);
  const startedAtMs = performance.now();
  const path = dataPaths(config.dataDir).store;
  refuseMissing(path);
  // The file in the data dir is the key that a server with SQLite would use, whatever the database's settings are.
  const secretKeys = secretKeysOf(config);
  const source = openExport(path, { to: label, secretKeys });
  try {
    const record = commandRecord('moveStore', 'errand store move');
    const target = await reaching(Import.begin({ url, label, source, record }));
    try {
      if (target.isResumed) note('goes on where it was interrupted');
      const tables = await fill(target, progress);
      // Marked before servers may start on the target: they may never run on both at once.
      source.markMoved(label);
      await target.finish();
      return summary({ source, label, startedAtMs, isResumed: target.isResumed, tables });
    } catch (error) {
      note('not finished: nothing is lost, call the command again');
      throw error;
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

async function fill(target: Import, tell: TellProgress): Promise<MoveReport['tables']> {
  const counted = target.tables.map((imported) => ({ imported, rows: target.count(imported) }));
  const total = counted.reduce((sum, { rows }) => sum + rows, 0);
  const copied = createTableProgress(total, (text, share) => tell(`copied, ${text}`, share / 2));
  for (const { imported, rows } of counted) await target.copy(imported, copied(imported, rows));
  const compared = createTableProgress(total, (text, share) => tell(`compared, ${text}`, (1 + share) / 2));
  const tables: Record<string, { readonly rows: number; readonly sha256: string }> = {};
  for (const { imported, rows } of counted)
    tables[imported.table] = await target.compare(imported, compared(imported, rows));
  return tables;
}

/** Returns what tells of the rows of one table after the other. */
function createTableProgress(
  total: number,
  tell: (text: string, share: number) => void,
): (imported: Imported, rows: number) => (rows: number) => void {
  let before = 0;
  return ({ table }, rows) => {
    const begun = performance.now();
    const rowsBefore = before;
    before += rows;
    let first: number | null = null;
    let toldAt = Number.NEGATIVE_INFINITY;
    return (now) => {
      // Rows that were there before this call are not part of its speed.
      first ??= now;
      if (performance.now() - toldAt < REPORT_EVERY_MS) return;
      toldAt = performance.now();
      const perSecond = Math.round(((now - first) * 1000) / Math.max(1, toldAt - begun));
      tell(
        `${table}: ${now} of ${rows} rows, ${perSecond} rows/s`,
        Math.min(1, (rowsBefore + now) / Math.max(1, total)),
      );
    };
  };
}

interface StoreMove {
  readonly source: ExportedStore;
  readonly label: string;
  readonly startedAtMs: number;
  readonly isResumed: boolean;
  readonly tables: MoveReport['tables'];
}

function summary({ source, label, startedAtMs, isResumed, tables }: StoreMove): MoveReport {
  const tookMs = Math.round(performance.now() - startedAtMs);
  return { from: source.label, to: label, resumed: isResumed, took_ms: tookMs, tables };
}

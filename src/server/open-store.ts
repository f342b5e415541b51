// Chooses the store: SQLite in the data dir, or the Postgres that ERRAND_DATABASE_URL names.

import { existsSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { VERSION } from '../domain/version.ts';
import type { Clock, Log, Random } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import { StoreUnavailable } from '../store/contract/unavailable.ts';
import { placeOf } from '../store/sqlite/file-access.ts';
import { isUnmoved, refuseMoved } from '../store/sqlite/maintenance/moved.ts';
import { openSqliteStore, type SqliteOptions } from '../store/sqlite/open.ts';
import { damagedMessage, isDamage } from '../store/sqlite/salvage/damage.ts';
import { type Config, dataPaths } from './config.ts';
import { databaseLabel } from './database-url.ts';
import { commandRecord } from './real-ports.ts';
import { makeSecretKeyFile, secretKeysOf } from './secret-key.ts';

export interface StorePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** For tests: replaces the database's clock. */
  readonly databaseClock?: Clock;
  /** Called when it is unknown whether the latest writes are on disk. The store refuses writes then: the process must end. */
  readonly onStoreLost?: (failure: Error) => void;
}

/** Opens the store. The data dir must exist. Rejects with `StoreUnavailable`, or `ConfigError` for a file without a key. */
export async function openStore(config: Config, ports: StorePorts): Promise<Store> {
  const { clock, random, log, onStoreLost } = ports;
  const secretKeys = secretKeysOf(config);
  const keyRecord = commandRecord('rekeyStore', 'a start with ERRAND_SECRET_KEY', 'the environment');
  const { store: path, secretKey: file } = dataPaths(config.dataDir);
  if (config.databaseUrl === null) {
    const makeSecretKey = () => {
      const made = makeSecretKeyFile(file, random);
      log.info({ file }, 'made a key for the secrets of this store');
      return made;
    };
    refuseEmptied(placeOf(path), config.dataDir);
    warnOfLostStore(config, log);
    return openFile(
      { path, clock, random, log, secretKeys, makeSecretKey, keyRecord, onLost: onStoreLost },
      config.dataDir,
    );
  }
  // Loaded on demand: a server on SQLite does not pay for the driver.
  const { openPostgresStore } = await import('../store/postgres/open.ts');
  const store = await openPostgresStore({
    url: config.databaseUrl,
    clock: ports.databaseClock ?? null,
    random,
    nodeName: `${hostname()}:${process.pid}`,
    version: VERSION,
    log,
    secretKeys,
    keyRecord,
  });
  try {
    await refuseUnmoved(store, { path, label: databaseLabel(config.databaseUrl) });
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Refuses to make a new store in a database while the data dir has one that was not moved: it was forgotten, most likely. */
async function refuseUnmoved(store: Store, { path, label }: { path: string; label: string }): Promise<void> {
  if (!isUnmoved(path) || (await store.listOwners()).length > 0) return;
  throw new StoreUnavailable(
    `the database ${label} is empty, and the store ${path} was not moved into it: call errand store move. To begin with an empty store, set ERRAND_DATA_DIR to another folder`,
  );
}

/** Refuses an empty file: SQLite would treat it as a new database and delete its WAL, with everything accepted. */
function refuseEmptied(path: string, dataDir: string): void {
  if (!existsSync(path) || statSync(path).size > 0) return;
  const isNew =
    !existsSync(dataPaths(dataDir).apiKey) && !(existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0);
  if (!isNew) throw new StoreUnavailable(damagedMessage(path, dataDir));
}

/** Warns where a new store is about to be made beside the keys of another one, whose file is most likely elsewhere. */
function warnOfLostStore({ dataDir }: Config, log: Log): void {
  const { store, apiKey, secretKey } = dataPaths(dataDir);
  if (existsSync(placeOf(store)) || !existsSync(apiKey) || !existsSync(secretKey)) return;
  log.warn(
    { data_dir: dataDir },
    'this folder has the keys of an earlier store (api-key, secret-key), but no errand.db: a new, empty store is made. If the earlier one is elsewhere, stop the server, and put its errand.db and errand.db-wal in the place of the new ones',
  );
}

async function openFile(options: SqliteOptions, dataDir: string): Promise<Store> {
  const store = await openSqliteStore(options).catch((error: unknown) => {
    throw isDamage(error) ? new StoreUnavailable(damagedMessage(options.path, dataDir), { cause: error }) : error;
  });
  try {
    // Checked under the store's lock, so that the store cannot be moved meanwhile.
    refuseMoved(options.path);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

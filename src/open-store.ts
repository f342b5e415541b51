// Which store it is: SQLite in the data dir, or the Postgres that ERRAND_DATABASE_URL names.

import { hostname } from 'node:os';
import { type Config, dataPaths } from './config.ts';
import { VERSION } from './domain/version.ts';
import type { Clock, Log, Random } from './ports.ts';
import { makeSecretKeyFile, secretKeysOf } from './secret-key.ts';
import { refuseMoved } from './store/sqlite/moved.ts';
import { openSqliteStore, type SqliteOptions } from './store/sqlite/open.ts';
import type { Store } from './store/store.ts';

export interface StorePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** For tests: stands in for the database's clock. */
  readonly databaseClock?: Clock;
}

/** The data dir must exist. Rejects with `StoreUnavailable`, or `ConfigError` for a file without a key. */
export async function openStore(config: Config, ports: StorePorts): Promise<Store> {
  const { clock, random, log } = ports;
  const secretKeys = secretKeysOf(config);
  const { store: path, secretKey: file } = dataPaths(config.dataDir);
  if (config.databaseUrl === null) {
    const makeSecretKey = () => {
      const made = makeSecretKeyFile(file, random);
      log.info({ file }, 'made a key for the secrets of this store');
      return made;
    };
    return openFile({ path, clock, random, log, secretKeys, makeSecretKey });
  }
  // Loaded only here: whoever uses SQLite pays nothing for the driver.
  const { openPostgresStore } = await import('./store/postgres/open.ts');
  return openPostgresStore({
    url: config.databaseUrl,
    clock: ports.databaseClock ?? null,
    random,
    nodeName: `${hostname()}:${process.pid}`,
    version: VERSION,
    log,
    secretKeys,
  });
}

async function openFile(options: SqliteOptions): Promise<Store> {
  const store = await openSqliteStore(options);
  try {
    // Looked at under the store's lock: nobody moves it meanwhile.
    refuseMoved(options.path);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

// A SQLite store in a folder of its own: for the store's contract, and for tests of what stands on a store.

import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock, Random } from '../../../src/ports.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { openInspectable } from '../../../src/store/sqlite/open.ts';
import { type Opened, strongRandom } from '../../contract/fixtures.ts';

export interface SqliteStoreOptions {
  readonly clock: Clock;
  readonly random?: Random;
  /** Where folders are made; a folder in memory syncs at once. */
  readonly parent?: string;
  /** Receives the SQL of every statement that the store has prepared, before it closes. */
  readonly onClose?: (statements: readonly string[]) => void;
}

/** In memory where the machine has such a folder. */
export const MEMORY_FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export const newFolder = (parent = tmpdir()): Promise<string> => mkdtemp(join(parent, 'errand-store-'));

export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

export function openSqliteIn(folder: string, { clock, random = strongRandom, onClose }: SqliteStoreOptions): Store {
  const { store, statements } = openInspectable({ path: join(folder, 'errand.db'), clock, random });
  const { close } = store;
  return {
    ...store,
    close: () => {
      onClose?.(statements());
      return close();
    },
  };
}

export async function openSqlite(options: SqliteStoreOptions): Promise<Opened> {
  const folder = await newFolder(options.parent);
  let store = openSqliteIn(folder, options);
  return {
    store,
    async reopen() {
      await store.close();
      store = openSqliteIn(folder, options);
      return store;
    },
    raw: () => rawIn(folder),
    async execute(sql) {
      const db = new DatabaseSync(join(folder, 'errand.db'));
      db.exec(sql);
      db.close();
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await removeFolder(folder);
    },
  };
}

/** Every byte of the files: the database, its WAL, whatever else lies there. */
async function rawIn(folder: string): Promise<string> {
  const names = await readdir(folder);
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')))).join('\n');
}

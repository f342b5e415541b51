// Migrates a file to the schema of this program. Migrations only go forward; a file of a newer schema is not opened.

import type { DatabaseSync } from 'node:sqlite';
import { KEYS } from '../../migrations/002-keys.ts';
import { schemaFor } from '../../migrations/words.ts';
import { migrationsAfter, schemaOf } from '../../schema-version.ts';
import { FIRST } from '../migrations/001-first.ts';

export const MIGRATIONS: readonly string[] = [FIRST, schemaFor('sqlite', KEYS)];

/** The schema of this program. */
export const SCHEMA_VERSION = schemaOf(MIGRATIONS);

/** Runs each migration in its own transaction. Throws `StoreUnavailable` when the file cannot be migrated. */
export function migrate(db: DatabaseSync, path: string): void {
  const at = Number(db.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  for (const { sql, schema } of migrationsAfter(at, MIGRATIONS, path)) {
    db.exec('BEGIN IMMEDIATE');
    try {
      db.exec(sql);
      db.exec(`PRAGMA user_version = ${schema}; COMMIT`);
    } catch (error) {
      // Of a full disk SQLite rolls back itself.
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}

// Migrates a database to the schema of this program. Migrations only go forward, and each keeps what the version before needs, so
// that older processes go on while the first newer one migrates. A process does not start on a newer schema.

import { StoreUnavailable } from '../../contract/unavailable.ts';
import { KEYS } from '../../migrations/002-keys.ts';
import { schemaFor } from '../../migrations/words.ts';
import { number } from '../../rows/cells.ts';
import { migrationsAfter, schemaOf } from '../../schema-version.ts';
import { isContention, isLockTimeout } from '../connection/storage-error.ts';
import type { TransactionConnection, Tx } from '../connection/transaction-connection.ts';
import { FIRST } from '../migrations/001-first.ts';

export const MIGRATIONS: readonly string[] = [FIRST, schemaFor('postgres', KEYS)];

/** The schema of this program. */
export const SCHEMA_VERSION = schemaOf(MIGRATIONS);

/** Any other one lacks letters of some language, or does not know what a letter is. */
const ENCODING = 'UTF8';

/** The most tries of a migration: it may deadlock with running processes, and be the one that is rolled back. */
const MAX_ROUNDS = 6;
/** A lock is waited for for some seconds, and the migration of another process may take minutes: of a large table, or on a busy machine. */
const MAX_WAITS = 100;

/** Migrates. Of several processes that start at once, one migrates and the others wait. `onWait`: called when this one begins to. */
export async function migrate(connection: TransactionConnection, onWait: () => void = () => {}): Promise<void> {
  for (let round = 1, waits = 0; ; ) {
    try {
      return await migrateOnce(connection);
    } catch (error) {
      const { cause } = error as Error;
      const mayGoOn = isLockTimeout(cause) ? ++waits < MAX_WAITS : isContention(cause) && ++round <= MAX_ROUNDS;
      if (!mayGoOn) throw error;
      if (isLockTimeout(cause) && waits === 1) onWait();
    }
  }
}

function migrateOnce(connection: TransactionConnection): Promise<void> {
  return connection.transact(async (tx) => {
    const [made] = await tx.query("SELECT current_database() AS name, current_setting('server_encoding') AS encoding");
    if (made && made.encoding !== ENCODING) {
      throw new StoreUnavailable(
        `the database ${made.name} has the encoding ${made.encoding}, which cannot store all texts: create one with ENCODING '${ENCODING}' TEMPLATE template0`,
      );
    }
    await tx.query('SELECT pg_advisory_xact_lock(hashtext($1))', 'errand schema');
    await tx.query(
      'CREATE TABLE IF NOT EXISTS errand_schema (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
    );
    const [row] = await tx.query('SELECT coalesce(max(version), 0) AS version FROM errand_schema');
    const at = row ? number(row, 'version') : 0;
    for (const migration of migrationsAfter(at, MIGRATIONS, 'the database')) await apply(tx, migration);
  });
}

async function apply(tx: Tx, { sql, schema }: { sql: string; schema: number }): Promise<void> {
  for (const statement of sql.split(/;\s*$/m)) {
    if (statement.trim() !== '') await tx.query(statement);
  }
  await tx.query('INSERT INTO errand_schema (version) VALUES ($1)', schema);
}

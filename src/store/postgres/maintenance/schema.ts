// Brings a database to the schema that this program knows. Migrations only go forward, and each leaves what the program
// before it needs, so that older processes go on while the first newer one migrates. A process that finds a schema newer
// than it knows does not start.

import { StoreUnavailable } from '../../contract/store.ts';
import { isContention } from '../connection/storage-error.ts';
import type { Lane, Tx } from '../connection/transaction-connection.ts';
import { FIRST } from '../migrations/001-first.ts';
import { DELIVERY } from '../migrations/002-delivery.ts';
import { WAITS } from '../migrations/003-waits.ts';
import { ACCOUNTS } from '../migrations/004-accounts.ts';
import { LATER } from '../migrations/005-later.ts';
import { PROPS } from '../migrations/006-props.ts';
import { REQUESTS } from '../migrations/007-requests.ts';
import { CHANGES } from '../migrations/008-changes.ts';
import { CODES } from '../migrations/009-codes.ts';
import { ACCESS } from '../migrations/010-access.ts';
import { REQUEST_HASHES } from '../migrations/011-request-hashes.ts';
import { QUOTAS } from '../migrations/012-quotas.ts';
import { TICKS } from '../migrations/014-ticks.ts';

const MIGRATIONS: readonly string[] = [
  FIRST,
  DELIVERY,
  WAITS,
  ACCOUNTS,
  LATER,
  PROPS,
  REQUESTS,
  CHANGES,
  CODES,
  ACCESS,
  REQUEST_HASHES,
  QUOTAS,
  TICKS,
];

/** The schema that this program knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** A migration waits for the locks of those who work meanwhile, and they for its: often enough it is the one to give way. */
const MAX_ROUNDS = 6;

/** Several processes may start at once: one migrates, the others wait for it. */
export async function migrate(lane: Lane): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      return await migrateOnce(lane);
    } catch (error) {
      if (round === MAX_ROUNDS || !isContention((error as Error).cause)) throw error;
    }
  }
}

function migrateOnce(lane: Lane): Promise<void> {
  return lane.transact(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(hashtext($1))', 'errand schema');
    await tx.query(
      'CREATE TABLE IF NOT EXISTS errand_schema (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
    );
    const rows = await tx.query('SELECT coalesce(max(version), 0) AS version FROM errand_schema');
    const at = rows[0]?.version as number;
    if (at > SCHEMA_VERSION) {
      throw new StoreUnavailable(
        `the database has schema ${at}, and this program knows only ${SCHEMA_VERSION}: a newer Errand uses it`,
      );
    }
    for (let version = at; version < SCHEMA_VERSION; version++) await apply(tx, version);
  });
}

async function apply(tx: Tx, version: number): Promise<void> {
  for (const statement of (MIGRATIONS[version] as string).split(/;\s*$/m)) {
    if (statement.trim() !== '') await tx.query(statement);
  }
  await tx.query('INSERT INTO errand_schema (version) VALUES ($1)', version + 1);
}

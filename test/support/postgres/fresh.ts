// A database of its own for a test. Errand's schema is written once per server, into a template that the others are copies
// of: 20 ms for making one and dropping it, where writing the schema takes several times that.

import { createHash, randomBytes } from 'node:crypto';
import type { Databases } from './databases.ts';

export interface FreshDatabase {
  readonly url: string;
  /** Rejects when transactions deadlocked in it more often than they may: rows are locked in one order (src/store/postgres/log/batch-reads.ts). */
  drop(): Promise<void>;
}

export interface FreshOptions {
  readonly isBlank?: boolean;
  /** `KNOWN_PAIRS` when not given. */
  readonly mostDeadlocks?: number;
}

/** A few pairs are known to deadlock rarely, and are tried again (src/store/postgres/log/batch-reads.ts). Others do so again and again. */
const KNOWN_PAIRS = 2;

const templates = new WeakMap<Databases, Promise<string>>();

/** With Errand's schema and nothing in it, unless `isBlank`: then it is as Postgres makes it. */
export async function newDatabaseOn(
  databases: Databases,
  { isBlank = false, mostDeadlocks = KNOWN_PAIRS }: FreshOptions = {},
): Promise<FreshDatabase> {
  const name = `errand_test_${randomBytes(6).toString('hex')}`;
  await databases.createDatabase(name, isBlank ? undefined : await schemaTemplate(databases));
  const drop = async (): Promise<void> => {
    const deadlocks = await databases.deadlocksIn(name);
    await databases.dropDatabase(name);
    if (deadlocks > mostDeadlocks) {
      throw new Error(`transactions deadlocked, ${deadlocks} times:\n${await databases.lastDeadlock()}`);
    }
  };
  return { url: databases.url(name), drop };
}

function schemaTemplate(databases: Databases): Promise<string> {
  const known = templates.get(databases) ?? makeTemplate(databases);
  templates.set(databases, known);
  return known;
}

/** Named after what the migrations say: a server that outlives a run never gives out an old schema. */
async function makeTemplate(databases: Databases): Promise<string> {
  const name = `errand_schema_${await hashOfSchema()}`;
  const building = `${name}_${randomBytes(6).toString('hex')}`;
  if (await exists(databases, name)) return name;
  await databases.createDatabase(building);
  await writeSchema(databases.url(building));
  // Test files run side by side and all want it at first; whoever is second has one too many. Postgres says so by its own
  // check of the name, or, when both rename at the same moment, by the index of its catalogue: what is there decides.
  await databases.query(`ALTER DATABASE "${building}" RENAME TO "${name}"`).catch(async (error) => {
    if (!(await exists(databases, name))) throw error;
    await databases.dropDatabase(building);
  });
  return name;
}

async function exists(databases: Databases, name: string): Promise<boolean> {
  return (await databases.query(`SELECT 1 FROM pg_database WHERE datname = '${name}'`)).length > 0;
}

/** Nothing but the schema: a store that was opened would leave its node and its tag in every copy. */
async function writeSchema(url: string): Promise<void> {
  const { TransactionConnection } = await import('../../../src/store/postgres/connection/transaction-connection.ts');
  const { migrate } = await import('../../../src/store/postgres/maintenance/schema.ts');
  const connection = new TransactionConnection({ url, name: 'errand template' });
  try {
    await migrate(connection);
  } finally {
    await connection.close();
  }
}

async function hashOfSchema(): Promise<string> {
  const { MIGRATIONS } = await import('../../../src/store/postgres/maintenance/schema.ts');
  return createHash('sha256').update(MIGRATIONS.join('\n')).digest('hex').slice(0, 12);
}

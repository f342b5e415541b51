// The one server that a whole run of the tests shares. The run's global setup starts it; a test file that is run alone
// starts one for itself, which ends with its process.

import { Databases } from './databases.ts';
import { type FreshDatabase, type FreshOptions, newDatabaseOn } from './fresh.ts';
import { type PostgresServer, startPostgres } from './server.ts';

/** The URL of its administrator, for the test files of a run. May be set by hand to a server that is there already. */
export const SERVER_VARIABLE = 'TEST_POSTGRES';

/** Several files at once, and each store of theirs has connections of its own. */
const CONNECTIONS = '500';

let shared: Promise<Databases> | undefined;

export function startSharedPostgres(): Promise<PostgresServer> {
  return startPostgres({ settings: { max_connections: CONNECTIONS }, toleratesDeadlocks: true });
}

export function sharedPostgres(): Promise<Databases> {
  const url = process.env[SERVER_VARIABLE];
  shared ??= url ? Promise.resolve(new Databases(url)) : startSharedPostgres().then(({ databases }) => databases);
  return shared;
}

/** On that server, with Errand's schema and nothing in it. */
export async function newDatabase(options: FreshOptions = {}): Promise<FreshDatabase> {
  return newDatabaseOn(await sharedPostgres(), options);
}

// The number of a store's schema, for both backends: the first release makes FIRST_SCHEMA, and each later migration adds one.
// A released migration is never changed.

import { StoreUnavailable } from './contract/unavailable.ts';

/** Lower numbers are those of versions before the first release. */
const FIRST_SCHEMA = 100;

/** Returns the schema that all of these migrations make together. */
export function schemaOf(migrations: readonly string[]): number {
  return FIRST_SCHEMA + migrations.length - 1;
}

/**
 * Returns the migrations that a store still needs, each with the schema that it makes. `at`: the store's schema; 0: it is
 * empty. Throws `StoreUnavailable` when the store is of a newer version, or of one before the first release.
 */
export function migrationsAfter(
  at: number,
  migrations: readonly string[],
  store: string,
): { readonly sql: string; readonly schema: number }[] {
  refuseUnknownSchema(at, migrations, store);
  return migrations.map((sql, i) => ({ sql, schema: FIRST_SCHEMA + i })).filter(({ schema }) => schema > at);
}

/** Throws `StoreUnavailable` for a schema that this program cannot open. `store`: its place, for people. */
export function refuseUnknownSchema(at: number, migrations: readonly string[], store: string): void {
  const known = schemaOf(migrations);
  if (at > known) {
    throw new StoreUnavailable(
      `${store} has schema ${at}, and this program knows only ${known}: a newer Errand wrote it`,
    );
  }
  if (at === 0 || at >= FIRST_SCHEMA) return;
  throw new StoreUnavailable(
    `${store} has schema ${at}, made by a version before the first release: no release can open it. Start with an empty data dir or database`,
  );
}

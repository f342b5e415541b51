// A verb of the configuration, written once for a synchronous database (SQLite runs a whole verb between two others, in the
// transaction that they share) and an asynchronous one (Postgres). It is a generator that yields statements and continues
// with their rows. Statements whose result is not needed are sent ahead, so on Postgres a verb costs as many round trips as it
// reads results.
//
// An asynchronous interface for both was rejected: other verbs of the batch would run between the steps of this one.

import type { Row } from '../rows/rows.ts';
import type { Sql } from './sql.ts';

/** What a verb yields: statements whose rows it reads together, a statement without a result, or work of a backend. */
export type VerbStep =
  | { readonly kind: 'rows'; readonly statements: readonly Sql[] }
  | { readonly kind: 'send'; readonly statement: Sql }
  | { readonly kind: 'work'; readonly work: () => unknown };

export type Steps<T> = Generator<VerbStep, T, unknown>;

/** Returns the rows of each statement, in one round trip. */
export function* together(...statements: readonly Sql[]): Steps<readonly (readonly Row[])[]> {
  return (yield { kind: 'rows', statements }) as readonly (readonly Row[])[];
}

export function* all(statement: Sql): Steps<readonly Row[]> {
  const [rows = []] = yield* together(statement);
  return rows;
}

export function* get(statement: Sql): Steps<Row | undefined> {
  return (yield* all(statement))[0];
}

/** Sends a statement; when it fails, so does the transaction. */
export function* send(statement: Sql): Steps<void> {
  yield { kind: 'send', statement };
}

/** Runs work of the backend inside the transaction. */
export function* work<T>(of: () => T | Promise<T>): Steps<T> {
  return (yield { kind: 'work', work: of }) as T;
}

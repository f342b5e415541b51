// A verb of the configuration, written once for a database that answers at once (SQLite runs all of a verb between two
// others, in the transaction that they share) and for one that answers later (Postgres). It is a generator: it yields
// what it asks, and goes on with the answer. What is not waited for is sent ahead, so on Postgres a verb costs as many
// round trips as it has questions.
//
// An asynchronous interface for both was rejected: other verbs of the batch would run between the steps of this one.

import type { Row } from '../rows/rows.ts';
import type { Sql } from './sql.ts';

/** What a verb yields: statements whose rows are answered together, one that is not waited for, or work of a backend. */
export type Ask =
  | { readonly kind: 'rows'; readonly statements: readonly Sql[] }
  | { readonly kind: 'send'; readonly statement: Sql }
  | { readonly kind: 'work'; readonly work: () => unknown };

export type Steps<T> = Generator<Ask, T, unknown>;

/** Answers the rows of each statement, in one round trip. */
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

/** Does what each backend does in its own way, inside the transaction. */
export function* work<T>(of: () => T | Promise<T>): Steps<T> {
  return (yield { kind: 'work', work: of }) as T;
}

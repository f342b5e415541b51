// SQL that both databases understand, written with its values in place:
//
//   sql`UPDATE accounts SET name = ${name} WHERE id = ${id}`
//
// A value becomes a parameter; nested SQL becomes part of the statement. Differences between the databases have names
// (`FOR_UPDATE`, `isAmong`, `differs`); all else is standard SQL: `CAST (… AS BIGINT)`, `ON CONFLICT … DO UPDATE`,
// `RETURNING`, booleans as values.
//
// A query builder was tried on accounts (Kysely 0.29, which compiles for both databases): a statement costs it 3 to 7 µs,
// and this module 0.2 µs. Neither matters here. It was rejected because its queries are asynchronous, which SQLite's
// transactions cannot be (steps.ts), because its row types describe one database (a boolean is 0 or 1 in the other), and
// because a third of these statements (locks, lists as parameters, window functions) would be raw SQL in it.

export type DatabaseKind = 'sqlite' | 'postgres';

export type Cell = string | number | boolean | null | Uint8Array;

/** What comes between two texts: a value, several values, or a text for each database. */
type Part = Cell | List | RowList | Differing | Either;

interface List {
  readonly kind: 'list';
  readonly items: readonly (string | number)[];
}

type ColumnType = 'text' | 'bigint' | 'boolean';

/** Rows as a table of one statement. */
export interface RowList {
  readonly kind: 'rows';
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  readonly rows: readonly (readonly RowCell[])[];
}

type RowCell = string | number | boolean | null;

/** A part of a statement that each database has in its own words. */
export interface Differing extends Readonly<Record<DatabaseKind, string>> {
  readonly kind: 'differs';
}

/** The same with values. */
interface Either extends Readonly<Record<DatabaseKind, Sql>> {
  readonly kind: 'either';
}

/** Immutable. There is one text more than parts. */
export interface Sql {
  readonly kind: 'sql';
  readonly texts: readonly string[];
  readonly parts: readonly Part[];
}

export function sql(texts: readonly string[], ...parts: readonly (Part | Sql)[]): Sql {
  if (!parts.some(isSql)) return { kind: 'sql', texts, parts: parts as readonly Part[] };
  return concat(texts, parts);
}

/** Returns SQL without values. Never pass text that a user wrote. */
export function raw(text: string): Sql {
  return { kind: 'sql', texts: [text], parts: [] };
}

export function joined(pieces: readonly Sql[], separator: string): Sql {
  if (pieces.length === 0) return raw('');
  return concat(['', ...pieces.slice(1).map(() => separator), ''], pieces);
}

/** Returns SQL with a text for each database. */
export function differs(texts: Readonly<Record<DatabaseKind, string>>): Differing {
  return { kind: 'differs', ...texts };
}

/** Returns SQL that each database has in its own words, with values. */
export function either(pieces: Readonly<Record<DatabaseKind, Sql>>): Sql {
  return sql`${{ kind: 'either', ...pieces }}`;
}

/** Before a column: SQLite does not look rows up by it, since another condition leaves fewer. */
export const NO_KEY = differs({ sqlite: '+', postgres: '' });

/** Locks the rows of a SELECT until the transaction is over. SQLite has one writer at a time. */
export const FOR_UPDATE = differs({ sqlite: '', postgres: 'FOR UPDATE' });

/** Keeps the rows of a SELECT from being deleted until the transaction is over. */
export const FOR_KEY_SHARE = differs({ sqlite: '', postgres: 'FOR KEY SHARE' });

/** Returns the condition of `column ${isAmong(texts)}`. The list is one parameter: its length does not change the statement. */
export function isAmong(texts: readonly string[]): Sql {
  const open = differs({ sqlite: 'IN (SELECT value FROM json_each(', postgres: '= ANY (' });
  return sql`${open}${list(texts)}${differs({ sqlite: '))', postgres: '::text[])' })}`;
}

export function isAmongNumbers(numbers: readonly number[]): Sql {
  const open = differs({ sqlite: 'IN (SELECT value FROM json_each(', postgres: '= ANY (' });
  return sql`${open}${list(numbers)}${differs({ sqlite: '))', postgres: '::bigint[])' })}`;
}

export function isNotAmong(texts: readonly string[]): Sql {
  const open = differs({ sqlite: 'NOT IN (SELECT value FROM json_each(', postgres: '<> ALL (' });
  return sql`${open}${list(texts)}${differs({ sqlite: '))', postgres: '::text[])' })}`;
}

/**
 * Returns the condition of `column ${isAmongRows(select)}`. Postgres reads the rows as an array: once, in their order, before
 * anything else.
 */
export function isAmongRows(select: Sql): Sql {
  const open = differs({ sqlite: 'IN (', postgres: '= ANY (ARRAY(' });
  return sql`${open}${select}${differs({ sqlite: ')', postgres: '))' })}`;
}

/**
 * Returns the table of `SELECT … FROM ${tableOf(columns, rows)} WHERE true`. The rows are one parameter in SQLite and one for
 * each column in Postgres: their number does not change the statement. (Without the WHERE, SQLite parses ON CONFLICT as part of
 * a join.)
 */
export function tableOf(
  columns: Readonly<Record<string, ColumnType>>,
  rows: readonly Readonly<Record<string, RowCell>>[],
): RowList {
  const names = Object.keys(columns);
  const cells = rows.map((row) => names.map((name) => row[name] ?? null));
  return { kind: 'rows', columns: Object.entries(columns), rows: cells };
}

function list(items: readonly (string | number)[]): List {
  return { kind: 'list', items };
}

function isSql(part: Part | Sql): part is Sql {
  return typeof part === 'object' && part !== null && 'kind' in part && part.kind === 'sql';
}

function concat(texts: readonly string[], pieces: readonly (Part | Sql)[]): Sql {
  const allTexts: string[] = [texts[0] ?? ''];
  const allParts: Part[] = [];
  const append = (text: string): void => {
    allTexts[allTexts.length - 1] += text;
  };
  pieces.forEach((piece, i) => {
    if (isSql(piece)) {
      append(piece.texts[0] ?? '');
      piece.parts.forEach((part, n) => {
        allParts.push(part);
        allTexts.push(piece.texts[n + 1] ?? '');
      });
      append(texts[i + 1] ?? '');
    } else {
      allParts.push(piece);
      allTexts.push(texts[i + 1] ?? '');
    }
  });
  return { kind: 'sql', texts: allTexts, parts: allParts };
}

/** How a database writes parameters, lists and rows. `Value`: what its driver takes. */
export interface Dialect<Value> {
  readonly kind: DatabaseKind;
  /** Returns the placeholder of the value `n`, from 1. */
  placeholder(n: number): string;
  value(cell: Cell): Value;
  list(items: readonly (string | number)[]): Value;
  /** Returns the rows as SQL; `put` returns the placeholder of a value. */
  rows(list: RowList, put: (value: Value) => string): string;
}

export function render<Value>(statement: Sql, dialect: Dialect<Value>): { text: string; values: Value[] } {
  const values: Value[] = [];
  const put = (value: Value): string => dialect.placeholder(values.push(value));
  return { text: textOf(statement, dialect, put), values };
}

function textOf<Value>({ texts, parts }: Sql, dialect: Dialect<Value>, put: (value: Value) => string): string {
  let text = texts[0] ?? '';
  parts.forEach((part, i) => {
    if (typeof part !== 'object' || part === null || part instanceof Uint8Array) text += put(dialect.value(part));
    else if (part.kind === 'list') text += put(dialect.list(part.items));
    else if (part.kind === 'rows') text += dialect.rows(part, put);
    else if (part.kind === 'either') text += textOf(part[dialect.kind], dialect, put);
    else text += part[dialect.kind];
    text += texts[i + 1] ?? '';
  });
  return text;
}

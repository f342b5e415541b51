// The stores that growth.ts fills: what a few thousand events left in the tables is copied to earlier times, in SQL.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import postgres from 'postgres';
import { VERSION } from '../../src/domain/version.ts';
import { random } from '../../src/server/real-ports.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { Env } from '../kit/server.ts';
import { type Bounds, fill, prefill, SECRET_KEYS } from './store.ts';
import type { Flow } from './store-work.ts';

/** The tables of the log, with their keys. */
export const LOG = [
  ['emissions', 'entry'],
  ['runs', 'run'],
] as const;

/** The time of an entry of the log is its upper bits. */
const ENTRIES_PER_MS = 1024;

/** A store that no server uses while it is filled. */
export interface GrowingStore {
  readonly name: 'SQLite' | 'Postgres';
  /** The settings of a server on it. */
  readonly env: Env;
  /** Fills an empty store through its verbs. */
  fill(flow: Flow, bounds: Bounds): Promise<unknown>;
  stored(): Promise<number>;
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  columnsOf(table: string): Promise<string[]>;
  /** SQL of the text of a number with 16 digits. */
  digits(number: string): string;
  /** Writes down all that was copied. */
  settle(): Promise<void>;
}

/** Copies the newest rows of the log, at most `count` emissions, to the time before its first. */
export async function copyLog(store: GrowingStore, count: number): Promise<void> {
  const [ends] = await store.query('SELECT min(entry) AS first, max(entry) AS last FROM emissions');
  const [from] = await store.query(`SELECT entry FROM emissions ORDER BY entry DESC LIMIT 1 OFFSET ${count}`);
  const ms = Math.ceil((Number(ends?.last) - Number(ends?.first)) / ENTRIES_PER_MS) + 1;
  const moved = ['entry', 'run', 'cause_run', 'error_entry'];
  await store.query('BEGIN');
  for (const [table, key] of LOG) {
    const names = await store.columnsOf(table);
    const values = names.map((name) => (moved.includes(name) ? `${name} - ${ms * ENTRIES_PER_MS}` : name));
    await store.query(
      `INSERT INTO ${table} (${names}) SELECT ${values} FROM ${table} WHERE ${key} > ${from?.entry ?? 0} ORDER BY ${key}`,
    );
  }
  await countAgain(store);
  await store.query('COMMIT');
}

/** Counts again what was copied: emissions, errors and runs, which are all of one owner. */
async function countAgain(store: GrowingStore): Promise<void> {
  const facts = [
    ['emissions', 'SELECT count(*) FROM emissions'],
    ['errors', "SELECT count(*) FROM emissions WHERE name = '$errors'"],
    ['runs.failed', "SELECT count(*) FROM runs WHERE state = 'failed'"],
  ] as const;
  for (const [fact, counted] of facts) {
    // On Postgres a count is the sum of several rows.
    const first = store.name === 'Postgres' ? ` AND slot = (SELECT min(slot) FROM ledger WHERE fact = '${fact}')` : '';
    await store.query(`UPDATE ledger SET n = 0 WHERE fact = '${fact}'`);
    await store.query(`UPDATE ledger SET n = (${counted}) WHERE fact = '${fact}'${first}`);
  }
}

export function sqliteIn(dir: string): GrowingStore & AsyncDisposable {
  const path = join(dir, 'errand.db');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000');
  const all = (sql: string) => database.prepare(sql).all();
  return {
    name: 'SQLite',
    env: {},
    fill: (flow, bounds) => prefill(path, flow, bounds),
    stored: async () => Number(all('SELECT count(*) AS n FROM emissions')[0]?.n),
    query: async (sql) => all(sql),
    columnsOf: async (table) => all(`SELECT name FROM pragma_table_info('${table}')`).map(({ name }) => String(name)),
    digits: (number) => `printf('%016d', ${number})`,
    settle: async () => {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/** Returns the process that all processes of a database's server are children of. */
export async function postmasterOf(url: string): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  const [row] = await sql`SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid`;
  await sql.end();
  return row?.pid as number;
}

export function postgresAt(url: string): GrowingStore & AsyncDisposable {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  return {
    name: 'Postgres',
    env: { ERRAND_DATABASE_URL: url },
    fill: async (flow, bounds) => {
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const named = { nodeName: 'growth', version: VERSION, log };
      const store = await openPostgresStore({ url, clock: null, random, secretKeys: SECRET_KEYS, ...named });
      await fill(store, flow, bounds).finally(() => store.close());
    },
    stored: async () => Number((await sql`SELECT count(*) AS n FROM emissions`)[0]?.n),
    query: (text) => sql.unsafe(text),
    columnsOf: async (table) => {
      const rows = await sql`SELECT attname FROM pg_attribute
        WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;
      return rows.map(({ attname }) => String(attname));
    },
    digits: (number) => `lpad((${number})::text, 16, '0')`,
    settle: async () => {
      await sql.unsafe('VACUUM ANALYZE');
      await sql.unsafe('CHECKPOINT');
    },
    [Symbol.asyncDispose]: () => sql.end(),
  };
}

// One look at a database: a connection, and a transaction that reads one state of it and writes nothing.

import postgres from 'postgres';
import { elementsOf, listOf, SESSION, TYPES } from './values.mjs';

const CONNECT_S = 10;
const STATEMENT_MS = 20_000;
const END_S = 1;

const SETTINGS = { ...SESSION, statement_timeout: String(STATEMENT_MS), lock_timeout: String(STATEMENT_MS) };

/** `work` is given a function that runs a statement. Each look has a connection of its own: none is stale. */
export async function look(url, work) {
  const sql = postgres(url, {
    max: 1,
    connect_timeout: CONNECT_S,
    // Poolers mix sessions, so nothing is prepared, and settings are the transaction's.
    prepare: false,
    types: TYPES,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'errand' },
  });
  try {
    return await sql.begin('isolation level repeatable read read only', async (tx) => {
      const names = Object.keys(SETTINGS);
      const set = names.map((name, i) => `set_config('${name}', $${i + 1}, true)`).join(', ');
      await tx.unsafe(`SELECT ${set}`, Object.values(SETTINGS));
      return await work(async (statement) => await rowsOf(tx, statement));
    });
  } catch (error) {
    throw explained(error, url);
  } finally {
    await sql.end({ timeout: END_S });
  }
}

async function rowsOf(tx, { text, parameters, withLists = false }) {
  const rows = await tx.unsafe(text, parameters);
  if (!withLists || rows.length === 0) return [...rows];
  const columns = rows.columns.map(({ name, type }) => ({ name, type: String(type) }));
  const found = await rowsOf(tx, elementsOf(columns.map(({ type }) => type)));
  const elements = new Map(found.map(({ type, element }) => [type, element]));
  const lists = columns.filter(({ type }) => elements.has(type));
  return rows.map((row) => {
    const read = lists.map(({ name, type }) => [
      name,
      row[name] === null ? null : listOf(row[name], elements.get(type)),
    ]);
    return { ...row, ...Object.fromEntries(read) };
  });
}

/** The connection string has a password, and is never shown. */
function explained(error, url) {
  const { host, pathname } = new URL(url);
  const why = error.message || error.code;
  return Object.assign(new Error(`${host}${pathname} cannot be read: ${why}`, { cause: error }), { code: error.code });
}

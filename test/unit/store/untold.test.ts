// No secret is told: not in a log, not in an answer, not at a terminal, not at the end of a start that fails. And none can
// be read in what is kept.

import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../../support/folders/folder.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { emptyDatabase } from './place.ts';
import { onPostgres, onSqlite } from './seal/sealed.ts';
import { DATABASE_PASSWORD, provokeAll, type Told } from './untold.ts';

/** Where which of the secrets is told. */
function leaks({ secrets }: Told, texts: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  for (const [where, text] of texts) {
    for (const [what, secret] of secrets) {
      // Also without what says what it is. (Not all up to the last underscore: what is random may end with one and a letter.)
      for (const part of new Set([secret, secret.replace(/^[a-z]+_/, '')])) {
        const at = text.indexOf(part);
        if (at >= 0) found.push(`${what} in ${where}: ${text.slice(Math.max(0, at - 120), at + 20)}`);
      }
    }
  }
  return found;
}

test('on SQLite no secret is told or kept plain', async () => {
  await using folder = await createFolder();
  const told = await provokeAll(onSqlite(folder.path));
  deepEqual(leaks(told, told.said), []);
  const files = await folder.contents();
  ok([...files.keys()].some((name) => name.endsWith('errand.db-wal') || name.endsWith('errand.db')));
  deepEqual(leaks(told, files), []);
});

test('on Postgres no secret is told or kept plain', async (t) => {
  await using folder = await createFolder();
  const url = await emptyDatabase(t);
  const told = await provokeAll(onPostgres(folder.path, url.replace('postgres@', `postgres:${DATABASE_PASSWORD}@`)));
  deepEqual(leaks(told, told.said), []);
  deepEqual(leaks(told, await folder.contents()), []);
  deepEqual(leaks(told, await rowsOf(url)), []);
});

/** Every table as text; bytes as they are. */
async function rowsOf(url: string): Promise<Map<string, string>> {
  const tables = await queryOn(
    url,
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const texts = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await queryOn(url, `SELECT * FROM "${name}"`);
    const plain = (_: string, value: unknown) =>
      (value as { type?: string } | null)?.type === 'Buffer'
        ? Buffer.from((value as { data: number[] }).data).toString('latin1')
        : value;
    texts.set(name, JSON.stringify(rows, plain));
  }
  return texts;
}

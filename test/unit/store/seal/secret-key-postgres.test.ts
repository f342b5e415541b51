// The operator's key for a database that several processes share, each with a data dir of its own.

import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '../../../support/client.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { spawnErrand } from '../../../support/process.ts';
import { call } from '../command.ts';
import { emptyDatabase } from '../place.ts';
import {
  API_KEY,
  commanded,
  commandsIn,
  keyFile,
  keyIn,
  makeWebhook,
  OTHER,
  onPostgres,
  onSqlite,
  refusalOf,
  replacedAtStart,
  SETTING,
  secretOf,
} from './sealed.ts';

const ANYWHERE = { url: 'http://127.0.0.1:9/' };
const WITH = { ERRAND_SECRET_KEY: SETTING };
const WARNING = /"level":40[^\n]*the key that seals the secrets of this store is stored in the database unwrapped/;

interface Shared {
  readonly url: string;
  readonly folder: string;
  /** What the n-th process is started with. */
  readonly env: (n: number, more?: Record<string, string>) => Record<string, string>;
  readonly kept: () => Promise<string>;
}

async function shared(t: TestContext): Promise<Shared> {
  const folder = await createFolder();
  t.after(() => folder[Symbol.asyncDispose]());
  const url = await emptyDatabase(t);
  const kept = async () => String((await queryOn(url, "SELECT value FROM meta WHERE name = 'seal_key'"))[0]?.value);
  return { url, folder: folder.path, env: (n, more) => onPostgres(join(folder.path, String(n)), url, more), kept };
}

async function warnedOf(env: Record<string, string>): Promise<boolean> {
  await using errand = await spawnErrand(env);
  return WARNING.test(errand.stderr());
}

test('processes that have no key share the one in the database', async (t) => {
  const { env, kept, folder } = await shared(t);
  await using one = await spawnErrand(env(1));
  await using two = await spawnErrand(env(2));
  const { id } = await createClient(one.url, API_KEY).post('/v1/webhooks', ANYWHERE);
  await createClient(two.url, API_KEY).get(`/v1/webhooks/${id}`);
  match(await kept(), /^bare1:/);
  for (const { stderr } of [one, two]) match(stderr(), WARNING);
  ok(!existsSync(keyFile(join(folder, '1'))), 'no other process would have it');
});

test('every start warns until there is a key', async (t) => {
  const { env } = await shared(t);
  deepEqual([await warnedOf(env(1)), await warnedOf(env(1))], [true, true]);
  deepEqual([await warnedOf(env(1, WITH)), await warnedOf(env(1, WITH))], [false, false]);
});

test('a setting that comes later wraps the key, while others run', async (t) => {
  const { env, kept } = await shared(t);
  const { id, secret } = await makeWebhook(env(1));
  await using old = await spawnErrand(env(1));
  equal(await secretOf(env(2, WITH), id), secret);
  match(await kept(), /^wrapped1:scrypt:/);
  // One that runs has the key already.
  await createClient(old.url, API_KEY).get(`/v1/webhooks/${id}`);
  const made = await createClient(old.url, API_KEY).post('/v1/webhooks', ANYWHERE);
  equal(await secretOf(env(2, WITH), made.id), made.secret);
  match(
    await refusalOf(env(3)),
    /^errand exited with 1: errand: the key for the secrets of this store is missing[^\n]*\n$/,
  );
  const wrong = await refusalOf(env(3, { ERRAND_SECRET_KEY: OTHER }));
  match(wrong, /^errand exited with 1: errand: [^\n]*another key than the one in ERRAND_SECRET_KEY[^\n]*\n$/);
});

test('a refused process leaves nothing in the database', async (t) => {
  const { env, url } = await shared(t);
  await makeWebhook(env(1, WITH));
  const meta = 'SELECT name, value FROM meta ORDER BY name';
  const nodes = 'SELECT node, name FROM nodes ORDER BY node';
  const before = [[...(await queryOn(url, meta))], [...(await queryOn(url, nodes))]];
  ok((await refusalOf(env(2))) !== '');
  deepEqual([[...(await queryOn(url, meta))], [...(await queryOn(url, nodes))]], before);
});

test('processes that start at once agree on the key', async (t) => {
  const { env, kept } = await shared(t);
  const said = await Promise.all([1, 2, 3].map((n) => refusalOf(env(n, WITH))));
  deepEqual(said, ['', '', '']);
  match(await kept(), /^wrapped1:scrypt:/);
  const [one, two] = await Promise.all([makeWebhook(env(1, WITH)), makeWebhook(env(2, WITH))]);
  equal(await secretOf(env(3, WITH), one.id), one.secret);
  equal(await secretOf(env(3, WITH), two.id), two.secret);
});

test('a file in the data dir opens it too', async (t) => {
  const { env, kept, folder } = await shared(t);
  await mkdir(join(folder, '1'), { recursive: true });
  await writeFile(keyFile(join(folder, '1')), SETTING);
  const { id, secret } = await makeWebhook(env(1));
  match(await kept(), /^wrapped1:scrypt:/);
  ok((await refusalOf(env(2))).includes('is missing'));
  await cp(keyFile(join(folder, '1')), keyFile(join(folder, '2')), { recursive: true });
  equal(await secretOf(env(2), id), secret);
  equal(await secretOf(env(3, WITH), id), secret);
});

test('a file that one process has shuts nobody out', async (t) => {
  const { env, kept, folder } = await shared(t);
  await makeWebhook(env(1));
  await mkdir(join(folder, '2'), { recursive: true });
  await writeFile(keyFile(join(folder, '2')), OTHER);
  equal(await warnedOf(env(2)), true);
  match(await kept(), /^bare1:/);
  equal(await refusalOf(env(1)), '');
});

test('a start that replaces the key is logged and recorded', async (t) => {
  const { env, folder } = await shared(t);
  const { id, secret } = await makeWebhook(env(1, WITH));
  await mkdir(join(folder, '2'), { recursive: true });
  await writeFile(keyFile(join(folder, '2')), SETTING);
  const other = env(2, { ERRAND_SECRET_KEY: OTHER });
  const log = async (): Promise<string> => {
    await using errand = await spawnErrand(other);
    return errand.stderr();
  };
  match(await log(), /"level":40[^\n]*"replaced":"[^"]*secret-key","by":"ERRAND_SECRET_KEY"[^\n]*was replaced/);
  doesNotMatch(await log(), /was replaced/, 'once');
  deepEqual(await commandsIn(other), [replacedAtStart()]);
  equal(await secretOf(other, id), secret);
});

test('the key is replaced while servers run', async (t) => {
  const { env } = await shared(t);
  const { id, secret } = await makeWebhook(env(1, WITH));
  await using running = await spawnErrand(env(1, WITH));
  const done = await call(['store', 'rekey', '--json'], env(2, WITH), OTHER);
  deepEqual([done.status, done.stderr, done.json().rekeyed], [0, '', true]);
  await createClient(running.url, API_KEY).get(`/v1/webhooks/${id}`);
  ok((await refusalOf(env(2, WITH))).includes('another key than the one in ERRAND_SECRET_KEY'));
  equal(await secretOf(env(2, { ERRAND_SECRET_KEY: OTHER }), id), secret);
  const refused = await call(['store', 'rekey'], env(2, WITH), SETTING);
  deepEqual([refused.status, refused.stdout], [1, '']);
  const once = commanded('rekeyStore', 'errand store rekey');
  deepEqual(await commandsIn(env(3, { ERRAND_SECRET_KEY: OTHER })), [once]);
});

test('a bare key is wrapped by replacing it', async (t) => {
  const { env, url } = await shared(t);
  const empty = await call(['store', 'rekey'], env(1), OTHER);
  match(empty.stderr, /^errand: no server was ever started on the store in this database\n$/);
  const { id, secret } = await makeWebhook(env(1));
  equal((await call(['store', 'rekey'], env(1), SETTING)).status, 0);
  equal(await secretOf(env(1, WITH), id), secret);
  deepEqual([...(await queryOn(url, "SELECT 1 FROM meta WHERE value LIKE 'bare1:%'"))], []);
});

test('a store that goes to a database takes its key along', async (t) => {
  const { env, url, folder } = await shared(t);
  const dataDir = join(folder, '1');
  const sqlite = onSqlite(dataDir);
  const { id, secret } = await makeWebhook(sqlite);
  const aside = join(folder, 'aside');
  await cp(keyFile(dataDir), aside);
  await rm(keyFile(dataDir));
  const without = await call(['store', 'move', '--to', url, '--json'], sqlite);
  deepEqual([without.status, without.stdout], [1, '']);
  match(without.stderr, /^errand: the key for the secrets of this store is missing[^\n]*\n$/);
  const wrong = await call(['store', 'move', '--to', url, '--json'], onSqlite(dataDir, { ERRAND_SECRET_KEY: OTHER }));
  match(wrong.stderr, /another key than the one in ERRAND_SECRET_KEY/);
  deepEqual([...(await queryOn(url, "SELECT 1 FROM pg_class WHERE relname = 'meta'"))], [], 'nothing was begun');
  await cp(aside, keyFile(dataDir));
  const moved = await call(['store', 'move', '--to', url, '--json'], sqlite);
  equal(moved.status, 0, moved.stderr);
  // The file in this data dir opens it, and its text elsewhere.
  equal(await secretOf(env(1), id), secret);
  ok((await refusalOf(env(2))).includes('is missing'));
  equal(await secretOf(env(2, { ERRAND_SECRET_KEY: await keyIn(dataDir) }), id), secret);
  ok(JSON.stringify(await queryOn(url, 'SELECT * FROM webhooks')).includes('sealed1:'));
  equal((await call(['store', 'move', '--undo'], sqlite)).status, 0);
  equal(await secretOf(sqlite, id), secret);
});

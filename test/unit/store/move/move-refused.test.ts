// errand store move, where it may not be: what was there stays as it was.

import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../support/folders/folder.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { openTestStore } from '../../../support/postgres/store.ts';
import { spawnErrand } from '../../../support/process.ts';
import { call } from '../command.ts';
import { openFull } from '../full-store.ts';
import { assertMoved, emptyDatabase, move, type Place, place } from '../place.ts';

const ON_SQLITE = { ERRAND_DATABASE_URL: '', ERRAND_LOG_LEVEL: 'error' };

async function assertRefused(here: Pick<Place, 'dataDir' | 'url'>, why: RegExp, code = 1): Promise<void> {
  const { status, stdout, stderr } = await move(here);
  deepEqual([status, stdout], [code, ''], stderr);
  match(stderr, why);
}

test('a database that is not empty is refused', async (t) => {
  const [here, other] = [await place(t), await place(t)];
  equal((await move(other)).status, 0);
  await assertRefused({ ...here, url: other.url }, /cannot be moved to 127\S+: another store was moved into it/);
  await queryOn(other.url, "DELETE FROM meta WHERE name = 'move'");
  await assertRefused(
    { ...here, url: other.url },
    /cannot be moved to 127\S+: it is not empty, .*: make a new database/,
  );
  await assertMoved(other);
});

test('the tables of another program are refused', async (t) => {
  const here = await place(t);
  await queryOn(here.url, 'CREATE TABLE runs (n int); INSERT INTO runs VALUES (1)');
  await assertRefused(here, /it has tables of another program: make a database for Errand/);
  deepEqual((await queryOn(here.url, 'SELECT n FROM runs')).length, 1);
});

test('a database that a server uses is refused', async (t) => {
  const here = await place(t);
  const server = await openTestStore({ url: here.url, clock: null });
  await assertRefused(here, /a server uses it \(test-\S+\): stop it first/);
  await server.close();
  equal((await move(here)).status, 0);
  await assertMoved(here);
});

test('a store that a server uses is not moved', async (t) => {
  const here = await place(t);
  const server = await openFull(here.path, here.clock);
  await assertRefused(here, /another Errand process is using \S+errand\.db/);
  await server.close();
  // It was not even looked at.
  deepEqual([...(await queryOn(here.url, "SELECT 1 FROM pg_class WHERE relname = 'meta'"))], []);
});

test('what is no address of a database is refused', async (t) => {
  const here = await place(t);
  const elsewhere = new URL(here.url);
  elsewhere.pathname = '/there_is_none';
  const nobody = here.url.replace('postgres@', 'nobody:secret@');
  const cases = [
    ['http://localhost/errand', /--to: its value is not a URL like postgres:/, 2],
    ['postgres://postgres:secret@127.0.0.1:1/errand', /the database failed: connect ECONNREFUSED/, 5],
    [elsewhere.href, /database "there_is_none" does not exist/, 1],
    [nobody, /role "nobody" does not exist/, 1],
  ] as const;
  for (const [url, why, code] of cases) await assertRefused({ ...here, url }, why, code);
  const { status, stderr } = await call(['store', 'move'], { ERRAND_DATA_DIR: here.dataDir });
  equal(status, 2);
  match(stderr, /the target is missing: give --to, or set ERRAND_DATABASE_URL/);
  const secrets = await move({ ...here, url: nobody });
  equal(secrets.stderr.includes('secret'), false);
});

test('without a store there is nothing to move', async (t) => {
  const { url } = await place(t);
  await using folder = await createFolder();
  await assertRefused({ dataDir: folder.path, url }, /there is no store at/, 3);
  deepEqual([...(await folder.contents()).keys()], []);
});

test('a store that was moved is opened no more, until that is undone', async (t) => {
  const here = await place(t);
  const { ERRAND_DATA_DIR } = { ERRAND_DATA_DIR: here.dataDir };
  equal((await move(here)).status, 0);
  const settings = { ...ON_SQLITE, ERRAND_DATA_DIR };
  const start = async (): Promise<string> =>
    spawnErrand(settings).then(
      async (errand) => {
        await errand[Symbol.asyncDispose]();
        return 'started';
      },
      (error) => error.message,
    );
  const { host, pathname } = new URL(here.url);
  const refused = new RegExp(`the store \\S+errand\\.db was moved to ${host}${pathname}: set ERRAND_DATABASE_URL`);
  match(await start(), refused);
  const owners = await call(['owners', 'list'], { ERRAND_DATA_DIR });
  match(owners.stderr, refused);
  await assertRefused(here, /it was moved there already/);
  await assertRefused({ ...here, url: `${here.url}_2` }, /was moved to \S+ already/);
  const undone = await call(['store', 'move', '--undo', '--json'], { ERRAND_DATA_DIR });
  deepEqual([undone.status, undone.json().undone], [0, host + pathname]);
  match(
    undone.json().next,
    /stop all servers on that database.* What the database has accepted since the move stays there/,
  );
  match((await call(['store', 'move', '--undo'], { ERRAND_DATA_DIR })).stderr, /was not moved/);
  equal(await start(), 'started');
  await assertRefused(here, /it was moved there already.*to move it once more, make a new database/);
});

test('a store that was not moved is not forgotten: no server begins in an empty database, and one in another says so', async (t) => {
  const here = await place(t);
  const settings = { ERRAND_DATA_DIR: here.dataDir, ERRAND_DATABASE_URL: here.url };
  const refused =
    /exited with 1: .* is empty, and the store \S+errand\.db was not moved into it: call errand store move\./s;
  await rejects(spawnErrand(settings), refused);
  const owners = await call(['owners', 'list'], settings);
  match(owners.stderr, /is empty, and the store \S+errand\.db was not moved into it/);
  const warned = /this file is a store that was not moved into the database/;
  const other = await emptyDatabase(t);
  await using folder = await createFolder();
  const elsewhere = { ERRAND_DATA_DIR: folder.path, ERRAND_DATABASE_URL: other };
  await (await spawnErrand(elsewhere))[Symbol.asyncDispose]();
  const beside = await spawnErrand({ ...settings, ERRAND_DATABASE_URL: other });
  await beside[Symbol.asyncDispose]();
  match(beside.stderr() + beside.stdout(), warned);
  // What was refused has left nothing behind that keeps the store from being moved.
  equal((await move(here)).status, 0);
  const moved = await spawnErrand(settings);
  await moved[Symbol.asyncDispose]();
  doesNotMatch(moved.stderr() + moved.stdout(), warned);
});

test('the command says how it is used', async () => {
  const both = await call(['store', 'move', '--undo', '--to', 'postgres://localhost/errand'], {});
  deepEqual([both.status, both.stderr], [2, 'errand: --undo goes back: it takes no --to\n']);
  const help = await call(['store', 'move', '--help'], { ERRAND_DATA_DIR: join('/', 'nowhere') });
  equal(help.status, 0);
});

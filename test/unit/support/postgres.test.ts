// The Postgres servers that tests run: what they promise about restarts, kills, networks, standbys and full disks.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { createFolder } from '../../support/folders/folder.ts';
import { startCutter } from '../../support/postgres/cut.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabaseOn } from '../../support/postgres/fresh.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { startPair } from '../../support/postgres/standby.ts';
import { startOnSmallDisk } from '../../support/postgres/tmpfs.ts';
import { until } from '../../support/wait.ts';

const ROWS = 'CREATE TABLE rows (n int); INSERT INTO rows VALUES (1), (2)';
const COUNT = 'SELECT count(*)::int AS count FROM rows';
/** What the driver says of a connection that broke, or never came to be. */
const LOST = /ECONNRESET|CONNECTION_CLOSED|EPIPE|CONNECTION_DESTROYED/;
const SETUP = join(import.meta.dirname, '../../support/postgres/global-setup.ts');
const SERVER = join(import.meta.dirname, '../../support/postgres/server.ts');

const isRefused = (error: { code?: string }): boolean => error.code === 'ECONNREFUSED';

const isDoing = async (url: string, like: string): Promise<boolean> =>
  (await queryOn(url, `SELECT 1 FROM pg_stat_activity WHERE query LIKE '${like}'`)).length > 0;

const count = async (url: string): Promise<number> => (await queryOn(url, COUNT))[0]?.count;

for (const version of [18, 15] as const) {
  test(`Postgres ${version} keeps data over a restart`, async () => {
    await using server = await startPostgres({ version });
    const [row] = await server.databases.query('SHOW server_version');
    assert.match(row?.server_version, new RegExp(`^${version}\\.`));
    await server.createDatabase('one');
    await queryOn(server.url('one'), ROWS);
    await server.stop();
    await assert.rejects(queryOn(server.url('one'), COUNT), isRefused);
    await server.start();
    assert.equal(await count(server.url('one')), 2);
  });

  test(`Postgres ${version} recovers from a kill`, async () => {
    await using server = await startPostgres({ version, durable: true });
    await queryOn(server.url(), ROWS);
    const busy = assert.rejects(queryOn(server.url(), 'SELECT pg_sleep(60)'));
    await until('the sleeper is there', () => isDoing(server.url(), 'SELECT pg_sleep%'));
    await server.kill();
    await busy;
    await server.start();
    assert.equal(await count(server.url()), 2);
    assert.match(await server.log(), /was not properly shut down/);
  });
}

test('a database is copied from another one', async () => {
  await using server = await startPostgres();
  await server.createDatabase('one');
  await queryOn(server.url('one'), ROWS);
  await server.createDatabase('two', 'one');
  assert.equal(await count(server.url('two')), 2);
  // Somebody who is still connected does not keep it from being dropped.
  const guest = postgres(server.url('two'), { max: 1 });
  await guest`SELECT 1`;
  await server.dropDatabase('two');
  await assert.rejects(queryOn(server.url('two'), COUNT), { code: '3D000' });
  await guest.end({ timeout: 0 });
});

test('a fresh database has the schema alone', async () => {
  await using server = await startPostgres();
  const [one, two] = await Promise.all([newDatabaseOn(server.databases), newDatabaseOn(server.databases)]);
  await queryOn(one.url, `INSERT INTO meta (name, value) VALUES ('a', 'b')`);
  const [row] = await queryOn(
    two.url,
    'SELECT (SELECT count(*)::int FROM meta) AS meta, (SELECT count(*)::int FROM nodes) AS nodes',
  );
  assert.deepEqual({ ...row }, { meta: 0, nodes: 0 });
  await one.drop();
  await assert.rejects(queryOn(one.url, 'SELECT 1'), { code: '3D000' });
});

test('a deadlock fails the test that has the database', async () => {
  const server = await startPostgres();
  const { url, drop } = await newDatabaseOn(server.databases, { mostDeadlocks: 0 });
  const inTurn = (first: number, second: number): Promise<unknown> => {
    const lock = (key: number): string => `SELECT pg_advisory_xact_lock(${key}), pg_sleep(0.2)`;
    return queryOn(url, `${lock(first)}; ${lock(second)}`);
  };
  const both = await Promise.allSettled([inTurn(1, 2), inTurn(2, 1)]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  await assert.rejects(drop(), /deadlocked, 1 times.*pg_advisory_xact_lock/s);
  await assert.rejects(server.dispose(), /waited for each other.*deadlock detected.*pg_advisory_xact_lock/s);
  assert.equal(existsSync(server.dir), false);
});

test('test files share the server of their run', async () => {
  await using folder = await createFolder();
  const file = join(folder.path, 'shared.test.mjs');
  await writeFile(file, `console.log(process.env.TEST_STORE, process.env.TEST_POSTGRES)`);
  const { NODE_TEST_CONTEXT: _, TEST_POSTGRES: __, ...env } = process.env;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--test', `--test-global-setup=${SETUP}`, file], { env });
  const url = /postgres (postgres:\S+)/.exec(stdout)?.[1];
  assert.ok(url, stdout);
  await assert.rejects(queryOn(url, 'SELECT 1'), isRefused);
});

test('text is not sorted byte by byte', async () => {
  await using server = await startPostgres();
  const database = await newDatabaseOn(server.databases, { isBlank: true });
  const [row] = await queryOn(database.url, `SELECT 'a' < 'B' AS by_language, 'a' COLLATE "C" < 'B' AS by_byte`);
  assert.deepEqual({ ...row }, { by_language: true, by_byte: false });
  await database.drop();
});

test('a disposed server leaves nothing behind', async () => {
  const server = await startPostgres();
  await server.dispose();
  await server.dispose();
  assert.equal(existsSync(server.dir), false);
  await assert.rejects(queryOn(server.url(), 'SELECT 1'), isRefused);
});

/** A test process of its own, with a server. */
async function startElsewhere(): Promise<{ child: ChildProcess; dir: string; port: number }> {
  const code = `const { startPostgres } = await import(${JSON.stringify(SERVER)});
    const { dir, port } = await startPostgres();
    console.log(JSON.stringify({ dir, port }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (part) => {
    said += part;
  });
  await until('the server runs', () => said.endsWith('\n'));
  return { child, ...JSON.parse(said) };
}

test('a server does not outlive a killed test', async () => {
  const { child, dir, port } = await startElsewhere();
  assert.equal(existsSync(dir), true);
  child.kill('SIGKILL');
  await until('its folder is gone', () => !existsSync(dir));
  await assert.rejects(queryOn(`postgres://postgres@127.0.0.1:${port}/postgres`, 'SELECT 1'), isRefused);
});

test('a killed run takes nothing of another one', async () => {
  await using server = await startPostgres();
  await queryOn(server.url(), ROWS);
  const others = await Promise.all([startElsewhere(), startElsewhere()]);
  const [killed, left] = others as [(typeof others)[0], (typeof others)[0]];
  killed.child.kill('SIGKILL');
  await until('its folder is gone', () => !existsSync(killed.dir));
  for (const dir of [server.dir, left.dir]) assert.equal(existsSync(join(dir, 'PG_VERSION')), true, dir);
  // Also what is read from disk.
  assert.equal(await count(server.url()), 2);
  await server.createDatabase('one');
  left.child.kill('SIGKILL');
  await until('the other folder is gone', () => !existsSync(left.dir));
  await server.stop();
  await server.start();
  assert.equal(await count(server.url()), 2);
});

test('a server whose folder is removed says so', async () => {
  const { child, dir, port } = await startElsewhere();
  let told = '';
  child.stderr?.on('data', (part) => {
    told += part;
  });
  const [pid] = (await readFile(join(dir, 'postmaster.pid'), 'utf8')).split('\n');
  await rm(dir, { recursive: true });
  process.kill(Number(pid), 'SIGQUIT');
  await until('the end is told', () => told.endsWith('\n'));
  assert.match(told, new RegExp(`by itself: its data folder ${dir} was removed while it ran`));
  child.kill('SIGKILL');
  await assert.rejects(queryOn(`postgres://postgres@127.0.0.1:${port}/postgres`, 'SELECT 1'), isRefused);
});

test('a cutter resets connections', async () => {
  await using server = await startPostgres();
  await using cutter = await startCutter(server.port);
  const lost = assert.rejects(queryOn(cutter.url(), 'SELECT pg_sleep(60)'), LOST);
  await until('it is under way', () => isDoing(server.url(), 'SELECT pg_sleep%'));
  assert.deepEqual([cutter.size, cutter.cutAll(), cutter.size], [1, 1, 0]);
  await lost;
  assert.deepEqual([...(await queryOn(cutter.url(), 'SELECT 1 AS one'))], [{ one: 1 }]);
  const stop = cutter.cutRandomly(100);
  await assert.rejects(queryOn(cutter.url(), 'SELECT pg_sleep(60)'), LOST);
  stop();
});

test('a held network loses nothing', async () => {
  await using server = await startPostgres();
  await using cutter = await startCutter(server.port);
  await queryOn(server.url(), ROWS);
  const sql = postgres(cutter.url(), { max: 1, fetch_types: false });
  await sql`SELECT 1`;
  cutter.hold();
  let isAnswered = false;
  const waiting = sql.unsafe(COUNT).then(([row]) => {
    isAnswered = true;
    return row?.count;
  });
  // The server itself answers all the while.
  assert.equal(await count(server.url()), 2);
  assert.equal(isAnswered, false);
  cutter.resume();
  assert.equal(await waiting, 2);
  await sql.end();
});

test('a held answer is of something done', async () => {
  await using server = await startPostgres();
  await using cutter = await startCutter(server.port);
  await queryOn(server.url(), ROWS);
  const sql = postgres(cutter.url(), { max: 1, fetch_types: false });
  await sql`SELECT 1`;
  cutter.hold('answers');
  const lost = assert.rejects(sql.unsafe('INSERT INTO rows VALUES (3)').execute(), LOST);
  await until('it is written', async () => (await count(server.url())) === 3);
  cutter.cutAll();
  await lost;
  cutter.resume();
  assert.equal(await count(cutter.url()), 3);
  await sql.end({ timeout: 0 });
});

test('a promoted standby has what was committed', async () => {
  await using pair = await startPair();
  await pair.primary.createDatabase('one');
  await queryOn(pair.url('one'), ROWS);
  for (let n = 0; n < 20; n++) await queryOn(pair.url('one'), `INSERT INTO rows VALUES (${n})`);
  await pair.killPrimary();
  await pair.promote();
  assert.equal(await count(pair.url('one')), 22);
  await queryOn(pair.url('one'), 'INSERT INTO rows VALUES (0)');
  assert.equal(await count(pair.standby.url('one')), 23);
});

test('a commit waits for the standby', async () => {
  await using pair = await startPair();
  await queryOn(pair.primary.url(), ROWS);
  await pair.standby.stop();
  let isCommitted = false;
  const commit = queryOn(pair.primary.url(), 'INSERT INTO rows VALUES (3)').then(() => {
    isCommitted = true;
  });
  await until('it waits', async () => {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    return (await queryOn(pair.primary.url(), waiting)).length > 0;
  });
  assert.equal(isCommitted, false);
  await pair.standby.start();
  await commit;
});

const unmountable = process.getuid?.() !== 0 && 'mounting a small disk takes root';
const BIG = 'CREATE TABLE big (t text); ALTER TABLE big ALTER t SET STORAGE EXTERNAL';
const GROW = `INSERT INTO big SELECT repeat(md5(n::text), 100) FROM generate_series(1, 100) AS n`;

/** Goes to the log alone. */
const LOG = `SELECT pg_logical_emit_message(false, 'test', repeat('x', 100000))`;

async function untilItFails(url: string, sql: string): Promise<{ code?: string }> {
  for (;;) {
    const failure = await queryOn(url, sql).then(
      () => null,
      (error) => error,
    );
    if (failure !== null) return failure;
  }
}

test('a full disk fails writes until relieved', { skip: unmountable }, async () => {
  await using disk = await startOnSmallDisk({ spareMb: 32, isLogElsewhere: true });
  await queryOn(disk.url, BIG);
  await disk.fill(8 * 2 ** 20);
  assert.equal((await untilItFails(disk.url, GROW)).code, '53100');
  await assert.rejects(queryOn(disk.url, GROW), { code: '53100' });
  await disk.relieve();
  assert.ok((await disk.freeBytes()) > 16 * 2 ** 20);
  await queryOn(disk.url, GROW);
});

test('a disk too full for the log stops the server', { skip: unmountable }, async () => {
  await using disk = await startOnSmallDisk({ spareMb: 32 });
  await queryOn(disk.url, BIG);
  await disk.fill();
  await untilItFails(disk.url, LOG);
  await until('it is down', () => queryOn(disk.url, LOG).then(() => false, isRefused));
  assert.match(await disk.server.log(), /PANIC: .*No space left/);
  // It takes no connections before its process is over.
  await disk.server.stop('immediate');
  await disk.relieve();
  await disk.server.start();
  await queryOn(disk.url, GROW);
});

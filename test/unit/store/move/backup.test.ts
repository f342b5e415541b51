// errand store backup: a whole copy of the SQLite store, and a server that is started on it.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { chmod, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { backupSqlite } from '../../../../src/store/sqlite/maintenance/backup.ts';
import { checkSqlite } from '../../../../src/store/sqlite/maintenance/check.ts';
import { SCHEMA_VERSION } from '../../../../src/store/sqlite/maintenance/schema.ts';
import { TestClock } from '../../../contract/fixtures.ts';
import { createClient } from '../../../support/client.ts';
import { createErrandOn } from '../../../support/flows.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { spawnErrand } from '../../../support/process.ts';
import { call } from '../command.ts';
import { fillStore, openFull } from '../full-store.ts';
import { portraitOf } from '../portrait.ts';
import { startWriter } from '../writer.ts';

const THROW = `export default () => { throw new Error('it failed'); };`;

test('a backup tells everything that the store tells', async () => {
  await using folder = await createFolder();
  const [path, file] = [join(folder.path, 'errand.db'), join(folder.path, 'copy.db')];
  const clock = new TestClock();
  const full = await fillStore(path, clock);
  const report = await backupSqlite(path, file);
  deepEqual([report.file, report.schema, report.integrity], [file, SCHEMA_VERSION, 'ok']);
  const { size, mode } = await stat(file);
  deepEqual([report.bytes, mode & 0o777], [size, 0o600]);
  deepEqual(report.kept, (await checkSqlite(path)).figures?.kept);
  const [store, copy] = [await openFull(path, clock), await openFull(file, clock)];
  deepEqual(await portraitOf(copy, full), await portraitOf(store, full));
  await Promise.all([store.close(), copy.close()]);
});

test('a backup is of one moment, while the server writes', async () => {
  await using folder = await createFolder();
  await using writer = await startWriter(folder.path);
  await writer.wrote(200);
  for (let i = 0; i < 5; i++) {
    const file = join(folder.path, `copy-${i}.db`);
    await backupSqlite(join(folder.path, 'errand.db'), file);
    await writer.wrote(20);
    const { findings, figures } = await checkSqlite(file);
    deepEqual(findings, []);
    ok((figures?.kept.emissions ?? 0) >= 100);
  }
});

test('a backup overwrites nothing', async () => {
  await using folder = await createFolder();
  const [path, file] = [join(folder.path, 'errand.db'), join(folder.path, 'copy.db')];
  await fillStore(path, new TestClock());
  await writeFile(file, 'precious');
  await rejects(backupSqlite(path, file), /copy\.db is there already, and a backup overwrites nothing/);
  equal(await readFile(file, 'utf8'), 'precious');
  await rejects(backupSqlite(path, path), /errand\.db is there already/);
  await rejects(backupSqlite(path, join(folder.path, 'missing/copy.db')), /no file can be written there/);
  await rejects(backupSqlite(join(folder.path, 'other.db'), join(folder.path, 'new.db')), /there is no store at/);
  ok((await readdir(folder.path)).every((name) => name.startsWith('errand.db') || name === 'copy.db'));
});

test('of a damaged store there is no backup', async () => {
  await using folder = await createFolder();
  const [path, file] = [join(folder.path, 'errand.db'), join(folder.path, 'copy.db')];
  await fillStore(path, new TestClock());
  const db = new DatabaseSync(path, { defensive: false });
  // Rows that their own table does not allow.
  db.exec('PRAGMA writable_schema = ON');
  db.exec("UPDATE sqlite_schema SET sql = replace(sql, 'summary TEXT,', 'summary TEXT NOT NULL,') WHERE name = 'runs'");
  db.close();
  await rejects(backupSqlite(path, file), /the store is damaged, and so is every copy of it/);
  deepEqual(
    (await readdir(folder.path)).filter((name) => name.startsWith('copy')),
    [],
  );
});

test('a server goes on from a backup file', async () => {
  await using folder = await createFolder();
  const [old, restored] = [join(folder.path, 'data'), join(folder.path, 'restored')];
  const env = { ERRAND_DATABASE_URL: '', ERRAND_LOG_LEVEL: 'error' };
  let key = '';
  let workflowId = '';
  {
    await using errand = await spawnErrand({ ...env, ERRAND_DATA_DIR: old });
    key = (await readFile(join(old, 'api-key'), 'utf8')).trim();
    const actions = createErrandOn(() => createClient(errand.url, key));
    const workflow = await actions.workflow(THROW);
    workflowId = workflow.id;
    await actions.send(workflow, { n: 1 });
    await actions.errors(workflowId, 1);
    const backup = await call(['store', 'backup', join(folder.path, 'copy.db'), '--json'], { ERRAND_DATA_DIR: old });
    deepEqual([backup.status, backup.stderr], [0, '']);
    await actions.send(workflow, { n: 2 });
    await actions.errors(workflowId, 2);
    await mkdir(restored, { mode: 0o700 });
    await copyFile(backup.json().file, join(restored, 'errand.db'));
  }
  for (const name of ['api-key', 'secret-key']) await copyFile(join(old, name), join(restored, name));
  await chmod(join(restored, 'errand.db'), 0o600);
  await using errand = await spawnErrand({ ...env, ERRAND_DATA_DIR: restored });
  const client = createClient(errand.url, key);
  const actions = createErrandOn(() => client);
  // What came after the backup is gone, and what comes now goes on from there.
  const [error] = await actions.errors(workflowId, 1);
  equal(error?.event.original_event.body.n, 1);
  const { data: workflow } = await client.get(`/v1/workflows/${workflowId}`);
  await actions.send(workflow, { n: 3 });
  const errors = await actions.errors(workflowId, 2);
  deepEqual(
    errors.map(({ event }) => event.original_event.body.n),
    [3, 1],
  );
});

test('Postgres is not backed up by this command', async () => {
  await using folder = await createFolder();
  const { status, stdout, stderr } = await call(['store', 'backup', "it's.dump"], {
    ERRAND_DATA_DIR: folder.path,
    ERRAND_DATABASE_URL: 'postgres://ada:hunter2@one:5432,two:5433/errand',
  });
  deepEqual([status, stdout], [1, '']);
  match(
    stderr,
    /pg_dump --format=custom --no-owner --file 'it'\\''s.dump' 'postgres:\/\/ada@one:5432,two:5433\/errand'/,
  );
  ok(!stderr.includes('hunter2'));
});

// errand store check on SQLite: a sound store has no findings, and each kind of damage is found.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { copyFile, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Finding } from '../../../src/store/check/checks.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { backupSqlite } from '../../../src/store/sqlite/maintenance/backup.ts';
import { checkSqlite } from '../../../src/store/sqlite/maintenance/check.ts';
import { SCHEMA_VERSION } from '../../../src/store/sqlite/maintenance/schema.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { defined, failed, strongRandom, succeeded, TestClock } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { call } from './command.ts';
import { fillStore, multiply } from './full-store.ts';
import { startWriter } from './writer.ts';

interface Damage {
  readonly what: string;
  readonly sql: string;
  /** Check and count. */
  readonly found: readonly [string, number][];
}

const A_FAILED = "(SELECT run FROM runs WHERE state = 'failed' ORDER BY run LIMIT 1)";
const ITS_ERROR = `(SELECT error_entry FROM runs WHERE run = ${A_FAILED})`;
const A_DEPLOYMENT = '(SELECT min(deployment_id) FROM runnables)';
const TRIED = '(SELECT delivery FROM attempts ORDER BY delivery LIMIT 1)';

const DAMAGES: readonly Damage[] = [
  {
    what: 'records of a data store that is gone',
    sql: 'DELETE FROM data_gone',
    found: [['record_without_data_store', 12]],
  },
  {
    what: 'a workflow without its code',
    sql: `DELETE FROM deployments WHERE id = ${A_DEPLOYMENT}`,
    found: [
      ['runnable_without_deployment', 1],
      ['code_without_deployment', 1],
    ],
  },
  {
    what: 'code that was lost',
    sql: `DELETE FROM codes WHERE owner_id = (SELECT owner_id FROM deployments WHERE id = ${A_DEPLOYMENT})`,
    found: [['deployment_without_code', 13]],
  },
  {
    what: 'a source whose code is another',
    sql: `UPDATE runnables SET component_code = NULL, component_code_hash = 'lost'
      WHERE id = (SELECT min(id) FROM runnables WHERE id LIKE 'dc~_%' ESCAPE '~')`,
    found: [['source_without_code', 1]],
  },
  {
    what: 'watches of a heartbeat that is gone',
    sql: 'DELETE FROM heartbeats',
    found: [['watch_without_subject', 1]],
  },
  {
    what: 'a heartbeat that is not watched',
    sql: "DELETE FROM watches WHERE kind = 'heartbeat'",
    found: [['heartbeat_without_watch', 1]],
  },
  {
    what: 'code that nobody names',
    sql: `INSERT INTO codes VALUES ('u_1', 'a', '""')`,
    found: [['code_without_deployment', 1]],
  },
  {
    what: 'a data store that lost a record',
    sql: 'DELETE FROM data_records WHERE rowid = (SELECT min(rowid) FROM data_records)',
    found: [['data_store_miscounted', 1]],
  },
  {
    what: 'a queued run that the ledger does not count',
    sql: "UPDATE ledger SET n = n - 2 WHERE fact = 'runs.queued' AND owner_id = (SELECT min(id) FROM owners)",
    found: [['ledger_open', 2]],
  },
  {
    what: 'a delivery that is retrying and not counted so',
    sql: "UPDATE deliveries SET state = 'held' WHERE delivery = (SELECT min(delivery) FROM deliveries WHERE state = 'retrying')",
    found: [
      ['ledger_open', 1],
      ['ledger_open', 1],
    ],
  },
  {
    what: 'a run that has ended more often than the ledger says',
    sql: "UPDATE ledger SET n = 1 WHERE fact = 'runs.cancelled' AND owner_id = (SELECT min(id) FROM owners)",
    found: [['ledger_below_rows', 1]],
  },
  {
    what: 'an owner that the ledger knows nothing of',
    sql: "DELETE FROM ledger WHERE fact = 'emissions' AND owner_id = (SELECT max(id) FROM owners)",
    found: [['ledger_below_rows', 24]],
  },
  {
    what: 'more errors than failures',
    sql: "UPDATE ledger SET n = n + 1 WHERE fact = 'errors' AND owner_id = (SELECT max(id) FROM owners)",
    found: [['ledger_errors', 1]],
  },
  {
    what: 'a failed run whose error was lost',
    sql: `DELETE FROM emissions WHERE entry = ${ITS_ERROR}`,
    found: [
      ['run_without_event', 1],
      ['failed_run_without_error', 1],
    ],
  },
  {
    what: 'a failed run that names no error',
    sql: `UPDATE runs SET error_entry = NULL WHERE run = ${A_FAILED}`,
    found: [['failed_run_without_error', 1]],
  },
  {
    what: 'a failed run that names its own event',
    sql: `UPDATE runs SET error_entry = entry WHERE run = ${A_FAILED}`,
    found: [['failed_run_with_foreign_error', 1]],
  },
  {
    what: 'a second error of one run',
    sql: `UPDATE emissions SET name = '$errors', cause_run = ${A_FAILED}
      WHERE entry = (SELECT max(entry) FROM emissions WHERE name = '')`,
    found: [
      ['ledger_below_rows', 1],
      ['several_errors_of_one_run', 1],
    ],
  },
  {
    what: 'an error of a run that did not fail',
    sql: `UPDATE runs SET state = 'succeeded', error_entry = NULL WHERE run = ${A_FAILED}`,
    found: [['error_of_run_that_did_not_fail', 1]],
  },
  {
    what: 'deliveries of an event that is gone',
    sql: `DELETE FROM emissions WHERE entry = (SELECT entry FROM deliveries WHERE state = 'delivered'
      AND kind = 'webhook' ORDER BY delivery DESC LIMIT 1)`,
    found: [['delivery_without_event', 4]],
  },
  {
    what: 'a note of an event that is not there',
    sql: 'UPDATE withheld SET entry = 1 WHERE rowid = 1',
    found: [['withheld_without_event', 1]],
  },
  {
    what: 'attempts of a delivery that is not there',
    sql: "INSERT INTO attempts (delivery, n, trigger, made) VALUES (1, 1, 'event', '{}')",
    found: [['attempt_without_delivery', 1]],
  },
  {
    what: 'a gap between attempts',
    sql: `UPDATE attempts SET n = n + 1 WHERE delivery = ${TRIED}`,
    found: [['attempts_with_gaps', 1]],
  },
  {
    what: 'a delivery with more attempts that count than requests',
    sql: `UPDATE deliveries SET attempts_made = attempts_made + 1 WHERE delivery = ${TRIED}`,
    found: [['attempts_miscounted', 1]],
  },
  {
    what: 'an operation of a webhook that is gone',
    sql: `INSERT INTO operations (id, owner_id, kind, webhook_id, since_ms, until_ms, states, state, total, is_counted, resent,
      after_number, turn, created_at_ms, updated_at_ms)
      SELECT 'op_1', min(id), 'resend', 'wh_gone', 0, 1, 'exhausted', 'paused', 0, 0, 0, 0, 0, 0, 0 FROM owners`,
    found: [['operation_without_webhook', 1]],
  },
  {
    what: 'the health of a webhook that is gone',
    sql: "INSERT INTO webhook_health (webhook_id, exhausted_in_row, paused_until_ms) VALUES ('wh_gone', 0, 1)",
    found: [['health_without_webhook', 1]],
  },
  {
    what: 'a run that waits without an end',
    sql: "UPDATE runs SET due_at_ms = NULL WHERE run = (SELECT min(run) FROM runs WHERE state = 'waiting')",
    found: [['run_waits_for_nothing', 1]],
  },
  {
    what: 'a run that is over and waits',
    sql: `UPDATE runs SET wait_kind = 'delay', carried = '{}' WHERE run = ${A_FAILED}`,
    found: [
      ['run_waits_no_longer', 1],
      ['run_over_that_goes_on', 1],
    ],
  },
  {
    what: 'the memory of a throttle of a workflow that is gone',
    sql: "INSERT INTO throttles (runnable_id, starts) VALUES ('p_gone', '[]')",
    found: [['throttle_without_workflow', 1]],
  },
  {
    what: 'attempts that were not recorded',
    sql: `DELETE FROM attempts WHERE delivery = ${TRIED}`,
    found: [['attempts_missing', 1]],
  },
];

const briefly = (findings: readonly Finding[]): [string, number][] =>
  findings.map(({ check, count }) => [check, count]);

test('a store with everything in it is sound', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  await fillStore(path, new TestClock());
  const { ok: isOk, schema, figures, findings } = await checkSqlite(path);
  deepEqual(findings, []);
  const { owners, accepted, kept } = defined(figures);
  deepEqual([isOk, schema, owners, kept['runs.waiting']], [true, SCHEMA_VERSION, 2, 4]);
  // Retention took an event with its run, and left the error that the run had emitted.
  equal(accepted['runs.failed'], (kept['runs.failed'] as number) + 1);
  equal(accepted.errors, kept.errors);
});

test('an error told before a retry is none', async () => {
  await using folder = await createFolder();
  const [path, clock] = [join(folder.path, 'errand.db'), new TestClock()];
  const store = await openSqliteStore({ path, clock, random: strongRandom });
  const stage = await Stage.on(store, clock);
  const retry = { attempts: 2, baseMs: 1, maxMs: 1, also: [], reportFirst: true };
  const workflow = await stage.workflow({ settings: { retry } });
  for (const outcome of [succeeded(), failed()]) {
    await stage.tryAgain(await stage.started(workflow), 1);
    await stage.pass(1);
    await stage.end(defined((await stage.claim(1, workflow.id))[0]), outcome);
  }
  await stage.tryAgain(await stage.started(workflow), 1);
  await store.close();
  const { figures, findings } = await checkSqlite(path);
  deepEqual(findings, []);
  deepEqual([figures?.kept.errors, figures?.kept['runs.failed']], [4, 1]);
});

test('each kind of damage is found', async (t) => {
  await using folder = await createFolder();
  const [sound, path] = [join(folder.path, 'sound.db'), join(folder.path, 'errand.db')];
  await fillStore(sound, new TestClock());
  for (const { what, sql, found } of DAMAGES) {
    await t.test(what, async () => {
      await copyFile(sound, path);
      const db = new DatabaseSync(path);
      db.exec(sql);
      db.close();
      const report = await checkSqlite(path);
      equal(report.ok, false);
      deepEqual(briefly(report.findings), found, JSON.stringify(report.findings));
    });
  }
});

test('a damaged page is found', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  await fillStore(path, new TestClock());
  const db = new DatabaseSync(path);
  const { root } = db.prepare("SELECT rootpage AS root FROM sqlite_schema WHERE name = 'runs_entry'").get() as {
    root: number;
  };
  const { page_size: size } = db.prepare('PRAGMA page_size').get() as { page_size: number };
  db.close();
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(size, 0x5a), 0, size, (root - 1) * size);
  await file.close();
  const { findings } = await checkSqlite(path);
  ok(
    findings.some(({ check }) => check === 'quick_check'),
    JSON.stringify(findings),
  );
});

test('a check is of one moment, while the server writes', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  await using writer = await startWriter(folder.path);
  await writer.wrote(200);
  for (let i = 0; i < 10; i++) {
    const { findings } = await checkSqlite(path);
    deepEqual(findings, []);
    await writer.wrote(50);
  }
});

test('a large store is checked in seconds', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  await fillStore(path, new TestClock());
  multiply(path, 100_000);
  const before = process.cpuUsage();
  const { findings, figures } = await checkSqlite(path);
  deepEqual(findings, []);
  ok((defined(figures).kept.emissions as number) > 100_000);
  // Of the processor: what others take of it is not the check's.
  const { user, system } = process.cpuUsage(before);
  ok(user + system < 20_000_000);
});

test('without a store there is nothing to check', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  await rejects(checkSqlite(path), { name: 'StoreUnavailable', message: `there is no store at ${path}` });
  deepEqual([...(await folder.contents()).keys()], []);
});

test('a store of another version is not judged', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  new DatabaseSync(path).exec('PRAGMA user_version = 99');
  await rejects(checkSqlite(path), new RegExp(`has schema 99, and this program needs ${SCHEMA_VERSION}:`));
});

test('a file that SQLite cannot open is damaged', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  await writeFile(path, 'this is no store at all, however one looks at it'.repeat(100));
  const [found, ...more] = (await checkSqlite(path)).findings;
  deepEqual([found?.check, more], ['quick_check', []]);
  match(found?.detail ?? '', /errand\.db cannot be opened: file is not a database$/);
});

test('a store without its tables is damaged, and is not copied', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  await fillStore(path, new TestClock());
  const db = new DatabaseSync(path, { defensive: false });
  db.exec(`PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'table' AND name = 'deliveries'`);
  db.close();
  const { ok: isOk, findings } = await checkSqlite(path);
  deepEqual([isOk, findings.map(({ check }) => check)], [false, ['quick_check']]);
  match(findings[0]?.detail ?? '', /errand\.db cannot be opened: malformed database schema/);
  await rejects(backupSqlite(path, join(folder.path, 'copy.db')), StoreUnavailable);
});

test('the command exits with 1 when something does not hold', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  await fillStore(path, new TestClock());
  const env = { ERRAND_DATA_DIR: folder.path };
  const sound = await call(['store', 'check', '--json'], env);
  deepEqual([sound.status, sound.json().ok, sound.json().store], [0, true, `SQLite in ${folder.path}`]);
  const db = new DatabaseSync(path);
  db.exec("UPDATE ledger SET n = n + 1 WHERE fact = 'runs.running'");
  db.close();
  const broken = await call(['store', 'check', '--json'], env);
  deepEqual([broken.status, broken.json().ok, broken.stderr], [1, false, '']);
  match(broken.json().findings[0].detail, /^runs\.running of u_\w+: \d in the ledger, \d rows$/);
});

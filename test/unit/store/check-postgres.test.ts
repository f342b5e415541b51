// errand store check on Postgres: a sound store has no findings, and each kind of damage is found.

import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Finding } from '../../../src/store/check/checks.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { TestClock } from '../../contract/fixtures.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabaseOn } from '../../support/postgres/fresh.ts';
import { newDatabase, sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/wait.ts';
import { call } from './command.ts';
import { fillStore } from './full-store.ts';

const WRITER = join(import.meta.dirname, '../../support/postgres/writer.ts');

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** A server that has been there for a while. */
const A_NODE = `INSERT INTO nodes (slot, name, version, started_at_ms, beat_at_ms)
  VALUES (0, 'one', '0', ${NOW} - 3600000, ${NOW});`;
const A_RUN = "(SELECT min(run) FROM open_runs WHERE state = 'running')";
const A_WAIT = "(SELECT min(run) FROM open_runs WHERE state = 'waiting')";
const A_DELIVERY = "(SELECT min(delivery) FROM open_deliveries WHERE state = 'sending')";

interface Damage {
  readonly what: string;
  readonly sql: string;
  /** Check and count. */
  readonly found: readonly [string, number][];
}

const DAMAGES: readonly Damage[] = [
  {
    what: 'a queued run that the ledger does not count',
    sql: "UPDATE ledger SET n = n - 2 WHERE fact = 'runs.queued' AND owner_id = (SELECT min(id) FROM owners)",
    found: [['ledger_open', 2]],
  },
  {
    what: 'a failed run whose error was lost',
    sql: "DELETE FROM emissions WHERE entry = (SELECT max(error_entry) FROM runs WHERE error_code = 'QueueFull')",
    found: [
      ['run_without_event', 1],
      ['failed_run_without_error', 1],
    ],
  },
  {
    what: 'a gap between attempts',
    sql: 'UPDATE attempts SET n = n + 1 WHERE delivery = (SELECT min(delivery) FROM attempts)',
    found: [['attempts_with_gaps', 1]],
  },
  {
    what: 'a run that is open and over',
    sql: `INSERT INTO runs (run, owner_id, runnable_id, deployment_id, entry, via, state, attempt, ended_at_ms)
      SELECT run, owner_id, runnable_id, deployment_id, entry, via, 'cancelled', attempt, 1 FROM open_runs
        WHERE run = ${A_RUN};
      UPDATE ledger SET n = n + 1 WHERE fact = 'runs.cancelled'`,
    found: [['run_open_and_over', 1]],
  },
  {
    what: 'a run that is over among those that are open',
    sql: `UPDATE open_runs SET state = 'cancelled' WHERE run = ${A_RUN};
      UPDATE ledger SET n = n + 1 WHERE fact = 'runs.cancelled';
      UPDATE ledger SET n = n - 1 WHERE fact = 'runs.running'
        AND owner_id = (SELECT owner_id FROM open_runs WHERE state = 'cancelled');
      UPDATE listener_queues SET taken = taken - 1 WHERE listener_id = (SELECT runnable_id FROM open_runs WHERE state = 'cancelled')`,
    found: [['run_misplaced', 1]],
  },
  {
    what: 'a line that counts what is not there',
    sql: `UPDATE listener_queues SET waiting = waiting + 1 WHERE listener_id = (SELECT min(listener_id) FROM listener_queues WHERE waiting > 0);
      UPDATE listener_queues SET taken = taken + 1 WHERE listener_id = (SELECT max(listener_id) FROM listener_queues WHERE taken > 0)`,
    found: [
      ['line_waiting', 1],
      ['line_taken', 1],
    ],
  },
  {
    what: 'a line that is not there',
    sql: "DELETE FROM listener_queues WHERE listener_id = (SELECT max(runnable_id) FROM open_runs WHERE state = 'running')",
    found: [['line_taken', 1]],
  },
  {
    what: 'work that no claim looks at',
    sql: `UPDATE listener_queues SET ready_at_ms = NULL
      WHERE (owner_id, listener_id) = (SELECT owner_id, listener_id FROM listener_queues WHERE waiting > 0 AND NOT is_run LIMIT 1)`,
    found: [['line_ready', 1]],
  },
  {
    what: 'a delivery that is looked at too late',
    sql: `UPDATE listener_queues SET ready_at_ms = ready_at_ms + 1
      WHERE (owner_id, listener_id) = (SELECT owner_id, listener_id FROM listener_queues WHERE waiting > 0 AND NOT is_run LIMIT 1)`,
    found: [['line_ready', 1]],
  },
  {
    what: 'a queue without a holder',
    sql: `UPDATE listener_queues SET holder = NULL
      WHERE (owner_id, listener_id) = (SELECT owner_id, listener_id FROM listener_queues WHERE taken > 0 AND NOT is_run LIMIT 1)`,
    found: [['line_holder', 1]],
  },
  {
    what: 'a run that is looked at too late',
    sql: `UPDATE listener_queues SET ready_at_ms = 1 WHERE (owner_id, listener_id) =
      (SELECT owner_id, listener_id FROM listener_queues WHERE waiting > 0 AND is_run AND starts IS NULL LIMIT 1)`,
    found: [['line_ready', 1]],
  },
  {
    what: 'runs that wait for nothing, and that waited',
    sql: `UPDATE open_runs SET carried = NULL WHERE run = ${A_WAIT};
      UPDATE open_runs SET due_at_ms = 1 WHERE run = ${A_RUN}`,
    found: [
      ['run_waits_for_nothing', 1],
      ['run_waits_no_longer', 1],
    ],
  },
  {
    what: 'a wait that nobody ends although servers live',
    sql: `${A_NODE} UPDATE open_runs SET node = (SELECT node FROM nodes), lease_until_ms = ${NOW} WHERE state = 'running';
      UPDATE open_deliveries SET node = (SELECT node FROM nodes), lease_until_ms = ${NOW} WHERE state = 'sending';
      UPDATE open_runs SET due_at_ms = 1 WHERE run = ${A_WAIT}`,
    found: [['run_waits_too_long', 1]],
  },
  {
    what: 'what nobody holds and nobody takes back',
    sql: `UPDATE open_runs SET node = 77, lease_until_ms = ${NOW} + 60000 WHERE run = ${A_RUN};
      UPDATE open_deliveries SET node = NULL, lease_until_ms = NULL WHERE delivery = ${A_DELIVERY}`,
    found: [
      ['run_held_by_nobody', 1],
      ['delivery_held_by_nobody', 1],
    ],
  },
  {
    what: 'a lease that is over for long although servers live',
    sql: `${A_NODE} UPDATE open_runs SET node = (SELECT node FROM nodes), lease_until_ms = ${NOW} WHERE state = 'running';
      UPDATE open_deliveries SET node = (SELECT node FROM nodes), lease_until_ms = ${NOW} WHERE state = 'sending';
      UPDATE open_runs SET lease_until_ms = 1 WHERE run = ${A_RUN}`,
    found: [['run_not_taken_back', 1]],
  },
  {
    what: 'what a node held that is gone for long',
    sql: `${A_NODE} INSERT INTO nodes (slot, name, version, started_at_ms, beat_at_ms, gone_at_ms)
        VALUES (1, 'two', '0', 1, 1, 1);
      UPDATE open_runs SET node = 1, lease_until_ms = ${NOW} WHERE state = 'running';
      UPDATE open_deliveries SET node = 1, lease_until_ms = ${NOW} WHERE state = 'sending';
      UPDATE open_deliveries SET node = 2 WHERE delivery = ${A_DELIVERY}`,
    found: [['delivery_not_taken_back', 1]],
  },
  {
    what: 'a move that was not finished',
    sql: `UPDATE meta SET value = replace(value, '"moved"', '"under_way"') WHERE name = 'move'`,
    found: [['move_under_way', 1]],
  },
];

const briefly = (findings: readonly Finding[]): [string, number][] =>
  findings.map(({ check, count }) => [check, count]);

/** With everything in it. */
async function filled(): Promise<{ url: string; drop: () => Promise<void> }> {
  await using folder = await createFolder();
  await fillStore(join(folder.path, 'errand.db'), new TestClock());
  const database = await newDatabase();
  const { status, stderr } = await call(['store', 'move', '--to', database.url], { ERRAND_DATA_DIR: folder.path });
  equal(status, 0, stderr);
  return database;
}

/** A database like that one, for as long as `act` takes. */
async function withCopy(of: string, act: (url: string) => Promise<void>): Promise<void> {
  const databases = await sharedPostgres();
  const name = new URL(of).pathname.slice(1);
  await databases.createDatabase(`${name}_copy`, name);
  try {
    await act(databases.url(`${name}_copy`));
  } finally {
    await databases.dropDatabase(`${name}_copy`);
  }
}

test('each kind of damage is found', async (t) => {
  const { url, drop } = await filled();
  const sound = await checkPostgres(url);
  deepEqual([sound.ok, sound.findings], [true, []]);
  for (const { what, sql, found } of DAMAGES) {
    await t.test(what, () =>
      withCopy(url, async (copy) => {
        await queryOn(copy, sql);
        const { findings } = await checkPostgres(copy);
        deepEqual(briefly(findings), found, JSON.stringify(findings));
      }),
    );
  }
  await drop();
});

test('nobody has to take back what nobody runs', async () => {
  const { url, drop } = await filled();
  await queryOn(url, 'UPDATE open_runs SET lease_until_ms = 1 WHERE lease_until_ms IS NOT NULL');
  deepEqual((await checkPostgres(url)).findings, []);
  // A server that has only just come has not had the time.
  await queryOn(url, `${A_NODE} UPDATE nodes SET started_at_ms = ${NOW} - 1000`);
  deepEqual((await checkPostgres(url)).findings, []);
  await drop();
});

test('a check is of one moment, while a server writes', async () => {
  const { url, drop } = await newDatabase();
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const writer = fork(WRITER, [url], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const gone = once(writer, 'close');
  let answers = 0;
  writer.on('message', () => void answers++);
  for (let i = 0; i < 10; i++) {
    const enough = answers + 100;
    await until('it writes', () => answers >= enough);
    const { findings } = await checkPostgres(url);
    deepEqual(findings, []);
  }
  writer.kill('SIGKILL');
  await gone;
  await drop();
});

test('without a store there is nothing to check', async () => {
  const { url, drop } = await newDatabaseOn(await sharedPostgres(), { isBlank: true });
  await rejects(checkPostgres(url), /there is no store in this database/);
  await drop();
  await rejects(checkPostgres(url), { name: 'StoreUnavailable' });
  const { url: newer, drop: dropNewer } = await newDatabase();
  await queryOn(newer, 'INSERT INTO errand_schema (version) VALUES (999)');
  await rejects(checkPostgres(newer), /has schema 999, and this program needs \d+/);
  await dropNewer();
});

test('the command says where it looked, and no password', async () => {
  const { url, drop } = await filled();
  const secret = url.replace('postgres@', 'postgres:secret@');
  const env = { ERRAND_DATABASE_URL: secret };
  const sound = await call(['store', 'check', '--json'], env);
  deepEqual([sound.status, sound.json().ok], [0, true]);
  match(sound.json().store, /^Postgres, 127\.0\.0\.1:\d+\/errand_test_\w+$/);
  await queryOn(url, 'DELETE FROM listener_queues');
  const broken = await call(['store', 'check', '--json'], env);
  deepEqual([broken.status, broken.json().ok], [1, false]);
  deepEqual(
    [sound, broken].filter(({ stdout, stderr }) => /secret/.test(stdout + stderr)),
    [],
  );
  await drop();
});

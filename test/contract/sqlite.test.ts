// The store contract on SQLite: a file in a directory of its own. Started with `writer`, this file is instead the
// process that the crash tests kill.

import { deepEqual, ok } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Clock } from '../../src/ports.ts';
import type { Store } from '../../src/store/contract/store.ts';
import {
  MEMORY_FOLDER,
  newFolder,
  openSqlite,
  openSqliteIn,
  removeFolder,
  type SqliteStoreOptions,
} from '../support/sqlite/store.ts';
import { type Harness, TestClock, type Writer } from './fixtures.ts';
import { writeUntilKilled } from './log/crash.ts';
import { storeContract } from './store.ts';

/** Every statement that the store prepared during the suite. */
const prepared = new Set<string>();

const optionsOf = (clock: Clock): SqliteStoreOptions => ({
  clock,
  onClose: (statements) => {
    for (const sql of statements) prepared.add(sql);
  },
});

/** In memory: a disk that syncs slowly would take most of the time. What is killed (`startWriter`) is on disk. */
const open = ({ clock }: { clock: Clock }) => openSqlite({ ...optionsOf(clock), parent: MEMORY_FOLDER });

async function startWriter(): Promise<Writer> {
  const directory = await newFolder();
  // Without the test runner's own variables: the child is no test file.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = fork(import.meta.filename, ['writer', directory], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(child, 'close');
  let store: Store | undefined;
  return {
    async messages(heard) {
      child.on('message', heard);
      await gone;
    },
    kill: () => void child.kill('SIGKILL'),
    async open({ clock }) {
      store = openSqliteIn(directory, optionsOf(clock));
      return store;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await gone;
      await store?.close();
      await removeFolder(directory);
    },
  };
}

const harness: Harness = { open, startWriter, effort: 1 };

if (process.argv[2] === 'writer') {
  await writeUntilKilled(openSqliteIn(String(process.argv[3]), optionsOf(new TestClock())));
} else {
  storeContract('sqlite', harness);
  test('no statement scans a table that grows, and each index is read', () => checkPlans());
}

/** Explains each statement that the whole contract made the store prepare. */
async function checkPlans(): Promise<void> {
  const directory = await newFolder();
  const path = join(directory, 'errand.db');
  await openSqliteIn(directory, optionsOf(new TestClock())).close();
  const db = new DatabaseSync(path);
  const scans: string[] = [];
  const read = new Set<string>();
  const wide: string[] = [];
  for (const sql of prepared) {
    if (!/^\s*(SELECT|UPDATE|DELETE|INSERT)/i.test(sql)) continue;
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as unknown as PlanStep[];
    for (const { detail } of plan) for (const [, index = ''] of detail.matchAll(/INDEX (\w+)/g)) read.add(index);
    if (!MAY_READ_MANY.some(({ statement }) => statement.test(sql)))
      for (const { detail } of manyRead(sql, plan)) wide.push(`${detail}: ${sql.replace(/\s+/g, ' ')}`);
    const grows = plan.filter(({ detail }) =>
      /^SCAN (emissions|runs|deliveries|attempts|withheld|idempotency|deployments|deployment_codes|codes)\b/.test(
        detail,
      ),
    );
    // An index that holds open work alone does not grow.
    for (const { detail } of grows.filter(
      ({ detail }) => !/INDEX (runs_open|deliveries_open|deliveries_due|deployments_whole)\b/.test(detail),
    ))
      scans.push(`${detail}: ${sql.replace(/\s+/g, ' ')}`);
  }
  const indexes = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`).all();
  db.close();
  await removeFolder(directory);
  ok(prepared.size > 80, `only ${prepared.size} statements were prepared`);
  deepEqual(scans, []);
  deepEqual(wide, [], 'no statement reads all rows of an owner, a listener or a state');
  deepEqual(
    indexes.map(({ name }) => String(name)).filter((name) => !read.has(name)),
    [],
    'each index is read by some statement',
  );
}

interface PlanStep {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** Columns that many rows of a growing table have in common. */
const IN_COMMON =
  /^SEARCH \w+ USING (?:COVERING )?INDEX \w+ \((?:(?:owner_id|state|runnable_id|listener_id)=\?(?: AND )?)+\)$/;
const OF_GROWING = /INDEX (?:emissions|runs|deliveries|attempts|error_groups|operation_results)_/;

/** All results of an operation, of which a step changes few. */
const OF_OPERATION = /^SEARCH operation_results USING PRIMARY KEY \(operation_id=\?\)$/;

/** What is open of one listener alone. */
const OF_QUEUE = /_open \((?:state=\? AND runnable_id|listener_id=\? AND state)=\?\)$/;

/** Statements that may, each with a reason. */
const MAY_READ_MANY: readonly { readonly statement: RegExp; readonly why: string }[] = [
  { statement: /^SELECT runnable_id AS id, (state, )?count/, why: 'a start counts what is queued' },
  { statement: /AS is_abandoned\s+FROM/, why: 'a start rescues what was running' },
  { statement: /SELECT run FROM runs WHERE due_at_ms > \?/, why: 'the clock was set back, and all waits with it' },
  { statement: /UPDATE runs SET due_at_ms = due_at_ms - \?/, why: 'the same' },
  { statement: /^SELECT DISTINCT runnable_id/, why: 'an owner is deleted, and what it has open' },
  { statement: /^DELETE FROM (runs|error_groups) WHERE .*owner_id = \?/s, why: 'an owner is deleted, in steps' },
  { statement: /^SELECT id FROM error_groups WHERE owner_id = \? ORDER BY id LIMIT/, why: 'the same' },
  { statement: /printf\('%015d', n\) \|\| id/, why: 'groups are sorted by their counts, which change with each error' },
  {
    statement: /FROM error_groups WHERE .* ORDER BY n (DESC|ASC), id (DESC|ASC) LIMIT/s,
    why: 'the same, searched by text',
  },
];

/** Returns the steps that read all rows with the same owner, listener or state: to sort them, or since nothing limits them. */
function manyRead(sql: string, plan: readonly PlanStep[]): readonly PlanStep[] {
  const sorted = new Set(plan.filter(({ detail }) => detail.startsWith('USE TEMP B-TREE')).map(({ parent }) => parent));
  const isLimited = /\bLIMIT\b/.test(sql) && !/^\s*(UPDATE|DELETE)/.test(sql);
  return plan.filter(
    ({ parent, detail }) =>
      (IN_COMMON.test(detail) &&
        OF_GROWING.test(detail) &&
        !OF_QUEUE.test(detail) &&
        (sorted.has(parent) || !isLimited)) ||
      (OF_OPERATION.test(detail) && /^\s*UPDATE/.test(sql)),
  );
}

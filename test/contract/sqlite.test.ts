// The store contract on SQLite: a file in a directory of its own. Started with `writer`, this file is instead the
// process that the crash tests kill.

import { deepEqual, ok } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Clock } from '../../src/ports.ts';
import type { Store } from '../../src/store/contract/store.ts';
import { openInspectable } from '../../src/store/sqlite/open.ts';
import { type Harness, type Opened, strongRandom, TestClock, type Writer } from './fixtures.ts';
import { writeUntilKilled } from './log/crash.ts';
import { storeContract } from './store.ts';

let nodes = 0;

/** Every statement that the store prepared during the suite. */
const prepared = new Set<string>();

function openIn(directory: string, clock: Clock): Promise<Store> {
  nodes++;
  const options = { path: join(directory, 'errand.db'), clock, random: strongRandom, nodeId: `node-${nodes}` };
  const { store, statements } = openInspectable(options);
  const { close } = store;
  return Promise.resolve({
    ...store,
    close: () => {
      for (const sql of statements()) prepared.add(sql);
      return close();
    },
  });
}

const newDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'errand-contract-'));
/** Every byte of the files: the database, its WAL, whatever else lies there. */
async function rawIn(directory: string): Promise<string> {
  const names = await readdir(directory);
  return (await Promise.all(names.map((name) => readFile(join(directory, name), 'latin1')))).join('\n');
}

const remove = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true });

async function open({ clock }: { clock: Clock }): Promise<Opened> {
  const directory = await newDirectory();
  let store = await openIn(directory, clock);
  return {
    store,
    async reopen() {
      await store.close();
      store = await openIn(directory, clock);
      return store;
    },
    raw: () => rawIn(directory),
    async execute(sql) {
      const db = new DatabaseSync(join(directory, 'errand.db'));
      db.exec(sql);
      db.close();
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await remove(directory);
    },
  };
}

async function startWriter(): Promise<Writer> {
  const directory = await newDirectory();
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
      store = await openIn(directory, clock);
      return store;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await gone;
      await store?.close();
      await remove(directory);
    },
  };
}

const harness: Harness = { open, startWriter, effort: 1 };

if (process.argv[2] === 'writer') await writeUntilKilled(await openIn(String(process.argv[3]), new TestClock()));
else {
  storeContract('sqlite', harness);
  test('no statement scans a table that grows', () => checkPlans());
}

/** Explains each statement that the whole contract made the store prepare. */
async function checkPlans(): Promise<void> {
  const directory = await newDirectory();
  const path = join(directory, 'errand.db');
  await (await openIn(directory, new TestClock())).close();
  const db = new DatabaseSync(path);
  const scans: string[] = [];
  for (const sql of prepared) {
    if (!/^\s*(SELECT|UPDATE|DELETE|INSERT)/i.test(sql)) continue;
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
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
  db.close();
  await remove(directory);
  ok(prepared.size > 80, `only ${prepared.size} statements were prepared`);
  deepEqual(scans, []);
}

// Opens the SQLite store: one file, one process.

import type { Clock, Random, Wake } from '../../ports.ts';
import { configVerbs } from '../config/verbs.ts';
import type { NodeStore } from '../contract/nodes.ts';
import type { Store } from '../contract/store.ts';
import { createSeal } from '../seal/seal.ts';
import type { SealKey } from '../seal/seal-key.ts';
import { configDatabase } from './config/config-database.ts';
import { deploymentVerbs } from './config/deployments.ts';
import { checkSealKey, type OperatorKeys, settleSealKey } from './config/seal-key.ts';
import { webhookVerbs } from './config/webhooks.ts';
import type { Core } from './core.ts';
import { type Connection, openDatabase } from './database.ts';
import { readTurns } from './deliveries/claim-deliveries.ts';
import { deliveryVerbs } from './deliveries/deliveries.ts';
import { operationVerbs } from './deliveries/operations.ts';
import { Batch } from './log/batch.ts';
import { timeVerbs } from './log/due-times.ts';
import { laterVerbs } from './log/later-emissions.ts';
import { logVerbs } from './log/log.ts';
import { Routes } from './log/routes.ts';
import { streamVerbs } from './log/streams.ts';
import { Throttles } from './log/throttles.ts';
import { Numbers, OpenRuns, Transaction } from './log/transaction.ts';
import { counterVerbs } from './maintenance/counters.ts';
import { OPEN_RUN } from './partial-index.ts';
import { runVerbs } from './runs/runs.ts';
import { waitVerbs } from './runs/waits.ts';

export interface SqliteOptions extends OperatorKeys {
  /** The file; its folder must exist. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** One file has one node: there is nobody to tell anything but ourselves. */
const ALONE: Omit<NodeStore, 'listen'> = {
  beat: async () => ({ cancel: [], isRescueDue: false }),
  answerRun: async () => undefined,
  awaited: async () => [],
};

/** Opens, migrates and locks the file. Throws `StoreUnavailable` when another process has it, or a newer program wrote it. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  return openInspectable(options).store;
}

/** The same, with a look at the SQL that it has prepared so far: for the test of query plans. */
export function openInspectable(options: SqliteOptions): { store: Store; statements: () => string[] } {
  const { clock } = options;
  const { database, key, numbers, openRuns, turns, storeTag, boot } = begin(options);
  const { writer, reader } = database;
  const seal = createSeal(key);
  const routes = new Routes(writer, seal);
  const throttles = new Throttles(writer);
  let wake: Wake | undefined;
  const hints = { emitted: () => wake?.emissions(), kept: () => wake?.schedules() };
  const shared = { numbers, openRuns, turns, throttles, ...hints };
  const batch = new Batch(writer, () => new Transaction(writer, clock, shared));
  const core: Core = {
    writer,
    reader,
    batch,
    routes,
    numbers,
    openRuns,
    turns,
    throttles,
    seal,
    clock,
    storeTag,
    boot,
    suspectCounters: () => wake?.counters(),
  };
  const store: Store = {
    ...logVerbs(core),
    ...streamVerbs(core),
    ...runVerbs(core),
    ...waitVerbs(core),
    ...deliveryVerbs(core),
    ...operationVerbs(core),
    ...counterVerbs(core),
    ...timeVerbs(core),
    ...deploymentVerbs(core),
    ...laterVerbs(core),
    ...webhookVerbs(core),
    ...configVerbs({ database: configDatabase(core), seal: core.seal, clock: core.clock }),
    ...ALONE,
    listen: (heard) => {
      wake = heard;
    },
    clock: { nowMs: () => clock.nowMs(), latestMs: () => clock.nowMs() },
    deriveKey: (purpose) => seal.derive(purpose),
    check: () =>
      batch
        .write((tx) => {
          writer.run("INSERT OR REPLACE INTO meta (name, value) VALUES ('checked_at_ms', ?)", String(tx.nowMs));
          return true;
        })
        .catch(() => false),
    close: async () => {
      batch.close();
      database.close();
    },
  };
  return { store, statements: () => [...writer.prepared, ...reader.prepared] };
}

/** All that is read at a start comes before anything is written: a damaged store stays as it is. */
function begin(options: SqliteOptions) {
  const { path, clock, random } = options;
  let checked: SealKey | null = null;
  const database = openDatabase(path, (writer) => {
    checked = checkSealKey(writer, options);
  });
  const { writer } = database;
  try {
    const numbers = new Numbers(lastNumber(writer));
    const openRuns = readOpenRuns(writer);
    const turns = readTurns(writer, clock.nowMs());
    const key = settleSealKey(writer, options, checked);
    return { database, key, numbers, openRuns, turns, storeTag: readTag(writer, random), boot: nextBoot(writer) };
  } catch (error) {
    database.abandon();
    throw error;
  }
}

function readTag(writer: Connection, random: Random): string {
  const known = writer.get("SELECT value FROM meta WHERE name = 'store_tag'");
  if (known) return known.value as string;
  const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
  const tag = [...random.bytes(5)].map((byte) => digits[byte % 36]).join('');
  writer.run("INSERT INTO meta (name, value) VALUES ('store_tag', ?)", tag);
  return tag;
}

function nextBoot(writer: Connection): number {
  const row = writer.get("SELECT value FROM meta WHERE name = 'boot'");
  const boot = Number(row?.value ?? 0) + 1;
  writer.run("INSERT OR REPLACE INTO meta (name, value) VALUES ('boot', ?)", String(boot));
  return boot;
}

function lastNumber(writer: Connection): number {
  const row = writer.get(`SELECT max(
    coalesce((SELECT max(entry) FROM emissions), 0),
    coalesce((SELECT max(run) FROM runs), 0),
    coalesce((SELECT max(delivery) FROM deliveries), 0),
    coalesce((SELECT max(entry) FROM dedupe), 0),
    coalesce((SELECT max(entry) FROM later_emissions), 0),
    coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'last_number'), 0)) AS last`);
  return row?.last as number;
}

function readOpenRuns(writer: Connection): OpenRuns {
  const open = new OpenRuns();
  const runs = writer.all(
    `SELECT runnable_id AS id, count(*) AS n FROM runs WHERE state = 'queued' AND ${OPEN_RUN} GROUP BY runnable_id`,
  );
  for (const row of runs) open.counts.set(row.id as string, row.n as number);
  return open;
}

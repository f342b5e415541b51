// Opens the SQLite store: one file, one process.

import type { Clock, Random, Wake } from '../../ports.ts';
import { sql } from '../config/sql.ts';
import { configVerbs } from '../config/verbs.ts';
import type { NodeStore } from '../contract/nodes.ts';
import type { Store } from '../contract/store.ts';
import { writeGroupsOf } from '../log/groups/error-groups.ts';
import { FullEmitters } from '../log/groups/full-emitters.ts';
import { logReads } from '../log/log-records.ts';
import { groupReplayReads } from '../log/replays/group-replays.ts';
import { replayPreviews } from '../log/replays/replay-preview.ts';
import { replayReads } from '../log/replays/replay-records.ts';
import { retentionVerbs } from '../log/retention/retention.ts';
import { runReads } from '../log/run-records.ts';
import { errorSearches } from '../log/search/error-search.ts';
import { groupSearches } from '../log/search/group-search.ts';
import { runSearches } from '../log/search/run-search.ts';
import { writeNotes as writeNotesOf } from '../log/watch/notes.ts';
import { number, present, text } from '../rows/cells.ts';
import { OPEN_RUN } from '../rows/run-rows.ts';
import { createSeal } from '../seal/seal.ts';
import type { SealKey } from '../seal/seal-key.ts';
import { newStoreTag } from '../store-tag.ts';
import { configDatabase, runSteps } from './config/config-database.ts';
import { checkSealKey, type OperatorKeys, settleSealKey } from './config/seal-key.ts';
import type { Core } from './core.ts';
import { type Connection, type Database, openDatabase, storageError } from './database.ts';
import { readQueues } from './deliveries/claim-deliveries.ts';
import { deliveryVerbs } from './deliveries/deliveries.ts';
import { placeOf } from './file-access.ts';
import { ActiveOwners } from './log/active-owners.ts';
import { Batch } from './log/batch.ts';
import { logVerbs } from './log/log.ts';
import { Routes } from './log/routes.ts';
import { streamVerbs } from './log/streams.ts';
import { Throttles } from './log/throttles.ts';
import { Numbers, OpenRuns, Transaction } from './log/transaction.ts';
import { counterVerbs } from './maintenance/counters.ts';
import { spaceVerbs } from './maintenance/space.ts';
import { readMeta, writeMeta } from './meta.ts';
import { primaryCode } from './result-codes.ts';
import { RowRoom } from './runs/row-room.ts';
import { orderVerbs } from './runs/run-orders.ts';
import { Checkpointer } from './wal/checkpointer.ts';
import { CommitSync, type SyncFailed } from './wal/commit-sync.ts';
import { showingWhatIsSynced } from './wal/reading.ts';
import { type SyncFile, WalFile } from './wal/wal-file.ts';

export interface SqliteOptions extends OperatorKeys {
  /** The file; its folder must exist. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Called once, when a sync has failed: it is unknown what is on disk, and the store no longer reads or writes. The process must
   * end; the next start uses what is there.
   */
  readonly onLost?: (failure: SyncFailed) => void;
  /** Tests replace fdatasync with it. */
  readonly syncFile?: SyncFile;
}

/** SQLite's result code for a full disk: the store can still be read, and written as far as there is room. */
const FULL = 13;

/** One file has one node, so there are no other nodes. */
const ALONE: Omit<NodeStore, 'listen'> = {
  beat: async () => ({ cancel: [], isRescueDue: false }),
  answerRun: async () => undefined,
  awaited: async () => [],
};

/** Opens, migrates and locks the file. Throws `StoreUnavailable` when another process has it, or a newer program wrote it. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  return openInspectable(options).store;
}

/** Opens the store in the same way, and returns the SQL that the store has prepared: for the test of query plans. */
export function openInspectable(options: SqliteOptions): { store: Store; statements: () => string[] } {
  const { clock } = options;
  const path = placeOf(options.path);
  const { database, key, numbers, openRuns, queues, storeTag, boot } = begin(options);
  const { writer, reader } = database;
  const seal = createSeal(key);
  const routes = new Routes(writer, seal);
  const throttles = new Throttles(writer);
  let wake: Wake | undefined;
  const hints = { emitted: () => wake?.notify('emissions'), kept: () => wake?.notify('schedules') };
  const writeGroups = (tx: Transaction): boolean =>
    runSteps(core, tx, ({ nowMs }) => writeGroupsOf(tx.captures, nowMs));
  const writeNotes = (tx: Transaction): void => runSteps(core, tx, ({ nowMs }) => writeNotesOf(tx.watchNotes, nowMs));
  const fullEmitters = new FullEmitters();
  const shared = { numbers, openRuns, queues, throttles, fullEmitters, writeGroups, writeNotes, ...hints };
  const { wal, commits, checkpointer } = beginSyncing({ ...options, path }, database, () => batch.hold());
  const owners = new ActiveOwners();
  const batch: Batch = new Batch({ writer, begin: () => new Transaction(writer, clock, shared), commits, owners });
  const core: Core = {
    writer,
    reader,
    batch,
    owners,
    routes,
    numbers,
    openRuns,
    queues,
    throttles,
    rowRoom: new RowRoom(),
    seal,
    clock,
    storeTag,
    boot,
    suspectCounters: () => wake?.notify('counters'),
  };
  const opened = configDatabase(core);
  const log = {
    database: opened,
    storeTag,
    seal,
    now: () => sql`${clock.nowMs()}`,
    suspectCounters: core.suspectCounters,
  };
  const verbs = {
    ...logVerbs(core),
    ...streamVerbs(core, opened),
    ...orderVerbs(core),
    ...deliveryVerbs(core),
    ...counterVerbs(core),
    ...spaceVerbs(core, checkpointer),
    ...logReads(log),
    ...runReads(log),
    ...errorSearches(log),
    ...groupSearches(log, clock),
    ...runSearches(log),
    ...replayReads(log),
    ...replayPreviews(log),
    ...groupReplayReads(log),
    ...retentionVerbs(opened),
    ...configVerbs({ ...core, database: opened }),
  };
  const store: Store = {
    ...showingWhatIsSynced(verbs, { batch, commits }),
    // Wait for no sync: no caller knows a key, or the address of a trigger, that is not on disk yet; and a key that was revoked, but not
    // on disk, is refused.
    triggerByKey: verbs.triggerByKey,
    keyByHash: verbs.keyByHash,
    heartbeatByKey: verbs.heartbeatByKey,
    ...ALONE,
    listen: (heard) => {
      wake = heard;
    },
    clock: { nowMs: () => clock.nowMs(), latestMs: () => clock.nowMs() },
    deriveKey: (purpose) => seal.derive(purpose),
    check: () =>
      batch
        .write((tx) => {
          writeMeta(writer, 'checked_at_ms', String(tx.nowMs));
          // Writes of other pages succeed: events would be taken that later cannot be read.
          return !writer.isDamaged && !reader.isDamaged;
        })
        .catch(() => false),
    close: async () => {
      await batch.close();
      await checkpointer.stop();
      wal.close();
      // A copy into the database would make commits of a failed sync look safe.
      if (commits.refusal) database.abandon();
      else database.close();
    },
  };
  return { store, statements: () => [...writer.prepared, ...reader.prepared] };
}

/** Reads everything before anything is written, so that a damaged store stays as it is. */
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
    const queues = readQueues(writer, clock.nowMs());
    const key = settleSealKey(writer, options, checked);
    return { database, key, numbers, openRuns, queues, storeTag: readTag(writer, random), boot: nextBoot(writer) };
  } catch (error) {
    database.abandon();
    throw error;
  }
}

interface Syncing {
  readonly wal: WalFile;
  readonly commits: CommitSync;
  readonly checkpointer: Checkpointer;
}

/** Replaces SQLite's own syncs, so that commits do not wait for the disk; see wal/. `holdCommits`: `Batch.hold`. */
function beginSyncing(options: SqliteOptions, database: Database, holdCommits: () => () => void): Syncing {
  const { path, log, syncFile, onLost } = options;
  const { writer } = database;
  try {
    copyWal(writer);
    const wal = new WalFile(path, syncFile);
    const commits = new CommitSync({
      sync: () => wal.sync(),
      onCommit: () => checkpointer.committed(),
      onFailure: (failure) => {
        void checkpointer.stop();
        onLost?.(failure);
      },
    });
    const onFailedSync = (error: Error): void => commits.fail(error);
    const checkpointer = new Checkpointer({ path, writer, log, onFailedSync, holdCommits });
    checkpointer.start();
    writer.exec('PRAGMA synchronous = NORMAL');
    return { wal, commits, checkpointer };
  } catch (error) {
    database.abandon();
    throw storageError(error);
  }
}

/**
 * Copies the WAL into the database and syncs it; the next commit begins the WAL again. After a failed sync, an earlier process may
 * have left a WAL that the system's cache has and the disk does not.
 */
function copyWal(writer: Connection): void {
  try {
    writer.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch (error) {
    if (primaryCode(error) !== FULL) throw error;
  }
}

function readTag(writer: Connection, random: Random): string {
  const known = readMeta(writer, 'store_tag');
  if (known !== null) return known;
  const tag = newStoreTag(random);
  writeMeta(writer, 'store_tag', tag);
  return tag;
}

function nextBoot(writer: Connection): number {
  const boot = Number(readMeta(writer, 'boot') ?? 0) + 1;
  writeMeta(writer, 'boot', String(boot));
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
  return number(present(row), 'last');
}

function readOpenRuns(writer: Connection): OpenRuns {
  const open = new OpenRuns();
  const runs = writer.all(
    `SELECT runnable_id AS id, count(*) AS n FROM runs WHERE state = 'queued' AND ${OPEN_RUN} GROUP BY runnable_id`,
  );
  for (const row of runs) open.counts.set(text(row, 'id'), number(row, 'n'));
  return open;
}

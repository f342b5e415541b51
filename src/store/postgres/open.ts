// Opens the Postgres store: one database, any number of processes.

import type { Clock, Log, Random } from '../../ports.ts';
import { raw, sql } from '../config/sql.ts';
import { configVerbs } from '../config/verbs.ts';
import type { CounterStore } from '../contract/counters.ts';
import type { Store } from '../contract/store.ts';
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
import { present, text } from '../rows/cells.ts';
import type { CommandRecord } from '../rows/command-record.ts';
import { createSeal } from '../seal/seal.ts';
import { REPLACED, type SecretKey } from '../seal/seal-key.ts';
import { newStoreTag } from '../store-tag.ts';
import { FIRST_CURSOR } from './claims/claim-cursor.ts';
import { LeasedRows } from './claims/leased-rows.ts';
import { Node } from './claims/node.ts';
import { nodeVerbs } from './claims/nodes.ts';
import { RetryShares } from './claims/retry-shares.ts';
import { configDatabase } from './config/config-database.ts';
import { checkSealKey, settleSealKey } from './config/seal-key.ts';
import { DatabaseClock, NOW_SQL } from './connection/clock.ts';
import { FORGET } from './connection/commit-marker.ts';
import { Notices } from './connection/notify.ts';
import { Pool } from './connection/pool.ts';
import { refuseSharedSessions } from './connection/pooler.ts';
import { TransactionConnection } from './connection/transaction-connection.ts';
import type { Core } from './core.ts';
import { deliveryVerbs } from './deliveries/deliveries.ts';
import { Batch, type LogCore } from './log/batch.ts';
import { logVerbs } from './log/log.ts';
import { forgetOld } from './log/retention.ts';
import { Routes } from './log/routes.ts';
import { streamVerbs } from './log/streams.ts';
import { counterVerbs } from './maintenance/counters.ts';
import { migrate } from './maintenance/schema.ts';
import { HotTableVacuum } from './maintenance/vacuum.ts';
import { refuseUnfinishedMove } from './move/import-progress.ts';
import { orderVerbs } from './runs/run-orders.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; several hosts by commas, for a failover. */
  readonly url: string;
  /** Null: the database's own clock. Tests pass another one. */
  readonly clock: Clock | null;
  readonly random: Random;
  /** Names this process in the database's list of sessions. */
  readonly nodeName: string;
  readonly version: string;
  readonly log: Log;
  /** The first one wraps the key that seals the store's secrets. Without any, the key is stored unwrapped. */
  readonly secretKeys?: readonly SecretKey[];
  /** The audit record of a start that replaces the key; none: it is not recorded. */
  readonly keyRecord?: CommandRecord;
}

/** A database that hangs ends its own statements much later, when the caller has given up. */
export const CHECK_MS = 5000;
const MARK_BYTES = 15;
/** Connections of the pool; transactions and the listener need five more. */
const POOL_CONNECTIONS = 6;

/** A process cannot make a key for the others: the operator sets one for all. */
const BARE_KEY =
  'the key that seals the secrets of this store is stored in the database unwrapped: every reader of the database, or of a backup of it, can open them. Set the same ERRAND_SECRET_KEY for every process, and it is wrapped with that at the next start';

const WAITS =
  'another process holds a lock of the database, most likely since it changes the tables for a new version; the start waits for it, for about ten minutes at the most';

/** Connects, migrates and joins the other nodes. Throws `StoreUnavailable` when it cannot. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  return (await openInspectable(options)).store;
}

/**
 * Opens the store in the same way, and returns the SQL that writes of the log and claims have sent: for the test of their
 * plans.
 */
export async function openInspectable(options: PostgresOptions): Promise<{ store: Store; statements: () => string[] }> {
  const { random, nodeName: name, version, log, secretKeys = [] } = options;
  const connection = { url: options.url, name: `errand ${name}` };
  const pool = new Pool({ ...connection, connections: POOL_CONNECTIONS });
  const byKey = { ...connection, isByKey: true };
  const connections = {
    batch: new TransactionConnection(byKey),
    claims: new TransactionConnection(byKey),
    config: new TransactionConnection(connection),
    data: new TransactionConnection(connection),
  };
  const clock = new DatabaseClock(options.clock);
  const node = new Node({ pool, clock, name, version });
  const notices = new Notices({ pool, options: connection, log });
  const closeAll = async (): Promise<void> => {
    await notices.close();
    await Promise.all(Object.values(connections).map((each) => each.close()));
    await pool.close();
  };
  try {
    await refuseSharedSessions(connections.config, connections.data);
    const checked = await checkSealKey(pool, secretKeys);
    await migrate(connections.config, () => log.warn({}, WAITS));
    for (const each of Object.values(connections))
      each.markAs(Buffer.from(random.bytes(MARK_BYTES)).toString('base64url'));
    await pool.write(FORGET);
    await node.register();
    // After the registration: a move into this database first writes its mark and then looks for nodes.
    await refuseUnfinishedMove(pool);
    const { claims, config, data } = connections;
    const storeTag = await readTag(pool, random);
    const { key, isBare, replaces } = await settleSealKey(pool, options, checked);
    if (isBare) log.warn({}, BARE_KEY);
    if (replaces !== null) log.warn({ replaced: replaces, by: secretKeys[0]?.from }, REPLACED);
    const seal = createSeal(key);
    const cursors = { runs: FIRST_CURSOR, deliveries: FIRST_CURSOR };
    const core: Core = {
      pool,
      claims,
      config,
      data,
      cursors,
      retryShares: new RetryShares(),
      leased: new LeasedRows(),
      routes: new Routes(seal),
      fullEmitters: new FullEmitters(),
      node,
      notices,
      vacuum: new HotTableVacuum(pool, log),
      clock,
      storeTag,
      seal,
    };
    const logCore = { ...core, batch: new Batch(connections.batch, core) };
    const statements = (): string[] => [...connections.batch.statements, ...connections.claims.statements];
    return { store: { ...storeOf(logCore, closeAll), ...counterVerbs(core, connection) }, statements };
  } catch (error) {
    await node.leave().catch(() => undefined);
    await closeAll();
    throw error;
  }
}

function storeOf(core: LogCore, closeAll: () => Promise<void>): Omit<Store, keyof CounterStore> {
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await core.batch.close();
    // If this cannot be written, the other nodes notice when the lease expires.
    await core.node.leave().catch(() => undefined);
    await closeAll();
  };
  const database = configDatabase(core);
  const log = {
    database,
    storeTag: core.storeTag,
    seal: core.seal,
    now: () => sql`coalesce(CAST (${core.clock.overrideMs()} AS BIGINT), ${raw(NOW_SQL)})`,
    suspectCounters: () => core.notices.suspectCounters(),
  };
  return {
    ...logVerbs(core),
    ...streamVerbs(core, database),
    ...orderVerbs(core),
    ...deliveryVerbs(core),
    ...nodeVerbs(core),
    ...logReads(log),
    ...runReads(log),
    ...errorSearches(log),
    ...groupSearches(log, core.clock),
    ...runSearches(log),
    ...replayReads(log),
    ...replayPreviews(log),
    ...groupReplayReads(log),
    ...retentionVerbs(database, () => forgetOld(core)),
    ...configVerbs({ ...core, database }),
    reclaimSpace: async () => false, // autovacuum makes room, and what comes next fills it
    clock: core.clock,
    deriveKey: (purpose) => core.seal.derive(purpose),
    check: () => check(core),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function check({ pool, clock, batch }: LogCore): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), CHECK_MS);
  const written = pool.write(
    `INSERT INTO meta (name, value) VALUES ('checked_at_ms', $1)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    String(clock.nowMs()),
  );
  const isReady = written.then(
    () => !batch.isFailing,
    () => false,
  );
  return Promise.race([isReady, late.promise]).finally(() => clearTimeout(timer));
}

async function readTag(pool: Pool, random: Random): Promise<string> {
  await pool.write(
    "INSERT INTO meta (name, value) VALUES ('store_tag', $1) ON CONFLICT DO NOTHING",
    newStoreTag(random),
  );
  return text(present(await pool.get("SELECT value FROM meta WHERE name = 'store_tag'")), 'value');
}

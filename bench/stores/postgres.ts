// The service on Postgres: one process, and several over the same database, against SQLite in the same run and against
// job queues on the same server. All on this machine: more processes share its cores, so what several gain shows on
// several machines only; what they cost each other shows here.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { ClaimedRun } from '../../src/domain/run/run.ts';
import { random } from '../../src/server/real-ports.ts';
import type { Store } from '../../src/store/contract/store.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { startPostgres } from '../../test/support/postgres/server.ts';
import { load } from '../kit/load.ts';
import { type Bench, type Env, startBench } from '../kit/server.ts';
import { median, type Spread, spreadOf } from '../kit/stats.ts';
import type { Times } from '../throughput/throughput.ts';
import { graphileWorker, pgBoss, type Worked } from './queues.ts';
import { eventOf, type Flow, FREE_HANDS, failedEnd, layFlow, succeededEnd } from './store-work.ts';

type Database = postgres.Sql;

export interface Shared {
  readonly processes: number;
  readonly acceptedPerSecond: number;
  readonly finishedPerSecond: number;
  /** Of the answers, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: number;
  /** Statements that the database executed for one event, from the accepting to the end of its run. */
  readonly statementsPerEvent: number;
  readonly transactionsPerEvent: number;
}

const RETURNS = 'export default () => 1;';

/** A durable server of its own, as it comes but for what the figures need. */
export function startDatabase(): ReturnType<typeof startPostgres> {
  const settings = { shared_buffers: '512MB', max_wal_size: '4GB', shared_preload_libraries: 'pg_stat_statements' };
  return startPostgres({ durable: true, settings });
}

/** Settings of a service on a new database of this name. */
export async function envOn(server: Awaited<ReturnType<typeof startDatabase>>, name: string): Promise<Env> {
  await server.createDatabase(name);
  return { ERRAND_DATABASE_URL: server.url(name) };
}

/** Accept, run, finish, with the load spread over so many processes on one database. */
export async function acceptAndRunShared(url: string, processes: number, times: Times): Promise<Shared> {
  const dirs = await Promise.all(Array.from({ length: processes }, () => mkdtemp(join(tmpdir(), 'errand-shared-'))));
  const nodes: Bench[] = [];
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    for (const dir of dirs) nodes.push(await startBench(dir, { ERRAND_DATABASE_URL: url }));
    const [first] = nodes as [Bench];
    const { endpoint } = await first.workflow(RETURNS, { concurrency: 1000 });
    const path = new URL(endpoint).pathname;
    const endpoints = nodes.map(({ process }) => `${process.url}${path}`);
    await Promise.all(endpoints.map((each) => load(each, times.warmUpSeconds)));
    const before = (await first.settled()).runs.succeeded;
    const counted = await countersOf(sql);
    const started = performance.now();
    const loads = await Promise.all(endpoints.map((each) => load(each, times.seconds)));
    const { runs } = await first.settled();
    const seconds = (performance.now() - started) / 1000;
    const finished = runs.succeeded - before;
    const after = await countersOf(sql);
    return {
      processes,
      acceptedPerSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
      finishedPerSecond: finished / seconds,
      p50Ms: median(loads.map(({ p50Ms }) => p50Ms)),
      p99Ms: Math.max(...loads.map(({ p99Ms }) => p99Ms)),
      failures: loads.reduce((sum, { failures }) => sum + failures, 0),
      statementsPerEvent: (after.statements - counted.statements) / finished,
      transactionsPerEvent: (after.transactions - counted.transactions) / finished,
    };
  } finally {
    await sql.end();
    for (const node of nodes) await node[Symbol.asyncDispose]();
    for (const dir of dirs) await rm(dir, { recursive: true, force: true });
  }
}

/** What the server has executed so far in this database; BEGIN and COMMIT are not counted as statements. */
async function countersOf(sql: Database): Promise<{ statements: number; transactions: number }> {
  await sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`;
  const [row] = await sql`SELECT
    (SELECT sum(calls)::float8 FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database
      WHERE datname = current_database()) AND query !~ '^(BEGIN|COMMIT|ROLLBACK)') AS statements,
    (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database()) AS transactions`;
  return { statements: row?.statements as number, transactions: row?.transactions as number };
}

const HOT_TABLES = ['open_runs', 'open_deliveries', 'listener_queues', 'ledger'];
const LOOK_MS = 2000;
const AT_ONCE = 200;
const FAILING = 20;

export interface Worn {
  readonly events: number;
  readonly perSecond: number;
  /** What one event with its run adds to the log of the database, and to its disk. */
  readonly walBytes: number;
  readonly diskBytes: number;
  /** By table, the most that was seen while the load lasted. */
  readonly tables: readonly { readonly name: string; readonly megabytes: number; readonly deadRows: number }[];
  /** A page of 100 errors at the end, in milliseconds. */
  readonly listing: Spread;
}

/** A day's worth of events in fast motion, straight into the store: what becomes of the tables that every event touches. */
export async function wear(url: string, events: number): Promise<Worn> {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const store = await openPostgresStore({ url, clock: null, random, nodeName: 'bench', version: 'bench', log });
  const sql = postgres(url, { max: 1 });
  const flow = await layFlow(store);
  const worst = new Map(HOT_TABLES.map((name) => [name, { name, megabytes: 0, deadRows: 0 }]));
  const look = async (): Promise<void> => {
    const rows = await sql`SELECT relname AS name, pg_total_relation_size(relid)::float8 / 1048576 AS megabytes,
      n_dead_tup::float8 AS dead FROM pg_stat_user_tables WHERE relname = ANY(${HOT_TABLES})`;
    for (const { name, megabytes, dead } of rows) {
      const known = worst.get(name as string) as { megabytes: number; deadRows: number };
      known.megabytes = Math.max(known.megabytes, megabytes as number);
      known.deadRows = Math.max(known.deadRows, dead as number);
    }
  };
  const sizes = async (): Promise<{ wal: number; disk: number }> => {
    const [row] = await sql`SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 AS wal,
      pg_database_size(current_database())::float8 AS disk`;
    return row as unknown as { wal: number; disk: number };
  };
  const before = await sizes();
  const looking = setInterval(() => void look(), LOOK_MS);
  const started = performance.now();
  for (let n = 0; n < events; n += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, i) => {
        const { claims } = await store.append(eventOf(flow), FREE_HANDS);
        const run = claims.runs[0] as ClaimedRun;
        await store.finishRun(i % FAILING === 0 ? failedEnd(run) : succeededEnd(run), FREE_HANDS);
      }),
    );
  }
  const perSecond = (events / (performance.now() - started)) * 1000;
  clearInterval(looking);
  await look();
  const after = await sizes();
  const walBytes = (after.wal - before.wal) / events;
  const diskBytes = (after.disk - before.disk) / events;
  const listing = await listErrors(store, flow);
  await sql.end();
  await store.close();
  return { events, perSecond, walBytes, diskBytes, tables: [...worst.values()], listing };
}

async function listErrors(store: Store, { ownerId, workflowId }: Flow): Promise<Spread> {
  const took: number[] = [];
  for (let n = 0; n < 500; n++) {
    const before = performance.now();
    await store.listEmissions({ ownerId, emitterId: workflowId, name: '$errors' }, { limit: 100 }, true);
    took.push(performance.now() - before);
  }
  return spreadOf(took);
}

export interface Queues {
  readonly graphile: Worked;
  readonly boss: Worked;
}

export async function queuesOn(url: (database: string) => string, jobs: number): Promise<Queues> {
  return { graphile: await graphileWorker(url('graphile'), jobs), boss: await pgBoss(url('boss'), jobs) };
}

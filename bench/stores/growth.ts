// What an event costs when much is stored: the same figures at each size, and the exponent with which each grows (0: flat, 1: in
// proportion). A store is filled by copying what a few thousand events left in its tables to earlier times, in SQL: by HTTP ten
// million would take an hour.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { add } from '../kit/figures.ts';
import { BODY } from '../kit/load.ts';
import {
  type Bench,
  childrenOf,
  cpuByThread,
  cpuSecondsOf,
  type Env,
  familyCpuSecondsOf,
  memoryOf,
  startBench,
} from '../kit/server.ts';
import { spreadOf } from '../kit/stats.ts';
import { listing } from '../throughput/latency.ts';
import { copyLog, type GrowingStore, postgresAt, postmasterOf, sqliteIn } from './growth-stores.ts';
import { startDatabase } from './postgres.ts';

const FIRST = { wanted: 11_000, maxMs: 60_000 };
const IDLE_MS = 2000;
const POSTS = 300;
const FLOOD = 3000;
const CALLERS = 32;
/** What the server needs for a workflow that nobody calls is not its code. */
const NOTHING = 'export default () => 1;';

interface Size {
  readonly workflows: number;
  readonly subscriptions: number;
}

type Figures = Readonly<Record<string, number>>;

interface Laid {
  readonly dir: string;
  readonly ownerId: string;
  readonly triggerId: string;
  readonly workflowId: string;
  /** The first process of the database's server. */
  readonly databasePid: number | null;
}

export const GROWING = ['SQLite', 'Postgres'] as const;

/** Measures at each number of emissions, then with more workflows and subscriptions, and adds all figures and exponents. */
export async function growth(sizes: readonly number[], storage: (typeof GROWING)[number]): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-growth-'));
  try {
    if (storage === 'SQLite') {
      const laid = await lay(dir, {});
      await grow({ ...laid, databasePid: null }, sizes, () => sqliteIn(dir));
      return;
    }
    await using server = await startDatabase();
    await server.createDatabase('growth');
    const url = server.url('growth');
    const laid = await lay(dir, { ERRAND_DATABASE_URL: url });
    await grow({ ...laid, databasePid: await postmasterOf(url) }, sizes, () => postgresAt(url));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Opens the store for as long as no server uses it. */
type Open = () => GrowingStore & AsyncDisposable;

const CONFIGURED: readonly Size[] = [
  { workflows: 10, subscriptions: 100 },
  { workflows: 100, subscriptions: 1000 },
  { workflows: 1000, subscriptions: 10_000 },
];

async function grow(laid: Laid, sizes: readonly number[], open: Open): Promise<void> {
  const of = laid.databasePid === null ? 'SQLite' : 'Postgres';
  const stored: { x: number; figures: Figures }[] = [];
  for (const emissions of sizes) {
    const { env } = await prefillTo(laid, emissions, open);
    stored.push({ x: emissions, figures: await measure(laid, env) });
    report(`${of}, ${emissions} emissions`, stored.at(-1)?.figures as Figures);
  }
  exponents(`${of}, emissions`, stored);
  const measured: { x: number; figures: Figures }[] = [];
  for (const size of CONFIGURED) {
    const { env } = await copyConfiguration(laid, size, open);
    measured.push({ x: size.workflows, figures: await measure(laid, env) });
    const what = `${of}, ${size.workflows} workflows, ${size.subscriptions} subscriptions`;
    report(what, measured.at(-1)?.figures as Figures);
  }
  exponents(`${of}, workflows and subscriptions`, measured);
}

async function lay(dir: string, env: Env): Promise<Omit<Laid, 'databasePid'>> {
  await using bench = await startBench(dir, env);
  const workflow = await bench.workflow(NOTHING, { notify: false, concurrency: 100 });
  const { data } = await bench.client.get('/v1/users/me');
  return { dir, ownerId: data.id as string, triggerId: workflow.hi, workflowId: workflow.id };
}

async function prefillTo(laid: Laid, emissions: number, open: Open): Promise<GrowingStore> {
  await using store = open();
  const before = await store.stored();
  if (before === 0) await store.fill(laid, FIRST);
  const started = performance.now();
  for (let count = await store.stored(); count < emissions; count = await store.stored()) {
    await copyLog(store, emissions - count);
  }
  await store.settle();
  const note = `${((performance.now() - started) / 1000).toFixed(0)} s`;
  add({ name: 'growth: emissions stored', value: await store.stored(), unit: '', note: `filled in ${note}` });
  return store;
}

/** Copies the workflow and its subscription: each workflow hears an equal part of the subscriptions, from triggers of nobody. */
async function copyConfiguration({ workflowId }: Laid, size: Size, open: Open): Promise<GrowingStore> {
  await using store = open();
  const { workflows, subscriptions } = size;
  const copy = async (table: string, changed: Readonly<Record<string, string>>, limit: number): Promise<void> => {
    const columns = await store.columnsOf(table);
    const values = columns.map((name) => changed[name] ?? `it.${name}`);
    const of = table === 'subscriptions' ? 'listener_id' : 'id';
    await store.query(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${limit})
       INSERT INTO ${table} (${columns}) SELECT ${values} FROM n,
       (SELECT * FROM ${table} WHERE ${of} = '${workflowId}' LIMIT 1) it WHERE true ON CONFLICT DO NOTHING`,
    );
  };
  const nth = (prefix: string, i: string): string => `'${prefix}' || ${store.digits(i)}`;
  await store.query('BEGIN');
  await copy('runnables', { id: nth('p_', 'i'), name: "'copy ' || i" }, workflows - 1);
  await copy(
    'subscriptions',
    { id: nth('sub_', 'i'), emitter_id: nth('hi_', 'i'), listener_id: nth('p_', `i % ${workflows} + 1`) },
    subscriptions,
  );
  await store.query('COMMIT');
  await store.settle();
  return store;
}

async function measure({ dir, workflowId, databasePid }: Laid, env: Env): Promise<Figures> {
  await using bench = await startBench(dir, env);
  const pid = bench.process.child.pid as number;
  await pause(IDLE_MS);
  const { rssMb } = await memoryOf(pid);
  const errors = `/v1/workflows/${workflowId}/$errors/event_summaries?limit=100`;
  const list = await listing(bench.process.url, errors, POSTS);
  const workflow = await bench.client.get(`/v1/workflows/${workflowId}`);
  const posting = await posts(bench, workflow.data.triggers[0].endpoint_url, databasePid);
  return { 'start → ready, ms': bench.readyMs, 'resident, MB': rssMb, 'list of 100 errors, ms': list.p50, ...posting };
}

async function posts(bench: Bench, endpoint: string, databasePid: number | null): Promise<Figures> {
  const { origin, pathname: path } = new URL(endpoint);
  await using pool = Object.assign(new Pool(origin, { connections: CALLERS }), {
    [Symbol.asyncDispose]: () => pool.destroy(),
  });
  const headers = { 'content-type': 'application/json' };
  const one = async (): Promise<number> => {
    const before = performance.now();
    const answer = await pool.request({ path, method: 'POST', headers, body: BODY });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`${endpoint} answered ${answer.statusCode}`);
    return performance.now() - before;
  };
  const took: number[] = [];
  for (let n = 0; n < POSTS; n++) took.push(await one());
  await bench.settled();
  const pid = bench.process.child.pid as number;
  const before = performance.now();
  const cpuBefore = await cpuOf(pid, databasePid);
  const caller = async (): Promise<void> => {
    for (let n = 0; n < FLOOD / CALLERS; n++) await one();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  await bench.settled();
  const tookMs = performance.now() - before;
  const cpu = await cpuOf(pid, databasePid);
  const used = [...cpu].map(([name, seconds]): [string, number] => [name, seconds - (cpuBefore.get(name) ?? 0)]);
  return {
    'accept, ms': spreadOf(took).p50,
    'accept → finished, µs each': (tookMs * 1000) / FLOOD,
    ...Object.fromEntries(used.map(([name, seconds]) => [`CPU of ${name} for it, µs`, (seconds * 1_000_000) / FLOOD])),
  };
}

/** Of the server's threads, by their names, of the processes of code together, and of the database's; in seconds. */
async function cpuOf(pid: number, databasePid: number | null): Promise<ReadonlyMap<string, number>> {
  const children = await Promise.all((await childrenOf(pid)).map(cpuSecondsOf));
  const used: [string, number][] = [['children', children.reduce((sum, seconds) => sum + seconds, 0)]];
  if (databasePid !== null) used.push(['the database', await familyCpuSecondsOf(databasePid)]);
  return new Map([...(await cpuByThread(pid)), ...used]);
}

function report(what: string, figures: Figures): void {
  for (const [name, value] of Object.entries(figures)) {
    add({ name: `growth: ${what}: ${name}`, value, unit: '' });
  }
}

/** The slope of a straight line through the logarithms of both. */
export function exponentOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const mean = (of: (point: { x: number; y: number }) => number): number =>
    logs.reduce((sum, point) => sum + of(point), 0) / logs.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const spread = logs.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return logs.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread;
}

function exponents(of: string, measured: readonly { readonly x: number; readonly figures: Figures }[]): void {
  if (measured.length < 2) return;
  // Threads that did nothing have no exponent.
  const names = Object.keys(measured[0]?.figures ?? {});
  for (const name of names.filter((name) => measured.every(({ figures }) => (figures[name] ?? 0) > 0))) {
    const points = measured.map(({ x, figures }) => ({ x, y: figures[name] ?? Number.NaN }));
    add({ name: `growth: exponent, ${of}: ${name}`, value: exponentOf(points), unit: '' });
  }
}

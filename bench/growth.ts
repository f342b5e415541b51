// What an event costs when much is stored: the same figures at each size, and the exponent with which each grows (0: flat, 1: in
// proportion). A store is filled by copying what a few thousand events left in its tables to earlier times, in SQL: by HTTP ten
// million would take an hour.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { add } from './figures.ts';
import { listing } from './latency.ts';
import { BODY } from './load.ts';
import { type Bench, childrenOf, cpuByThread, cpuSecondsOf, memoryOf, startBench } from './server.ts';
import { spreadOf } from './stats.ts';
import { prefill } from './store.ts';

/** The time of an entry of the log is its upper bits. */
const ENTRIES_PER_MS = 1024;
const FIRST = { wanted: 11_000, maxMs: 60_000 };
const IDLE_MS = 2000;
const POSTS = 300;
const FLOOD = 3000;
const CALLERS = 32;
/** What the server needs for a workflow that nobody calls is not its code. */
const NOTHING = 'export default () => 1;';

interface Size {
  readonly emissions: number;
  readonly workflows: number;
  readonly subscriptions: number;
}

type Figures = Readonly<Record<string, number>>;

interface Laid {
  readonly dir: string;
  readonly ownerId: string;
  readonly triggerId: string;
  readonly workflowId: string;
}

/** Measures at each number of emissions, then with more workflows and subscriptions, and adds all figures and exponents. */
export async function growth(sizes: readonly number[]): Promise<void> {
  const laid = await lay();
  try {
    const stored: { x: number; figures: Figures }[] = [];
    for (const emissions of sizes) {
      await prefillTo(laid, emissions);
      stored.push({ x: emissions, figures: await measure(laid) });
      report(`${emissions} emissions`, stored.at(-1)?.figures as Figures);
    }
    exponents('emissions', stored);
    await configured(laid);
  } finally {
    await rm(laid.dir, { recursive: true, force: true });
  }
}

const CONFIGURED: readonly Omit<Size, 'emissions'>[] = [
  { workflows: 10, subscriptions: 100 },
  { workflows: 100, subscriptions: 1000 },
  { workflows: 1000, subscriptions: 10_000 },
];

async function configured(laid: Laid): Promise<void> {
  const measured: { x: number; figures: Figures }[] = [];
  for (const size of CONFIGURED) {
    copyConfiguration(laid, size);
    measured.push({ x: size.workflows, figures: await measure(laid) });
    report(`${size.workflows} workflows, ${size.subscriptions} subscriptions`, measured.at(-1)?.figures as Figures);
  }
  exponents('workflows and subscriptions', measured);
}

async function lay(): Promise<Laid> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-growth-'));
  await using bench = await startBench(dir);
  const workflow = await bench.workflow(NOTHING, { notify: false, concurrency: 100 });
  const { data } = await bench.client.get('/v1/users/me');
  return { dir, ownerId: data.id as string, triggerId: workflow.hi, workflowId: workflow.id };
}

async function prefillTo(laid: Laid, emissions: number): Promise<void> {
  const path = join(laid.dir, 'errand.db');
  const before = stored(path);
  if (before === 0) await prefill(path, laid, FIRST);
  const started = performance.now();
  using database = open(path);
  for (let count = stored(path); count < emissions; count = stored(path)) copyLog(database, emissions - count);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const note = `${((performance.now() - started) / 1000).toFixed(0)} s`;
  add({ name: 'growth: emissions stored', value: stored(path), unit: '', note: `filled in ${note}` });
}

function open(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000');
  return database;
}

function stored(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true });
  return Number(database.prepare('SELECT count(*) AS n FROM emissions').get()?.n);
}

/** Copies the newest rows of the log, at most `count` emissions, to the time before its first. */
function copyLog(database: DatabaseSync, count: number): void {
  const { first, last } = database.prepare('SELECT min(entry) AS first, max(entry) AS last FROM emissions').get() as {
    first: number;
    last: number;
  };
  const from = database.prepare('SELECT entry FROM emissions ORDER BY entry DESC LIMIT 1 OFFSET ?').get(count)?.entry;
  const ms = Math.ceil((last - first) / ENTRIES_PER_MS) + 1;
  const moved = { entry: ms, run: ms, cause_run: ms, error_entry: ms };
  database.exec('BEGIN');
  for (const [table, key] of [
    ['emissions', 'entry'],
    ['runs', 'run'],
  ] as const) {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const names = columns.map(({ name }) => String(name));
    const values = names.map((name) => (Object.hasOwn(moved, name) ? `${name} - ${ms * ENTRIES_PER_MS}` : name));
    database.exec(
      `INSERT INTO ${table} (${names}) SELECT ${values} FROM ${table} WHERE ${key} > ${from ?? 0} ORDER BY ${key}`,
    );
  }
  countAgain(database);
  database.exec('COMMIT');
}

/** The counters of what was copied: of emissions, errors and runs, which are all of one owner. */
function countAgain(database: DatabaseSync): void {
  const facts = [
    ['emissions', 'SELECT count(*) FROM emissions'],
    ['errors', "SELECT count(*) FROM emissions WHERE name = '$errors'"],
    ['runs.failed', "SELECT count(*) FROM runs WHERE state = 'failed'"],
  ] as const;
  for (const [fact, counted] of facts) database.exec(`UPDATE ledger SET n = (${counted}) WHERE fact = '${fact}'`);
}

/** Copies the workflow and its subscription: each workflow hears an equal part of the subscriptions, from triggers of nobody. */
function copyConfiguration({ dir, workflowId }: Laid, { workflows, subscriptions }: Omit<Size, 'emissions'>): void {
  using database = open(join(dir, 'errand.db'));
  const copy = (table: string, changed: Readonly<Record<string, string>>, limit: number): void => {
    const names = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const columns = names.map(({ name }) => String(name));
    const values = columns.map((name) => changed[name] ?? `it.${name}`);
    const of = table === 'subscriptions' ? 'listener_id' : 'id';
    database.exec(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${limit})
       INSERT OR IGNORE INTO ${table} (${columns}) SELECT ${values} FROM n,
       (SELECT * FROM ${table} WHERE ${of} = '${workflowId}' LIMIT 1) it`,
    );
  };
  const nth = (prefix: string, i: string): string => `'${prefix}' || printf('%016d', ${i})`;
  database.exec('BEGIN');
  copy('runnables', { id: nth('p_', 'i'), name: "'copy ' || i" }, workflows - 1);
  copy(
    'subscriptions',
    { id: nth('sub_', 'i'), emitter_id: nth('hi_', 'i'), listener_id: nth('p_', `i % ${workflows} + 1`) },
    subscriptions,
  );
  database.exec('COMMIT');
}

async function measure({ dir, workflowId }: Laid): Promise<Figures> {
  await using bench = await startBench(dir);
  const pid = bench.process.child.pid as number;
  await pause(IDLE_MS);
  const { rssMb } = await memoryOf(pid);
  const errors = `/v1/workflows/${workflowId}/$errors/event_summaries?limit=100`;
  const list = await listing(bench.process.url, errors, POSTS);
  const workflow = await bench.client.get(`/v1/workflows/${workflowId}`);
  const posting = await posts(bench, workflow.data.triggers[0].endpoint_url);
  return { 'start → ready, ms': bench.readyMs, 'resident, MB': rssMb, 'list of 100 errors, ms': list.p50, ...posting };
}

async function posts(bench: Bench, endpoint: string): Promise<Figures> {
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
  const cpuBefore = await cpuOf(pid);
  const caller = async (): Promise<void> => {
    for (let n = 0; n < FLOOD / CALLERS; n++) await one();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  await bench.settled();
  const tookMs = performance.now() - before;
  const cpu = await cpuOf(pid);
  const used = [...cpu].map(([name, seconds]): [string, number] => [name, seconds - (cpuBefore.get(name) ?? 0)]);
  return {
    'accept, ms': spreadOf(took).p50,
    'accept → finished, µs each': (tookMs * 1000) / FLOOD,
    ...Object.fromEntries(used.map(([name, seconds]) => [`CPU of ${name} for it, µs`, (seconds * 1_000_000) / FLOOD])),
  };
}

/** Of the server's threads, by their names, and of the processes of code together; in seconds. */
async function cpuOf(pid: number): Promise<ReadonlyMap<string, number>> {
  const children = await Promise.all((await childrenOf(pid)).map(cpuSecondsOf));
  return new Map([...(await cpuByThread(pid)), ['children', children.reduce((sum, seconds) => sum + seconds, 0)]]);
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
    add({ name: `growth: exponent by ${of}: ${name}`, value: exponentOf(points), unit: '' });
  }
}

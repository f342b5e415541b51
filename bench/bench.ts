// Measures the service against its goals, and against doing nothing: `npm run bench -- [--json file] [--rounds N]
// [--seconds N] [--only name,name]`. Figures of one run compare; figures of different machines, or of one that does
// something else meanwhile, do not.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { acceptToReceiver, footprint, listing, throwToListed } from './latency.ts';
import { generator } from './load.ts';
import { acceptAndRunShared, queuesOn, startDatabase, wear } from './postgres.ts';
import { startBench } from './server.ts';
import { coldStarts } from './start.ts';
import { median, type Spread } from './stats.ts';
import { prefill, storeSpeed } from './store.ts';
import { acceptAlone, acceptAndRun, errorChain, type Flood, LOAD_ABOUT, type Times, yardstick } from './throughput.ts';

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note?: string;
  /** Met, or not; left out where there is no goal. */
  readonly goal?: { readonly text: string; readonly isMet: boolean };
}

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string' },
    emissions: { type: 'string', default: '1000000' },
    jobs: { type: 'string', default: '20000' },
  },
});
const ROUNDS = Number(options.rounds);
const TIMES: Times = { warmUpSeconds: 2, seconds: Number(options.seconds) };
const figures: Figure[] = [];

function add(figure: Figure): void {
  figures.push(figure);
  const { name, value, unit, note, goal } = figure;
  const shown = value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
  const against = goal ? `  ${goal.isMet ? 'met' : 'NOT MET'} (${goal.text})` : '';
  process.stdout.write(
    `${name.padEnd(46)} ${shown.padStart(8)} ${unit.padEnd(9)}${against}${note ? `  ${note}` : ''}\n`,
  );
}

function atLeast(value: number, goal: number, unit: string): { goal: NonNullable<Figure['goal']> } {
  return { goal: { text: `at least ${goal} ${unit}`, isMet: value >= goal } };
}

function below(value: number, goal: number, unit: string): { goal: NonNullable<Figure['goal']> } {
  return { goal: { text: `below ${goal} ${unit}`, isMet: value < goal } };
}

/** Each round measures everything once, so that a machine that grows slow does so for all of them. */
async function throughput(): Promise<void> {
  const rounds: Awaited<ReturnType<typeof throughputOnce>>[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await throughputOnce());
  const of = (read: (round: (typeof rounds)[number]) => number): number => median(rounds.map(read));
  const rate = (name: string, read: (round: (typeof rounds)[number]) => number, goal?: number, note?: string): void => {
    const value = of(read);
    const ratio = `${of((r) => read(r) / r.fastify.perSecond).toFixed(2)} of Fastify`;
    const all = rounds.map((r) => Math.round(read(r))).join(', ');
    const judged = goal === undefined ? {} : atLeast(value, goal, '/s');
    add({ name, value, unit: '/s', note: [ratio, `rounds: ${all}`, note].filter(Boolean).join('; '), ...judged });
  };
  const delays = (read: (round: (typeof rounds)[number]) => { p50Ms: number; p99Ms: number }): string =>
    `answer p50 ${of((r) => read(r).p50Ms).toFixed(1)} ms, p99 ${of((r) => read(r).p99Ms).toFixed(1)} ms`;
  const flood = (read: (round: (typeof rounds)[number]) => Flood): string =>
    `${Math.round(of((r) => read(r).backlog))} left to do when the load ended; CPU per event: ` +
    `server ${Math.round(of((r) => read(r).serverCpuUs))} µs, children ${Math.round(of((r) => read(r).childCpuUs))} µs`;
  rate(
    '1 Fastify, handler that does nothing',
    (r) => r.fastify.perSecond,
    undefined,
    delays((r) => r.fastify),
  );
  rate(
    '1 node:http, the same',
    (r) => r.http.perSecond,
    undefined,
    delays((r) => r.http),
  );
  rate(
    '2a durable accept, runs meanwhile',
    (r) => r.usual.perSecond,
    undefined,
    delays((r) => r.usual),
  );
  rate(
    '2a   … and finished (concurrency 8)',
    (r) => r.usual.finishedPerSecond,
    undefined,
    flood((r) => r.usual),
  );
  rate(
    '2b durable accept alone',
    (r) => r.alone.perSecond,
    undefined,
    delays((r) => r.alone),
  );
  const share = of((r) => r.alone.perSecond / r.fastify.perSecond);
  add({ name: '2b   … as part of Fastify', value: share, unit: '', ...atLeast(share, 0.6, '') });
  rate(
    '3 accept → finished (concurrency 1,000)',
    (r) => r.widest.finishedPerSecond,
    10_000,
    flood((r) => r.widest),
  );
  rate(
    '3   … the same with concurrency 100',
    (r) => r.wide.finishedPerSecond,
    undefined,
    flood((r) => r.wide),
  );
  rate(
    '3   … accepted meanwhile',
    (r) => r.wide.perSecond,
    undefined,
    delays((r) => r.wide),
  );
  rate(
    '4 throw → forwarded → webhook, as usual',
    (r) => r.told.finishedPerSecond,
    undefined,
    flood((r) => r.told),
  );
  rate(
    '4   … notify: false',
    (r) => r.chain.finishedPerSecond,
    3500,
    flood((r) => r.chain),
  );
  rate(
    '4   … webhook hears the error itself',
    (r) => r.direct.finishedPerSecond,
    undefined,
    flood((r) => r.direct),
  );
  const failures = rounds.flatMap((round) => Object.values(round).map((one) => one.failures));
  add({ name: 'requests that failed', value: failures.reduce((sum, n) => sum + n, 0), unit: '' });
}

async function throughputOnce() {
  return {
    http: await yardstick('http', TIMES),
    fastify: await yardstick('fastify', TIMES),
    alone: await acceptAlone(TIMES),
    usual: await acceptAndRun(TIMES, 8),
    wide: await acceptAndRun(TIMES, 100),
    widest: await acceptAndRun(TIMES, 1000),
    told: await errorChain(TIMES, { notify: true }),
    chain: await errorChain(TIMES, { notify: false }),
    direct: await errorChain(TIMES, { notify: false, direct: true }),
  };
}

function addSpread(name: string, spread: Spread, goals: { p50?: number; p99?: number }): void {
  const { p50, p99, count } = spread;
  add({
    name: `${name}, p50`,
    value: p50,
    unit: 'ms',
    ...(goals.p50 === undefined ? {} : below(p50, goals.p50, 'ms')),
  });
  const judged = goals.p99 === undefined ? {} : below(p99, goals.p99, 'ms');
  add({ name: `${name}, p99`, value: p99, unit: 'ms', note: `of ${count}`, ...judged });
}

async function listed(): Promise<void> {
  const spread = await throwToListed(200, TIMES.seconds * 2);
  addSpread('5 throw → listed, at 200 errors/s', spread, { p50: 5, p99: 50 });
  addSpread('5   … one listing of 20 meanwhile', spread.polls, {});
}

const PREFILL_MS = 60_000;

async function manyStored(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-many-'));
  try {
    const flow = await (async () => {
      await using bench = await startBench(dir);
      const workflow = await bench.workflow('export default () => 1;', { notify: false });
      const { data } = await bench.client.get('/v1/users/me');
      return { ownerId: data.id as string, triggerId: workflow.hi, workflowId: workflow.id };
    })();
    const bounds = { wanted: Number(options.emissions), maxMs: PREFILL_MS };
    const { emissions, seconds } = await prefill(join(dir, 'errand.db'), flow, bounds);
    add({ name: '6 emissions stored before', value: emissions, unit: '', note: `written in ${seconds.toFixed(0)} s` });
    await using bench = await startBench(dir);
    add({ name: '6 start → ready with them', value: bench.readyMs, unit: 'ms', ...below(bench.readyMs, 1000, 'ms') });
    const path = `/v1/workflows/${flow.workflowId}/$errors/event_summaries`;
    const url = bench.process.url;
    addSpread('6 list of 100 errors', await listing(url, path, 1000), { p99: 10 });
    addSpread('6   … with the events', await listing(url, `${path}?expand=event`, 1000), { p99: 10 });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function delivered(): Promise<void> {
  addSpread('7 accept → receiver, idle', await acceptToReceiver(400, 15), { p50: 10 });
}

async function small(): Promise<void> {
  const { readyMs, rssMb, childRssMb, childOwnMb } = await footprint(5);
  add({ name: '8 start → ready, new store', value: readyMs, unit: 'ms', ...below(readyMs, 1000, 'ms') });
  add({ name: '8 idle server, resident', value: rssMb, unit: 'MB', ...below(rssMb, 150, 'MB') });
  add({
    name: '8 warm child, resident',
    value: childRssMb,
    unit: 'MB',
    note: `${childOwnMb.toFixed(0)} MB of its own`,
  });
}

async function stores(): Promise<void> {
  for (const concurrency of [1, 8, 64, 256]) {
    const { perSecond } = await storeSpeed(concurrency, 3000);
    add({ name: `9 store alone, append + finish, ${concurrency} callers`, value: perSecond, unit: '/s' });
  }
}

const PROCESSES = [1, 2, 4];

/** One round: SQLite, then Postgres with one, two and four processes, then the job queues on the same server. */
async function postgresOnce() {
  await using server = await startDatabase();
  const shared = [];
  for (const processes of PROCESSES) {
    await server.createDatabase(`errand_${processes}`);
    shared.push(await acceptAndRunShared(server.url(`errand_${processes}`), processes, TIMES));
  }
  for (const name of ['graphile', 'boss']) await server.createDatabase(name);
  const queues = await queuesOn((database) => server.url(database), Number(options.jobs));
  return { sqlite: await acceptAndRun(TIMES, 1000), shared, queues };
}

async function onPostgres(): Promise<void> {
  const rounds: Awaited<ReturnType<typeof postgresOnce>>[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await postgresOnce());
  type Round = (typeof rounds)[number];
  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  const rate = (name: string, read: (round: Round) => number, note?: string): void => {
    const ratio = `${of((r) => read(r) / r.sqlite.finishedPerSecond).toFixed(2)} of SQLite`;
    const all = rounds.map((r) => Math.round(read(r))).join(', ');
    add({ name, value: of(read), unit: '/s', note: [ratio, `rounds: ${all}`, note].filter(Boolean).join('; ') });
  };
  rate('10 accept → finished, SQLite', (r) => r.sqlite.finishedPerSecond);
  PROCESSES.forEach((processes, i) => {
    const at = (r: Round) => r.shared[i] as Round['shared'][number];
    const note = `answer p50 ${of((r) => at(r).p50Ms).toFixed(1)} ms, p99 ${of((r) => at(r).p99Ms).toFixed(1)} ms; per event ${of((r) => at(r).statementsPerEvent).toFixed(2)} statements, ${of((r) => at(r).transactionsPerEvent).toFixed(2)} transactions; ${of((r) => at(r).failures)} failed`;
    rate(
      `10 … Postgres, ${processes} ${processes === 1 ? 'process' : 'processes'}`,
      (r) => at(r).finishedPerSecond,
      note,
    );
  });
  rate('10 … graphile-worker, add → run → done', (r) => r.queues.graphile.perSecond);
  rate('10 … pg-boss, the same', (r) => r.queues.boss.perSecond);
}

async function worn(): Promise<void> {
  await using server = await startDatabase();
  await server.createDatabase('worn');
  const {
    events,
    perSecond,
    walBytes,
    diskBytes,
    tables,
    listing: listed,
  } = await wear(server.url('worn'), Number(options.emissions));
  add({ name: '11 events in fast motion', value: events, unit: '', note: `${Math.round(perSecond)}/s into the store` });
  add({ name: '11 … write-ahead log for one', value: walBytes, unit: 'bytes' });
  add({ name: '11 … disk for one', value: diskBytes, unit: 'bytes' });
  for (const { name, megabytes, deadRows } of tables) {
    add({ name: `11 … most of ${name}`, value: megabytes, unit: 'MB', note: `${deadRows} dead rows at the most` });
  }
  addSpread('11 list of 100 errors with events, then', listed, { p99: 10 });
}

async function start(): Promise<void> {
  for (const level of ['process', 'jail'] as const) {
    const { cold, warm, reason } = await coldStarts(level, 40);
    if (reason !== null) process.stdout.write(`12 ${level} is left out: ${reason}\n`);
    else addSpread(`12 cold start → first result, ${level}`, cold, {});
    if (reason === null) addSpread(`12   … the process there, ${level}`, warm, {});
  }
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  store: stores,
  footprint: small,
  delivered,
  listed,
  many: manyStored,
  throughput,
  postgres: onPostgres,
  worn,
  start,
};

const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? '?'}, Node ${process.version}`;
process.stdout.write(
  `${machine}; ${LOAD_ABOUT} by ${await generator()}; load average before: ${loadavg()[0]?.toFixed(1)}\n`,
);
for (const [name, part] of Object.entries(PARTS)) {
  if (options.only === undefined || options.only.split(',').includes(name)) await part();
}
if (options.json !== undefined) {
  await writeFile(options.json, `${JSON.stringify({ machine, at: new Date().toISOString(), figures }, null, 2)}\n`);
}

// Measures the service against its goals, and against doing nothing: `npm run bench -- [--json file] [--rounds N]
// [--seconds N] [--only name,name] [--cases 'name;name']`; README.md lists the parts, and what changes their sizes. Figures of one run compare;
// figures of different machines, or of one that does something else meanwhile, do not.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildServer } from '../release/server-program.ts';
import { dashboard } from './dashboard.ts';
import { deliveryParts } from './deliveries/delivery-parts.ts';
import { errorParts } from './errors/error-parts.ts';
import { add, addSpread, atLeast, below, figures } from './kit/figures.ts';
import { generator } from './kit/load.ts';
import { startBench } from './kit/server.ts';
import { median } from './kit/stats.ts';
import { type FLOODS, fairness } from './owners/fairness.ts';
import { ownerParts } from './owners/owner-parts.ts';
import { streamParts } from './sources/stream-parts.ts';
import { GROWING, growth } from './stores/growth.ts';
import { envOn, startDatabase } from './stores/postgres.ts';
import { postgresParts } from './stores/postgres-parts.ts';
import { prefill, storeSpeed } from './stores/store.ts';
import { acceptToReceiver, footprint, listing, throwToListed } from './throughput/latency.ts';
import { besideNodeRed } from './throughput/node-red-part.ts';
import { axiosStarts, packageStarts } from './throughput/packages.ts';
import { slowDisks } from './throughput/slow-disk.ts';
import { coldStarts } from './throughput/start.ts';
import {
  acceptAlone,
  acceptAndRun,
  errorChain,
  type Flood,
  LOAD_ABOUT,
  type Times,
  yardstick,
} from './throughput/throughput.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string' },
    cases: { type: 'string' },
    emissions: { type: 'string', default: '1000000' },
    jobs: { type: 'string', default: '20000' },
    errors: { type: 'string', default: '50000' },
    stored: { type: 'string', default: '100000' },
    queued: { type: 'string', default: '50000' },
    deliveries: { type: 'string', default: '20000' },
    webhooks: { type: 'string', default: '10000' },
    listeners: { type: 'string', default: '5000' },
    readers: { type: 'string', default: '2000' },
    sources: { type: 'string', default: '5000' },
    sizes: { type: 'string', default: '100000,1000000,10000000' },
  },
});
const ROUNDS = Number(options.rounds);
const TIMES: Times = { warmUpSeconds: 2, seconds: Number(options.seconds) };

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
  const share = (name: string, part: (round: (typeof rounds)[number]) => number, goal: number): void => {
    const note = `rounds: ${rounds.map((r) => part(r).toFixed(2)).join(', ')}`;
    add({ name, value: of(part), unit: '', note, ...atLeast(of(part), goal, '') });
  };
  share('2b   … as part of Fastify', (r) => r.alone.perSecond / r.fastify.perSecond, 0.7);
  share('2a   … finished at 8, as part of 3', (r) => r.usual.finishedPerSecond / r.widest.finishedPerSecond, 0.8);
  share('3   … as part of Fastify', (r) => r.widest.finishedPerSecond / r.fastify.perSecond, 0.45);
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
    addSpread('6 newest 100 of all errors', await listing(url, '/v1/errors', 300), {});
    addSpread('6 newest 100 of all runs', await listing(url, '/v1/runs', 300), {});
    addSpread('6 one page of a search that finds nothing', await listing(url, '/v1/errors?text=nothing', 30), {});
    addSpread('6   … of events', await listing(url, '/v1/runs?text=nothing', 30), {});
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function delivered(): Promise<void> {
  addSpread('7 accept → receiver, idle', await acceptToReceiver(400, 15), { p50: 10 });
}

async function small(): Promise<void> {
  await buildServer(join(import.meta.dirname, '../dist'));
  const { readyMs, rssMb, childRssMb, childOwnMb } = await footprint(5, true);
  const sources = await footprint(5, false);
  add({ name: '8 start → ready, new store, as packed', value: readyMs, unit: 'ms', ...below(readyMs, 500, 'ms') });
  add({ name: '8   … from its sources', value: sources.readyMs, unit: 'ms' });
  add({ name: '8 idle server, resident, as packed', value: rssMb, unit: 'MB', ...below(rssMb, 110, 'MB') });
  add({ name: '8   … from its sources', value: sources.rssMb, unit: 'MB' });
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

async function start(): Promise<void> {
  for (const level of ['process', 'jail'] as const) {
    const { cold, warm, reason } = await coldStarts(level, 40);
    if (reason !== null) process.stdout.write(`17 ${level} is left out: ${reason}\n`);
    else addSpread(`17 cold start → first result, ${level}`, cold, {});
    if (reason === null) addSpread(`17   … the process there, ${level}`, warm, {});
  }
  for await (const { name, bundled, outside } of packageStarts(12)) {
    addSpread(`17 … code that imports ${name}, part of its bundle`, bundled, {});
    addSpread(`17 … the same, loaded from the folder of packages`, outside, {});
  }
  for (const { name, start, bundling, bundleBytes, mapBytes } of await axiosStarts(24)) {
    addSpread(`17 … code that ${name}`, start, {});
    const note = `bundle ${Math.round(bundleBytes / 1024)} KiB, source map ${Math.round(mapBytes / 1024)} KiB`;
    add({ name: `17   … bundling it, p50`, value: bundling.p50, unit: 'ms', note });
  }
}

const WAITS_50_MS = 'export default () => new Promise((resolve) => setTimeout(resolve, 50));';

/** Of a step that waits 50 ms, a hundred at once can end 2,000 times a second. */
async function steps(): Promise<void> {
  for (const [name, code] of [
    ['trivial step', undefined],
    ['step that waits 50 ms', WAITS_50_MS],
  ] as const) {
    const { finishedPerSecond, serverCpuUs, childCpuUs } = await acceptAndRun(TIMES, 100, { code });
    const note = `CPU per run: server ${Math.round(serverCpuUs)} µs, children ${Math.round(childCpuUs)} µs`;
    add({ name: `22 runs finished, ${name}, 100 at once`, value: finishedPerSecond, unit: '/s', note });
  }
}

/** Goals are against the same workflow on an idle server. */
async function fair(): Promise<void> {
  await using database = await startDatabase();
  for (const store of ['SQLite', 'Postgres'] as const) {
    for (const [kind, concurrency] of FAIR) {
      if (options.cases?.split(';').includes(`${store} ${kind} ${concurrency}`) === false) continue;
      const env = store === 'SQLite' ? {} : await envOn(database, `fair_${kind}_${concurrency}`);
      const queued = Number(options.queued);
      const { idle, flooded, left } = await fairness({ kind, queued, concurrency, requests: 200, env });
      const note = `idle ${idle.wall.p50.toFixed(1)} ms; server's thread ${flooded.cpu.p50.toFixed(1)} ms of CPU, p99 ${flooded.wall.p99.toFixed(0)} ms; ${left} runs left`;
      add({
        name: `20 ${store}: single run beside ${queued} (${kind}, ${concurrency} at once)`,
        value: flooded.wall.p50,
        unit: 'ms',
        note,
        ...below(flooded.wall.p50, 1.2 * idle.wall.p50 + 20, 'ms'),
      });
    }
  }
}

const FAIR: readonly (readonly [keyof typeof FLOODS, number])[] = [
  ['trivial', 8],
  ['waits', 8],
  ['busy', 8],
  ['trivial', 100],
  ['trivial', 1000],
];

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  store: stores,
  footprint: small,
  delivered,
  listed,
  many: manyStored,
  dashboard: () => dashboard({ workflows: 1000, errors: Number(options.stored), visits: 7 }),
  growth: async () => {
    const stores = GROWING.filter((name) => options.cases?.split(';').includes(name) ?? true);
    for (const name of stores) await growth(options.sizes.split(',').map(Number), name);
  },
  throughput,
  start,
  fairness: fair,
  steps,
  'slow-disk': () => slowDisks({ rounds: ROUNDS, times: TIMES }),
  'node-red': () => besideNodeRed({ rounds: ROUNDS, times: TIMES }),
  ...errorParts({ seconds: TIMES.seconds, errors: Number(options.errors), cases: options.cases?.split(';') }),
  ...ownerParts({ rounds: ROUNDS, seconds: TIMES.seconds, cases: options.cases?.split(';') }),
  ...postgresParts({
    rounds: ROUNDS,
    times: TIMES,
    jobs: Number(options.jobs),
    emissions: Number(options.emissions),
  }),
  ...deliveryParts({
    rounds: ROUNDS,
    seconds: TIMES.seconds,
    deliveries: Number(options.deliveries),
    webhooks: Number(options.webhooks),
    listeners: Number(options.listeners),
  }),
  ...streamParts({
    rounds: ROUNDS,
    readers: Number(options.readers),
    seconds: TIMES.seconds,
    sources: Number(options.sources),
  }),
};

/** Left out unless they are named: one downloads what it measures against, the other fills a disk with 9 GB. */
const ON_REQUEST: readonly string[] = ['node-red', 'growth'];

const wanted = options.only?.split(',') ?? Object.keys(PARTS).filter((name) => !ON_REQUEST.includes(name));
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);

const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? '?'}, Node ${process.version}`;
process.stdout.write(
  `${machine}; ${LOAD_ABOUT} by ${await generator()}; load average before: ${loadavg()[0]?.toFixed(1)}\n`,
);
for (const [name, part] of Object.entries(PARTS)) {
  if (wanted.includes(name)) await part();
}
if (options.json !== undefined) {
  await writeFile(options.json, `${JSON.stringify({ machine, at: new Date().toISOString(), figures }, null, 2)}\n`);
}

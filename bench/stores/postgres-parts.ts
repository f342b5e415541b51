// The figures of the service on Postgres, beside the same of SQLite in the same run, and beside job queues on the same server.

import { add, addSpread } from '../kit/figures.ts';
import { median } from '../kit/stats.ts';
import { acceptToReceiver, throwToListed } from '../throughput/latency.ts';
import { acceptAlone, acceptAndRun, errorChain, type Times } from '../throughput/throughput.ts';
import { acceptAndRunShared, envOn, queuesOn, startDatabase, wear } from './postgres.ts';

export interface PostgresSizes {
  readonly rounds: number;
  readonly times: Times;
  /** For the job queues. */
  readonly jobs: number;
  /** For `worn`. */
  readonly emissions: number;
}

const PROCESSES = [1, 2, 4];
const WIDE = 1000;

/** One round: SQLite, then Postgres with one, two and four processes, then the job queues on the same server. */
async function once({ times, jobs }: PostgresSizes) {
  await using server = await startDatabase();
  const shared = [];
  for (const processes of PROCESSES) {
    await server.createDatabase(`errand_${processes}`);
    shared.push(await acceptAndRunShared(server.url(`errand_${processes}`), processes, times));
  }
  for (const name of ['graphile', 'boss']) await server.createDatabase(name);
  const queues = await queuesOn((database) => server.url(database), jobs);
  const finished = await acceptAndRun(times, WIDE);
  const alone = { sqlite: await acceptAlone(times), postgres: await acceptAlone(times, await envOn(server, 'alone')) };
  const chain = {
    sqlite: await errorChain(times, { notify: false }),
    postgres: await errorChain(times, { notify: false, env: await envOn(server, 'chain') }),
  };
  return { finished, shared, queues, alone, chain };
}

type Round = Awaited<ReturnType<typeof once>>;

/** What one process on Postgres takes for one event, when nothing floods it. */
async function idle({ times }: PostgresSizes): Promise<void> {
  await using server = await startDatabase();
  const spread = await throwToListed(200, times.seconds * 2, await envOn(server, 'listed'));
  addSpread('10 … Postgres, throw → listed, at 200 errors/s', spread, { p50: 5, p99: 50 });
  const arrived = await acceptToReceiver(400, 15, await envOn(server, 'delivered'));
  addSpread('10 … Postgres, accept → receiver, idle', arrived, { p50: 10 });
}

async function compared(sizes: PostgresSizes): Promise<void> {
  const rounds: Round[] = [];
  for (let round = 0; round < sizes.rounds; round++) rounds.push(await once(sizes));
  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  type Read = (round: Round) => number;
  /** `base`: what SQLite does of the same. */
  const rate = (name: string, [read, base]: readonly [Read, Read], note?: string): void => {
    const ratio = `${of((r) => read(r) / base(r)).toFixed(2)} of SQLite`;
    const all = rounds.map((r) => Math.round(read(r))).join(', ');
    add({ name, value: of(read), unit: '/s', note: [ratio, `rounds: ${all}`, note].filter(Boolean).join('; ') });
  };
  const finished: Read = (r) => r.finished.finishedPerSecond;
  rate('10 accept → finished, SQLite', [finished, finished]);
  PROCESSES.forEach((processes, i) => {
    const at = (r: Round) => r.shared[i] as Round['shared'][number];
    const note =
      `answer p50 ${of((r) => at(r).p50Ms).toFixed(1)} ms, p99 ${of((r) => at(r).p99Ms).toFixed(1)} ms; per event ` +
      `${of((r) => at(r).statementsPerEvent).toFixed(2)} statements, ` +
      `${of((r) => at(r).transactionsPerEvent).toFixed(2)} transactions; ${of((r) => at(r).failures)} failed`;
    const name = `10 … Postgres, ${processes} ${processes === 1 ? 'process' : 'processes'}`;
    rate(name, [(r) => at(r).finishedPerSecond, finished], note);
  });
  rate('10 … graphile-worker, add → run → done', [(r) => r.queues.graphile.perSecond, finished]);
  rate('10 … pg-boss, the same', [(r) => r.queues.boss.perSecond, finished]);
  const alone: Read = (r) => r.alone.sqlite.perSecond;
  rate('10 durable accept alone, SQLite', [alone, alone]);
  rate('10 … Postgres, 1 process', [(r) => r.alone.postgres.perSecond, alone]);
  const chain: Read = (r) => r.chain.sqlite.finishedPerSecond;
  rate('10 throw → forwarded → webhook, SQLite', [chain, chain]);
  rate('10 … Postgres, 1 process', [(r) => r.chain.postgres.finishedPerSecond, chain]);
  await idle(sizes);
}

async function worn({ emissions }: PostgresSizes): Promise<void> {
  await using server = await startDatabase();
  await server.createDatabase('worn');
  const { events, perSecond, walBytes, diskBytes, tables, listing: listed } = await wear(server.url('worn'), emissions);
  add({ name: '11 events in fast motion', value: events, unit: '', note: `${Math.round(perSecond)}/s into the store` });
  add({ name: '11 … write-ahead log for one', value: walBytes, unit: 'bytes' });
  add({ name: '11 … disk for one', value: diskBytes, unit: 'bytes' });
  for (const { name, megabytes, deadRows } of tables) {
    add({ name: `11 … most of ${name}`, value: megabytes, unit: 'MB', note: `${deadRows} dead rows at the most` });
  }
  addSpread('11 list of 100 errors with events, then', listed, { p99: 10 });
}

/** The parts, by the name that `--only` takes. */
export function postgresParts(sizes: PostgresSizes): Record<string, () => Promise<void>> {
  return { postgres: () => compared(sizes), worn: () => worn(sizes) };
}

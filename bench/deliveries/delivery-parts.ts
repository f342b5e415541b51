// The figures of deliveries: speed, isolation, many webhooks, fan-out, lateness. Each part runs by itself (`--only`).

import { add, atLeast, below } from '../kit/figures.ts';
import type { Env } from '../kit/server.ts';
import { median, type Spread } from '../kit/stats.ts';
import { startDatabase } from '../stores/postgres.ts';
import { bareLoop, type DeliveryLoad, deliverBacklog } from './delivery-rate.ts';
import { delaysWith } from './isolation.ts';
import { type Late, type LateOptions, latenessAfter } from './lateness.ts';
import { type Drained, fanOut, oneEventEach } from './many.ts';

export interface DeliverySizes {
  readonly rounds: number;
  readonly seconds: number;
  /** Delivered in one measurement of the speed. */
  readonly deliveries: number;
  /** That hear one event each. */
  readonly webhooks: number;
  /** That hear the same events. */
  readonly listeners: number;
}

/** By the number of webhooks. */
const RATIO_GOALS: ReadonlyMap<number, number> = new Map([
  [1, 0.7],
  [8, 0.6],
]);
const ISOLATION_GOAL = 1.2;
const LATE_GOAL_MS = 1000;
const ISOLATED_WEBHOOKS = 100;
const MANY_DEAD = 30;
const FANNED_EVENTS = 8;

/** What all rounds come to: a median, and each of them. */
function over<Round>(rounds: readonly Round[], read: (round: Round) => number): { value: number; note: string } {
  const values = rounds.map(read);
  const shown = values.map((value) => (value >= 100 ? Math.round(value) : value.toFixed(2)));
  return { value: median(values), note: `rounds: ${shown.join(', ')}` };
}

async function inRounds<Round>(count: number, once: () => Promise<Round>): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < count; round++) rounds.push(await once());
  return rounds;
}

async function onDatabase<T>(name: string, act: (env: Env) => Promise<T>): Promise<T> {
  await using server = await startDatabase();
  await server.createDatabase(name);
  return await act({ ERRAND_DATABASE_URL: server.url(name) });
}

async function speed({ rounds, deliveries }: DeliverySizes): Promise<void> {
  for (const webhooks of [1, 8]) {
    const load: DeliveryLoad = { webhooks, deliveries };
    const results = await inRounds(rounds, async () => ({
      bare: await bareLoop(load, false),
      signed: await bareLoop(load, true),
      sqlite: await deliverBacklog(load),
      postgres: await onDatabase('delivering', (env) => deliverBacklog(load, env)),
    }));
    const name = `12 deliveries, ${webhooks === 1 ? '1 webhook' : `${webhooks} webhooks`}`;
    add({ name: `${name}: undici alone`, unit: '/s', ...over(results, (r) => r.bare) });
    add({ name: `${name}: undici, signed`, unit: '/s', ...over(results, (r) => r.signed) });
    for (const store of ['sqlite', 'postgres'] as const) {
      const shown = store === 'sqlite' ? 'SQLite' : 'Postgres';
      const cpu = median(results.map((r) => r[store].serverCpuUs));
      const rate = over(results, (r) => r[store].perSecond);
      const note = `${rate.note}; CPU of the server for one ${Math.round(cpu)} µs`;
      add({ name: `${name}: ${shown}`, unit: '/s', value: rate.value, note });
      const unsigned = over(results, (r) => r[store].perSecond / r.bare);
      add({ name: '12 … as part of undici alone', unit: '', ...unsigned });
      const signed = over(results, (r) => r[store].perSecond / r.signed);
      add({ name: '12 … as part of undici, signed', unit: '', ...signed, ...goalOf(store, webhooks, signed.value) });
    }
  }
}

function goalOf(store: 'sqlite' | 'postgres', webhooks: number, ratio: number): object {
  const goal = RATIO_GOALS.get(webhooks);
  return store === 'sqlite' && goal !== undefined ? atLeast(ratio, goal, '') : {};
}

/** The same living ones with the dead and without. Were the dead among the others before, there would be less to do with them. */
async function isolation({ rounds, seconds }: DeliverySizes): Promise<void> {
  const load = { eventsPerSecond: 5, seconds: 4 * seconds };
  for (const dead of [1, MANY_DEAD]) {
    const living = ISOLATED_WEBHOOKS - dead;
    const results = await inRounds(rounds, async () => ({
      without: await delaysWith({ ...load, living, dead: 0 }),
      with: await delaysWith({ ...load, living, dead }),
    }));
    const shown = (which: 'with' | 'without'): string => {
      const [p50, p99] = [median(results.map((r) => r[which].p50)), median(results.map((r) => r[which].p99))];
      return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
    };
    const ratio = over(results, (r) => r.with.p99 / r.without.p99);
    const note = `${ratio.note}; with: ${shown('with')}; without: ${shown('without')}`;
    const name = `13 ${living} webhooks, p99 with ${dead} dead beside them`;
    const goal = { goal: { text: `at most ${ISOLATION_GOAL}`, isMet: ratio.value <= ISOLATION_GOAL } };
    add({ name, unit: 'times', value: ratio.value, note, ...goal });
  }
}

function addDrained(name: string, results: readonly Drained[]): void {
  const perSecond = Math.round(median(results.map((r) => r.perSecond)));
  const drain = over(results, (r) => r.drainMs);
  add({ name: `${name}, time to drain`, unit: 'ms', value: drain.value, note: `${drain.note}; ${perSecond}/s` });
  const [beforeMb, afterMb] = [median(results.map((r) => r.beforeMb)), median(results.map((r) => r.afterMb))];
  const note = `before ${beforeMb.toFixed(0)} MB, later ${afterMb.toFixed(0)} MB`;
  add({ name: `${name}, memory at the most`, unit: 'MB', value: median(results.map((r) => r.peakMb)), note });
}

async function many({ rounds, webhooks }: DeliverySizes): Promise<void> {
  addDrained(`14 ${webhooks} webhooks, one event each`, await inRounds(rounds, () => oneEventEach(webhooks)));
}

async function fanned({ rounds, listeners }: DeliverySizes): Promise<void> {
  const results = await inRounds(rounds, () => fanOut(listeners, FANNED_EVENTS));
  const name = `15 one event, ${listeners} webhooks`;
  const one = median(results.map((r) => r.acceptOne.p50));
  const accept = over(results, (r) => r.accept.p50);
  const worst = Math.max(...results.map((r) => r.accept.p99));
  const note = `${accept.note}; worst ${worst.toFixed(1)} ms; an event that one webhook hears ${one.toFixed(1)} ms`;
  add({ name: `${name}: accept, p50`, unit: 'ms', value: accept.value, note });
  addDrained(`15 … ${FANNED_EVENTS} such events`, results);
}

async function lateness({ rounds }: DeliverySizes): Promise<void> {
  const load = { webhooks: 20, events: 40 };
  const arrangements: readonly (readonly [string, () => Promise<Late>])[] = [
    ['SQLite, stopped', () => latenessAfter({ ...load, signal: 'SIGTERM' })],
    ['SQLite, killed', () => latenessAfter({ ...load, signal: 'SIGKILL' })],
    ['Postgres, stopped', () => lateOnPostgres({ ...load, signal: 'SIGTERM' })],
    ['Postgres, killed', () => lateOnPostgres({ ...load, signal: 'SIGKILL' })],
  ];
  for (const [name, once] of arrangements) {
    const results = await inRounds(rounds, once);
    const worst = over(results, (r) => r.worstMs);
    // None of a kind are left when the start takes longer than the first delay of the schedule.
    const kind = (read: (late: Late) => Spread): string => {
      const some = results.map(read).filter(({ count }) => count > 0);
      return some.length === 0 ? 'none' : `p50 ${Math.round(median(some.map(({ p50 }) => p50)))} ms`;
    };
    const note =
      `${worst.note}; due while it was down: ${kind((r) => r.dueBefore)} behind ready; ` +
      `due afterwards: ${kind((r) => r.dueAfter)}`;
    const goal = below(worst.value, LATE_GOAL_MS, 'ms');
    add({ name: `16 retries, ${name}: latest`, unit: 'ms', value: worst.value, note, ...goal });
  }
}

function lateOnPostgres(options: LateOptions): Promise<Late> {
  return onDatabase('late', (env) => latenessAfter({ ...options, env }));
}

/** The parts, by the name that `--only` takes. */
export function deliveryParts(sizes: DeliverySizes): Record<string, () => Promise<void>> {
  return {
    deliveries: () => speed(sizes),
    isolation: () => isolation(sizes),
    webhooks: () => many(sizes),
    fanout: () => fanned(sizes),
    lateness: () => lateness(sizes),
  };
}

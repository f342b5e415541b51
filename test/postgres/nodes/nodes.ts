// Several services in the test's process that share one database, each with a data dir of its own.

import { after } from 'node:test';
import type { Clock } from '../../../src/ports.ts';
import { createClient, type Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createErrandOn } from '../../support/flows.ts';
import { createOwner } from '../../support/owners.ts';
import type { FreshDatabase } from '../../support/postgres/fresh.ts';
import { newDatabase } from '../../support/postgres/shared.ts';

type Env = Readonly<Record<string, string>>;
type Each<T extends readonly unknown[]> = { readonly [K in keyof T]: Errand };

export interface Nodes<T extends readonly unknown[]> extends AsyncDisposable {
  /** In the order in which they were named. */
  readonly all: Each<T>;
  readonly databaseUrl: string;
  /** Sets the clock forward that all of them and their database go by; what became due shows at the next poll. */
  forward(ms: number): void;
}

/** One for each settings given, all started at once, on one clock. */
export async function startNodes<T extends readonly Env[]>(...envs: [...T]): Promise<Nodes<T>> {
  return startNodesOn(await newDatabase(), ...envs);
}

let shared: Promise<Nodes<[Env, Env, Env]>> | undefined;
let owners = 0;
after(async () => (await shared)?.[Symbol.asyncDispose]());

const refuse = (what: string) => (): never => {
  throw new Error(`a test does not ${what} nodes that it shares`);
};

/**
 * The first two or all three of the nodes that the tests of a process share, which are started with the first of them: to start one takes
 * a second and more of the processor, most of it for its connections. Each call makes an owner, so that the tests see nothing of each other.
 */
export async function shareNodes(count: 2): Promise<Omit<Nodes<[Env, Env]>, 'forward'>>;
export async function shareNodes(count: 3): Promise<Omit<Nodes<[Env, Env, Env]>, 'forward'>>;
export async function shareNodes(count: 2 | 3): Promise<Omit<Nodes<readonly Env[]>, 'forward'>> {
  shared ??= startNodes({}, {}, {});
  const { all, databaseUrl } = await shared;
  const { id, data } = await createOwner(all[0], `owner-${++owners}`);
  const own = all.slice(0, count).map((errand) => {
    const client = createClient(errand.url, data.api_key);
    const refused = { forward: refuse('set the clock of'), restart: refuse('restart'), stop: refuse('stop') };
    const dispose = { [Symbol.asyncDispose]: async () => undefined };
    return { ...errand, client, id, ...createErrandOn(() => client), ...refused, ...dispose };
  });
  return { all: own, databaseUrl, [Symbol.asyncDispose]: async () => undefined };
}

/** The same on that database, which is dropped in the end. */
export async function startNodesOn<T extends readonly Env[]>(
  database: FreshDatabase,
  ...envs: [...T]
): Promise<Nodes<T>> {
  let offsetMs = 0;
  const clock = { nowMs: () => Date.now() + offsetMs };
  const settings = envs.map((env) => ({ env, clocks: { clock, databaseClock: clock } }));
  const forward = (ms: number): void => {
    offsetMs += ms;
  };
  return { ...(await start<T>(database, settings)), forward };
}

/** One for each number: its machine's clock is wrong by so many milliseconds. The database goes by its own. */
export async function startNodesAhead<T extends readonly number[]>(
  ...aheadMs: [...T]
): Promise<Omit<Nodes<T>, 'forward'>> {
  const clockOf = (ms: number): Clock => ({ nowMs: () => Date.now() + ms });
  return start<T>(
    await newDatabase(),
    aheadMs.map((ms) => ({ env: {}, clocks: { clock: clockOf(ms), databaseClock: null } })),
  );
}

interface Settings {
  readonly env: Env;
  readonly clocks: { readonly clock: Clock; readonly databaseClock: Clock | null };
}

async function start<T extends readonly unknown[]>(
  { url, drop }: FreshDatabase,
  settings: readonly Settings[],
): Promise<Omit<Nodes<T>, 'forward'>> {
  const starting = settings.map(({ env, clocks }) => startErrand({ ERRAND_DATABASE_URL: url, ...env }, clocks));
  const started = await Promise.allSettled(starting);
  const all = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const dispose = async (): Promise<void> => {
    await Promise.all(all.map((errand) => errand[Symbol.asyncDispose]()));
    await drop();
  };
  const failed = started.find((one) => one.status === 'rejected');
  if (failed) {
    await dispose();
    throw failed.reason;
  }
  return { all: all as unknown as Each<T>, databaseUrl: url, [Symbol.asyncDispose]: dispose };
}

/** What was made at one node, with its endpoints' addresses at another: each names the one that it was made at. */
export function seenFrom(node: { readonly url: string }, made: Json): Json {
  const moved = (url: string): string => node.url + new URL(url).pathname;
  const triggers = made.triggers?.map((trigger: Json) => ({
    ...trigger,
    ...(trigger.endpoint_url && { endpoint_url: moved(trigger.endpoint_url) }),
  }));
  return {
    ...made,
    ...(triggers && { triggers }),
    ...(made.endpoint_url && { endpoint_url: moved(made.endpoint_url) }),
  };
}

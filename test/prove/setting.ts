// What a scenario has to itself: servers on a store of their own, a receiver, and a load. It ends in one verdict over the
// store.

import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient } from '../support/client.ts';
import { checkOverApi, settle } from './api-check.ts';
import { type Arrangement, arrange } from './arrangement.ts';
import { Findings } from './findings.ts';
import type { Kill } from './kills.ts';
import { LIGHT, Load, NONE } from './load.ts';
import { createDice, type Dice } from './random.ts';
import { type Receiver, startReceiver, USUALLY_REFUSED_PART } from './receiver.ts';
import { type Inbox, repairAll, workOnErrors } from './replays.ts';
import type { Rows } from './rows.ts';
import { API_KEY, type Server } from './server.ts';
import { judge, type Verdict } from './verdict.ts';

export interface Result extends Verdict {
  /** What this scenario alone looks at. */
  readonly notes: readonly string[];
  readonly kills: readonly Kill[];
  readonly statuses: ReadonlyMap<number, number>;
  readonly complaints: ReadonlyMap<string, number>;
  /** Milliseconds from the last event to nothing left to do. */
  readonly settledMs: number;
}

export interface Setting {
  readonly servers: readonly Server[];
  readonly receiver: Receiver;
  readonly arrangement: Arrangement;
  readonly load: Load;
  readonly inbox: Inbox;
  readonly dice: Dice;
  readonly wrong: Findings;
  readonly notes: string[];
  readonly kills: Kill[];
}

export interface World {
  readonly servers: readonly Server[];
  /** Those that take events and answer questions. */
  readonly entrances: readonly Server[];
  readonly dice: Dice;
  /** Looks at what is at rest, before the servers end. */
  readonly lookAtRest?: (setting: Setting) => Promise<void>;
  /** What the store says of its own state, for whoever looks for a reason. */
  readonly tellState?: () => Promise<string>;
  /** Called when all servers have ended. */
  readonly readRows: () => Promise<Rows>;
  readonly mayFailToStart?: boolean;
  readonly isRemote?: boolean;
  /** Kills a server while errors are replayed at the end, and starts it again. */
  readonly isKilledAtEnd?: boolean;
}

export type Act = (setting: Setting) => Promise<void>;

const SETTLE_MS = 180_000;
export const WARM_UP_MS = 300;
/** Whoever cannot take an event says so. */
const EXPECTED_STATUSES = new Set([0, 200, 503]);

export async function within(world: World, act: Act): Promise<Result> {
  const { servers, entrances, dice } = world;
  await using receiver = await startReceiver(dice);
  let [load, inbox]: [Load | undefined, Inbox | undefined] = [undefined, undefined];
  try {
    await Promise.all(servers.map((server) => server.start().ready));
    const arrangement = await arrange(clientOf(entrances[0]), receiver.url);
    load = new Load({ origins: entrances.map(({ url }) => url), path: arrangement.path }, dice);
    // Dice of its own: the moments of the plan do not depend on how often it has acted.
    inbox = workOnErrors(() => anyRunning(entrances), arrangement, createDice(dice.between(0, 1e9)));
    const found = { wrong: new Findings(), notes: [], kills: [] };
    const setting = { servers, receiver, arrangement, load, inbox, dice, ...found };
    receiver.refuse(USUALLY_REFUSED_PART);
    load.set(LIGHT);
    await pause(WARM_UP_MS);
    await act(setting);
    return await end(setting, world);
  } catch (error) {
    const state = await world.tellState?.().catch((reason: Error) => reason.message);
    const all = [(error as Error).message, ...servers.map(lastWordsOf), state ?? ''];
    throw new Error(all.join('\n'), { cause: error });
  } finally {
    await inbox?.stop();
    await load?.stop();
    await Promise.all(servers.map((server) => server.kill()));
  }
}

function anyRunning(servers: readonly Server[]): Client | undefined {
  const server = servers.find(({ isRunning, life }) => isRunning && life.readyAt !== null);
  return server && createClient(server.url, API_KEY);
}

export function clientOf(server: Server | undefined): Client {
  if (!server?.isRunning) throw new Error('there is no server to ask');
  return createClient(server.url, API_KEY);
}

function lastWordsOf({ name, complaints, lastLines }: Server): string {
  return [`${name} complained: ${JSON.stringify([...complaints])}`, ...lastLines].join('\n');
}

/** Lets it come to rest, asks it, stops it in order, and reads what it left. */
async function end(setting: Setting, world: World): Promise<Result> {
  const { servers, receiver, arrangement, load, inbox, wrong, notes, kills } = setting;
  const { mayFailToStart = false, isRemote = false } = world;
  receiver.refuse(0);
  load.set(NONE);
  await load.stop();
  await inbox.stop();
  const stoppedAt = Date.now();
  const client = clientOf(world.entrances.find(({ isRunning }) => isRunning));
  await settle(client, SETTLE_MS);
  const settledMs = Date.now() - stoppedAt;
  const disturb = (): Promise<void> => (world.isKilledAtEnd ? killAmidReplays(world, client) : Promise.resolve());
  const rounds = await repairAll(client, {
    arrangement,
    resolved: inbox.resolved,
    wrong,
    deadlineMs: SETTLE_MS,
    disturb,
  });
  notes.push(`all groups resolved after ${rounds} rounds of replays, ${Date.now() - stoppedAt - settledMs} ms`);
  const online = mayFailToStart ? new Findings() : await checkOverApi(client, arrangement);
  await world.lookAtRest?.(setting);
  await Promise.all(servers.map((server) => endInOrder(server, wrong)));
  const { sent, statuses } = load;
  for (const [status, n] of statuses) {
    if (!EXPECTED_STATUSES.has(status)) wrong.add('answer that nobody should get', `${n} × ${status}`);
  }
  wrong.equal('503 without Retry-After', load.retryAfterMissing, 0);
  const rows = await world.readRows();
  const verdict = judge({
    rows,
    sent,
    seen: receiver.seen,
    arrangement,
    resolved: inbox.resolved,
    mayFailToStart,
    isRemote,
  });
  for (const findings of [online, wrong]) verdict.wrong.addAll(findings);
  const counts = { ...verdict.counts, lost: verdict.lost.count, wrong: verdict.wrong.count };
  return { ...verdict, counts, notes, kills, statuses, complaints: complaintsOf(servers), settledMs };
}

/** The one that is asked, or with several another one, in the middle of an operation. */
async function killAmidReplays({ servers }: World, client: Client): Promise<void> {
  const { data } = await client.get('/v1/operations?kind=replay&limit=1');
  for (;;) {
    const { data: operation } = await client.get(`/v1/operations/${data[0].id}`);
    if (operation.state !== 'running' || operation.progress > 0.1) break;
  }
  const victim = servers.at(-1) as Server;
  await victim.kill();
  await victim.start().ready;
}

async function endInOrder(server: Server, wrong: Findings): Promise<void> {
  for (const { code, signal } of server.deaths) {
    wrong.add('server that ended by itself', `${server.name}: ${code ?? signal}`);
  }
  if (!server.isRunning) return;
  const { code, signal } = await server.terminate();
  wrong.equal('exit code at the end', code ?? signal, 0);
}

function complaintsOf(servers: readonly Server[]): Map<string, number> {
  const all = new Map<string, number>();
  for (const { complaints } of servers) {
    for (const [about, n] of complaints) all.set(about, (all.get(about) ?? 0) + n);
  }
  return all;
}

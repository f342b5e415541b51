// The round of all faults: servers under mixed load, while groups of errors are resolved and replayed, one fault after the other
// by a plan, and then rest. Then the code is repaired, and errors are replayed until all groups are resolved, with a kill in the
// middle. What must be true is told by a witness that sees the API alone, by `errand store check` when all is over, and of groups
// and replays by the rows.

import { loadavg } from 'node:os';
import { type Client, createClient } from '../../support/client.ts';
import { settle } from '../api-check.ts';
import { Findings } from '../findings.ts';
import { judgeInbox } from '../inbox-verdict.ts';
import { Load, NONE } from '../load.ts';
import { createDice, type Dice } from '../random.ts';
import { type Inbox, repairAll, workOnErrors } from '../replays.ts';
import { API_KEY, type Server } from '../server.ts';
import { arrangeMixed } from './arrangement.ts';
import { startBusy } from './busy.ts';
import { allRun, carryOut, type Ground, setClocksRight } from './faults.ts';
import { type Place, placeOnFile, placeOnPostgres } from './places.ts';
import { type FaultKind, planOf, textOfFault } from './plan.ts';
import { Receivers } from './receivers.ts';
import { LedgerWatch, type Testimony, testify } from './witness.ts';

export interface MixedOptions {
  readonly seed: number;
  /** Faults begin until then, and until there were so many; or beyond that, until so many servers were killed. */
  readonly minutes: number;
  readonly faults?: number;
  readonly kills?: number;
  /** Processes that keep the machine busy. */
  readonly load: number;
  /** The store lies on a disk that can be filled up, which takes own-mounts.ts. */
  readonly hasDisk?: boolean;
  readonly only?: readonly FaultKind[];
  readonly tell: (line: string) => void;
}

export interface MixedResult extends Testimony {
  readonly kinds: ReadonlyMap<FaultKind, number>;
  readonly kills: number;
  /** The machine's load average, as it was after each fault, on average. */
  readonly load: number;
  readonly settledMs: number;
  readonly complaints: readonly string[];
}

const SETTLE_MS = 300_000;
const PACE = { senders: 6, pauseMs: 60 };

export async function mixedOnFile(options: MixedOptions): Promise<MixedResult> {
  await using parts = new AsyncDisposableStack();
  return await go(options, await placeOnFile(parts, options));
}

export async function mixedOnPostgres(options: MixedOptions): Promise<MixedResult> {
  await using parts = new AsyncDisposableStack();
  return await go(options, await placeOnPostgres(parts, options));
}

async function go(options: MixedOptions, place: Place): Promise<MixedResult> {
  const { servers, weights, judgedBy, check, readRows } = place;
  await using receivers = await Receivers.start(createDice(options.seed + 1));
  await using _busy = await startBusy(options.load);
  const wrong = new Findings();
  const ground: Ground = { ...place, receivers, wrong, kills: 0, loads: [] };
  let load: Load | undefined;
  let watch: LedgerWatch | undefined;
  let inbox: Inbox | undefined;
  try {
    await Promise.all(servers.map((server) => server.start().ready));
    const client = createClient((servers[0] as Server).url, API_KEY);
    const arrangement = await arrangeMixed(client, receivers);
    load = new Load({ origins: servers.map(({ url }) => url), path: arrangement.path }, createDice(options.seed + 2));
    watch = new LedgerWatch(servers);
    inbox = workOnErrors(anyOf(servers, createDice(options.seed + 3)), arrangement, createDice(options.seed + 4));
    load.set(PACE);
    const kinds = await breakThings(options, ground, weights);
    await setClocksRight(ground);
    receivers.getWell();
    load.set(NONE);
    await load.stop();
    await inbox.stop();
    await allRun(ground);
    const stoppedAt = Date.now();
    // Its ticks would never come to rest.
    await client.put(`/v1/workflows/${arrangement.t}`, { triggers: [] });
    // What still stands after that is told by the witness, as stuck.
    await settle(client, SETTLE_MS).catch((error: Error) => wrong.add('no rest', error.message));
    const settledMs = Date.now() - stoppedAt;
    const disturb = () => killAmidReplays(ground);
    const { resolved, unanswered } = inbox;
    await repairAll(client, { arrangement, resolved, wrong, deadlineMs: SETTLE_MS, disturb }).catch((error: Error) =>
      wrong.add('errors that could not be replayed', error.message),
    );
    await watch.stop();
    const allowed = judgedBy(kinds);
    const testimony = await testify({ server: servers[0] as Server, load, receivers, arrangement, ...allowed });
    for (const server of servers) await endInOrder(server, wrong);
    // The key lies in the data dir, and not with whoever checks.
    const flaws = (await check()).filter(({ check: name }) => name !== 'secret_key');
    for (const { check: name, detail, count } of flaws) wrong.add(`store check: ${name}`, `${count} × ${detail}`);
    const told = judgeInbox({ rows: await readRows(), resolved, unanswered, wasClockSet: allowed.mayWakeEarly });
    testimony.lost.addAll(told.lost);
    for (const findings of [watch.findings, wrong, told.wrong]) testimony.wrong.addAll(findings);
    const counts = { ...testimony.counts, ...told.counts, looks_at_the_ledger: watch.looks };
    return {
      ...testimony,
      counts,
      kinds,
      kills: ground.kills,
      load: meanOf(ground.loads),
      settledMs,
      complaints: complaintsOf(servers),
    };
  } finally {
    await watch?.stop();
    await inbox?.stop();
    await load?.stop();
    await Promise.all(servers.map((server) => server.kill()));
  }
}

/** Returns what finds a server that may be asked now. */
function anyOf(servers: readonly Server[], dice: Dice): () => Client | undefined {
  return () => {
    const ready = servers.filter(({ isRunning, life }) => isRunning && life.readyAt !== null);
    const server = ready[dice.between(0, ready.length - 1)];
    return server && createClient(server.url, API_KEY);
  };
}

/** The one that is not asked, where there are several. */
async function killAmidReplays(ground: Ground): Promise<void> {
  ground.kills++;
  await (ground.servers.at(-1) as Server).kill();
  await allRun(ground);
}

async function breakThings(
  { seed, minutes, faults = Number.POSITIVE_INFINITY, kills = 0, only, tell }: MixedOptions,
  ground: Ground,
  weights: Partial<Record<FaultKind, number>>,
): Promise<Map<FaultKind, number>> {
  const { loads } = ground;
  const kinds = new Map<FaultKind, number>();
  const wanted = only ? Object.fromEntries(only.map((kind) => [kind, 1])) : weights;
  const until = Date.now() + minutes * 60_000;
  let n = 0;
  for (const fault of planOf(seed, wanted)) {
    if (n >= faults || (Date.now() > until && ground.kills >= kills)) break;
    n++;
    tell(`${n}. ${textOfFault(fault)}; load ${loadavg()[0]?.toFixed(1)}, ${ground.kills} kills so far`);
    await carryOut(ground, fault);
    loads.push(loadavg()[0] as number);
    kinds.set(fault.kind, (kinds.get(fault.kind) ?? 0) + 1);
  }
  return kinds;
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, n) => sum + n, 0) / Math.max(1, numbers.length);
}

/** None has ended by itself, or had to put its own counters right. */
async function endInOrder(server: Server, wrong: Findings): Promise<void> {
  const { code, signal } = await server.terminate();
  wrong.equal('exit code at the end', code ?? signal, 0);
  for (const death of server.deaths.filter(({ wasReady }) => wasReady)) {
    wrong.add('server that ended by itself', `${server.name}: ${death.code ?? death.signal}`);
  }
  for (const [about] of server.complaints) {
    if (about.includes('corrected')) wrong.add('counter that had to be corrected', `${server.name}: ${about}`);
  }
}

function complaintsOf(servers: readonly Server[]): string[] {
  return servers.flatMap(({ complaints }) => [...complaints].map(([about, n]) => `${n} ×: ${about}`));
}

export function isSoundMixed({ lost, doubled, stuck, wrong }: MixedResult): boolean {
  return [lost, doubled, stuck, wrong].every(({ count }) => count === 0);
}

export function textOfMixed(name: string, result: MixedResult): string {
  const { lost, doubled, stuck, wrong, counts, kinds, kills, load, settledMs, complaints } = result;
  const figures = { lost: lost.count, doubled: doubled.count, stuck: stuck.count, wrong: wrong.count };
  return [
    `${name}: ${isSoundMixed(result) ? 'sound' : 'FAILED'}: ${JSON.stringify(figures)}`,
    `  ${kills} kills, ${kinds.size} kinds of fault, at a load average of ${load.toFixed(1)}`,
    `  ${[...kinds].map(([kind, n]) => `${kind} ${n}`).join(', ')}`,
    `  ${JSON.stringify(counts)}; at rest ${settledMs} ms after the last event`,
    ...complaints.map((line) => `  logged ${line}`),
    ...Object.entries({ lost, doubled, stuck, wrong }).flatMap(([kind, { lines }]) =>
      lines.map((line) => `  ${kind.toUpperCase()} ${line}`),
    ),
  ].join('\n');
}

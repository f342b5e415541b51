// The round of all faults: servers under mixed load, one fault after the other by a plan, and then rest. What must be true
// is told by a witness that sees the API alone, and by `errand store check` when all is over.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderOutside } from '../../../src/server/code-isolation.ts';
import { createClient } from '../../support/client.ts';
import { type Cutter, startCutter } from '../../support/postgres/cut.ts';
import { settle } from '../api-check.ts';
import { Findings } from '../findings.ts';
import { Load, NONE } from '../load.ts';
import { createDice } from '../random.ts';
import { API_KEY, Server } from '../server.ts';
import { arrangeMixed } from './arrangement.ts';
import { startBusy } from './busy.ts';
import { allRun, carryOut, type Ground } from './faults.ts';
import { type FaultKind, ON_DATABASE, ON_PROCESSES, planOf } from './plan.ts';
import { Receivers } from './receivers.ts';
import { LedgerWatch, type Testimony, testify } from './witness.ts';

export interface MixedOptions {
  readonly seed: number;
  /** Faults begin until then, and until there were so many. */
  readonly minutes: number;
  readonly faults?: number;
  /** Processes that keep the machine busy. */
  readonly load: number;
  readonly only?: readonly FaultKind[];
  readonly tell: (line: string) => void;
}

export interface MixedResult extends Testimony {
  readonly kinds: ReadonlyMap<FaultKind, number>;
  readonly kills: number;
  readonly settledMs: number;
  readonly complaints: readonly string[];
}

interface Place {
  readonly servers: readonly Server[];
  readonly cutters: readonly Cutter[];
  readonly database: Ground['database'];
  readonly weights: Partial<Record<FaultKind, number>>;
  /** What the store says of itself when all servers have ended. */
  readonly check: () => Promise<readonly { check: string; detail: string; count: number }[]>;
}

const NODES = 3;
const SETTLE_MS = 300_000;
const PACE = { senders: 6, pauseMs: 60 };

export async function mixedOnFile(options: MixedOptions): Promise<MixedResult> {
  const { checkSqlite } = await import('../../../src/store/sqlite/maintenance/check.ts');
  const dataDir = await mkdtemp(join(tmpdir(), 'errand-prove-'));
  try {
    const server = await Server.on({ name: 'server', dataDir });
    const check = async () => (await checkSqlite(join(dataDir, 'errand.db'))).findings;
    return await go(options, { servers: [server], cutters: [], database: null, weights: ON_PROCESSES, check });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
    await rm(folderOutside(dataDir), { recursive: true, force: true });
  }
}

/** Each node has a network of its own to the database. */
export async function mixedOnPostgres(options: MixedOptions): Promise<MixedResult> {
  const { checkPostgres } = await import('../../../src/store/postgres/maintenance/check.ts');
  const { DATABASE, startDatabase } = await import('../postgres/database.ts');
  await using parts = new AsyncDisposableStack();
  const { server: database, directUrl } = await startDatabase();
  parts.defer(() => database.dispose());
  const folder = await mkdtemp(join(tmpdir(), 'errand-prove-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const cutters: Cutter[] = [];
  const servers: Server[] = [];
  for (let n = 1; n <= NODES; n++) {
    const cutter = parts.use(await startCutter(database.port));
    cutters.push(cutter);
    const env = { ERRAND_DATABASE_URL: cutter.url(DATABASE) };
    servers.push(await Server.on({ name: `node ${n}`, dataDir: join(folder, `node-${n}`), env }));
  }
  const check = async () => (await checkPostgres(directUrl())).findings;
  return await go(options, { servers, cutters, database, weights: { ...ON_PROCESSES, ...ON_DATABASE }, check });
}

async function go(options: MixedOptions, place: Place): Promise<MixedResult> {
  const { servers, weights, check } = place;
  await using receivers = await Receivers.start(createDice(options.seed + 1));
  await using _busy = await startBusy(options.load);
  const wrong = new Findings();
  const ground: Ground = { ...place, receivers, wrong, kills: 0 };
  let load: Load | undefined;
  let watch: LedgerWatch | undefined;
  try {
    await Promise.all(servers.map((server) => server.start().ready));
    const client = createClient((servers[0] as Server).url, API_KEY);
    const arrangement = await arrangeMixed(client, receivers);
    load = new Load({ origins: servers.map(({ url }) => url), path: arrangement.path }, createDice(options.seed + 2));
    watch = new LedgerWatch(servers);
    load.set(PACE);
    const kinds = await breakThings(options, ground, weights);
    receivers.getWell();
    load.set(NONE);
    await load.stop();
    await allRun(ground);
    const stoppedAt = Date.now();
    // Its ticks would never come to rest.
    await client.put(`/v1/workflows/${arrangement.t}`, { triggers: [] });
    // What still stands after that is told by the witness, as stuck.
    await settle(client, SETTLE_MS).catch((error: Error) => wrong.add('no rest', error.message));
    const settledMs = Date.now() - stoppedAt;
    await watch.stop();
    const testimony = await testify({ server: servers[0] as Server, load, receivers, arrangement });
    for (const server of servers) await endInOrder(server, wrong);
    // The key lies in the data dir, and not with whoever checks.
    const flaws = (await check()).filter(({ check: name }) => name !== 'secret_key');
    for (const { check: name, detail, count } of flaws) wrong.add(`store check: ${name}`, `${count} × ${detail}`);
    for (const findings of [watch.findings, wrong]) testimony.wrong.addAll(findings);
    const counts = { ...testimony.counts, looks_at_the_ledger: watch.looks };
    return { ...testimony, counts, kinds, kills: ground.kills, settledMs, complaints: complaintsOf(servers) };
  } finally {
    await watch?.stop();
    await load?.stop();
    await Promise.all(servers.map((server) => server.kill()));
  }
}

async function breakThings(
  { seed, minutes, faults = Number.POSITIVE_INFINITY, only, tell }: MixedOptions,
  ground: Ground,
  weights: Partial<Record<FaultKind, number>>,
): Promise<Map<FaultKind, number>> {
  const kinds = new Map<FaultKind, number>();
  const wanted = only ? Object.fromEntries(only.map((kind) => [kind, 1])) : weights;
  const until = Date.now() + minutes * 60_000;
  let n = 0;
  for (const fault of planOf(seed, wanted)) {
    if (n >= faults || Date.now() > until) break;
    n++;
    const { kind, victim, isForAll, beforeMs, lastsMs } = fault;
    tell(
      `${n}. ${kind} (victim ${victim.toFixed(2)}${isForAll ? ', for all' : ''}), after ${beforeMs} ms, for ${lastsMs} ms`,
    );
    await carryOut(ground, fault);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
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
  const { lost, doubled, stuck, wrong, counts, kinds, kills, settledMs, complaints } = result;
  const figures = { lost: lost.count, doubled: doubled.count, stuck: stuck.count, wrong: wrong.count };
  return [
    `${name}: ${isSoundMixed(result) ? 'sound' : 'FAILED'}: ${JSON.stringify(figures)}`,
    `  ${kills} kills; ${[...kinds].map(([kind, n]) => `${kind} ${n}`).join(', ')} (${kinds.size} kinds)`,
    `  ${JSON.stringify(counts)}; at rest ${settledMs} ms after the last event`,
    ...complaints.map((line) => `  logged ${line}`),
    ...Object.entries({ lost, doubled, stuck, wrong }).flatMap(([kind, { lines }]) =>
      lines.map((line) => `  ${kind.toUpperCase()} ${line}`),
    ),
  ].join('\n');
}

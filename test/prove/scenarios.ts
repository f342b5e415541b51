// What is tried. Each scenario has a data dir, a server and a load of its own, and ends in one verdict over the store.

import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, statfsSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkOverApi, settle } from './api-check.ts';
import { type Arrangement, arrange } from './arrangement.ts';
import { Findings } from './findings.ts';
import { type Kill, killOnce, planPhases } from './kills.ts';
import { BURST, LIGHT, Load, NONE } from './load.ts';
import { createDice, type Dice } from './random.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { readRows } from './rows.ts';
import { Server } from './server.ts';
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

interface Setting {
  readonly server: Server;
  readonly receiver: Receiver;
  readonly arrangement: Arrangement;
  readonly load: Load;
  readonly dice: Dice;
  readonly wrong: Findings;
  readonly notes: string[];
  readonly kills: Kill[];
}

type Act = (setting: Setting) => Promise<void>;

const SETTLE_MS = 180_000;
const WARM_UP_MS = 300;

/** `kills` kills at moments of all phases. */
export function killed(seed: number, kills: number, burst: number): Promise<Result> {
  return within(seed, async (setting) => {
    for (const phase of planPhases(kills, setting.dice)) {
      setting.kills.push(await killOnce({ ...setting, burst }, phase));
    }
  });
}

/** SIGTERM under full load, then a start on the same store. */
export function terminated(seed: number, times: number): Promise<Result> {
  return within(seed, async ({ server, load, dice, wrong, notes }) => {
    for (let time = 0; time < times; time++) {
      load.set(BURST, 4000);
      await pause(dice.between(100, 600));
      const before = Date.now();
      const { code, signal } = await server.terminate();
      notes.push(`SIGTERM under load: exit ${code ?? signal} after ${Date.now() - before} ms`);
      wrong.equal('exit code after SIGTERM', code ?? signal, 0);
      load.set(LIGHT);
      await server.start().ready;
    }
  });
}

const SMALL_DISK_BYTES = 48 * 1024 * 1024;
const STEADY = { senders: 16, pauseMs: 5 };
const BEFORE_FULL_MS = 1000;
const FULL_MS = 3000;
const FULL_DEADLINE_MS = 15_000;
const RECOVERY_MS = 10_000;

/** A disk that fills up under load and is freed again. Null, with the reason, where no small disk can be had. */
export async function filledUp(seed: number): Promise<Result | string> {
  const disk = await mkdtemp(join(tmpdir(), 'errand-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL_DISK_BYTES}`, 'tmpfs', disk], { stdio: 'pipe' });
  } catch (error) {
    await rm(disk, { recursive: true, force: true });
    return `no small disk could be mounted: ${String((error as { stderr?: unknown }).stderr ?? error).trim()}`;
  }
  try {
    return await within(seed, fillAndFree, join(disk, 'data'));
  } finally {
    execFileSync('umount', ['-l', disk], { stdio: 'pipe' });
    await rm(disk, { recursive: true, force: true });
  }
}

async function fillAndFree({ server, load, wrong, notes }: Setting): Promise<void> {
  const ballast = join(server.dataDir, 'ballast');
  const refused = (): number => load.statuses.get(503) ?? 0;
  load.set(STEADY);
  await pause(BEFORE_FULL_MS);
  fillDisk(ballast);
  const filledAt = Date.now();
  while (refused() === 0 && Date.now() - filledAt < FULL_DEADLINE_MS) await pause(20);
  notes.push(`first 503 after ${Date.now() - filledAt} ms on a full disk`);
  if (refused() === 0) wrong.add('full disk that is not noticed', `${load.accepted} accepted`);
  const acceptedBefore = load.accepted;
  await pause(FULL_MS);
  fillDisk(ballast);
  notes.push(`while full: ${refused()} answers of 503, ${load.accepted - acceptedBefore} of 200`);
  wrong.equal('503 without Retry-After', load.retryAfterMissing, 0);
  const accepted = load.accepted;
  await rm(ballast);
  const freedAt = Date.now();
  while (load.accepted === accepted && Date.now() - freedAt < RECOVERY_MS) await pause(20);
  notes.push(`first 200 after ${Date.now() - freedAt} ms on a freed disk`);
  if (load.accepted === accepted) wrong.add('freed disk that is not noticed', `after ${RECOVERY_MS} ms`);
  await pause(WARM_UP_MS);
}

/** Whatever room there is. */
function fillDisk(path: string): void {
  const { bavail, bsize } = statfsSync(join(path, '..'));
  const file = openSync(path, existsSync(path) ? 'a' : 'w');
  const block = Buffer.alloc(bsize, 1);
  try {
    for (let left = bavail; left > 0; left--) writeSync(file, block);
  } catch {
    // full before we were done: the server wrote too
  }
  closeSync(file);
}

async function within(seed: number, act: Act, given?: string): Promise<Result> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'errand-prove-')));
  const dice = createDice(seed);
  const server = await Server.on(dataDir);
  await using receiver = await startReceiver(dice);
  let load: Load | undefined;
  try {
    await server.start().ready;
    const arrangement = await arrange(server.url, receiver.url);
    load = new Load(arrangement.endpoint, dice);
    const setting: Setting = { server, receiver, arrangement, load, dice, wrong: new Findings(), notes: [], kills: [] };
    receiver.refuse(0.02);
    load.set(LIGHT);
    await pause(WARM_UP_MS);
    await act(setting);
    return await end(setting, given !== undefined);
  } catch (error) {
    const complaints = JSON.stringify([...server.complaints]);
    throw new Error(`${(error as Error).message}\ncomplaints: ${complaints}\n${server.lastLines.join('\n')}`, {
      cause: error,
    });
  } finally {
    await load?.stop();
    await server.kill();
    if (given === undefined) await rm(dataDir, { recursive: true, force: true });
  }
}

/** Lets it come to rest, asks it, stops it in order, and reads what it left. */
async function end(setting: Setting, mayFailToStart: boolean): Promise<Result> {
  const { server, receiver, arrangement, load, wrong, notes, kills } = setting;
  receiver.refuse(0);
  load.set(NONE);
  await load.stop();
  const stoppedAt = Date.now();
  await settle(arrangement, SETTLE_MS);
  const settledMs = Date.now() - stoppedAt;
  const online = mayFailToStart ? new Findings() : await checkOverApi(arrangement);
  const { code } = await server.terminate();
  wrong.equal('exit code at the end', code, 0);
  const rows = readRows(server.dataDir);
  const { sent } = load;
  const verdict = judge({ rows, sent, seen: receiver.seen, arrangement, mayFailToStart });
  for (const findings of [online, wrong]) {
    for (const [kind, { count, examples }] of findings.byKind) verdict.wrong.byKind.set(kind, { count, examples });
  }
  const { statuses } = load;
  return { ...verdict, notes, kills, statuses, complaints: server.complaints, settledMs };
}

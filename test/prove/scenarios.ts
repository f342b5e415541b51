// What is tried on one server with its file. What is tried on several with one Postgres is in postgres/.

import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, statfsSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { folderOutside } from '../../src/server/code-isolation.ts';
import { killOnce, planPhases } from './kills.ts';
import { BURST, LIGHT } from './load.ts';
import { createDice } from './random.ts';
import { readRows } from './rows.ts';
import { Server } from './server.ts';
import { type Act, type Result, type Setting, WARM_UP_MS, within } from './setting.ts';

/** `kills` kills at moments of all phases. */
export function killed(seed: number, kills: number, burst: number): Promise<Result> {
  return onFile(seed, async (setting) => {
    const server = only(setting);
    for (const phase of planPhases(kills, setting.dice)) {
      setting.kills.push(await killOnce({ ...setting, server, burst }, phase));
    }
  });
}

/** SIGTERM under full load, then a start on the same store. */
export function terminated(seed: number, times: number): Promise<Result> {
  return onFile(seed, async (setting) => {
    const { load, dice, wrong, notes } = setting;
    const server = only(setting);
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
    return await onFile(seed, fillAndFree, join(disk, 'data'));
  } finally {
    execFileSync('umount', ['-l', disk], { stdio: 'pipe' });
    await rm(disk, { recursive: true, force: true });
  }
}

async function fillAndFree(setting: Setting): Promise<void> {
  const { load, wrong, notes } = setting;
  const ballast = join(only(setting).dataDir, 'ballast');
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

async function onFile(seed: number, act: Act, given?: string): Promise<Result> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'errand-prove-')));
  const server = await Server.on({ name: 'server', dataDir });
  const world = {
    servers: [server],
    entrances: [server],
    dice: createDice(seed),
    readRows: async () => readRows(dataDir),
    mayFailToStart: given !== undefined,
    isKilledAtEnd: given === undefined,
  };
  try {
    return await within(world, act);
  } finally {
    if (given === undefined) await rm(dataDir, { recursive: true, force: true });
    await rm(folderOutside(dataDir), { recursive: true, force: true });
  }
}

function only({ servers: [server] }: Setting): Server {
  if (!server) throw new Error('there is no server');
  return server;
}

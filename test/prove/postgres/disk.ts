// The database's disk fills up under load and is freed again. With the log on another disk, writing fails and the database
// goes on. With both on one it is the log in the end that finds no room, and the database goes down until somebody has made
// room and starts it.

import { setTimeout as pause } from 'node:timers/promises';
import { queryOn } from '../../support/postgres/databases.ts';
import { type SmallDisk, startOnSmallDisk } from '../../support/postgres/tmpfs.ts';
import type { Result } from '../setting.ts';
import { goThrough } from './outage.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

/** Until the next file of the log that is not needed any more gives room back. */
const REFILLED_MS = 250;
/** Pages that were there before still take some. */
const TOLD_MS = 10_000;
/** One file of the log. */
const LOGGED = "SELECT pg_logical_emit_message(false, 'prove', repeat('x', 1000000))";

/** A reason instead where no small disk can be had. */
const GIVEN_UP_MS = 10_000;

export async function diskFull(
  seed: number,
  { isLogElsewhere, lastsMs }: { isLogElsewhere: boolean; lastsMs: number },
): Promise<Result | string> {
  let disk: SmallDisk;
  try {
    disk = await startOnSmallDisk({ isLogElsewhere, spareMb: 64 });
  } catch (error) {
    if ((error as Error).message.startsWith('a small disk is')) return (error as Error).message.trim();
    throw error;
  }
  const { server, url } = disk;
  const database = { url, directUrl: () => url, folders: [server.dir], dispose: () => disk.dispose() };
  return onNodes({ seed, database }, async (setting) => {
    const { load, notes } = setting;
    load.set(STEADY);
    await pause(1000);
    let filling: NodeJS.Timeout | undefined;
    await goThrough(setting, {
      what: `disk full (${isLogElsewhere ? 'data alone' : 'data and log'})`,
      begin: async () => {
        await fill(disk);
        filling = setInterval(() => void fill(disk), REFILLED_MS);
        if (!isLogElsewhere) await fillLog(url);
      },
      end: async () => {
        clearInterval(filling);
        await disk.relieve();
        notes.push((await isUp(disk)) ? 'the database stayed up' : 'the database went down, and was started again');
      },
      lastsMs,
      toldWithinMs: TOLD_MS,
      isAway: !isLogElsewhere,
    });
    await pause(500);
  });
}

/** The database takes what room there is at the same time. */
async function fill(disk: SmallDisk): Promise<void> {
  await disk.fill().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error;
  });
}

/** Until it has no room and takes the database down. */
async function fillLog(url: string): Promise<void> {
  for (;;) {
    try {
      await queryOn(url, LOGGED);
    } catch {
      return;
    }
  }
}

/** False: it had to be started, as an operator would. */
async function isUp({ server }: SmallDisk): Promise<boolean> {
  let wasUp = true;
  const since = Date.now();
  for (;;) {
    // Postgres 18, when its recovery has died of the full disk, may neither come back nor give up.
    if (Date.now() - since > GIVEN_UP_MS) await server.kill();
    try {
      await server.databases.query('SELECT 1');
      return wasUp;
    } catch {
      wasUp = false;
      // It may be about to come back, or to give up.
      await server.start().catch(() => undefined);
      await pause(50);
    }
  }
}

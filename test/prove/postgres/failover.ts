// A primary with a synchronous standby. The primary is restarted; it is killed, or no longer heard of, and the standby takes
// over. What was answered 200 is on the standby too.

import { setTimeout as pause } from 'node:timers/promises';
import { startCutter } from '../../support/postgres/cut.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { type Pair, startPair } from '../../support/postgres/standby.ts';
import type { Result, Setting } from '../setting.ts';
import { DATABASE, type Database } from './database.ts';
import { goThrough } from './outage.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

/** A node gives up on what was not answered after 18 s, and then looks for who takes writes now. */
const SILENT_MS = 30_000;

/** `restarts`: of the primary, before it is killed. `headlessMs`: how long nobody takes writes then. */
export async function failedOver(
  seed: number,
  { restarts, headlessMs }: { restarts: number; headlessMs: number },
): Promise<Result> {
  const { pair, database, promote } = await startPaired();
  return onNodes({ seed, database }, async (setting) => {
    const { load, dice } = setting;
    load.set(STEADY);
    await pause(500);
    for (let n = 0; n < restarts; n++) {
      await pause(dice.between(300, 1500));
      await goThrough(setting, {
        what: 'primary restarted, its standby left alone',
        begin: () => pair.primary.stop('fast'),
        end: () => pair.primary.start(),
        lastsMs: dice.between(500, 1500),
        toldWithinMs: 5000,
        isAway: true,
      });
      await isInSync(pair);
    }
    await pause(dice.between(300, 1500));
    await goThrough(setting, {
      what: 'primary killed',
      begin: () => pair.killPrimary(),
      end: promote,
      lastsMs: headlessMs,
      toldWithinMs: 5000,
      isAway: true,
    });
    await tellOfStandby(setting, database);
  });
}

/** Nobody says that the primary is gone: its machine is off, and what is sent to it is answered by nothing at all. */
export async function fellSilent(seed: number): Promise<Result> {
  const { pair, database, promote } = await startPaired();
  const cutter = await startCutter(pair.primary.port);
  const url = pair.url(DATABASE).replace(`:${pair.primary.port}`, `:${cutter.port}`);
  const dispose = async (): Promise<void> => {
    await cutter.dispose();
    await pair.dispose();
  };
  return onNodes({ seed, database: { ...database, url, dispose } }, async (setting) => {
    const { load, dice } = setting;
    load.set(STEADY);
    await pause(dice.between(1000, 2500));
    await goThrough(setting, {
      what: 'primary silent, and its standby promoted',
      begin: async () => {
        cutter.hold();
        await pair.killPrimary();
        await promote();
      },
      end: () => undefined,
      lastsMs: 0,
      backWithinMs: SILENT_MS,
    });
    await tellOfStandby(setting, database);
  });
}

interface Paired {
  readonly pair: Pair;
  readonly database: Database;
  readonly promote: () => Promise<void>;
}

async function startPaired(): Promise<Paired> {
  const pair = await startPair();
  await pair.primary.createDatabase(DATABASE);
  let isPromoted = false;
  return {
    pair,
    database: {
      url: pair.url(DATABASE),
      directUrl: () => (isPromoted ? pair.standby : pair.primary).url(DATABASE),
      folders: [pair.primary.dir, pair.standby.dir],
      dispose: () => pair.dispose(),
    },
    promote: async () => {
      await pair.promote();
      isPromoted = true;
    },
  };
}

/** What is answered from now on is on both. */
async function isInSync({ primary }: Pair): Promise<void> {
  for (;;) {
    const [row] = await primary.databases.query('SELECT sync_state FROM pg_stat_replication');
    if (row?.sync_state === 'quorum') return;
    await pause(20);
  }
}

async function tellOfStandby({ load, notes }: Setting, { directUrl }: Database): Promise<void> {
  await pause(1000);
  const [row] = await queryOn(directUrl(), 'SELECT pg_is_in_recovery() AS is_standby');
  notes.push(`${load.accepted} accepted, by a server that ${row?.is_standby ? 'is a standby' : 'takes writes'}`);
}

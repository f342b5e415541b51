// Somebody else has locked a table for longer than anybody waits, or statements have become too slow to end in time.

import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { queryOn } from '../../support/postgres/databases.ts';
import type { Result, Setting } from '../setting.ts';
import { connectionsTo, type Database, startDatabase } from './database.ts';
import { goThrough } from './outage.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

/** A lock is waited for for 6 s; whoever came while somebody waited, waits twice. */
const TOLD_MS = 14_000;

const DEADLOCK = '40P01';

export interface LockedOptions {
  readonly tables: readonly string[];
  readonly lockedMs: number;
  /** Beyond what a statement may take; 0: not tried. */
  readonly slowMs: number;
}

export async function locked(seed: number, { tables, lockedMs, slowMs }: LockedOptions): Promise<Result> {
  const database = await startDatabase();
  return onNodes({ seed, database }, async (setting) => {
    setting.load.set(STEADY);
    await pause(500);
    for (const table of tables) {
      await lock(setting, database, { table, lockedMs });
      await pause(1000);
    }
    if (slowMs > 0) await slowDown(setting, database, slowMs);
  });
}

async function lock(setting: Setting, database: Database, of: { table: string; lockedMs: number }): Promise<void> {
  const locker = postgres(database.directUrl(), { max: 1, fetch_types: false });
  const before = await connectionsTo(database);
  try {
    await goThrough(setting, {
      what: `${of.table} locked by somebody else`,
      begin: () => lockWhole(locker, of.table),
      end: async () => {
        await locker.unsafe('COMMIT');
      },
      lastsMs: of.lockedMs,
      toldWithinMs: TOLD_MS,
    });
  } finally {
    await locker.end({ timeout: 0 });
  }
  setting.notes.push(`connections before and after: ${before.nodes}, ${(await connectionsTo(database)).nodes}`);
}

/** The nodes do not wait for a lock of this kind among themselves: whoever asks for it may be who closes a circle. */
async function lockWhole(locker: postgres.Sql, table: string): Promise<void> {
  for (;;) {
    await locker.unsafe('BEGIN');
    try {
      await locker.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      return;
    } catch (error) {
      await locker.unsafe('ROLLBACK');
      if ((error as { code?: string }).code !== DEADLOCK) throw error;
    }
  }
}

const SLOW = `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
  CREATE TRIGGER slow BEFORE INSERT ON emissions FOR EACH STATEMENT EXECUTE FUNCTION slow()`;

async function slowDown(setting: Setting, database: Database, slowMs: number): Promise<void> {
  await goThrough(setting, {
    what: 'statements slower than they may be',
    begin: async () => {
      await queryOn(database.directUrl(), SLOW);
    },
    end: async () => {
      await queryOn(database.directUrl(), 'DROP TRIGGER slow ON emissions');
    },
    lastsMs: slowMs,
    toldWithinMs: slowMs,
  });
}

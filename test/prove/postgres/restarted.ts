// The database is stopped under load, in order and out of order, and started again some seconds later.

import { setTimeout as pause } from 'node:timers/promises';
import type { Result } from '../setting.ts';
import { startDatabase } from './database.ts';
import { goThrough } from './outage.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

const WAYS = ['fast', 'immediate'] as const;

/** `longestMs`: that it is away. */
export async function restarted(
  seed: number,
  { times, longestMs }: { times: number; longestMs: number },
): Promise<Result> {
  const database = await startDatabase();
  const { server } = database;
  return onNodes({ seed, database }, async (setting) => {
    const { load, dice } = setting;
    load.set(STEADY);
    for (let time = 0; time < times; time++) {
      for (const how of WAYS) {
        await pause(dice.between(300, 1500));
        await goThrough(setting, {
          what: `database stopped (${how})`,
          begin: () => server.stop(how),
          end: () => server.start(),
          lastsMs: dice.between(500, longestMs),
          toldWithinMs: 2000,
          isAway: true,
        });
      }
    }
    await pause(500);
  });
}

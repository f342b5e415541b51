// One node takes events, one runs code, one delivers; the last two are killed.

import { setTimeout as pause } from 'node:timers/promises';
import type { Result, Setting } from '../setting.ts';
import { type Database, heldBy, startDatabase } from './database.ts';
import { rescueAfter, textOf } from './killed.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

const ROLES = ['api', 'run', 'deliver'] as const;

export async function rolesApart(seed: number, times: number): Promise<Result> {
  const database = await startDatabase();
  return onNodes({ seed, database, roles: ROLES }, async (setting) => {
    for (let time = 0; time < times; time++) {
      for (const role of ['run', 'deliver'] as const) await killRole(setting, database, role);
    }
    await pause(500);
  });
}

async function killRole(setting: Setting, database: Database, role: (typeof ROLES)[number]): Promise<void> {
  const { servers, load, dice, notes, wrong } = setting;
  load.set(STEADY);
  await pause(dice.between(500, 1500));
  const victim = servers[ROLES.indexOf(role)];
  if (!victim) throw new Error(`no node has the role ${role}`);
  const { accepted } = load;
  const at = Date.now();
  await victim.kill();
  const held = await heldBy(database, [victim.pid]);
  const rescue = await rescueAfter(setting, { at, held });
  const told = rescue ? `first rescue after ${rescue.at - at} ms` : 'no rescue';
  notes.push(`${victim.name} killed: held ${textOf(held)}; ${told}; ${load.accepted - accepted} × 200 meanwhile`);
  if (load.accepted === accepted) wrong.add('events that were not taken', `while nobody had the role ${role}`);
  await victim.start().ready;
}

// One of three nodes is killed, again and again, at any moment, and now and then two at once.

import { setTimeout as pause } from 'node:timers/promises';
import type { Dice } from '../random.ts';
import type { Rescue, Server } from '../server.ts';
import type { Result, Setting } from '../setting.ts';
import { type Database, heldBy, startDatabase } from './database.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

/** What a node that was killed held is in other hands by then. */
export const RESCUE_MS = 10_000;
/** They come back before the others have missed them. */
const BACK_AT_ONCE_PART = 0.25;
const TWO_PART = 0.25;

export async function killed(seed: number, kills: number): Promise<Result> {
  const database = await startDatabase();
  return onNodes({ seed, database, isKilledAtEnd: true }, async (setting) => {
    for (let n = 0; n < kills; n++) await killSome(setting, database);
  });
}

async function killSome(setting: Setting, database: Database): Promise<void> {
  const { servers, load, dice, notes } = setting;
  load.set(STEADY);
  await pause(dice.between(300, 1500));
  const first = anyOf(servers, dice);
  const others = servers.filter((server) => server !== first);
  const victims = dice.next() < TWO_PART ? [first, anyOf(others, dice)] : [first];
  const at = Date.now();
  const { accepted } = load;
  await Promise.all(victims.map((victim) => victim.kill()));
  const pids = victims.map(({ pid }) => pid);
  const held = await heldBy(database, pids);
  const isBackAtOnce = dice.next() < BACK_AT_ONCE_PART;
  const comeBack = () => Promise.all(victims.map((victim) => victim.start().ready));
  if (isBackAtOnce) await comeBack();
  const rescue = await rescueAfter(setting, { at, held });
  if (!isBackAtOnce) await comeBack();
  const names = victims.map(({ name }) => name).join(' and ');
  const told = rescue ? `first rescue after ${rescue.at - at} ms` : 'no rescue';
  const back = isBackAtOnce ? ', back at once' : '';
  notes.push(`${names} killed at ${accepted} accepted${back}: held ${textOf(held)}; ${told}`);
}

/** The first that a node tells of. Whatever was held must be in other hands in time; nothing comes when nothing was held. */
export async function rescueAfter(
  { servers, wrong }: Setting,
  of: { at: number; held: { runs: number; deliveries: number } },
): Promise<Rescue | undefined> {
  const isHeld = of.held.runs + of.held.deliveries > 0;
  for (;;) {
    const found = servers.flatMap(({ rescues }) => rescues).filter(({ at }) => at > of.at);
    const first = found.sort((a, b) => a.at - b.at)[0];
    if (first || !isHeld) return first;
    if (Date.now() - of.at > RESCUE_MS) {
      wrong.add('node that is gone and nobody rescues', `held ${textOf(of.held)} for ${RESCUE_MS} ms`);
      return undefined;
    }
    await pause(20);
  }
}

export function anyOf(servers: readonly Server[], dice: Dice): Server {
  return servers[dice.between(0, servers.length - 1)] as Server;
}

export function textOf({ runs, deliveries }: { runs: number; deliveries: number }): string {
  return `${runs} runs, ${deliveries} deliveries`;
}

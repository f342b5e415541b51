// A node stands still for longer than its lease, and then goes on as if nothing had happened. The others have taken its
// work over by then, and what it still has to say is refused.

import { setTimeout as pause } from 'node:timers/promises';
import { LIMITS } from '../../../src/domain/limits.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { API_KEY, type Server } from '../server.ts';
import type { Result, Setting } from '../setting.ts';
import { type Database, heldBy, startDatabase } from './database.ts';
import { anyOf, rescueAfter, textOf } from './killed.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

/** A transaction that it was in the middle of is ended by the database after 3 s. */
const QUIET_MS = 4000;
const AWAKE_MS = 30_000;
/** Within which a late result comes, also from a machine that is busy. */
const LATE_MS = 15_000;

export async function paused(seed: number, of: { times: number; pauseMs: number }): Promise<Result> {
  const database = await startDatabase();
  return onNodes({ seed, database }, async (setting) => {
    for (let n = 0; n < of.times; n++) await pauseOne(setting, database, of.pauseMs);
  });
}

async function pauseOne(setting: Setting, database: Database, pauseMs: number): Promise<void> {
  const { servers, load, dice, notes, wrong } = setting;
  load.set(STEADY);
  await pause(dice.between(500, 1500));
  const sleeper = anyOf(servers, dice);
  const late = { ...sleeper.late };
  const at = Date.now();
  sleeper.pause();
  const { accepted } = load;
  await pause(QUIET_MS);
  const held = await heldBy(database, [sleeper.pid]);
  const rescue = await rescueAfter(setting, { at, held });
  await pause(Math.max(0, at + pauseMs - Date.now()));
  if (load.accepted === accepted) wrong.add('others who did not go on', `while ${sleeper.name} stood still`);
  sleeper.resume();
  await isAnew(database, sleeper, setting);
  const isHeld = held.runs + held.deliveries > 0;
  const refusedSoFar = () => ({
    runs: sleeper.late.runs - late.runs,
    deliveries: sleeper.late.deliveries - late.deliveries,
  });
  const isTold = (): boolean => refusedSoFar().runs + refusedSoFar().deliveries > 0;
  for (const until = Date.now() + LATE_MS; isHeld && !isTold() && Date.now() < until; ) await pause(50);
  const refused = refusedSoFar();
  if (isHeld && refused.runs + refused.deliveries === 0) wrong.add('late result that was not refused', textOf(held));
  const told = rescue ? `taken over after ${rescue.at - at} ms` : 'nothing taken over';
  notes.push(
    `${sleeper.name} stood still for ${pauseMs} ms (its lease: ${LIMITS.nodeLeaseMs} ms): held ${textOf(held)}, ${told}; ` +
      `late results refused: ${textOf(refused)}`,
  );
}

/** It has found out that it was taken for gone, joins as somebody new, and takes events. */
async function isAnew(
  { directUrl }: Database,
  { name, url, pid }: Server,
  { wrong, arrangement }: Setting,
): Promise<void> {
  const deadline = Date.now() + AWAKE_MS;
  for (;;) {
    const rows = await queryOn(directUrl(), `SELECT gone_at_ms FROM nodes WHERE name LIKE '%:${pid}' ORDER BY node`);
    if (rows.length > 1 && rows.at(-1)?.gone_at_ms === null) break;
    if (Date.now() > deadline) {
      wrong.add('node that did not begin anew', name);
      return;
    }
    await pause(20);
  }
  const answer = await fetch(`${url}/v1/workflows/${arrangement.a}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  await answer.body?.cancel();
  wrong.equal(`answer of ${name}, which woke up`, answer.status, 200);
}

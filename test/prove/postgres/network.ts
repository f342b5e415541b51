// The network between the nodes and their database: connections are cut at random, nothing gets through for a while, and
// answers are lost of what has happened.

import { setTimeout as pause } from 'node:timers/promises';
import { startCutter } from '../../support/postgres/cut.ts';
import type { Result } from '../setting.ts';
import { DATABASE, onServer, startDatabase } from './database.ts';
import { goThrough } from './outage.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

export interface NetworkOptions {
  readonly cutForMs: number;
  /** Once each. */
  readonly heldForMs: readonly number[];
  /** How often answers are held back and then lost. */
  readonly lostAnswers: number;
}

const CUTS_PER_SECOND = 5;
/** Nobody waits for an answer of the database for longer. */
const SILENT_MS = 25_000;

export async function cutOff(seed: number, { cutForMs, heldForMs, lostAnswers }: NetworkOptions): Promise<Result> {
  const { server } = await startDatabase();
  const cutter = await startCutter(server.port);
  const behind = onServer(server, cutter.url(DATABASE));
  const dispose = async (): Promise<void> => {
    await cutter.dispose();
    await server.dispose();
  };
  return onNodes({ seed, database: { ...behind, dispose } }, async (setting) => {
    const { load, dice, notes } = setting;
    load.set(STEADY);
    await pause(500);
    const before = load.accepted;
    const stop = cutter.cutRandomly(CUTS_PER_SECOND, dice.next);
    await pause(cutForMs);
    stop();
    notes.push(`${CUTS_PER_SECOND} connections cut each second for ${cutForMs} ms: ${load.accepted - before} × 200`);
    await pause(1000);
    for (let n = 0; n < lostAnswers; n++) {
      cutter.hold('answers');
      await pause(dice.between(5, 300));
      const cut = cutter.cutAll();
      cutter.resume();
      notes.push(`answers held back, and then ${cut} connections cut`);
      await pause(dice.between(300, 1500));
    }
    for (const lastsMs of heldForMs) {
      await goThrough(setting, {
        what: 'network that hangs',
        begin: () => cutter.hold(),
        end: () => cutter.resume(),
        lastsMs,
        ...(lastsMs > SILENT_MS ? { toldWithinMs: SILENT_MS } : {}),
      });
      await pause(500);
    }
  });
}

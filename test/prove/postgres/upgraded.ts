// A new version is rolled out under load, node by node: the first of them migrates, and the old ones go on beside it.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Server } from '../server.ts';
import type { Result, Setting } from '../setting.ts';
import { type Database, startDatabase } from './database.ts';
import { newerProgram } from './newer.ts';
import { STEADY } from './pace.ts';
import { onNodes } from './world.ts';

/** How long both versions work side by side, each time. */
const TOGETHER_MS = [700, 2000] as const;

export async function upgraded(seed: number): Promise<Result> {
  await using newer = await newerProgram();
  const database = await startDatabase();
  return await onNodes({ seed, database }, async (setting) => {
    const { servers, load, dice, notes, wrong } = setting;
    load.set(STEADY);
    await pause(500);
    for (const server of servers) {
      const { accepted } = load;
      const before = Date.now();
      const { code, signal } = await server.terminate();
      const stoppedAt = Date.now();
      wrong.equal('exit code of an old node', code ?? signal, 0);
      server.program = newer.program;
      await server.start().ready;
      const took = `stopped in ${stoppedAt - before} ms, the newer one listened after ${Date.now() - stoppedAt} ms`;
      notes.push(`${server.name} replaced: ${took}; ${load.accepted - accepted} × 200 meanwhile`);
      if (server === servers[0]) await refusesOld(database, setting);
      await pause(dice.between(...TOGETHER_MS));
    }
  });
}

/** Whoever starts the old version now is told why not. */
async function refusesOld(database: Database, { notes, wrong }: Setting): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'errand-prove-'));
  const old = await Server.on({ name: 'old', dataDir, env: { ERRAND_DATABASE_URL: database.url } });
  try {
    const said = await old.start().ready.then(
      () => 'listens',
      (error: Error) => error.message,
    );
    notes.push(`an old node that is started: ${said}`);
    if (!said.includes('a newer Errand wrote it')) wrong.add('old node that is not refused clearly', said);
  } finally {
    await old.kill();
    await rm(dataDir, { recursive: true, force: true });
  }
}

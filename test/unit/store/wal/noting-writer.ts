// A process that writes into a store without a pause. It notes each event that was answered, and what of the WAL each sync that has
// ended covers. Its syncs are slow, so that the end of the WAL is hardly ever on disk. Arguments: the store, and the file of notes.

import { fdatasync, openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { strongRandom, TestClock } from '../../../contract/fixtures.ts';
import { Stage } from '../../../contract/stage.ts';
import { indexOf } from './wal-index.ts';

const WRITERS = 32;
const SYNC_MS = 5;
/** So that commits come during a sync, too. */
const MOST_PAUSE_MS = 10;
const [path = '', notes = ''] = process.argv.slice(2);

const descriptor = openSync(notes, 'a');
const note = (line: string): void => void writeSync(descriptor, `${line}\n`);

async function syncFile(wal: number): Promise<void> {
  const { salt, frames } = indexOf(path);
  await pause(SYNC_MS);
  await promisify(fdatasync)(wal);
  note(`synced ${salt} ${frames}`);
}

const clock = new TestClock();
const store = await openSqliteStore({ path, clock, random: strongRandom, syncFile });
const stage = await Stage.on(store, clock);
const { trigger } = await stage.hooked();
let n = 0;

async function write(): Promise<never> {
  for (;;) {
    n++;
    const body = Buffer.from(`{"pad":"${'x'.repeat((n * 997) % 4000)}"}`);
    const { entry } = await stage.append(trigger.id, { body });
    note(`answered ${entry}`);
    await pause(Math.random() * MOST_PAUSE_MS);
  }
}

await Promise.all(Array.from({ length: WRITERS }, write));

// What a power cut leaves of the WAL: a process that writes is stopped, and in copies of its store whatever no sync covers is cut,
// zeroed or overwritten from any byte on. Each copy opens, is whole, and has every event that was answered.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { strongRandom, TestClock } from '../../../contract/fixtures.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { until } from '../../../support/wait.ts';
import { indexOf } from './wal-index.ts';

const WRITER = join(import.meta.dirname, 'noting-writer.ts');
const STOPS = 8;
/** Between two stops: at most so many events more are answered. */
const MOST_ANSWERS = 400;
const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;
const SECTOR_BYTES = 512;

type Tear = (wal: Buffer, from: number) => Buffer;

const before = (wal: Buffer, at: number): Buffer => Buffer.from(wal.subarray(0, at));
const withEnd = (wal: Buffer, at: number, byteAt: (position: number) => number): Buffer =>
  Buffer.from(wal.map((byte, position) => (position < at ? byte : byteAt(position))));

const TEARS: Readonly<Record<string, Tear>> = {
  cut: before,
  zeroed: (wal, at) => withEnd(wal, at, () => 0),
  overwritten: (wal, at) => withEnd(wal, at, () => Math.floor(Math.random() * 256)),
  // A disk writes sectors in any order.
  'without some sectors': (wal, at) => {
    const lost = Array.from({ length: Math.ceil(wal.length / SECTOR_BYTES) }, () => Math.random() < 0.5);
    return withEnd(wal, at, (position) => (lost[Math.floor(position / SECTOR_BYTES)] ? 0 : (wal[position] ?? 0)));
  },
};

interface Notes {
  readonly answered: readonly number[];
  readonly synced: { readonly salt: string; readonly frames: number } | null;
}

function readNotes(path: string): Notes {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '));
  const [, salt, frames] = lines.findLast(([what]) => what === 'synced') ?? [];
  const answered = lines.flatMap(([what, entry]) => (what === 'answered' ? Number(entry) : []));
  return { answered, synced: salt === undefined ? null : { salt, frames: Number(frames) } };
}

/** Returns the state of each thread, as `ps` names it; null of one that has just ended. */
const statesOf = (pid: number): (string | null)[] =>
  readdirSync(`/proc/${pid}/task`).map((tid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${tid}/stat`, 'latin1');
      return stat.charAt(stat.lastIndexOf(')') + 2);
    } catch {
      return null;
    }
  });

/** Returns how many bytes of the stopped store's WAL are on disk whatever happens, and where its commits end. */
function boundsOf(path: string, wal: Buffer, synced: Notes['synced']): { onDisk: number; end: number } {
  const { salt, frames, copied } = indexOf(path);
  const isBegun = salt === wal.toString('hex', 16, 24);
  const covered = synced?.salt === salt ? synced.frames : 0;
  const safe = isBegun ? Math.max(covered, copied) : 0;
  // The WAL before this one is copied and synced as a whole.
  return {
    onDisk: safe === 0 ? 0 : HEADER_BYTES + safe * FRAME_BYTES,
    end: isBegun ? HEADER_BYTES + frames * FRAME_BYTES : 0,
  };
}

async function entriesOf(path: string): Promise<Set<number>> {
  const store = await openSqliteStore({ path, clock: new TestClock(), random: strongRandom });
  await store.close();
  const db = new DatabaseSync(path, { readOnly: true });
  equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
  const entries = db.prepare('SELECT entry FROM emissions').all();
  db.close();
  return new Set(entries.map(({ entry }) => Number(entry)));
}

test('events that were answered are there, whatever is lost of the WAL behind the last sync', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  await using folder = await createFolder();
  const [path, notes] = [join(folder.path, 'errand.db'), join(folder.path, 'notes')];
  writeFileSync(notes, '');
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const writer = spawn(process.execPath, [WRITER, path, notes], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const gone = once(writer, 'exit');
  const pid = writer.pid ?? 0;
  let torn = 0;
  try {
    for (let stop = 0; stop < STOPS; stop++) {
      const enough = readNotes(notes).answered.length + 1 + Math.floor(Math.random() * MOST_ANSWERS);
      await until(`${enough} answers`, () => {
        ok(writer.exitCode === null && writer.signalCode === null, 'the writer has ended');
        return readNotes(notes).answered.length >= enough;
      });
      writer.kill('SIGSTOP');
      await until('all its threads stand still', () => statesOf(pid).every((state) => state === 'T'));
      const { answered, synced } = readNotes(notes);
      const wal = readFileSync(`${path}-wal`);
      const { onDisk, end } = boundsOf(path, wal, synced);
      for (const [name, tear] of Object.entries(TEARS)) {
        const from = onDisk + Math.floor(Math.random() * (Math.max(end - onDisk, 0) + 1));
        const image = join(folder.path, 'image.db');
        copyFileSync(path, image);
        writeFileSync(`${image}-wal`, tear(wal, from));
        const there = await entriesOf(image);
        const missing = answered.filter((entry) => !there.has(entry));
        deepEqual(missing, [], `${name} from byte ${from} of ${end}, of which ${onDisk} are on disk`);
        if (from < end) torn++;
      }
      writer.kill('SIGCONT');
    }
  } finally {
    writer.kill('SIGKILL');
    await gone;
  }
  ok(torn > STOPS, `only ${torn} images have lost anything`);
});

// Damaged stores: the files that a killed server leaves, and what disks do to them.

import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestClock } from '../../../contract/fixtures.ts';
import { numbered, Stage } from '../../../contract/stage.ts';
import { openFull } from '../full-store.ts';

export const PAGE_BYTES = 4096;
const AT_ONCE = 50;

export interface Image {
  /** The store's file; its WAL lies beside it. */
  readonly path: string;
  /** Numbers of the events that were accepted; each has a run that waits in the queue. */
  readonly entries: readonly number[];
}

interface Wanted {
  readonly folder: string;
  readonly clock: TestClock;
  /** How many of them are in the file, and how many in the WAL behind that. */
  readonly inFile: number;
  readonly inWal: number;
  /** The WAL was copied into the file, and has not begun again. */
  readonly isCopied?: boolean;
}

/** Writes a store, and copies its files as a kill would leave them. */
export async function makeImage({ folder, clock, inFile, inWal, isCopied = false }: Wanted): Promise<Image> {
  const live = join(folder, 'live.db');
  const path = join(folder, 'errand.db');
  const store = await openFull(live, clock);
  const checkpoint = new DatabaseSync(live);
  try {
    const stage = await Stage.on(store, clock);
    const { trigger } = await stage.hooked({ name: 'hears', settings: { concurrency: 1000 } });
    const append = async (count: number): Promise<number[]> => {
      const entries: number[] = [];
      while (entries.length < count) {
        const some = Array.from({ length: Math.min(AT_ONCE, count - entries.length) }, (_, i) =>
          stage.append(trigger.id, { body: numbered(i) }),
        );
        for (const { entry } of await Promise.all(some)) entries.push(entry);
      }
      return entries;
    };
    const first = await append(inFile);
    checkpoint.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const entries = [...first, ...(await append(inWal))];
    if (isCopied) checkpoint.exec('PRAGMA wal_checkpoint(PASSIVE)');
    for (const end of ['', '-wal']) copyFileSync(`${live}${end}`, `${path}${end}`);
    return { path, entries };
  } finally {
    checkpoint.close();
    await store.close();
  }
}

/** The numbers of the pages that a table or index takes, its root first. */
export function pagesOf(path: string, name: string): number[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db.prepare('SELECT pageno FROM dbstat WHERE name = ? ORDER BY path').all(name);
    return rows.map((row) => Number(row.pageno));
  } finally {
    db.close();
  }
}

export function overwrite(path: string, from: number, bytes: Buffer): void {
  const file = readFileSync(path);
  bytes.copy(file, from);
  writeFileSync(path, file);
}

export function zeroPages(path: string, pages: readonly (number | undefined)[]): void {
  const file = readFileSync(path);
  for (const page of pages) {
    if (page === undefined) throw new Error('there is no such page');
    file.fill(0, (page - 1) * PAGE_BYTES, page * PAGE_BYTES);
  }
  writeFileSync(path, file);
}

export const cut = (path: string, bytes: number): void => truncateSync(path, bytes);

// A store with everything in it, an empty database, and the move from the one into the other.

import { deepEqual } from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { checkSqlite } from '../../../src/store/sqlite/maintenance/check.ts';
import { TestClock } from '../../contract/fixtures.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabaseOn } from '../../support/postgres/fresh.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';
import { type Called, call } from './command.ts';
import { type Full, fillStore, multiply, openFull } from './full-store.ts';
import { portraitOf } from './portrait.ts';

export interface Place {
  readonly dataDir: string;
  /** Of the store in it. */
  readonly path: string;
  /** Of a database in which there is nothing at all. */
  readonly url: string;
  readonly clock: TestClock;
  readonly full: Full;
}

/** `more`: so many events besides. Removed with the test. */
export async function place(t: TestContext, more = 0): Promise<Place> {
  const folder = await createFolder();
  t.after(() => folder[Symbol.asyncDispose]());
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const full = await fillStore(path, clock);
  if (more > 0) multiply(path, more);
  return { dataDir: folder.path, path, url: await emptyDatabase(t), clock, full };
}

export async function emptyDatabase(t: TestContext): Promise<string> {
  const { url, drop } = await newDatabaseOn(await sharedPostgres(), { isBlank: true });
  t.after(drop);
  return url;
}

export function move({ dataDir, url }: Pick<Place, 'dataDir' | 'url'>): Promise<Called> {
  return call(['store', 'move', '--to', url, '--json'], { ERRAND_DATA_DIR: dataDir });
}

/** Both tell the same, and both are sound. */
export async function assertMoved({ path, url, clock, full }: Place): Promise<void> {
  const [there, here] = [await checkSqlite(path), await checkPostgres(url)];
  deepEqual([there.findings, here.findings], [[], []]);
  deepEqual(here.figures, there.figures);
  const [old, moved] = [await openFull(path, clock), await openTestStore({ url, clock })];
  deepEqual(await portraitOf(moved, full), await portraitOf(old, full));
  const ofMove = await queryOn(url, "SELECT owner_id FROM audit WHERE operation = 'moveStore'");
  deepEqual(
    ofMove.map(({ owner_id }) => owner_id),
    [(await old.listOwners())[0]?.id],
    'the move itself is all that was added',
  );
  await Promise.all([old.close(), moved.close()]);
}

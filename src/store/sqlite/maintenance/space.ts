// Gives free pages back to the disk: retention deletes, and the file becomes shorter. It moves pages from the end of the
// database into free ones, a few in each commit; the file is cut when the WAL is copied into it. A file of a version that
// did not set auto_vacuum keeps its pages.
//
// A kill before the file is cut leaves it longer than the database. A WAL that has lost its end looks the same, but for the
// commits in it (salvage/wal.ts): no commit that makes the database smaller is the first of its WAL. So there is another
// commit before it, and no checkpoint in between, behind which the WAL would begin again.

import type { SpaceStore } from '../../contract/space.ts';
import { number } from '../../rows/cells.ts';
import type { Core } from '../core.ts';
import type { Connection } from '../database.ts';
import { writeMeta } from '../meta.ts';
import type { Checkpointer } from '../wal/checkpointer.ts';

/** Free pages up to one of these stay, for what comes next: a share of the file, and 4 MB. */
const KEPT_SHARE = 0.1;
const KEPT_PAGES = 1024;

/**
 * Of one step, whichever comes first. The event loop stands still for that and the commit. A single page takes longer, the more
 * pages are free: some 0.16 ms with 282,000 (1.1 GB), where a step frees 13 in its time. The time is looked at after each page.
 */
const STEP_PAGES = 256;
const STEP_MS = 2;

/** While more of the WAL cannot be copied, since a backup reads, moved pages would make it longer still. */
const LONG_WAL_PAGES = 4000;

/** SQLite's name for `incremental`. */
const INCREMENTAL = 2;

export function spaceVerbs(core: Pick<Core, 'reader' | 'writer' | 'batch'>, checkpointer: Checkpointer): SpaceStore {
  const { reader, writer, batch } = core;
  const isShrinkable = canShrink(reader);
  // The row is a change that the batch sees: without one, no commit is synced, or copied from the WAL.
  const commit = (free: () => void): Promise<void> =>
    batch.write((tx) => {
      writeMeta(writer, 'reclaimed_at_ms', String(tx.nowMs));
      free();
    });
  return {
    reclaimSpace: async () => {
      if (!isShrinkable || !hasMuchFree(reader)) return false;
      const release = await checkpointer.hold();
      if (release === null) return false;
      try {
        const uncopied = checkpointer.uncopiedPages();
        if (uncopied > LONG_WAL_PAGES) return false;
        if (uncopied === 0) await commit(() => undefined);
        await commit(() => freeSome(writer));
        return true;
      } finally {
        release();
      }
    },
  };
}

/** Returns whether the file can give free pages back. */
export function canShrink(connection: Connection): boolean {
  return pragma(connection, 'auto_vacuum') === INCREMENTAL;
}

function hasMuchFree(reader: Connection): boolean {
  const free = pragma(reader, 'freelist_count');
  return free > KEPT_PAGES && free > KEPT_SHARE * pragma(reader, 'page_count');
}

function freeSome(writer: Connection): void {
  const until = performance.now() + STEP_MS;
  // A row for each page. Where the file has many free ones, SQLite looks long for the one at its end.
  for (const _ of writer.db.prepare(`PRAGMA incremental_vacuum(${STEP_PAGES})`).iterate()) {
    if (performance.now() > until) return;
  }
}

function pragma(connection: Connection, name: string): number {
  return number(connection.get(`PRAGMA ${name}`) ?? {}, name);
}

// Seals what a version that did not seal has written. Runs in the background of every opening, since a start may have been
// killed on its way, and finds nothing to do but once.

import { StoreUnavailable } from '../../contract/store.ts';
import { ROWS_PER_STEP, SEALED_COLUMNS, type SealedColumn } from '../../seal/sealed-columns.ts';
import type { Core } from '../core.ts';
import type { Connection } from '../database.ts';

/** What a store that is closed meanwhile has left plain, the next opening finds. */
export async function sealRows(core: Core): Promise<void> {
  try {
    let sealed = 0;
    for (const column of SEALED_COLUMNS) sealed += await sealColumn(core, column);
    if (sealed > 0 && core.writer.db.isOpen) forgetPlain(core.writer);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

async function sealColumn(core: Core, { table, column, place }: SealedColumn): Promise<number> {
  const { writer, reader, seal } = core;
  const next = `SELECT id, ${column} AS text FROM ${table} WHERE id > ? AND ${column} NOT LIKE 'sealed%'
    ORDER BY id LIMIT ${ROWS_PER_STEP}`;
  let sealed = 0;
  for (let after = ''; reader.get(next, after) !== undefined; ) {
    after = await core.batch.write(() => {
      const rows = writer.all(next, after) as { id: string; text: string }[];
      overwriting(writer, () => {
        for (const { id, text } of rows) {
          writer.run(`UPDATE ${table} SET ${column} = ? WHERE id = ?`, seal.seal(text, place(id)), id);
        }
      });
      sealed += rows.length;
      return rows.at(-1)?.id ?? after;
    });
  }
  return sealed;
}

/** What is freed meanwhile is overwritten with zeros. */
function overwriting(writer: Connection, work: () => void): void {
  writer.exec('PRAGMA secure_delete = ON');
  try {
    work();
  } finally {
    writer.exec('PRAGMA secure_delete = OFF');
  }
}

/** The file has the plain texts until the pages are copied into it, and the WAL until it begins anew. */
function forgetPlain(writer: Connection): void {
  const { timeout } = writer.get('PRAGMA busy_timeout') as { timeout: number };
  // Nobody waits for a backup that reads right now: then they go with the next checkpoint.
  writer.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  writer.exec(`PRAGMA busy_timeout = ${timeout}`);
}

// Facts about the whole store, by name: a table of texts.

import { text } from '../rows/cells.ts';
import type { Connection } from './database.ts';

/** Returns null for a name that was never written. */
export function readMeta(connection: Connection, name: string): string | null {
  const row = connection.get('SELECT value FROM meta WHERE name = ?', name);
  return row ? text(row, 'value') : null;
}

export function writeMeta(writer: Connection, name: string, value: string): void {
  writer.run('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)', name, value);
}

// Tries a database as a start would, up to the first answer. Nothing is written.

import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../../domain/limits.ts';
import { text } from '../../rows/cells.ts';
import { Pool } from '../connection/pool.ts';

export interface DatabaseFinding {
  readonly is: 'well' | 'wrong';
  /** Without user and password. */
  readonly says: string;
}

/** Of all of it: several hosts are asked one after the other. */
const WITHIN_MS = 10 * SECOND_MS;

/** Tries a database. Never rejects; settles within `withinMs`. */
export async function tryDatabase(url: string, withinMs = WITHIN_MS): Promise<DatabaseFinding> {
  const pool = new Pool({ url, name: 'errand doctor', connections: 1 });
  const late = pause(withinMs, null, { ref: false });
  try {
    const row = await Promise.race([pool.get("SELECT current_setting('server_version') AS version"), late]);
    if (!row) return { is: 'wrong', says: `no answer within ${withinMs / SECOND_MS} s` };
    return { is: 'well', says: `answers, Postgres ${text(row, 'version')}` };
  } catch (error) {
    return { is: 'wrong', says: (error as Error).message };
  } finally {
    // It waits for what is under way.
    void pool.close().catch(() => undefined);
  }
}

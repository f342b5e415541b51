// Reads of the log forwards, of many emitters of one owner.

import { LIMITS } from '../../domain/limits.ts';
import { coveringEmitters, hears } from '../../domain/route.ts';
import { sql } from '../config/sql.ts';
import type { EmissionFilter, LoggedRecord, Stretch } from '../contract/streams.ts';
import { number, text } from '../rows/cells.ts';
import { LISTED, type LogReader } from './log-tables.ts';

/** What one statement looks at, in the index alone: other work goes on between two. */
const LOOKED_AT = 1000;

interface ChannelRead {
  readonly channel: EmissionFilter;
  readonly stretch: Stretch;
  /** Reads the records of these entries that are still there, oldest first, up to the bound on bytes. */
  readonly read: (entries: readonly number[]) => Promise<readonly LoggedRecord[]> | readonly LoggedRecord[];
}

/** Returns the next records of a wildcard's channel. None: the whole stretch has none. */
export async function emissionsOfMany(
  database: Pick<LogReader['database'], 'planned'>,
  { channel, stretch, read }: ChannelRead,
): Promise<readonly LoggedRecord[]> {
  const { ownerId, emitterId, name } = channel;
  for (let { after } = stretch; ; ) {
    // The owner is a range for the reason in pages.ts.
    const rows = await database.planned(sql`SELECT entry, emitter_id, name FROM emissions
      WHERE owner_id >= ${ownerId} AND owner_id <= ${ownerId} AND ${LISTED} AND entry > ${after} AND entry <= ${stretch.upTo}
      ORDER BY owner_id, entry LIMIT ${LOOKED_AT}`);
    const wanted = rows.filter(
      (row) => hears(name, text(row, 'name')) && coveringEmitters(text(row, 'emitter_id'), ownerId).includes(emitterId),
    );
    const records =
      wanted.length === 0 ? [] : await read(wanted.slice(0, LIMITS.streamRecords).map((row) => number(row, 'entry')));
    if (records.length > 0) return records;
    // What was found may have been deleted since: what comes behind it has not.
    const last = wanted.length > LIMITS.streamRecords ? wanted[LIMITS.streamRecords - 1] : rows.at(-1);
    if (!last || (rows.length < LOOKED_AT && last === rows.at(-1))) return [];
    after = number(last, 'entry');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

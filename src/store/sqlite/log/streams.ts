// Reads of the log forwards. One process writes, and completes a batch within one tick of its event loop, so every number that
// was given is visible.

import { ERRORS } from '../../../domain/emission.ts';
import { LIMITS } from '../../../domain/limits.ts';
import {
  type EmissionFilter,
  isOfMany,
  isOfOwner,
  type LoggedRecord,
  type StreamStore,
  type Stretch,
} from '../../contract/streams.ts';
import type { LogReader } from '../../log/log-tables.ts';
import { emissionsOfMany } from '../../log/many-emitters.ts';
import { number, text } from '../../rows/cells.ts';
import { toLoggedRecord } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';

const COLUMNS = `entry, emitter_id, name, lineage, summary, item_id, item_ts, code, digest_key, group_id, original_start,
  original_length`;
/** The length of a body is known without reading it. */
const SELECT = `SELECT ${COLUMNS}, length(body) AS bytes FROM emissions`;
const NEXT = `AND flags & 8 AND entry > ? AND entry <= ? ORDER BY entry LIMIT ${LIMITS.streamRecords}`;

/** Jumps from name to name along the index: an emitter has few names, however much it has emitted. */
const NAMES = `WITH RECURSIVE names (name) AS (
    SELECT min(name) FROM emissions WHERE emitter_id = ?1 AND flags & 8
    UNION ALL
    SELECT (SELECT min(e.name) FROM emissions AS e WHERE e.emitter_id = ?1 AND e.flags & 8 AND e.name > names.name)
      FROM names WHERE names.name IS NOT NULL)
  SELECT name FROM names WHERE name IS NOT NULL AND substr(name, 1, 1) <> '$'`;

export function streamVerbs(
  core: Core,
  database: Pick<LogReader['database'], 'planned'>,
): Omit<StreamStore, 'emittersAfter'> {
  return {
    logEnd: async () => core.numbers.last,
    emissionsAfter: async (channel, stretch, withBody) => {
      if (!isOfMany(channel)) return emissionsAfter(core, { channel, stretch }, withBody);
      return emissionsOfMany(database, { channel, stretch, read: (entries) => ofEntries(core, entries, withBody) });
    },
  };
}

interface ChannelQuery {
  readonly channel: EmissionFilter;
  readonly stretch: Stretch;
}

function emissionsAfter(core: Core, { channel, stretch }: ChannelQuery, withBody: boolean): LoggedRecord[] {
  const rows = isOfOwner(channel) ? errorsAfter(core, channel.ownerId, stretch) : ofEmitter(core, { channel, stretch });
  return recordsOf(core, rows, withBody);
}

function ofEntries(core: Core, entries: readonly number[], withBody: boolean): LoggedRecord[] {
  const rows = entries.map((entry) => core.reader.get(`${SELECT} WHERE entry = ? AND flags & 8`, entry));
  return recordsOf(
    core,
    rows.filter((row) => row !== undefined),
    withBody,
  );
}

function recordsOf(core: Core, rows: readonly Row[], withBody: boolean): LoggedRecord[] {
  return withBody ? withBodies(core, rows) : rows.map((row) => toLoggedRecord(row, core));
}

/** Reads the errors of a stretch. The name stands in the statement as in the condition of the index. */
function errorsAfter({ reader }: Core, ownerId: string, { after, upTo }: Stretch): Row[] {
  return reader.all(`${SELECT} WHERE owner_id = ? AND name = '${ERRORS}' ${NEXT}`, ownerId, after, upTo);
}

function ofEmitter({ reader }: Core, { channel, stretch: { after, upTo } }: ChannelQuery): Row[] {
  const { emitterId, ownerId } = channel;
  const names = channel.name === '*' ? reader.all(NAMES, emitterId).map((row) => text(row, 'name')) : [channel.name];
  const where = `${SELECT} WHERE emitter_id = ? AND name = ? AND owner_id = ? ${NEXT}`;
  const rows = names.flatMap((name) => reader.all(where, emitterId, name, ownerId, after, upTo));
  if (names.length > 1) rows.sort((a, b) => number(a, 'entry') - number(b, 'entry'));
  return rows.slice(0, LIMITS.streamRecords);
}

function withBodies(core: Core, rows: readonly Row[]): LoggedRecord[] {
  const records: LoggedRecord[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (bytes >= LIMITS.streamBytes) break;
    bytes += number(row, 'bytes');
    const whole = core.reader.get('SELECT body FROM emissions WHERE entry = ?', number(row, 'entry'));
    records.push(toLoggedRecord({ ...row, ...whole }, core));
  }
  return records;
}

// Reads of the log forwards. One process writes, and completes a batch within one tick of its event loop, so every number that
// was given is visible.

import { LIMITS } from '../../../domain/limits.ts';
import type { EmissionRecord } from '../../contract/records.ts';
import type { Channel, StreamStore, Stretch } from '../../contract/streams.ts';
import { number, text } from '../../rows/cells.ts';
import { toEmissionRecord } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';

const COLUMNS = 'entry, emitter_id, name, summary, item_id, item_ts, code, group_id';

/** Jumps from name to name along the index: an emitter has few names, however much it has emitted. */
const NAMES = `WITH RECURSIVE names (name) AS (
    SELECT min(name) FROM emissions WHERE emitter_id = ?1 AND flags & 8
    UNION ALL
    SELECT (SELECT min(e.name) FROM emissions AS e WHERE e.emitter_id = ?1 AND e.flags & 8 AND e.name > names.name)
      FROM names WHERE names.name IS NOT NULL)
  SELECT name FROM names WHERE name IS NOT NULL AND substr(name, 1, 1) <> '$'`;

export function streamVerbs(core: Core): Omit<StreamStore, 'emittersAfter'> {
  return {
    logEnd: async () => core.numbers.last,
    emissionsAfter: async (channel, stretch, withBody) => emissionsAfter(core, { channel, stretch }, withBody),
  };
}

interface Wanted {
  readonly channel: Channel;
  readonly stretch: Stretch;
}

function emissionsAfter(core: Core, { channel, stretch }: Wanted, withBody: boolean): EmissionRecord[] {
  const { reader } = core;
  const names =
    channel.name === '*' ? reader.all(NAMES, channel.emitterId).map((row) => text(row, 'name')) : [channel.name];
  const rows = names.flatMap((name) =>
    reader.all(
      // The length of a body is known without reading it.
      `SELECT ${COLUMNS}, length(body) AS bytes FROM emissions
        WHERE emitter_id = ? AND name = ? AND flags & 8 AND entry > ? AND entry <= ? AND owner_id = ?
        ORDER BY entry LIMIT ${LIMITS.streamRecords}`,
      channel.emitterId,
      name,
      stretch.after,
      stretch.upTo,
      channel.ownerId,
    ),
  );
  if (names.length > 1) rows.sort((a, b) => number(a, 'entry') - number(b, 'entry'));
  const step = rows.slice(0, LIMITS.streamRecords);
  if (!withBody) return step.map((row) => toEmissionRecord(row, core));
  return withBodies(core, step);
}

function withBodies(core: Core, rows: readonly Row[]): EmissionRecord[] {
  const records: EmissionRecord[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (bytes >= LIMITS.streamBytes) break;
    bytes += number(row, 'bytes');
    const whole = core.reader.get('SELECT body FROM emissions WHERE entry = ?', number(row, 'entry'));
    records.push(toEmissionRecord({ ...row, ...whole }, core));
  }
  return records;
}

// Reads of the log forwards, while several processes write to it.
//
// A number is given when its transaction begins, and visible when that commits: of two transactions at the same time, the one
// with the higher number may commit first, and a reader that has read up to it would never see the other. So readers stop at an
// end of the log before which nothing is added:
// - a transaction that begins later reads the database's clock and the largest stored number, and gives higher numbers;
// - a transaction that has begun holds the lock on its id from before it reads the clock until after its commit.
// So: read the clock and the number, list the transactions that hold such locks, and wait until all of these have ended.
// Transactions of other programs in this database count, too: which ones write here is unknown.

import { setTimeout as pause } from 'node:timers/promises';
import { ERRORS } from '../../../domain/emission.ts';
import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { LIMITS, SECOND_MS } from '../../../domain/limits.ts';
import {
  type EmissionFilter,
  isOfMany,
  isOfOwner,
  type LoggedRecord,
  type StreamStore,
  type Stretch,
} from '../../contract/streams.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import type { LogReader } from '../../log/log-tables.ts';
import { emissionsOfMany } from '../../log/many-emitters.ts';
import { number, numberOrNull, present, textOrNull } from '../../rows/cells.ts';
import { type EmissionReader, toLoggedRecord } from '../../rows/log-rows.ts';
import { LAST_NUMBER_SQL } from '../claims/node.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { Pool } from '../connection/pool.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';

const COLUMNS = `entry, emitter_id, name, lineage, summary, item_id, item_ts, code, digest_key, group_id, original_start,
  original_length`;

/** The order matters: a transaction that is not among the writers reads the clock later. */
const LOOK = `SELECT ${NOW_SQL} AS now_ms, ${LAST_NUMBER_SQL} AS last_number,
  (SELECT string_agg(l.virtualtransaction, ',') FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
    WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
      AND a.datname = current_database()) AS writers`;

/** Most transactions take a few milliseconds; one that waits for a lock takes longer. */
const LOOK_AGAIN_MS = 5;
const MAX_LOOK_AGAIN_MS = 100;
/** Longer than a transaction of this program may take (connection.ts). */
const GIVE_UP_MS = 30 * SECOND_MS;

export function streamVerbs(
  core: Core,
  database: Pick<LogReader['database'], 'planned'>,
): Omit<StreamStore, 'emittersAfter'> {
  const end = new LogEnd(core);
  return {
    logEnd: () => end.find(),
    emissionsAfter: (channel, stretch, withBody) =>
      isOfMany(channel)
        ? emissionsOfMany(database, { channel, stretch, read: (entries) => ofEntries(core, entries, withBody) })
        : emissionsAfter(core, { channel, stretch, withBody }),
  };
}

interface LogEndRead {
  /** Transactions that begin from now on give higher numbers. */
  readonly end: number;
  readonly writers: readonly string[];
}

/** Finds the end of the log. Calls during a search share the next one, which begins after them. */
class LogEnd {
  readonly #core: Core;
  #current: Promise<number> | undefined;
  #next: Promise<number> | undefined;

  constructor(core: Core) {
    this.#core = core;
  }

  find(): Promise<number> {
    if (!this.#current) return this.#begin();
    this.#next ??= this.#current.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<number> {
    this.#next = undefined;
    const current = this.#search().finally(() => {
      if (this.#current === current) this.#current = undefined;
    });
    this.#current = current;
    return current;
  }

  async #search(): Promise<number> {
    const begunAt = performance.now();
    const { end, writers } = await this.#look();
    let left = writers;
    for (let waitMs = LOOK_AGAIN_MS; left.length > 0; waitMs = Math.min(2 * waitMs, MAX_LOOK_AGAIN_MS)) {
      if (performance.now() - begunAt > GIVE_UP_MS) {
        throw new StoreUnavailable('a transaction in this database does not end, and what it writes is unknown');
      }
      await pause(waitMs);
      const now = new Set((await this.#look()).writers);
      left = left.filter((writer) => now.has(writer));
    }
    return end;
  }

  async #look(): Promise<LogEndRead> {
    const { pool, clock } = this.#core;
    const stands = clock.overrideMs();
    const row = present(await pool.get(LOOK));
    const nowMs = stands ?? number(row, 'now_ms');
    const last = numberOrNull(row, 'last_number') ?? 0;
    const firstMs = Math.max(nowMs, Math.floor(last / NUMBERS_PER_MS) + 1);
    const writers = (textOrNull(row, 'writers') ?? '').split(',').filter(Boolean);
    return { end: firstMs * NUMBERS_PER_MS - 1, writers };
  }
}

interface ChannelQuery {
  readonly channel: EmissionFilter;
  readonly stretch: Stretch;
  readonly withBody: boolean;
}

/** The name is a range for the reason in pages.ts. */
const ONE_NAME = `SELECT * FROM emissions WHERE emitter_id = $1 AND name >= $2 AND name <= $2 AND listed
  AND entry > $3::bigint AND entry <= $4::bigint AND owner_id = $5 ORDER BY name, entry LIMIT ${LIMITS.streamRecords}`;

/** The name stands in the statement as in the condition of the index. */
const ERRORS_OF_OWNER = `SELECT * FROM emissions WHERE owner_id >= $1 AND owner_id <= $1 AND name = '${ERRORS}' AND listed
  AND entry > $2::bigint AND entry <= $3::bigint ORDER BY owner_id, entry LIMIT ${LIMITS.streamRecords}`;

/** Jumps from name to name along the index: an emitter has few names, however much it has emitted. */
const ALL_NAMES = `WITH RECURSIVE names (name) AS (
    (SELECT name FROM emissions WHERE emitter_id = $1 AND name >= $2 AND listed ORDER BY name LIMIT 1)
    UNION ALL
    SELECT (SELECT e.name FROM emissions AS e WHERE e.emitter_id = $1 AND e.name > n.name AND e.listed
        ORDER BY e.name LIMIT 1) FROM names AS n WHERE n.name IS NOT NULL)
  SELECT e.* FROM names AS n CROSS JOIN LATERAL (
      SELECT * FROM emissions AS i WHERE i.emitter_id = $1 AND i.name >= n.name AND i.name <= n.name AND i.listed
        AND i.entry > $3::bigint AND i.entry <= $4::bigint AND i.owner_id = $5
        ORDER BY i.name, i.entry LIMIT ${LIMITS.streamRecords}) AS e
    WHERE n.name IS NOT NULL AND left(n.name, 1) <> '$' ORDER BY e.entry LIMIT ${LIMITS.streamRecords}`;

const OF_ENTRIES = 'SELECT * FROM emissions WHERE entry = ANY($1::bigint[]) AND listed';

/** Selects rows up to a sum of bytes. The length of a body is known without reading it. */
const WITHIN_BYTES = (step: string): string => `SELECT ${COLUMNS}, body FROM (
    SELECT *, sum(octet_length(body)) OVER (ORDER BY entry) AS bytes FROM (${step}) AS step) AS sized
  WHERE bytes - octet_length(body) < ${LIMITS.streamBytes} ORDER BY entry`;

async function emissionsAfter(core: StreamReader, { channel, stretch, withBody }: ChannelQuery) {
  const { ownerId, emitterId, name } = channel;
  const { after, upTo } = stretch;
  const isAll = name === '*';
  return isOfOwner(channel)
    ? readStep(core, { step: ERRORS_OF_OWNER, withBody }, ownerId, after, upTo)
    : readStep(
        core,
        { step: isAll ? ALL_NAMES : ONE_NAME, withBody },
        emitterId,
        isAll ? '' : name,
        after,
        upTo,
        ownerId,
      );
}

function ofEntries(core: StreamReader, entries: readonly number[], withBody: boolean): Promise<LoggedRecord[]> {
  return readStep(core, { step: OF_ENTRIES, withBody }, arrayLiteral(entries));
}

type StreamReader = EmissionReader & { readonly pool: Pool };

async function readStep(
  core: StreamReader,
  { step, withBody }: { step: string; withBody: boolean },
  ...values: (string | number)[]
): Promise<LoggedRecord[]> {
  const sql = withBody ? WITHIN_BYTES(step) : `SELECT ${COLUMNS} FROM (${step}) AS step ORDER BY entry`;
  const rows = await core.pool.planned(sql, ...values);
  return rows.map((row): LoggedRecord => toLoggedRecord(row, core));
}

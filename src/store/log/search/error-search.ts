// The search of an owner's errors, for both databases.

import { ERRORS } from '../../../domain/emission.ts';
import { matchOf } from '../../../domain/error-filter.ts';
import type { Told } from '../../../domain/errors/told.ts';
import { detailIn, type ErrorDetail } from '../../../domain/failure.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { isAmongNumbers, joined, raw, type Sql, sql } from '../../config/sql.ts';
import type { PageQuery } from '../../contract/records.ts';
import type { ErrorReplay, ErrorSearch, FoundError, SearchStore } from '../../contract/search.ts';
import { bytes, number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { toEmissionRecord } from '../../rows/log-rows.ts';
import type { Row } from '../../rows/rows.ts';
import { LISTED, type LogReader } from '../log-tables.ts';
import { filtered, searchWithin } from './bounded-search.ts';
import { type ErrorNumbers, replaysOf, retainedRunsOf, toldOf } from './error-outcomes.ts';
import { inRange, type NumberIndex, ordered, rangeOfTimes } from './number-ranges.ts';

/** Replays that one error shows by itself. */
const SHOWN_REPLAYS = 100;

interface ErrorRow extends ErrorNumbers {
  readonly emitterId: string;
  readonly code: string | null;
  readonly bytes: number;
}

/** An error that the filter means, and what of it was read to know that. */
interface JudgedError {
  readonly head: ErrorRow;
  readonly detail: ErrorDetail;
  readonly told: Told;
  readonly replays: readonly ErrorReplay[];
}

export function errorSearches(log: LogReader): Pick<SearchStore, 'searchErrors' | 'outcomeOfError'> {
  const { database } = log;
  return {
    searchErrors: (search, page, withBody) => new Searching(log, search, withBody).read(page),

    outcomeOfError: async (ownerId, entry) => {
      const row = await database.get(
        sql`SELECT entry, cause_run, cause_delivery, group_id FROM emissions WHERE entry = ${entry} AND owner_id = ${ownerId}`,
      );
      if (!row) return { replays: [], told: 'no_listener', causeRun: null, causeDelivery: null, isRunRetained: false };
      const error = toNumbers(row, ownerId);
      const [told, replays, isRetained] = await Promise.all([
        toldOf(log, ownerId, [error]),
        replaysOf(log, [error], SHOWN_REPLAYS),
        retainedRunsOf(log, [error]),
      ]);
      const { causeRun, causeDelivery } = error;
      return {
        ...{ replays: replays(error), told: told(error), causeRun, causeDelivery },
        isRunRetained: isRetained(error),
      };
    },
  };
}

class Searching {
  readonly #log: LogReader;
  readonly #search: ErrorSearch;
  readonly #withBody: boolean;

  constructor(log: LogReader, search: ErrorSearch, withBody: boolean) {
    this.#log = log;
    this.#search = search;
    this.#withBody = withBody;
  }

  async read(page: PageQuery<number>): Promise<Awaited<ReturnType<SearchStore['searchErrors']>>> {
    const { ownerId, emitterId, code, groupId, told, replayed } = this.#search;
    // A group of another owner may be large, and whether it is there is not this owner's to learn from `lookedAt`.
    if (groupId !== undefined && !(await hasGroup(this.#log, ownerId, groupId))) {
      return { items: [], next: null, lookedAt: 0, totalCount: 0 };
    }
    const match = matchOf(this.#search);
    const index = indexOf(this.#search);
    const range = rangeOfTimes(this.#search);
    const isByHead = match.byDetail === null && told === undefined && replayed === undefined;
    const [found, totalCount] = await Promise.all([
      searchWithin<ErrorRow, FoundError>({
        page,
        range,
        isFiltered: !isByHead || code !== undefined || (groupId !== undefined && emitterId !== undefined),
        read: (within, order) => this.#heads(index, within, order),
        numberOf: ({ entry }) => entry,
        fits: match.byHead,
        bytesOf: (head) => head.bytes,
        judge: (heads) => this.#judge(heads, match.byDetail),
      }),
      isByHead ? this.#count(index) : null,
    ]);
    return { ...found, totalCount };
  }

  async #heads(
    index: NumberIndex,
    within: { from: number; to: number },
    { isDescending, limit }: { isDescending: boolean; limit: number },
  ): Promise<readonly ErrorRow[]> {
    const where = joined([...index.where, ...inRange(index, within)], ' AND ');
    const rows = await this.#log.database.planned(
      sql`SELECT entry, emitter_id, code, group_id, cause_run, cause_delivery, octet_length(body) AS bytes
        FROM emissions WHERE ${where} ORDER BY ${ordered(index, isDescending)} LIMIT ${limit}`,
    );
    return rows.map((row) => ({
      ...toNumbers(row, this.#search.ownerId),
      emitterId: text(row, 'emitter_id'),
      code: textOrNull(row, 'code'),
      bytes: number(row, 'bytes'),
    }));
  }

  async #count(index: NumberIndex): Promise<number> {
    const { emitterId, code, groupId } = this.#search;
    const matches = [
      ...(emitterId === undefined || groupId === undefined ? [] : [sql`emitter_id = ${emitterId}`]),
      ...(code === undefined ? [] : [sql`code = ${code}`]),
    ];
    const where = joined([...index.where, ...inRange(index, rangeOfTimes(this.#search))], ' AND ');
    const [row] =
      await this.#log.database.planned(sql`SELECT count(*) AS total FROM (SELECT emitter_id, code FROM emissions
        WHERE ${where} ORDER BY ${ordered(index, true)} LIMIT ${LIMITS.countedRecords}) AS counted
      ${matches.length === 0 ? raw('') : sql`WHERE ${joined(matches, ' AND ')}`}`);
    return row ? number(row, 'total') : 0;
  }

  async #judge(
    heads: readonly ErrorRow[],
    byDetail: ((detail: ErrorDetail) => boolean) | null,
  ): Promise<{ number: number; item: FoundError }[]> {
    const details = await this.#details(heads);
    const read = heads.flatMap((head) => {
      const detail = details.get(head.entry);
      return detail ? [{ head, detail }] : [];
    });
    const isSlow = byDetail !== null && this.#search.shown !== undefined;
    const ofDetail = await filtered(read, isSlow, ({ detail }) => byDetail?.(detail) ?? true);
    if (ofDetail.length === 0) return [];
    const errors = ofDetail.map(({ head }) => head);
    const [told, replays] = await Promise.all([
      toldOf(this.#log, this.#search.ownerId, errors),
      replaysOf(this.#log, errors),
    ]);
    const meant = ofDetail
      .map(({ head, detail }) => ({ head, detail, told: told(head), replays: replays(head) }))
      .filter((error) => this.#isMeant(error));
    return this.#whole(meant);
  }

  /** Reads of each error only what the service wrote behind the original event. */
  async #details(heads: readonly ErrorRow[]): Promise<ReadonlyMap<number, ErrorDetail>> {
    const rows = await this.#log.database.all(
      sql`SELECT entry, substr(body, coalesce(original_start + original_length, 0) + 2) AS tail FROM emissions
        WHERE entry ${isAmongNumbers(heads.map(({ entry }) => entry))} AND owner_id = ${this.#search.ownerId}`,
    );
    return new Map(rows.map((row) => [number(row, 'entry'), detailIn(bytes(row, 'tail'))]));
  }

  #isMeant({ told, replays }: JudgedError): boolean {
    const { told: wanted, replayed } = this.#search;
    if (replayed !== undefined && replays.length > 0 !== replayed) return false;
    return wanted === undefined || (typeof wanted === 'boolean' ? (told === 'told') === wanted : told === wanted);
  }

  async #whole(meant: readonly JudgedError[]): Promise<{ number: number; item: FoundError }[]> {
    const heads = meant.map(({ head }) => head);
    const isRetained = await retainedRunsOf(this.#log, heads);
    const rows = await this.#log.database.all(
      sql`SELECT entry, emitter_id, name, lineage, summary, item_id, item_ts, code, digest_key, group_id${raw(this.#withBody ? ', body' : '')}
        FROM emissions WHERE entry ${isAmongNumbers(heads.map(({ entry }) => entry))}`,
    );
    const records = new Map(rows.map((row) => [number(row, 'entry'), toEmissionRecord(row, this.#log)]));
    return meant.flatMap(({ head, detail, told, replays }) => {
      const { entry, causeRun, causeDelivery } = head;
      const emission = records.get(entry);
      // Retention has deleted it meanwhile.
      if (!emission) return [];
      const { msg, cellId, namespace = '', ts } = detail.error;
      const { workflow_name: workflowName, deployment_id: deploymentId } = detail.context;
      const error = { msg, cellId, namespace, ts };
      const replay = replays[0] ?? null;
      return {
        number: entry,
        item: {
          ...{ emission, causeRun, causeDelivery, error, workflowName, deploymentId, told, replay },
          isRunRetained: isRetained(head),
        },
      };
    });
  }
}

function toNumbers(row: Row, ownerId: string): ErrorNumbers {
  return {
    ownerId,
    entry: number(row, 'entry'),
    causeRun: numberOrNull(row, 'cause_run'),
    causeDelivery: numberOrNull(row, 'cause_delivery'),
    groupId: textOrNull(row, 'group_id'),
  };
}

async function hasGroup({ database }: LogReader, ownerId: string, id: string): Promise<boolean> {
  const row = await database.get(sql`SELECT id FROM error_groups WHERE id = ${id} AND owner_id = ${ownerId}`);
  return row !== undefined;
}

/** Returns the index of the fewest errors: those of a group, of one emitter, or of the owner. */
function indexOf({ ownerId, emitterId, groupId }: ErrorSearch): NumberIndex {
  if (groupId !== undefined) {
    const where = [raw('group_id IS NOT NULL'), sql`owner_id = ${ownerId}`];
    return { column: 'group_id', value: groupId, number: 'entry', where };
  }
  const isError: Sql = raw(`name = '${ERRORS}'`);
  if (emitterId === undefined) {
    return { column: 'owner_id', value: ownerId, number: 'entry', where: [isError] };
  }
  const where = [sql`emitter_id = ${emitterId}`, sql`${LISTED}`, sql`owner_id = ${ownerId}`];
  return { column: 'name', value: ERRORS, number: 'entry', where };
}

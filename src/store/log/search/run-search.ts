// The search of an owner's runs, for both databases.

import { text as utf8Text } from '../../../domain/bytes.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { containing } from '../../../domain/literal-text.ts';
import type { RunState } from '../../../domain/run/run.ts';
import { isAmongNumbers, joined, NO_KEY, raw, type Sql, sql } from '../../config/sql.ts';
import type { ListedRun, PageQuery } from '../../contract/records.ts';
import type { RunSearch, SearchPage, SearchStore } from '../../contract/search.ts';
import { bytes, number, text, textOrNull } from '../../rows/cells.ts';
import { toListedRun } from '../../rows/log-rows.ts';
import { ALL_RUNS, LISTED_RUN, type LogReader, RUNS_IN } from '../log-tables.ts';
import { filtered, searchWithin } from './bounded-search.ts';
import { inRange, type NumberIndex, ordered, rangeOfTimes } from './number-ranges.ts';

interface RunRow {
  readonly run: number;
  readonly entry: number;
  readonly state: RunState;
  readonly errorCode: string | null;
  readonly summary: string | null;
  /** Of its event; 0 when no text is searched for. */
  readonly bytes: number;
}

export function runSearches(log: LogReader): Pick<SearchStore, 'searchRuns'> {
  return { searchRuns: (search, page) => new Searching(log, search).read(page) };
}

class Searching {
  readonly #log: LogReader;
  readonly #search: RunSearch;
  /** Runs with an error code have failed. */
  readonly #state: RunState | undefined;
  readonly #hasText: ((text: string) => boolean) | null;
  readonly #from: Sql;
  readonly #index: NumberIndex;

  constructor(log: LogReader, search: RunSearch) {
    const { ownerId, runnableId, errorCode, state = errorCode === undefined ? undefined : 'failed' } = search;
    this.#log = log;
    this.#search = search;
    this.#state = state;
    this.#hasText = search.text === undefined ? null : containing(search.text);
    this.#from = state === undefined ? sql`${ALL_RUNS} AS runs` : RUNS_IN[state].from;
    const ofOwner = { column: 'runs.owner_id', value: ownerId, where: [] };
    const within =
      runnableId === undefined
        ? ofOwner
        : { column: 'runs.runnable_id', value: runnableId, where: [sql`${NO_KEY}runs.owner_id = ${ownerId}`] };
    // Only failed runs have an index of their own. By any other state, a statement might read far to find a few.
    const where = state === 'failed' ? [...within.where, RUNS_IN.failed.is] : within.where;
    this.#index = { ...within, where, number: 'runs.run' };
  }

  async read(page: PageQuery<number>): Promise<SearchPage<ListedRun>> {
    const { errorCode } = this.#search;
    const state = this.#state;
    const byState = state === undefined || state === 'failed' ? null : state;
    const [found, totalCount] = await Promise.all([
      searchWithin<RunRow, ListedRun>({
        page,
        range: rangeOfTimes(this.#search),
        isFiltered: byState !== null || errorCode !== undefined || this.#hasText !== null,
        read: (within, order) => this.#heads(within, order),
        numberOf: ({ run }) => run,
        fits: (head) =>
          (byState === null || head.state === byState) && (errorCode === undefined || head.errorCode === errorCode),
        bytesOf: (head) => head.bytes,
        judge: (heads) => this.#judge(heads),
      }),
      this.#hasText ? null : this.#count(),
    ]);
    return { ...found, totalCount };
  }

  async #heads(
    within: { from: number; to: number },
    { isDescending, limit }: { isDescending: boolean; limit: number },
  ): Promise<readonly RunRow[]> {
    const where = joined([...this.#index.where, ...inRange(this.#index, within)], ' AND ');
    const size = this.#hasText
      ? sql`(SELECT octet_length(body) FROM emissions WHERE emissions.entry = runs.entry)`
      : raw('0');
    const rows = await this.#log.database.planned(
      sql`SELECT runs.run, runs.entry, runs.state, runs.error_code, runs.summary, ${size} AS bytes
        FROM ${this.#from} WHERE ${where} ORDER BY ${ordered(this.#index, isDescending)} LIMIT ${limit}`,
    );
    return rows.map((row) => ({
      run: number(row, 'run'),
      entry: number(row, 'entry'),
      state: text<RunState>(row, 'state'),
      errorCode: textOrNull(row, 'error_code'),
      summary: textOrNull(row, 'summary'),
      bytes: row.bytes === null ? 0 : number(row, 'bytes'),
    }));
  }

  async #count(): Promise<number> {
    const { errorCode } = this.#search;
    const where = joined([...this.#index.where, ...inRange(this.#index, rangeOfTimes(this.#search))], ' AND ');
    const conditions = [
      ...(this.#state === undefined || this.#state === 'failed' ? [] : [sql`state = ${this.#state}`]),
      ...(errorCode === undefined ? [] : [sql`error_code = ${errorCode}`]),
    ];
    // Without conditions, the index alone is read.
    const columns = conditions.length === 0 ? raw('1') : raw('runs.state, runs.error_code');
    const [row] =
      await this.#log.database.planned(sql`SELECT count(*) AS total FROM (SELECT ${columns} FROM ${this.#from}
        WHERE ${where} ORDER BY ${ordered(this.#index, true)} LIMIT ${LIMITS.countedRecords}) AS counted
      ${conditions.length === 0 ? raw('') : sql`WHERE ${joined(conditions, ' AND ')}`}`);
    return row ? number(row, 'total') : 0;
  }

  async #judge(heads: readonly RunRow[]): Promise<{ number: number; item: ListedRun }[]> {
    const meant = await this.#withText(heads);
    if (meant.length === 0) return [];
    const rows = await this.#log.database.all(
      sql`SELECT ${LISTED_RUN} FROM ${ALL_RUNS} AS runs JOIN emissions ON emissions.entry = runs.entry
          LEFT JOIN emissions AS failures ON failures.entry = runs.error_entry
        WHERE runs.run ${isAmongNumbers(meant.map(({ run }) => run))} AND runs.owner_id = ${this.#search.ownerId}`,
    );
    const records = new Map(rows.map((row) => [number(row, 'run'), toListedRun(row, this.#log.storeTag)]));
    return meant.flatMap(({ run }) => {
      const item = records.get(run);
      // It was deleted meanwhile, or has moved on from the state that was asked for.
      return item && (this.#state === undefined || item.state === this.#state) ? [{ number: run, item }] : [];
    });
  }

  /** Reads the events of those whose summary does not have the text. */
  async #withText(heads: readonly RunRow[]): Promise<readonly RunRow[]> {
    const hasText = this.#hasText;
    if (!hasText) return heads;
    const { shown } = this.#search;
    const isIn = (given: string): boolean => hasText(shown ? shown.text(given) : given);
    const isSlow = shown !== undefined;
    const bySummary = await filtered(heads, isSlow, ({ summary }) => summary !== null && isIn(summary));
    const others = heads.filter((head) => !bySummary.includes(head));
    const rows = await this.#log.database.all(
      sql`SELECT entry, body FROM emissions
        WHERE entry ${isAmongNumbers(others.map(({ entry }) => entry))} AND owner_id = ${this.#search.ownerId}`,
    );
    const eventOf = (row: (typeof rows)[number]): string => {
      const body = bytes(row, 'body');
      return utf8Text(shown ? shown.json(body) : body);
    };
    const byEvent = await filtered(rows, isSlow, (row) => hasText(eventOf(row)));
    const found = new Set(byEvent.map((row) => number(row, 'entry')));
    return heads.filter((head) => found.has(head.entry) || bySummary.includes(head));
  }
}

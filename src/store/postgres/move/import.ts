// Writes a whole store into an empty database. Each group of rows is one transaction with its progress, so a move that was killed
// goes on behind the last row that arrived. No server starts on an unfinished move: see import-progress.ts. Before the move is
// finished, every table is read back and compared with the moved store.

import type { ExportedCell, ExportedRow, ExportedStore } from '../../contract/export.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { flag, text } from '../../rows/cells.ts';
import { type CommandRecord, insertCommandRecord } from '../../rows/command-record.ts';
import { SEAL_KEY } from '../../seal/seal-key.ts';
import { NOW_SQL } from '../connection/clock.ts';
import { DatabaseSession } from '../connection/database-session.ts';
import { TransactionConnection, type Tx } from '../connection/transaction-connection.ts';
import { Inserter } from '../log/row-inserts.ts';
import { rowsByQueue } from '../maintenance/queue-rows.ts';
import { migrate } from '../maintenance/schema.ts';
import {
  forgetProgress,
  type MoveMark,
  readMark,
  readProgress,
  writeMark,
  writeMeta,
  writeProgress,
} from './import-progress.ts';
import { converted, grouped, RowHash, type TargetTable } from './import-rows.ts';
import { IMPORTED, type Imported, MADE_HERE } from './import-tables.ts';

/** A server without a beat for so long was killed. */
const SURELY_GONE_MS = 60_000;

const NOT_EMPTY =
  'it is not empty, since a server has started on it: make a new database, or, if nothing in this one is needed, stop its servers, drop it and create it again';

const TABLES = [...IMPORTED.map(({ table }) => table), ...MADE_HERE];

export interface Compared {
  readonly rows: number;
  readonly sha256: string;
}

export interface ImportOptions {
  readonly url: string;
  /** The database, for people. */
  readonly label: string;
  readonly source: ExportedStore;
  readonly record: CommandRecord;
}

export class Import {
  readonly #options: ImportOptions;
  readonly #session: DatabaseSession;
  readonly #connection: TransactionConnection;
  #targets: readonly TargetTable[] = [];
  #call = 0;
  /** An interrupted move had copied rows already. */
  isResumed = false;

  private constructor(options: ImportOptions, session: DatabaseSession) {
    this.#options = options;
    this.#session = session;
    this.#connection = new TransactionConnection({ url: options.url, name: 'errand store move' });
  }

  /**
   * Connects, migrates, and marks the database as being filled. Throws `StoreUnavailable` when it is out of reach, a server uses
   * it, or it has other content than rows of this move.
   */
  static async begin(options: ImportOptions): Promise<Import> {
    const session = await DatabaseSession.open({ url: options.url, name: 'errand store move' });
    const made = new Import(options, session);
    try {
      await made.#begin();
      return made;
    } catch (error) {
      await made.close();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const [lock] = await this.#session.query("SELECT pg_try_advisory_lock(hashtext('errand move')) AS is_ours");
    if (lock?.is_ours !== true) throw this.#refusal('another move into it is under way');
    await this.#refuseForeign();
    await migrate(this.#connection);
    const before = await this.#connection.transact((tx) => this.#mark(tx));
    await this.#refuseServers(before);
    this.isResumed = before !== null && before.version === this.#options.source.version;
    this.#targets = await this.#describe();
  }

  /** Refuses a database with tables of another program. */
  async #refuseForeign(): Promise<void> {
    const [row] = await this.#session.query(
      `SELECT to_regclass('errand_schema') IS NULL AND EXISTS (SELECT 1 FROM pg_class AS c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
          AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'e')) AS is_foreign`,
    );
    if (row?.is_foreign === true) throw this.#refusal('it has tables of another program: make a database for Errand');
  }

  /** Writes the mark. Returns the one before. */
  async #mark(tx: Tx): Promise<MoveMark | null> {
    const { tag: store, version } = this.#options.source;
    const before = await readMark(tx);
    if (before === null && !(await isEmpty(tx))) throw this.#refusal(NOT_EMPTY);
    if (before?.state === 'moved') {
      throw this.#refusal(
        before.store === store
          ? 'it was moved there already, so servers can start on it; to move it once more, make a new database'
          : 'another store was moved into it',
      );
    }
    if (before !== null && before.store !== store) {
      throw this.#refusal('the move of another store into it was not finished: make a new database');
    }
    // The store was used since the last call: copied rows may have changed.
    if (before !== null && before.version !== version) await clear(tx);
    this.#call = (before?.call ?? 0) + 1;
    this.#writeMark(tx, 'under_way', version);
    return before;
  }

  /** Refuses a database with running servers: they started before the mark. */
  async #refuseServers(before: MoveMark | null): Promise<void> {
    const [row] = await this.#session.query(
      `SELECT name FROM nodes WHERE gone_at_ms IS NULL AND beat_at_ms > ${NOW_SQL} - ${SURELY_GONE_MS} LIMIT 1`,
    );
    if (row === undefined) return;
    if (before === null) await this.#connection.transact((tx) => tx.query("DELETE FROM meta WHERE name = 'move'"));
    throw this.#refusal(`a server uses it (${row.name}): stop it first, and wait a minute if it was killed`);
  }

  async #describe(): Promise<TargetTable[]> {
    const targets: TargetTable[] = [];
    for (const imported of IMPORTED) {
      const columns = await this.#session.query(
        `SELECT attname::text AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS is_nullable
          FROM pg_attribute
          WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
        imported.table,
      );
      targets.push({
        imported,
        columns: columns.map((row) => ({
          name: text(row, 'name'),
          type: text(row, 'type'),
          isNullable: flag(row, 'is_nullable'),
        })),
      });
    }
    return targets;
  }

  get tables(): readonly Imported[] {
    return this.#targets.map(({ imported }) => imported);
  }

  /** Returns how many rows the table will have. */
  count({ from, where }: Imported): number {
    return this.#options.source.count({ table: from, ...whereOf(where) });
  }

  /** Copies the missing rows of a table. `onRows`: called with the number of rows that are copied. */
  async copy(imported: Imported, onRows: (rows: number) => void): Promise<void> {
    const { table, from, where, key } = imported;
    const target = this.#target(imported);
    let { rows, after, isWhole } = await this.#connection.transact((tx) => readProgress(tx, table));
    onRows(rows);
    if (isWhole) return;
    const inserter = new Inserter(table, Object.fromEntries(target.columns.map(({ name, type }) => [name, type])));
    for (const group of grouped(this.#options.source.rows({ table: from, order: key, after, ...whereOf(where) }))) {
      const last = group.at(-1) as ExportedRow;
      after = key.map((column) => last[column] as ExportedCell);
      rows += group.length;
      const progress = { rows, after, isWhole: false };
      const made = group.map((row) => converted(target, row));
      await this.#write((tx) => {
        inserter.send(tx, made);
        writeProgress(tx, table, progress);
      });
      onRows(rows);
    }
    await this.#write((tx) => writeProgress(tx, table, { rows, after, isWhole: true }));
  }

  /** Compares both sides byte for byte. Throws `StoreUnavailable` when they differ; the next call then begins again. */
  async compare(imported: Imported, onRows: (rows: number) => void): Promise<Compared> {
    const { table, from, where, key, order = key } = imported;
    const target = this.#target(imported);
    const [there, here] = [new RowHash(target), new RowHash(target)];
    const columns = target.columns.map(({ name }) => name).join(', ');
    await this.#session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await this.#session.query(
      `DECLARE arrived NO SCROLL CURSOR FOR SELECT ${columns} FROM ${table} ORDER BY ${orderIn(target, order)}`,
    );
    const fetch = async (n: number): Promise<void> => {
      here.add((await this.#session.query(`FETCH ${n} FROM arrived`)) as readonly ExportedRow[]);
    };
    for (const group of grouped(this.#options.source.rows({ table: from, order, after: null, ...whereOf(where) }))) {
      there.add(group.map((row) => converted(target, row)));
      // The same rows fit into memory on this side.
      await fetch(group.length);
      onRows(there.rows);
    }
    await fetch(1);
    await this.#session.query('COMMIT');
    const sha256 = there.hex();
    if (here.rows === there.rows && here.hex() === sha256) return { rows: there.rows, sha256 };
    await this.#write((tx) => this.#writeMark(tx, 'under_way', null));
    throw new StoreUnavailable(
      `${table} in ${this.#options.label} differs from what was copied (${there.rows} rows, ${here.rows} arrived). The store that was to be moved is unchanged; call the command again, and it begins from the start`,
    );
  }

  /** Adds what follows from the copied rows, and finishes the move: then servers may start. */
  async finish(): Promise<void> {
    const { tag, version, lastNumber, sealKey } = this.#options.source;
    const { sql, values } = insertCommandRecord(this.#options.record, (n) => `$${n}`);
    // Without statistics, the first statements of a server would be planned for empty tables.
    for (const table of TABLES) await this.#session.query(`ANALYZE ${table}`);
    await this.#write((tx) => {
      void tx.query('SET LOCAL statement_timeout = 0');
      makeQueues(tx);
      void tx.query(sql, ...values);
      writeMeta(tx, 'store_tag', tag);
      if (sealKey !== null) writeMeta(tx, SEAL_KEY, sealKey);
      if (lastNumber !== null) writeMeta(tx, 'last_number', lastNumber);
      forgetProgress(tx);
      this.#writeMark(tx, 'moved', version);
    });
  }

  /** Runs a transaction if no later call has taken over: statements of a killed call may arrive late. */
  async #write(work: (tx: Tx) => void): Promise<void> {
    await this.#connection.transact(async (tx) => {
      if ((await readMark(tx))?.call !== this.#call) throw this.#refusal('another call of the command has taken over');
      work(tx);
    });
  }

  #writeMark(tx: Tx, state: MoveMark['state'], version: string | null): void {
    writeMark(tx, { store: this.#options.source.tag, version, state, call: this.#call });
  }

  async close(): Promise<void> {
    await this.#connection.close();
    await this.#session.close();
  }

  #target(imported: Imported): TargetTable {
    return this.#targets.find((target) => target.imported === imported) as TargetTable;
  }

  #refusal(reason: string): StoreUnavailable {
    return new StoreUnavailable(`the store cannot be moved to ${this.#options.label}: ${reason}`);
  }
}

function whereOf(where: string | undefined): { where?: string } {
  return where === undefined ? {} : { where };
}

/**
 * Returns an order that sorts as SQLite does: texts byte by byte, nulls first. Only nullable columns say so, so that indexes
 * apply.
 */
function orderIn({ columns }: TargetTable, order: readonly string[]): string {
  const spelled = order.map((name) => {
    const column = columns.find((c) => c.name === name);
    return `${name}${column?.type === 'text' ? ' COLLATE "C"' : ''}${column?.isNullable ? ' NULLS FIRST' : ''}`;
  });
  return spelled.join(', ');
}

async function isEmpty(tx: Tx): Promise<boolean> {
  const parts = TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table})`);
  const [row] = await tx.query(`SELECT ${parts.join(' OR ')} AS has_rows`);
  return row?.has_rows === false;
}

async function clear(tx: Tx): Promise<void> {
  void tx.query('SET LOCAL statement_timeout = 0');
  await tx.query(`TRUNCATE ${TABLES.join(', ')}`);
  forgetProgress(tx);
}

/**
 * Counts the copied work in its queues. Listeners of which nothing is queued have one, too: a run whose wait ends is counted in the
 * queue that is there. Queues of unhealthy webhooks and throttled workflows exist already.
 */
function makeQueues(tx: Tx): void {
  void tx.query(
    `INSERT INTO listener_queues (owner_id, listener_id, is_run, waiting, taken, holder, ready_at_ms)
      SELECT owner_id, listener_id, is_run, waiting, taken, holder, ready_at_ms FROM (${rowsByQueue()}) AS r
      ON CONFLICT (owner_id, listener_id) DO UPDATE SET waiting = excluded.waiting, taken = excluded.taken,
        holder = excluded.holder,
        ready_at_ms = CASE WHEN excluded.waiting > 0 THEN greatest(listener_queues.paused_until_ms, excluded.ready_at_ms) END`,
  );
}

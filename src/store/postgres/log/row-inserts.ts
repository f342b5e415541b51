// Inserts any number of rows into a table with one statement.

import type { Emission, NewEmission } from '../../../domain/emission.ts';
import { EMISSION_COLUMNS, emissionCells, LATER_COLUMNS } from '../../rows/emission-cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';

type Cell = string | number | boolean | null;
export type InsertedRow = Readonly<Record<string, Cell | Uint8Array>>;

/**
 * Inserts rows into one table. Byte strings (of one column at most) are sent as one, and each is cut out of it: an array would
 * be escaped byte by byte.
 */
export class Inserter {
  readonly #columns: readonly string[];
  readonly #bytes: string | undefined;
  readonly #sql: string;

  /** `columns`: names and types. */
  constructor(table: string, columns: Readonly<Record<string, string>>, conflict = '') {
    const plain = Object.entries(columns).filter(([, type]) => type !== 'bytea');
    this.#columns = plain.map(([name]) => name);
    this.#bytes = Object.keys(columns).find((name) => columns[name] === 'bytea');
    const [names, n] = [this.#columns.join(', '), plain.length];
    const arrays = plain.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ');
    this.#sql =
      this.#bytes === undefined
        ? `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays}) ${conflict}`
        : `INSERT INTO ${table} (${names}, ${this.#bytes})
            SELECT ${names}, substring($${n + 1}::bytea FROM at FOR length)
            FROM unnest(${arrays}, $${n + 2}::int[], $${n + 3}::int[]) AS u (${names}, at, length)`;
  }

  /** Sends one statement if there are rows. */
  send(tx: Tx, rows: readonly InsertedRow[]): void {
    if (rows.length === 0) return;
    const arrays = this.#columns.map((column) => arrayLiteral(rows.map((row) => (row[column] ?? null) as Cell)));
    const bytes = this.#bytes;
    if (bytes === undefined) return void tx.query(this.#sql, ...arrays);
    const parts = rows.map((row) => row[bytes] as Uint8Array);
    const lengths = parts.map(({ byteLength }) => byteLength);
    void tx.query(this.#sql, ...arrays, Buffer.concat(parts), arrayLiteral(startsOf(lengths)), arrayLiteral(lengths));
  }
}

/** Returns where each part begins, from 1. */
function startsOf(lengths: readonly number[]): number[] {
  let at = 1;
  return lengths.map((length) => {
    const start = at;
    at += length;
    return start;
  });
}

const OPEN_RUN = {
  run: 'bigint',
  owner_id: 'text',
  runnable_id: 'text',
  deployment_id: 'text',
  entry: 'bigint',
  via: 'text',
  subscription_id: 'text',
  state: 'text',
  attempt: 'int',
  fence: 'int',
  node: 'bigint',
  lease_until_ms: 'bigint',
  alone: 'boolean',
  rescues: 'int',
  started_at_ms: 'bigint',
  awaited_by: 'bigint',
} as const;

export const OPEN_RUNS = new Inserter('open_runs', OPEN_RUN);

/** Those that go on where another one failed. */
export const CONTINUATIONS = new Inserter('open_runs', {
  ...OPEN_RUN,
  waits: 'int',
  carried: 'text',
  summary_so_far: 'text',
  detail_so_far: 'text',
});

export const RUNS = new Inserter('runs', {
  run: 'bigint',
  owner_id: 'text',
  runnable_id: 'text',
  deployment_id: 'text',
  entry: 'bigint',
  via: 'text',
  subscription_id: 'text',
  state: 'text',
  attempt: 'int',
  started_at_ms: 'bigint',
  ended_at_ms: 'bigint',
  summary: 'text',
  error_entry: 'bigint',
  error_code: 'text',
  awaited_by: 'bigint',
  detail: 'text',
});

export const OPEN_DELIVERIES = new Inserter('open_deliveries', {
  delivery: 'bigint',
  owner_id: 'text',
  kind: 'text',
  listener_id: 'text',
  subscription_id: 'text',
  via: 'text',
  entry: 'bigint',
  state: 'text',
  attempts_made: 'int',
  fence: 'int',
  node: 'bigint',
  lease_until_ms: 'bigint',
  due_at_ms: 'bigint',
  requests_made: 'int',
  tries: 'int',
  due_by: 'text',
});

export const ATTEMPTS = new Inserter('attempts', { delivery: 'bigint', n: 'int', trigger: 'text', made: 'text' });

export const WITHHELD = new Inserter('withheld', {
  entry: 'bigint',
  listener_id: 'text',
  subscription_id: 'text',
  via: 'text',
  reason: 'text',
  due_at_ms: 'bigint',
});

/** The first answer is kept, since the caller may have it: a run can answer before its end, and in an attempt whose lease expired. */
export const ANSWERS = new Inserter(
  'answers',
  { run: 'bigint', owner_id: 'text', answer: 'text', at_ms: 'bigint' },
  'ON CONFLICT (run) DO NOTHING',
);

const EMISSIONS = new Inserter('emissions', EMISSION_COLUMNS);
const LATER_EMISSIONS = new Inserter('later_emissions', LATER_COLUMNS);

/** An emission that waits until it is due. */
export interface LaterEmission extends NewEmission {
  readonly entry: number;
  readonly dueAtMs: number;
}

export function sendEmissions(tx: Tx, emissions: readonly Emission[]): void {
  EMISSIONS.send(tx, emissions.map(emissionCells));
}

export function sendLater(tx: Tx, emissions: readonly LaterEmission[]): void {
  LATER_EMISSIONS.send(
    tx,
    emissions.map((emission) => ({ ...emissionCells(emission), due_at_ms: emission.dueAtMs })),
  );
}

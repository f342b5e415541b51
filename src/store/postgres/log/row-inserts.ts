// Inserts any number of rows into a table with one statement.

import type { Emission, NewEmission } from '../../../domain/emission.ts';
import { EMISSION_COLUMNS, emissionCells, LATER_COLUMNS } from '../../rows/emission-cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';

type Cell = string | number | boolean | null;
export type Cells = Readonly<Record<string, Cell>>;

/** Inserts rows into one table. */
class Inserter {
  readonly #columns: readonly string[];
  readonly #sql: string;

  constructor(table: string, columns: Readonly<Record<string, string>>, conflict = '') {
    this.#columns = Object.keys(columns);
    const arrays = Object.values(columns).map((type, i) => `$${i + 1}::${type}[]`);
    this.#sql = `INSERT INTO ${table} (${this.#columns.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')}) ${conflict}`;
  }

  send(tx: Tx, rows: readonly Cells[]): void {
    if (rows.length === 0) return;
    void tx.query(this.#sql, ...this.#columns.map((column) => arrayLiteral(rows.map((row) => row[column] ?? null))));
  }
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
});

/** The first answer is kept, since the caller may have it: a run can answer before its end, and in an attempt whose lease expired. */
export const ANSWERS = new Inserter(
  'answers',
  { run: 'bigint', owner_id: 'text', answer: 'text', at_ms: 'bigint' },
  'ON CONFLICT (run) DO NOTHING',
);

/** Inserts rows with bodies. The bodies are sent as one byte string, and each is cut out of it. */
class BodyInserter {
  readonly #names: readonly string[];
  readonly #sql: string;

  constructor(table: string, columns: Readonly<Record<string, string>>) {
    this.#names = Object.keys(columns);
    const arrays = Object.values(columns).map((type, i) => `$${i + 4}::${type}[]`);
    this.#sql = `INSERT INTO ${table} (${this.#names.join(', ')}, body)
      SELECT ${this.#names.join(', ')}, substring($1::bytea FROM at FOR bytes)
      FROM unnest($2::int[], $3::int[], ${arrays.join(', ')}) AS u (at, bytes, ${this.#names.join(', ')})`;
  }

  /** Sends one statement if there are rows. */
  send(tx: Tx, rows: readonly { readonly cells: Cells; readonly body: Uint8Array }[]): void {
    if (rows.length === 0) return;
    const starts: number[] = [];
    let at = 1;
    for (const { body } of rows) {
      starts.push(at);
      at += body.byteLength;
    }
    void tx.query(
      this.#sql,
      Buffer.concat(rows.map(({ body }) => body)),
      arrayLiteral(starts),
      arrayLiteral(rows.map(({ body }) => body.byteLength)),
      ...this.#names.map((name) => arrayLiteral(rows.map(({ cells }) => cells[name] ?? null))),
    );
  }
}

const EMISSIONS = new BodyInserter('emissions', EMISSION_COLUMNS);

const LATER_EMISSIONS = new BodyInserter('later_emissions', LATER_COLUMNS);

/** An emission that waits until it is due. */
export interface LaterEmission extends NewEmission {
  readonly entry: number;
  readonly dueAtMs: number;
}

export function sendEmissions(tx: Tx, emissions: readonly Emission[]): void {
  EMISSIONS.send(
    tx,
    emissions.map((emission) => ({ cells: emissionCells(emission), body: emission.body })),
  );
}

export function sendLater(tx: Tx, emissions: readonly LaterEmission[]): void {
  LATER_EMISSIONS.send(
    tx,
    emissions.map((emission) => ({
      cells: { ...emissionCells(emission), due_at_ms: emission.dueAtMs },
      body: emission.body,
    })),
  );
}

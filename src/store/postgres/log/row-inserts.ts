// Inserts any number of rows into a table with one statement.

import type { Emission, NewEmission } from '../../../domain/emission.ts';
import { isListed } from '../../rows/log-rows.ts';
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

const EMISSION_COLUMNS = {
  entry: 'bigint',
  owner_id: 'text',
  emitter_id: 'text',
  name: 'text',
  source_type: 'text',
  origin_id: 'text',
  verified: 'boolean',
  replay: 'boolean',
  test: 'boolean',
  listed: 'boolean',
  trace_id: 'text',
  lineage: 'text',
  hops: 'int',
  cause_run: 'bigint',
  cause_delivery: 'bigint',
  summary: 'text',
  item_id: 'text',
  item_ts: 'float8',
  code: 'text',
  original_start: 'int',
  original_length: 'int',
  only_listener_id: 'text',
  digest_key: 'text',
} as const;

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

const {
  listed: _listed,
  cause_delivery: _causeDelivery,
  code: _code,
  original_start: _originalStart,
  original_length: _originalLength,
  only_listener_id: _onlyListenerId,
  digest_key: _digestKey,
  ...LATER_COLUMNS
} = EMISSION_COLUMNS;
const LATER_EMISSIONS = new BodyInserter('later_emissions', { ...LATER_COLUMNS, due_at_ms: 'bigint' });

/** An emission that waits until it is due. */
export interface LaterEmission extends NewEmission {
  readonly entry: number;
  readonly dueAtMs: number;
}

function emissionCells(e: Omit<Emission, 'emitId'>): Cells {
  return {
    entry: e.entry,
    owner_id: e.ownerId,
    emitter_id: e.emitterId,
    name: e.name,
    source_type: e.sourceType,
    origin_id: e.originId,
    verified: e.verified,
    replay: e.replay,
    test: e.test,
    listed: isListed(e.emitterId),
    trace_id: e.traceId,
    lineage: e.lineage.join(' '),
    hops: e.hops,
    cause_run: e.causeRun,
    cause_delivery: e.causeDelivery,
    summary: e.summary,
    item_id: e.itemId,
    item_ts: e.itemTs,
    code: e.code,
    original_start: e.originalStart,
    original_length: e.originalLength,
    only_listener_id: e.onlyListenerId,
    digest_key: e.digestKey,
  };
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
      cells: { ...emissionCells({ ...emission, traceId: emission.traceId ?? '' }), due_at_ms: emission.dueAtMs },
      body: emission.body,
    })),
  );
}

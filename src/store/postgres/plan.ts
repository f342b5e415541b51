// The rows that a transaction will write, gathered while it is planned and then sent with one statement per table.

import type { Emission } from '../../domain/emission.ts';
import type { Tx } from './lane.ts';
import { isListed } from './rows.ts';
import { arrayLiteral, bytesLiteral } from './values.ts';

type Cell = string | number | boolean | null;
type Cells = Readonly<Record<string, Cell>>;

/** A table's columns with their types, and the statement that inserts any number of rows. */
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

const OPEN_RUNS = new Inserter('open_runs', {
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
});

const RUNS = new Inserter('runs', {
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

const OPEN_DELIVERIES = new Inserter('open_deliveries', {
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
});

const ATTEMPTS = new Inserter('attempts', { delivery: 'bigint', n: 'int', trigger: 'text', made: 'text' });

const WITHHELD = new Inserter('withheld', {
  entry: 'bigint',
  listener_id: 'text',
  subscription_id: 'text',
  via: 'text',
  reason: 'text',
});

/** The first answer is the one that the caller got: given before the run's end, or by a try of it that was lost. */
const ANSWERS = new Inserter(
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

const EMISSION_NAMES = Object.keys(EMISSION_COLUMNS);
const EMISSION_ARRAYS = Object.values(EMISSION_COLUMNS).map((type, i) => `$${i + 4}::${type}[]`);
/** The bodies come as one byte string, each cut out of it. */
const INSERT_EMISSIONS = `INSERT INTO emissions (${EMISSION_NAMES.join(', ')}, body)
  SELECT ${EMISSION_NAMES.join(', ')}, substring($1::bytea FROM at FOR bytes)
  FROM unnest($2::int[], $3::int[], ${EMISSION_ARRAYS.join(', ')}) AS u (at, bytes, ${EMISSION_NAMES.join(', ')})`;

function emissionCells(e: Emission): Cells {
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

export interface RunAgain {
  readonly run: number;
  readonly attempt: number;
  readonly alone: boolean;
  readonly rescues: number;
  readonly fence: number;
}

export interface DeliveryChange {
  readonly delivery: number;
  readonly state: string;
  readonly attemptsMade: number;
  readonly fence: number;
  readonly dueAtMs: number | null;
}

export interface DeliveryEnd {
  readonly delivery: number;
  readonly state: string;
  readonly attemptsMade: number;
}

export interface Remembered {
  readonly triggerId: string;
  readonly key: string;
  readonly entry: number;
  readonly run: number | null;
}

export interface DbWrite {
  readonly sourceId: string;
  readonly name: string;
  readonly value: string | null;
}

export class Plan {
  readonly emissions: Emission[] = [];
  readonly openRuns: Cells[] = [];
  readonly runs: Cells[] = [];
  /** Open runs that end although they were not deleted when they were read. */
  readonly closedRuns: number[] = [];
  readonly runsAgain: RunAgain[] = [];
  readonly openDeliveries: Cells[] = [];
  readonly deliveryChanges: DeliveryChange[] = [];
  readonly deliveryEnds: DeliveryEnd[] = [];
  readonly attempts: Cells[] = [];
  readonly withheld: Cells[] = [];
  readonly answers: Cells[] = [];
  readonly keys: Remembered[] = [];
  readonly keyAnswers: { readonly run: number; readonly answer: string }[] = [];
  readonly endedDigests: { readonly ownerId: string; readonly digestKey: string }[] = [];
  /** By source and name: the last one counts. */
  readonly dbWrites = new Map<string, DbWrite>();

  /** Sends all of it; nothing is waited for. */
  send(tx: Tx, nowMs: number): void {
    this.#sendEmissions(tx);
    OPEN_RUNS.send(tx, this.openRuns);
    RUNS.send(tx, this.runs);
    OPEN_DELIVERIES.send(tx, this.openDeliveries);
    ATTEMPTS.send(tx, this.attempts);
    WITHHELD.send(tx, this.withheld);
    ANSWERS.send(tx, this.answers);
    this.#sendRuns(tx);
    this.#sendDeliveries(tx, nowMs);
    this.#sendKeys(tx);
    this.#sendDbWrites(tx);
    if (this.endedDigests.length === 0) return;
    void tx.query(
      `DELETE FROM digests AS d USING unnest($1::text[], $2::text[]) AS u (o, k)
        WHERE d.owner_id = u.o AND d.digest_key = u.k AND d.owner_id = ANY($1::text[]) AND d.digest_key = ANY($2::text[])`,
      arrayLiteral(this.endedDigests.map((d) => d.ownerId)),
      arrayLiteral(this.endedDigests.map((d) => d.digestKey)),
    );
  }

  #sendEmissions(tx: Tx): void {
    if (this.emissions.length === 0) return;
    const starts: number[] = [];
    let at = 1;
    for (const { body } of this.emissions) {
      starts.push(at);
      at += body.byteLength;
    }
    const cells = this.emissions.map(emissionCells);
    void tx.query(
      INSERT_EMISSIONS,
      bytesLiteral(this.emissions.map(({ body }) => body)),
      arrayLiteral(starts),
      arrayLiteral(this.emissions.map(({ body }) => body.byteLength)),
      ...EMISSION_NAMES.map((name) => arrayLiteral(cells.map((row) => row[name] ?? null))),
    );
  }

  #sendRuns(tx: Tx): void {
    if (this.closedRuns.length > 0) {
      void tx.query('DELETE FROM open_runs WHERE run = ANY($1::bigint[])', arrayLiteral(this.closedRuns));
    }
    if (this.runsAgain.length === 0) return;
    void tx.query(
      `UPDATE open_runs AS o SET state = 'queued', attempt = u.attempt, alone = u.alone, rescues = u.rescues,
          fence = u.fence, node = NULL, lease_until_ms = NULL, started_at_ms = NULL, cancel_asked = false
        FROM unnest($1::bigint[], $2::int[], $3::boolean[], $4::int[], $5::int[]) AS u (run, attempt, alone, rescues, fence)
        WHERE o.run = u.run AND o.run = ANY($1::bigint[])`,
      arrayLiteral(this.runsAgain.map((r) => r.run)),
      arrayLiteral(this.runsAgain.map((r) => r.attempt)),
      arrayLiteral(this.runsAgain.map((r) => r.alone)),
      arrayLiteral(this.runsAgain.map((r) => r.rescues)),
      arrayLiteral(this.runsAgain.map((r) => r.fence)),
    );
  }

  #sendDeliveries(tx: Tx, nowMs: number): void {
    const { deliveryChanges: changes, deliveryEnds: ends } = this;
    if (changes.length > 0) {
      void tx.query(
        `UPDATE open_deliveries AS o SET state = u.state, attempts_made = u.made, fence = u.fence, due_at_ms = u.due,
            node = NULL, lease_until_ms = NULL
          FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::bigint[]) AS u (delivery, state, made, fence, due)
          WHERE o.delivery = u.delivery AND o.delivery = ANY($1::bigint[])`,
        arrayLiteral(changes.map((c) => c.delivery)),
        arrayLiteral(changes.map((c) => c.state)),
        arrayLiteral(changes.map((c) => c.attemptsMade)),
        arrayLiteral(changes.map((c) => c.fence)),
        arrayLiteral(changes.map((c) => c.dueAtMs)),
      );
    }
    if (ends.length === 0) return;
    void tx.query(
      `WITH ended AS (SELECT * FROM unnest($1::bigint[], $2::text[], $3::int[]) AS u (delivery, state, made)),
        gone AS (DELETE FROM open_deliveries AS o USING ended
          WHERE o.delivery = ended.delivery AND o.delivery = ANY($1::bigint[])
          RETURNING o.*, ended.state AS end_state, ended.made)
        INSERT INTO deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made,
          ended_at_ms)
        SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, end_state, made, $4::bigint FROM gone`,
      arrayLiteral(ends.map((e) => e.delivery)),
      arrayLiteral(ends.map((e) => e.state)),
      arrayLiteral(ends.map((e) => e.attemptsMade)),
      nowMs,
    );
  }

  #sendKeys(tx: Tx): void {
    const { keys, keyAnswers } = this;
    if (keys.length > 0) {
      void tx.query(
        `UPDATE idempotency AS i SET entry = u.entry, run = u.run
          FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS u (t, k, entry, run)
          WHERE i.trigger_id = u.t AND i.key = u.k AND i.trigger_id = ANY($1::text[]) AND i.key = ANY($2::text[])`,
        arrayLiteral(keys.map((k) => k.triggerId)),
        arrayLiteral(keys.map((k) => k.key)),
        arrayLiteral(keys.map((k) => k.entry)),
        arrayLiteral(keys.map((k) => k.run)),
      );
    }
    if (keyAnswers.length === 0) return;
    void tx.query(
      `UPDATE idempotency AS i SET answer = u.answer FROM unnest($1::bigint[], $2::text[]) AS u (run, answer)
        WHERE i.run = u.run AND i.run = ANY($1::bigint[])`,
      arrayLiteral(keyAnswers.map((a) => a.run)),
      arrayLiteral(keyAnswers.map((a) => a.answer)),
    );
  }

  #sendDbWrites(tx: Tx): void {
    const writes = [...this.dbWrites.values()];
    const set = writes.filter((w) => w.value !== null);
    const cleared = writes.filter((w) => w.value === null);
    if (cleared.length > 0) {
      void tx.query(
        `DELETE FROM source_db AS s USING unnest($1::text[], $2::text[]) AS u (source_id, name)
          WHERE s.source_id = u.source_id AND md5(s.name) = md5(u.name) AND s.source_id = ANY($1::text[])`,
        arrayLiteral(cleared.map((w) => w.sourceId)),
        arrayLiteral(cleared.map((w) => w.name)),
      );
    }
    if (set.length === 0) return;
    void tx.query(
      `INSERT INTO source_db (source_id, name, value) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
        ON CONFLICT (source_id, md5(name)) DO UPDATE SET value = excluded.value`,
      arrayLiteral(set.map((w) => w.sourceId)),
      arrayLiteral(set.map((w) => w.name)),
      arrayLiteral(set.map((w) => w.value)),
    );
  }
}

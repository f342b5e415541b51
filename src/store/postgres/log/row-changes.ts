// The rows that a batch writes, sent with one statement for each table. See batch.ts.

import type { DeliveryMove, DeliveryProgress } from '../../../domain/delivery/progress.ts';
import type { Emission } from '../../../domain/emission.ts';
import type { BegunWait } from '../../log/port.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';
import {
  ANSWERS,
  ATTEMPTS,
  CONTINUATIONS,
  type InsertedRow,
  type LaterEmission,
  OPEN_DELIVERIES,
  OPEN_RUNS,
  RUNS,
  sendEmissions,
  sendLater,
  WITHHELD,
} from './row-inserts.ts';

interface RunAgainRow {
  readonly run: number;
  readonly attempt: number;
  readonly startedAtMs: number | null;
  readonly alone: boolean;
  readonly rescues: number;
  readonly fence: number;
}

/** A segment of a run is over, but not the run: its row stays. */
interface PlannedWait extends BegunWait {
  readonly run: number;
}

export interface DeliveryChange extends DeliveryMove {
  readonly delivery: number;
  readonly fence: number;
}

export interface DeliveryEnd {
  readonly delivery: number;
  readonly state: string;
  readonly progress: DeliveryProgress;
}

interface KeyRow {
  readonly triggerId: string;
  readonly key: string;
  readonly entry: number;
  readonly run: number | null;
  readonly requestHash: string;
}

interface SourceValueRow {
  readonly sourceId: string;
  readonly name: string;
  readonly value: string | null;
}

export class RowChanges {
  readonly emissions: Emission[] = [];
  readonly later: LaterEmission[] = [];
  readonly openRuns: InsertedRow[] = [];
  /** Of the open ones, those that go on where another one failed. */
  readonly continuations: InsertedRow[] = [];
  readonly runs: InsertedRow[] = [];
  /** Open runs that end, but were not deleted when they were read. */
  readonly closedRuns: number[] = [];
  readonly runsAgain: RunAgainRow[] = [];
  readonly waits: PlannedWait[] = [];
  readonly openDeliveries: InsertedRow[] = [];
  readonly deliveryChanges: DeliveryChange[] = [];
  readonly deliveryEnds: DeliveryEnd[] = [];
  readonly attempts: InsertedRow[] = [];
  readonly withheld: InsertedRow[] = [];
  readonly answers: InsertedRow[] = [];
  readonly keys: KeyRow[] = [];
  readonly keyAnswers: { readonly run: number; readonly answer: string }[] = [];
  /** By pairKey. */
  readonly endedDigests = new Map<string, { readonly ownerId: string; readonly digestKey: string }>();
  /** By source and name: the last write counts. */
  readonly dbWrites = new Map<string, SourceValueRow>();

  /** Sends the runs that this transaction may already claim: those with an early order to resume. */
  sendFirst(tx: Tx): void {
    sendWaits(tx, this.waits);
  }

  /** Sends the rest without waiting. Throws when a row would leave its state twice, and so be counted twice. */
  send(tx: Tx, nowMs: number): void {
    refuseTwice('run', [...numbersOf('run', this.runsAgain), ...this.closedRuns, ...numbersOf('run', this.waits)]);
    refuseTwice('delivery', [
      ...numbersOf('delivery', this.deliveryChanges),
      ...numbersOf('delivery', this.deliveryEnds),
    ]);
    sendEmissions(tx, this.emissions);
    sendLater(tx, this.later);
    OPEN_RUNS.send(tx, this.openRuns);
    CONTINUATIONS.send(tx, this.continuations);
    RUNS.send(tx, this.runs);
    OPEN_DELIVERIES.send(tx, this.openDeliveries);
    ATTEMPTS.send(tx, this.attempts);
    WITHHELD.send(tx, this.withheld);
    ANSWERS.send(tx, this.answers);
    this.#sendRuns(tx);
    this.#sendDeliveries(tx, nowMs);
    this.#sendKeys(tx);
    this.#sendDbWrites(tx);
    if (this.endedDigests.size === 0) return;
    const ended = [...this.endedDigests.values()];
    void tx.query(
      `DELETE FROM digests AS d USING unnest($1::text[], $2::text[]) AS u (o, k)
        WHERE d.owner_id = u.o AND d.digest_key = u.k AND d.owner_id = ANY($1::text[]) AND d.digest_key = ANY($2::text[])`,
      arrayLiteral(ended.map((d) => d.ownerId)),
      arrayLiteral(ended.map((d) => d.digestKey)),
    );
  }

  #sendRuns(tx: Tx): void {
    if (this.closedRuns.length > 0) {
      // The last segment has reported nothing; earlier reports are kept.
      void tx.query(
        `WITH gone AS (DELETE FROM open_runs WHERE run = ANY($1::bigint[]) RETURNING run, summary_so_far, detail_so_far)
          UPDATE runs AS r SET summary = coalesce(r.summary, gone.summary_so_far),
            detail = coalesce(r.detail, gone.detail_so_far)
            FROM gone WHERE r.run = gone.run AND r.run = ANY($1::bigint[])
              AND (gone.summary_so_far IS NOT NULL OR gone.detail_so_far IS NOT NULL)`,
        arrayLiteral(this.closedRuns),
      );
    }
    if (this.runsAgain.length === 0) return;
    void tx.query(
      `UPDATE open_runs AS o SET state = 'queued', attempt = u.attempt, alone = u.alone, rescues = u.rescues,
          fence = u.fence, node = NULL, lease_until_ms = NULL, cancel_asked = false,
          started_at_ms = u.started
        FROM unnest($1::bigint[], $2::int[], $3::boolean[], $4::int[], $5::int[], $6::bigint[])
          AS u (run, attempt, alone, rescues, fence, started)
        WHERE o.run = u.run AND o.run = ANY($1::bigint[])`,
      arrayLiteral(this.runsAgain.map((r) => r.run)),
      arrayLiteral(this.runsAgain.map((r) => r.attempt)),
      arrayLiteral(this.runsAgain.map((r) => r.alone)),
      arrayLiteral(this.runsAgain.map((r) => r.rescues)),
      arrayLiteral(this.runsAgain.map((r) => r.fence)),
      arrayLiteral(this.runsAgain.map((r) => r.startedAtMs)),
    );
  }

  #sendDeliveries(tx: Tx, nowMs: number): void {
    const { deliveryChanges: changes, deliveryEnds: ends } = this;
    if (changes.length > 0) {
      void tx.query(
        `UPDATE open_deliveries AS o SET state = u.state, fence = u.fence, due_at_ms = u.due, attempts_made = u.made,
            requests_made = u.requests, tries = u.tries, due_by = u.due_by, node = NULL, lease_until_ms = NULL
          FROM unnest($1::bigint[], $2::text[], $3::int[], $4::bigint[], $5::int[], $6::int[], $7::int[], $8::text[])
            AS u (delivery, state, fence, due, made, requests, tries, due_by)
          WHERE o.delivery = u.delivery AND o.delivery = ANY($1::bigint[])`,
        arrayLiteral(changes.map((c) => c.delivery)),
        arrayLiteral(changes.map((c) => c.state)),
        arrayLiteral(changes.map((c) => c.fence)),
        arrayLiteral(changes.map((c) => c.dueAtMs)),
        ...progressLiterals(changes),
        arrayLiteral(changes.map((c) => c.progress.dueBy)),
      );
    }
    if (ends.length === 0) return;
    void tx.query(
      `WITH ended AS (SELECT * FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::int[])
          AS u (delivery, end_state, made, requests, used)),
        gone AS (DELETE FROM open_deliveries AS o USING ended
          WHERE o.delivery = ended.delivery AND o.delivery = ANY($1::bigint[])
          RETURNING o.*, ended.end_state, ended.made, ended.requests, ended.used)
        INSERT INTO deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made,
          ended_at_ms, requests_made, tries, due_by, fence)
        SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, end_state, made, $6::bigint, requests,
          used, due_by, fence FROM gone`,
      arrayLiteral(ends.map((e) => e.delivery)),
      arrayLiteral(ends.map((e) => e.state)),
      ...progressLiterals(ends),
      nowMs,
    );
  }

  #sendKeys(tx: Tx): void {
    const { keys, keyAnswers } = this;
    if (keys.length > 0) {
      void tx.query(
        `UPDATE idempotency AS i SET entry = u.entry, run = u.run, request_hash = u.hash
          FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[]) AS u (t, k, entry, run, hash)
          WHERE i.trigger_id = u.t AND i.key = u.k AND i.trigger_id = ANY($1::text[]) AND i.key = ANY($2::text[])`,
        arrayLiteral(keys.map((k) => k.triggerId)),
        arrayLiteral(keys.map((k) => k.key)),
        arrayLiteral(keys.map((k) => k.entry)),
        arrayLiteral(keys.map((k) => k.run)),
        arrayLiteral(keys.map((k) => k.requestHash)),
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

function numbersOf<K extends 'run' | 'delivery'>(key: K, rows: readonly Readonly<Record<K, number>>[]): number[] {
  return rows.map((row) => row[key]);
}

/** Throws when a number occurs twice. The verbs of the batch are then committed one by one. */
function refuseTwice(kind: string, numbers: readonly number[]): void {
  const seen = new Set<number>();
  for (const number of numbers) {
    if (seen.has(number)) throw new Error(`${kind} ${number} leaves its state twice in one transaction`);
    seen.add(number);
  }
}

function progressLiterals(
  of: readonly { progress: DeliveryProgress }[],
): [made: string, requests: string, tries: string] {
  return [
    arrayLiteral(of.map(({ progress }) => progress.attemptsMade)),
    arrayLiteral(of.map(({ progress }) => progress.requestsMade)),
    arrayLiteral(of.map(({ progress }) => progress.tries)),
  ];
}

function sendWaits(tx: Tx, waits: readonly PlannedWait[]): void {
  if (waits.length === 0) return;
  void tx.query(
    `UPDATE open_runs AS o SET state = u.state, attempt = u.attempt, waits = u.waits, wait_kind = u.kind,
        due_at_ms = u.due, resumed = u.resumed, early = NULL, carried = u.carried, summary_so_far = u.summary,
        detail_so_far = u.detail, node = NULL, lease_until_ms = NULL
      FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::text[],
        $9::text[], $10::text[]) AS u (run, state, attempt, waits, kind, due, resumed, carried, summary, detail)
      WHERE o.run = u.run AND o.run = ANY($1::bigint[])`,
    arrayLiteral(waits.map(({ run }) => run)),
    arrayLiteral(waits.map(({ state }) => state)),
    arrayLiteral(waits.map(({ attempt }) => attempt)),
    arrayLiteral(waits.map(({ wait }) => wait.waits)),
    arrayLiteral(waits.map(({ state, wait }) => (state === 'waiting' ? wait.kind : null))),
    arrayLiteral(waits.map(({ state, wait }) => (state === 'waiting' ? wait.dueAtMs : null))),
    arrayLiteral(waits.map(({ resumed }) => resumed)),
    arrayLiteral(waits.map(({ wait }) => wait.checkpoint)),
    arrayLiteral(waits.map(({ reported }) => reported.summary)),
    arrayLiteral(waits.map(({ reported }) => reported.detail)),
  );
}

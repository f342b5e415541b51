// The store's rows, read from the file after the server has ended: lists over the API show the newest 100 only. Those of a
// Postgres are in postgres/rows.ts.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Attempts by delivery: those that were made, and whether one was withheld, since somebody had resolved the errors that a mail is about. */
export const ATTEMPTS = {
  made: `SELECT delivery AS of, count(*) AS n FROM attempts WHERE made NOT LIKE '%"outcome":"withheld"%' GROUP BY delivery`,
  settled: `SELECT delivery AS of, count(*) AS n FROM attempts WHERE made LIKE '%"outcome":"withheld"%' GROUP BY delivery`,
};

export interface EmissionRow {
  readonly entry: number;
  readonly owner_id: string;
  readonly emitter_id: string;
  readonly name: string;
  readonly cause_run: number | null;
  readonly cause_delivery: number | null;
  readonly summary: string | null;
  readonly only_listener_id: string | null;
  /** Of an error. */
  readonly group_id: string | null;
  readonly original_start: number | null;
  readonly original_length: number | null;
  readonly body: Uint8Array;
}

export interface RunRow {
  readonly run: number;
  readonly runnable_id: string;
  readonly entry: number;
  readonly state: string;
  readonly error_entry: number | null;
  readonly error_code: string | null;
}

export interface DeliveryRow {
  readonly delivery: number;
  readonly listener_id: string;
  readonly entry: number;
  readonly state: string;
  readonly attempts_made: number;
}

export interface GroupRow {
  readonly id: string;
  readonly emitter_id: string;
  readonly n: number;
  readonly first_entry: number;
  readonly last_entry: number;
  readonly state: string;
  /** JSON. */
  readonly reopened: string | null;
  readonly updated_at_ms: number;
}

/** How many errors of a group came in an hour, or of a deployment. */
export interface GroupPartRow {
  readonly group_id: string;
  readonly part: string;
  readonly n: number;
}

/** An operation that replays errors. */
export interface OperationRow {
  readonly id: string;
  readonly state: string;
  readonly total: number;
  readonly last_entry: number;
  /** JSON. */
  readonly replay: string;
  readonly under_way: number;
  readonly fixed: number;
  readonly failed_same: number;
  readonly failed_differently: number;
  readonly cancelled: number;
  readonly unknown: number;
  readonly not_replayed: number;
  readonly replayed_before: number;
}

export interface ResultRow {
  readonly operation_id: string;
  readonly entry: number;
  readonly group_id: string | null;
  readonly run: number | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly error_entry: number | null;
}

/** Groups of errors, and what was replayed. */
export interface InboxRows {
  readonly groups: readonly GroupRow[];
  readonly hours: readonly GroupPartRow[];
  readonly deployments: readonly GroupPartRow[];
  readonly operations: readonly OperationRow[];
  readonly results: readonly ResultRow[];
}

/** The statements are the same for both databases. */
export const INBOX: Readonly<Record<keyof InboxRows, string>> = {
  groups:
    'SELECT id, emitter_id, n, first_entry, last_entry, state, reopened, updated_at_ms FROM error_groups ORDER BY id',
  hours: 'SELECT group_id, CAST(hour AS text) AS part, n FROM error_group_hours',
  deployments: 'SELECT group_id, deployment_id AS part, n FROM error_group_deployments',
  operations: "SELECT * FROM operations WHERE kind = 'replay' ORDER BY id",
  results: 'SELECT * FROM operation_results ORDER BY operation_id, entry',
};

export interface Rows extends InboxRows {
  readonly storeTag: string;
  readonly emissions: readonly EmissionRow[];
  readonly runs: readonly RunRow[];
  readonly deliveries: readonly DeliveryRow[];
  /** Entry → listeners that were passed over. */
  readonly withheld: ReadonlyMap<number, readonly string[]>;
  readonly attempts: ReadonlyMap<number, number>;
  /** Deliveries whose attempts were withheld, and of how many. */
  readonly settled: ReadonlyMap<number, number>;
  readonly ledger: ReadonlyMap<string, number>;
  /** How often runs were taken over. */
  readonly rescues: number;
  /** What the database itself, or `errand store check`, found to be wrong. */
  readonly flaws: readonly string[];
}

export function readRows(dataDir: string): Rows {
  const db = new DatabaseSync(join(dataDir, 'errand.db'), { readOnly: true });
  const all = <T>(sql: string): T[] => db.prepare(sql).all() as T[];
  const withheld = new Map<number, string[]>();
  for (const { entry, listener_id } of all<{ entry: number; listener_id: string }>('SELECT * FROM withheld')) {
    withheld.set(entry, [...(withheld.get(entry) ?? []), listener_id]);
  }
  const counts = (sql: string): Map<never, number> =>
    new Map(all<{ of: never; n: number }>(sql).map(({ of, n }) => [of, n]));
  const tag = db.prepare("SELECT value FROM meta WHERE name = 'store_tag'").get() as { value: string };
  const check = db.prepare('PRAGMA integrity_check').get() as { integrity_check: string };
  const { n: rescues } = db.prepare('SELECT coalesce(sum(rescues), 0) AS n FROM runs').get() as { n: number };
  const inbox = {
    groups: all<GroupRow>(INBOX.groups),
    hours: all<GroupPartRow>(INBOX.hours),
    deployments: all<GroupPartRow>(INBOX.deployments),
    operations: all<OperationRow>(INBOX.operations),
    results: all<ResultRow>(INBOX.results),
  };
  const rows = {
    ...inbox,
    storeTag: tag.value,
    emissions: all<EmissionRow>('SELECT * FROM emissions ORDER BY entry'),
    runs: all<RunRow>('SELECT * FROM runs ORDER BY run'),
    deliveries: all<DeliveryRow>('SELECT * FROM deliveries ORDER BY delivery'),
    withheld,
    attempts: counts(ATTEMPTS.made),
    settled: counts(ATTEMPTS.settled),
    ledger: counts('SELECT fact AS of, n FROM ledger'),
    rescues,
    flaws: check.integrity_check === 'ok' ? [] : [check.integrity_check],
  };
  db.close();
  return rows;
}

/** What `of` says of each, with all that say the same. */
export function grouped<K, T>(items: readonly T[], of: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = of(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

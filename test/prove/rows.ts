// The store's rows, read from the file after the server has ended: lists over the API show the newest 100 only. Those of a
// Postgres are in postgres/rows.ts.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface EmissionRow {
  readonly entry: number;
  readonly emitter_id: string;
  readonly name: string;
  readonly cause_run: number | null;
  readonly cause_delivery: number | null;
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

export interface Rows {
  readonly storeTag: string;
  readonly emissions: readonly EmissionRow[];
  readonly runs: readonly RunRow[];
  readonly deliveries: readonly DeliveryRow[];
  /** Entry → listeners that were passed over. */
  readonly withheld: ReadonlyMap<number, readonly string[]>;
  readonly attempts: ReadonlyMap<number, number>;
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
  const rows = {
    storeTag: tag.value,
    emissions: all<EmissionRow>('SELECT * FROM emissions ORDER BY entry'),
    runs: all<RunRow>('SELECT * FROM runs ORDER BY run'),
    deliveries: all<DeliveryRow>('SELECT * FROM deliveries ORDER BY delivery'),
    withheld,
    attempts: counts('SELECT delivery AS of, count(*) AS n FROM attempts GROUP BY delivery'),
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

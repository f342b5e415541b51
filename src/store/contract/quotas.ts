// What owners may use, and what they have stored. Same promises as store.ts.

import type { Quotas } from '../../domain/quota.ts';
import { number, numberOrNull, text } from '../rows/cells.ts';

/** Where the next step of measuring begins. */
export interface MeasuringPlace {
  /** The index of the measured part, from 0. */
  readonly part: number;
  /** The key of the last row that was counted; null: none yet of this part. */
  readonly after: readonly (string | number)[] | null;
}

export interface Measured {
  readonly ownerId: string;
  readonly bytes: number;
}

export interface StoredBytes {
  readonly bytes: number;
  readonly measuredAtMs: number;
}

export interface QuotaStore {
  /**
   * Changes quotas of an owner; what is left out stays. Returns all of them; undefined when there is no such owner. `check` is
   * given the quotas before the change; an error that it throws is passed on with nothing written.
   */
  setQuotas(ownerId: string, change: Partial<Quotas>, check?: (before: Quotas) => void): Promise<Quotas | undefined>;
  /** Returns the quotas of all owners that have any. */
  listQuotas(): Promise<ReadonlyMap<string, Quotas>>;
  /**
   * Measures, in one step, stored bytes: events, results and output of runs, code, records of data stores. `next`: null after
   * the last step. Rows that are written or deleted meanwhile may or may not count.
   */
  measureBytes(
    from: MeasuringPlace,
  ): Promise<{ readonly measured: readonly Measured[]; readonly next: MeasuringPlace | null }>;
  /** Replaces the bytes that were measured before. */
  keepMeasured(measured: readonly Measured[], atMs: number): Promise<void>;
  /** Returns the measured bytes by owner; an owner that was never measured has none. */
  storedBytes(): Promise<ReadonlyMap<string, StoredBytes>>;
}

export const MEASURING_BEGINS: MeasuringPlace = { part: 0, after: null };

/** A table that is measured, in the order of its key. `bytes`: SQL that Postgres and SQLite evaluate without reading the content. */
export interface MeasuredPart {
  readonly table: string;
  readonly key: readonly string[];
  /** A key lower than all others. */
  readonly before: readonly (string | number)[];
  readonly bytes: string;
}

const bodiesOf = (table: string): MeasuredPart => ({
  table,
  key: ['entry'],
  before: [-1],
  bytes: 'octet_length(body)',
});

/** The parts of both backends. */
export const MEASURED_PARTS: readonly MeasuredPart[] = [
  bodiesOf('emissions'),
  bodiesOf('later_emissions'),
  { table: 'runs', key: ['run'], before: [-1], bytes: 'coalesce(octet_length(detail), 0)' },
  { table: 'codes', key: ['owner_id', 'hash'], before: ['', ''], bytes: 'octet_length(text)' },
  { table: 'deployments', key: ['id'], before: [''], bytes: 'octet_length(steps)' },
  { table: 'data_stores', key: ['id'], before: [''], bytes: 'bytes' },
];

/** Rows of one step, which takes a few milliseconds. */
export const MEASURED_AT_ONCE = 500;

/** Returns the bytes of these rows by owner, and where the next step begins. */
export function measuredIn(
  rows: readonly Readonly<Record<string, unknown>>[],
  { part, key, parts }: { part: number; key: readonly string[]; parts: number },
): { readonly measured: readonly Measured[]; readonly next: MeasuringPlace | null } {
  const byOwner = new Map<string, number>();
  for (const row of rows) {
    const ownerId = text(row, 'of_owner');
    byOwner.set(ownerId, (byOwner.get(ownerId) ?? 0) + number(row, 'of_bytes'));
  }
  const measured = [...byOwner].map(([ownerId, bytes]) => ({ ownerId, bytes }));
  const last = rows.at(-1);
  if (last !== undefined && rows.length === MEASURED_AT_ONCE) {
    return {
      measured,
      next: { part, after: key.map((name) => (typeof last[name] === 'number' ? last[name] : text(last, name))) },
    };
  }
  return { measured, next: part + 1 < parts ? { part: part + 1, after: null } : null };
}

/** Returns the quotas of a row; null: unlimited. */
export function toQuotas(row: Readonly<Record<string, unknown>>): Quotas {
  return {
    processes: numberOrNull(row, 'processes'),
    cpuSecondsPerMinute: numberOrNull(row, 'cpu_seconds_per_minute'),
    requestsPerSecond: numberOrNull(row, 'requests_per_second'),
    storedBytes: numberOrNull(row, 'stored_bytes'),
  };
}

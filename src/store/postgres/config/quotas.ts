// What owners may use, and what they have stored.

import {
  MEASURED_AT_ONCE,
  MEASURED_PARTS,
  type MeasuredPart,
  measuredIn,
  type QuotaStore,
  toQuotas,
} from '../../contract/quotas.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';

/** Those of runs that wait stand in a table of their own here. */
const PARTS: readonly MeasuredPart[] = [
  ...MEASURED_PARTS,
  { table: 'open_runs', key: ['run'], before: [-1], bytes: 'coalesce(octet_length(detail_so_far), 0)' },
];

export function quotaVerbs({ pool, config }: Core): QuotaStore {
  return {
    setQuotas: (ownerId, { processes, cpuSecondsPerMinute, requestsPerSecond, storedBytes }) =>
      config.transact(async (tx) => {
        const set = await tx.query(
          `INSERT INTO owner_quotas (owner_id, processes, cpu_seconds_per_minute, requests_per_second, stored_bytes)
            SELECT id, $2::bigint, $3::bigint, $4::bigint, $5::bigint FROM owners WHERE id = $1
            ON CONFLICT (owner_id) DO UPDATE SET processes = excluded.processes,
              cpu_seconds_per_minute = excluded.cpu_seconds_per_minute,
              requests_per_second = excluded.requests_per_second, stored_bytes = excluded.stored_bytes
            RETURNING owner_id`,
          ownerId,
          processes,
          cpuSecondsPerMinute,
          requestsPerSecond,
          storedBytes,
        );
        return set.length === 1;
      }),

    listQuotas: async () => {
      const rows = await pool.all('SELECT * FROM owner_quotas');
      return new Map(rows.map((row) => [row.owner_id as string, toQuotas(row)]));
    },

    measureBytes: async ({ part, after }) => {
      const { table, key, before, bytes } = PARTS[part] as MeasuredPart;
      const columns = key.join();
      const rows = await pool.all(
        `SELECT owner_id AS of_owner, ${bytes} AS of_bytes, ${columns} FROM ${table}
          WHERE (${columns}) > (${key.map((_, n) => `$${n + 1}`).join()}) ORDER BY ${columns} LIMIT ${MEASURED_AT_ONCE}`,
        ...(after ?? before),
      );
      return measuredIn(rows, { part, key, parts: PARTS.length });
    },

    keepMeasured: (measured, atMs) =>
      config.transact(async (tx) => {
        void tx.query(
          'DELETE FROM owner_bytes WHERE NOT owner_id = ANY($1::text[])',
          arrayLiteral(measured.map((m) => m.ownerId)),
        );
        await tx.query(
          `INSERT INTO owner_bytes (owner_id, bytes, measured_at_ms)
            SELECT u.owner, u.bytes, $3::bigint FROM unnest($1::text[], $2::bigint[]) AS u (owner, bytes) ORDER BY u.owner
            ON CONFLICT (owner_id) DO UPDATE SET bytes = excluded.bytes, measured_at_ms = excluded.measured_at_ms`,
          arrayLiteral(measured.map((m) => m.ownerId)),
          arrayLiteral(measured.map((m) => m.bytes)),
          atMs,
        );
      }),

    storedBytes: async () => {
      const rows = await pool.all('SELECT * FROM owner_bytes');
      return new Map(
        rows.map((row) => [
          row.owner_id as string,
          { bytes: Number(row.bytes), measuredAtMs: Number(row.measured_at_ms) },
        ]),
      );
    },
  };
}

// What owners may use, and what they have stored.

import { NO_QUOTAS } from '../../domain/quota.ts';
import { MEASURED_AT_ONCE, MEASURED_PARTS, measuredIn, type QuotaStore, toQuotas } from '../contract/quotas.ts';
import { number, text } from '../rows/cells.ts';
import type { ConfigCore } from './config-database.ts';
import { isNotAmong, joined, raw, sql, tableOf } from './sql.ts';
import { get, send } from './steps.ts';

export function quotaVerbs({ database }: ConfigCore): QuotaStore {
  const parts = [...MEASURED_PARTS, ...database.moreMeasured];
  return {
    // Locked: quotas that were never set have no row to lock.
    setQuotas: (ownerId, change, check) =>
      database.writeLocked(ownerId, function* () {
        const row = yield* get(sql`SELECT * FROM owner_quotas WHERE owner_id = ${ownerId}`);
        const before = row ? toQuotas(row) : NO_QUOTAS;
        check?.(before);
        const quotas = { ...before, ...change };
        const { processes, cpuSecondsPerMinute, requestsPerSecond, storedBytes } = quotas;
        const written = yield* get(sql`INSERT INTO owner_quotas
            (owner_id, processes, cpu_seconds_per_minute, requests_per_second, stored_bytes)
          SELECT id, CAST (${processes} AS BIGINT), CAST (${cpuSecondsPerMinute} AS BIGINT),
              CAST (${requestsPerSecond} AS BIGINT), CAST (${storedBytes} AS BIGINT)
            FROM owners WHERE id = ${ownerId}
          ON CONFLICT (owner_id) DO UPDATE SET processes = excluded.processes,
            cpu_seconds_per_minute = excluded.cpu_seconds_per_minute,
            requests_per_second = excluded.requests_per_second, stored_bytes = excluded.stored_bytes
          RETURNING owner_id`);
        return written && quotas;
      }),

    listQuotas: async () => {
      const rows = await database.all(sql`SELECT * FROM owner_quotas`);
      return new Map(rows.map((row) => [text(row, 'owner_id'), toQuotas(row)]));
    },

    measureBytes: async ({ part, after }) => {
      const measured = parts[part];
      if (!measured) throw new Error(`nothing is measured as part ${part}`);
      const { table, key, before, bytes } = measured;
      const columns = raw(key.join(', '));
      const cursor = joined(
        (after ?? before).map((cell) => sql`${cell}`),
        ', ',
      );
      const rows = await database.all(sql`SELECT owner_id AS of_owner, ${raw(bytes)} AS of_bytes, ${columns}
        FROM ${raw(table)} WHERE (${columns}) > (${cursor}) ORDER BY ${columns} LIMIT ${MEASURED_AT_ONCE}`);
      return measuredIn(rows, { part, key, parts: parts.length });
    },

    keepMeasured: (measured, atMs) =>
      database.write(function* () {
        yield* send(sql`DELETE FROM owner_bytes WHERE owner_id ${isNotAmong(measured.map((m) => m.ownerId))}`);
        const rows = measured.map(({ ownerId, bytes }) => ({ owner_id: ownerId, bytes, measured_at_ms: atMs }));
        yield* send(sql`INSERT INTO owner_bytes (owner_id, bytes, measured_at_ms)
          SELECT * FROM ${tableOf({ owner_id: 'text', bytes: 'bigint', measured_at_ms: 'bigint' }, rows)}
            WHERE given.owner_id IN (SELECT id FROM owners)
          ON CONFLICT (owner_id) DO UPDATE SET bytes = excluded.bytes, measured_at_ms = excluded.measured_at_ms`);
      }),

    storedBytes: async () => {
      const rows = await database.all(sql`SELECT * FROM owner_bytes`);
      return new Map(
        rows.map((row) => [
          text(row, 'owner_id'),
          { bytes: number(row, 'bytes'), measuredAtMs: number(row, 'measured_at_ms') },
        ]),
      );
    },
  };
}

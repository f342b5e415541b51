// What owners may use, and what they have stored.

import {
  MEASURED_AT_ONCE,
  MEASURED_PARTS,
  type MeasuredPart,
  measuredIn,
  type QuotaStore,
  toQuotas,
} from '../../contract/quotas.ts';
import type { Core } from '../core.ts';

export function quotaVerbs({ batch, reader, writer }: Core): QuotaStore {
  return {
    setQuotas: (ownerId, { processes, cpuSecondsPerMinute, requestsPerSecond, storedBytes }) =>
      batch.write(() => {
        if (!writer.get('SELECT 1 FROM owners WHERE id = ?', ownerId)) return false;
        writer.run(
          'INSERT OR REPLACE INTO owner_quotas VALUES (?, ?, ?, ?, ?)',
          ownerId,
          processes,
          cpuSecondsPerMinute,
          requestsPerSecond,
          storedBytes,
        );
        return true;
      }),

    listQuotas: async () =>
      new Map(reader.all('SELECT * FROM owner_quotas').map((row) => [row.owner_id as string, toQuotas(row)])),

    measureBytes: async ({ part, after }) => {
      const { table, key, before, bytes } = MEASURED_PARTS[part] as MeasuredPart;
      const columns = key.join();
      const rows = reader.all(
        `SELECT owner_id AS of_owner, ${bytes} AS of_bytes, ${columns} FROM ${table}
          WHERE (${columns}) > (${key.map(() => '?').join()}) ORDER BY ${columns} LIMIT ${MEASURED_AT_ONCE}`,
        ...(after ?? before),
      );
      return measuredIn(rows, { part, key, parts: MEASURED_PARTS.length });
    },

    keepMeasured: (measured, atMs) =>
      batch.write(() => {
        writer.run('DELETE FROM owner_bytes');
        for (const { ownerId, bytes } of measured) {
          writer.run('INSERT INTO owner_bytes VALUES (?, ?, ?)', ownerId, bytes, atMs);
        }
      }),

    storedBytes: async () =>
      new Map(
        reader
          .all('SELECT * FROM owner_bytes')
          .map((row) => [
            row.owner_id as string,
            { bytes: row.bytes as number, measuredAtMs: row.measured_at_ms as number },
          ]),
      ),
  };
}

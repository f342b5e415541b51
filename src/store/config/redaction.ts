// What owners want to be hidden.

import { NO_REDACTION, type Redaction } from '../../domain/privacy/rules.ts';
import type { RedactionStore } from '../contract/redaction.ts';
import { flag, json, text } from '../rows/cells.ts';
import type { ConfigCore } from './config-database.ts';
import { sql } from './sql.ts';
import { get } from './steps.ts';

export function redactionVerbs({ database }: ConfigCore): RedactionStore {
  return {
    ownersWithRules: async () => {
      const rows = await database.all(sql`SELECT DISTINCT owner_id FROM redactions`);
      return new Set(rows.map((row) => text(row, 'owner_id')));
    },

    redactionsOf: async (ownerId) => {
      const rows = await database.all(sql`SELECT * FROM redactions WHERE owner_id = ${ownerId} ORDER BY scope_id`);
      return new Map(rows.map((row) => [text(row, 'scope_id'), toRedaction(row)]));
    },

    // Locked: rules that stand nowhere yet have no row to lock.
    setRedaction: (ownerId, scopeId, change) =>
      database.writeLocked(ownerId, function* () {
        const row = yield* get(sql`SELECT * FROM redactions WHERE owner_id = ${ownerId} AND scope_id = ${scopeId}`);
        const { keys, patterns, beforeStoring } = change(row ? toRedaction(row) : NO_REDACTION);
        const written = yield* get(sql`INSERT INTO redactions (owner_id, scope_id, keys, patterns, before_storing)
          SELECT id, CAST (${scopeId} AS TEXT), CAST (${JSON.stringify(keys)} AS TEXT),
              CAST (${JSON.stringify(patterns)} AS TEXT), ${beforeStoring}
            FROM owners WHERE id = ${ownerId} AND (id = ${scopeId}
              OR EXISTS (SELECT 1 FROM runnables WHERE runnables.id = ${scopeId} AND runnables.owner_id = ${ownerId}))
          ON CONFLICT (owner_id, scope_id) DO UPDATE SET keys = excluded.keys, patterns = excluded.patterns,
            before_storing = excluded.before_storing
          RETURNING scope_id`);
        return written !== undefined;
      }),
  };
}

function toRedaction(row: Readonly<Record<string, unknown>>): Redaction {
  return {
    keys: json<string[]>(row, 'keys'),
    patterns: json<string[]>(row, 'patterns'),
    beforeStoring: flag(row, 'before_storing'),
  };
}

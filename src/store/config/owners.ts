// Owners and their keys.

import type { ApiKey } from '../../domain/keys.ts';
import type { OwnerStore, OwnerWrite } from '../contract/resources.ts';
import { number } from '../rows/cells.ts';
import { toApiKey, toOwner } from '../rows/resource-rows.ts';
import type { ConfigCore } from './config-database.ts';
import { insertRunnable, isOfVersion } from './runnables.ts';
import { differs, type Sql, sql } from './sql.ts';
import { all, get, type Steps, send } from './steps.ts';

/** Keeps other nodes from making an owner until the transaction is over. */
const LOCK_OWNERS = sql`${differs({ sqlite: 'SELECT 1 AS one', postgres: 'LOCK TABLE owners IN SHARE ROW EXCLUSIVE MODE' })}`;

const ANY_OWNER = sql`SELECT 1 AS one FROM owners LIMIT 1`;

export function ownerVerbs({ database, seal }: ConfigCore): OwnerStore {
  return {
    createOwner: (write, max = null) =>
      database.writeRouting(write.owner.id, function* () {
        if (max !== null) {
          yield* send(LOCK_OWNERS);
          const row = yield* get(sql`SELECT count(*) AS n FROM owners`);
          if (row && number(row, 'n') >= max) return false;
        }
        yield* insertWhole(write);
        return true;
      }),

    createFirstOwner: async (write) => {
      if (await database.get(ANY_OWNER)) return false;
      return database.writeRouting(write.owner.id, function* () {
        yield* send(LOCK_OWNERS);
        if (yield* get(ANY_OWNER)) return false;
        yield* insertWhole(write);
        return true;
      });
    },

    updateOwner: (owner, ifUpdatedAtMs) =>
      database.writeRouting(owner.id, function* () {
        const written = yield* get(sql`UPDATE owners SET name = ${owner.name}, email = ${owner.email},
            global_error_workflow_id = ${owner.globalErrorWorkflowId}, digest_window_ms = ${owner.digestWindowMs},
            channel_ids = ${JSON.stringify(owner.channelIds)}, updated_at_ms = ${owner.updatedAtMs}
          WHERE id = ${owner.id} AND ${isOfVersion(ifUpdatedAtMs)} RETURNING id`);
        return written !== undefined;
      }),

    getOwner: async (ownerId) => {
      const row = await database.get(sql`SELECT * FROM owners WHERE id = ${ownerId}`);
      return row && toOwner(row);
    },

    listOwners: async () => (await database.all(sql`SELECT * FROM owners ORDER BY id`)).map(toOwner),

    createKey: (key, keyHash) =>
      database.writeRouting(key.ownerId, function* () {
        yield* send(insertKey(key, keyHash));
      }),

    keyByHash: database.hotReads.keyByHash,

    listKeys: async (ownerId) => {
      const rows = await database.all(sql`SELECT * FROM api_keys WHERE owner_id = ${ownerId} ORDER BY id DESC`);
      return rows.map(toApiKey);
    },

    revokeKey: (ownerId, keyId, atMs) =>
      database.writeRouting(ownerId, function* (writing) {
        writing.keysChanged();
        const revoked = yield* get(sql`UPDATE api_keys
          SET revoked_at_ms = coalesce(revoked_at_ms, CAST (${atMs} AS BIGINT))
          WHERE id = ${keyId} AND owner_id = ${ownerId} RETURNING id`);
        return revoked !== undefined;
      }),

    endSessions: (ownerId, keyId) =>
      database.write(function* (writing) {
        writing.keysChanged();
        const which = keyId === null ? sql`true` : sql`id = ${keyId}`;
        const ended = yield* all(sql`UPDATE api_keys SET session_epoch = session_epoch + 1
          WHERE owner_id = ${ownerId} AND revoked_at_ms IS NULL AND ${which} RETURNING id`);
        return ended.length;
      }),

    touchKey: (keyId, usedAtMs) =>
      database.put(sql`UPDATE api_keys SET last_used_at_ms = CAST (${usedAtMs} AS BIGINT)
        WHERE id = ${keyId} AND (last_used_at_ms IS NULL OR last_used_at_ms < ${usedAtMs})`),
  };

  function* insertWhole({ owner, key, keyHash, workflow }: OwnerWrite): Steps<void> {
    yield* send(sql`INSERT INTO owners
        (id, name, email, global_error_workflow_id, digest_window_ms, channel_ids, created_at_ms, updated_at_ms)
      VALUES (${owner.id}, ${owner.name}, ${owner.email}, ${owner.globalErrorWorkflowId}, ${owner.digestWindowMs},
        ${JSON.stringify(owner.channelIds)}, ${owner.createdAtMs}, ${owner.updatedAtMs})`);
    yield* send(insertKey(key, keyHash));
    yield* insertRunnable({ ...workflow, record: workflow.workflow, seal });
  }
}

function insertKey(key: ApiKey, keyHash: string): Sql {
  return sql`INSERT INTO api_keys (id, owner_id, hash, label, scopes, created_at_ms, expires_at_ms, created_by,
      workflow_id, service)
    VALUES (${key.id}, ${key.ownerId}, ${keyHash}, ${key.label}, ${JSON.stringify(key.scopes)}, ${key.createdAtMs},
      ${key.expiresAtMs}, ${key.createdBy}, ${key.workflowId}, ${key.service})`;
}

// Owners and their keys.

import type { ApiKey } from '../../../domain/keys.ts';
import type { Owner } from '../../../domain/resource.ts';
import type { OwnerStore, OwnerWrite } from '../../contract/resources.ts';
import { toApiKey, toOwner } from '../../rows/resource-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { Lookup } from '../log/lookup.ts';
import { configWrite } from './config-write.ts';
import { insertRunnable } from './runnables.ts';

export function ownerVerbs(core: Core): OwnerStore {
  const { pool } = core;
  const keys = new Lookup(async (hashes) => {
    const rows = await pool.all(
      'SELECT * FROM api_keys WHERE hash = ANY($1::text[]) AND revoked_at_ms IS NULL',
      arrayLiteral(hashes),
    );
    return new Map(rows.map((row) => [row.hash as string, toApiKey(row)]));
  });
  return {
    createOwner: (write, max = null) =>
      configWrite(core, write.owner.id, async ({ tx }) => {
        if (max !== null) {
          // Until this is committed, no other node makes an owner.
          void tx.query('LOCK TABLE owners IN SHARE ROW EXCLUSIVE MODE');
          const [row] = await tx.query('SELECT count(*)::int AS count FROM owners');
          if (Number(row?.count) >= max) return false;
        }
        await insertWhole(tx, write, core.seal);
        return true;
      }),
    createFirstOwner: (write) => createFirstOwner(core, write),

    updateOwner: (owner) =>
      configWrite(core, owner.id, async ({ tx }) => {
        await tx.query(
          `UPDATE owners SET name = $1, email = $2, global_error_workflow_id = $3, digest_window_ms = $4,
            updated_at_ms = $5 WHERE id = $6`,
          owner.name,
          owner.email,
          owner.globalErrorWorkflowId,
          owner.digestWindowMs,
          owner.updatedAtMs,
          owner.id,
        );
      }),

    getOwner: async (ownerId) => {
      const row = await pool.get('SELECT * FROM owners WHERE id = $1', ownerId);
      return row && toOwner(row);
    },

    listOwners: async () => (await pool.all('SELECT * FROM owners ORDER BY id')).map(toOwner),

    createKey: (key, keyHash) => configWrite(core, key.ownerId, async ({ tx }) => insertKey(tx, key, keyHash)),
    keyByHash: (keyHash) => keys.find(keyHash),

    listKeys: async (ownerId) => {
      const rows = await pool.all('SELECT * FROM api_keys WHERE owner_id = $1 ORDER BY id DESC', ownerId);
      return rows.map(toApiKey);
    },

    revokeKey: (ownerId, keyId, atMs) =>
      configWrite(core, ownerId, async ({ tx }) => {
        const revoked = await tx.query(
          `UPDATE api_keys SET revoked_at_ms = coalesce(revoked_at_ms, $1::bigint)
            WHERE id = $2 AND owner_id = $3 RETURNING id`,
          atMs,
          keyId,
          ownerId,
        );
        return revoked.length === 1;
      }),

    touchKey: async (keyId, usedAtMs) => {
      await pool.write(
        'UPDATE api_keys SET last_used_at_ms = greatest(last_used_at_ms, $1::bigint) WHERE id = $2',
        usedAtMs,
        keyId,
      );
    },
  };
}

async function createFirstOwner(core: Core, write: OwnerWrite): Promise<boolean> {
  const anybody = 'SELECT 1 FROM owners LIMIT 1';
  if (await core.pool.get(anybody)) return false;
  return configWrite(core, write.owner.id, async ({ tx }) => {
    // Until this is committed nobody makes an owner, whichever way.
    void tx.query('LOCK TABLE owners IN SHARE ROW EXCLUSIVE MODE');
    if ((await tx.query(anybody)).length > 0) return false;
    await insertWhole(tx, write, core.seal);
    return true;
  });
}

function insertWhole(tx: Tx, { owner, key, keyHash, workflow }: OwnerWrite, seal: Seal): Promise<void> {
  insertOwner(tx, owner);
  insertKey(tx, key, keyHash);
  return insertRunnable(tx, { ...workflow, record: workflow.workflow, seal });
}

function insertOwner(tx: Tx, owner: Owner): void {
  void tx.query(
    `INSERT INTO owners (id, name, email, global_error_workflow_id, digest_window_ms, created_at_ms, updated_at_ms)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    owner.id,
    owner.name,
    owner.email,
    owner.globalErrorWorkflowId,
    owner.digestWindowMs,
    owner.createdAtMs,
    owner.updatedAtMs,
  );
}

function insertKey(tx: Tx, key: ApiKey, keyHash: string): void {
  void tx.query(
    `INSERT INTO api_keys (id, owner_id, hash, label, scopes, created_at_ms, expires_at_ms, created_by)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    key.id,
    key.ownerId,
    keyHash,
    key.label,
    JSON.stringify(key.scopes),
    key.createdAtMs,
    key.expiresAtMs,
    key.createdBy,
  );
}

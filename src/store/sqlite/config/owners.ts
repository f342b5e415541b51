// Owners and their keys.

import type { ApiKey } from '../../../domain/keys.ts';
import type { Owner } from '../../../domain/resource.ts';
import type { OwnerStore, OwnerWrite } from '../../contract/resources.ts';
import { toApiKey, toOwner } from '../../rows/resource-rows.ts';
import type { Core } from '../core.ts';
import { configWrite } from './config-write.ts';
import { insertRunnable } from './runnables.ts';

export function ownerVerbs(core: Core): OwnerStore {
  const { reader } = core;
  return {
    createOwner: (write, max = null) =>
      configWrite(core, () => {
        const { count } = core.writer.get('SELECT count(*) AS count FROM owners') as { count: number };
        if (max !== null && count >= max) return false;
        insertWhole(core, write);
        return true;
      }),
    createFirstOwner: (write) =>
      configWrite(core, () => {
        if (core.writer.get('SELECT 1 FROM owners LIMIT 1')) return false;
        insertWhole(core, write);
        return true;
      }),

    updateOwner: (owner) =>
      configWrite(core, () => {
        core.writer.run(
          `UPDATE owners SET name = ?, email = ?, global_error_workflow_id = ?, digest_window_ms = ?, updated_at_ms = ?
            WHERE id = ?`,
          owner.name,
          owner.email,
          owner.globalErrorWorkflowId,
          owner.digestWindowMs,
          owner.updatedAtMs,
          owner.id,
        );
      }),

    getOwner: async (ownerId) => {
      const row = reader.get('SELECT * FROM owners WHERE id = ?', ownerId);
      return row && toOwner(row);
    },

    listOwners: async () => reader.all('SELECT * FROM owners ORDER BY id').map(toOwner),

    createKey: (key, keyHash) => configWrite(core, () => insertKey(core, key, keyHash)),

    keyByHash: async (keyHash) => {
      const row = reader.get('SELECT * FROM api_keys WHERE hash = ? AND revoked_at_ms IS NULL', keyHash);
      return row && toApiKey(row);
    },

    listKeys: async (ownerId) =>
      reader.all('SELECT * FROM api_keys WHERE owner_id = ? ORDER BY id DESC', ownerId).map(toApiKey),

    revokeKey: (ownerId, keyId, atMs) =>
      configWrite(core, () => {
        const changed = core.writer.run(
          'UPDATE api_keys SET revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE id = ? AND owner_id = ?',
          atMs,
          keyId,
          ownerId,
        );
        return changed === 1;
      }),

    touchKey: (keyId, usedAtMs) =>
      core.batch.write(() => {
        core.writer.run(
          'UPDATE api_keys SET last_used_at_ms = max(coalesce(last_used_at_ms, 0), ?) WHERE id = ?',
          usedAtMs,
          keyId,
        );
      }),
  };
}

function insertWhole(core: Core, { owner, key, keyHash, workflow }: OwnerWrite): void {
  insertOwner(core, owner);
  insertKey(core, key, keyHash);
  insertRunnable(core, { ...workflow, record: workflow.workflow });
}

function insertOwner(core: Core, owner: Owner): void {
  core.writer.run(
    `INSERT INTO owners (id, name, email, global_error_workflow_id, digest_window_ms, created_at_ms, updated_at_ms)
      VALUES (?,?,?,?,?,?,?)`,
    owner.id,
    owner.name,
    owner.email,
    owner.globalErrorWorkflowId,
    owner.digestWindowMs,
    owner.createdAtMs,
    owner.updatedAtMs,
  );
}

function insertKey(core: Core, key: ApiKey, keyHash: string): void {
  core.writer.run(
    `INSERT INTO api_keys (id, owner_id, hash, label, scopes, created_at_ms, expires_at_ms, created_by)
      VALUES (?,?,?,?,?,?,?,?)`,
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

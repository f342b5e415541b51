// Owners, keys and the audit log over the API of a server.

import type { AuditRecord, CreateKeyInput, Errand } from '../client/client.ts';
import { SECOND_MS } from '../domain/limits.ts';
import type { Administration } from './administration.ts';

export function administrationOver(errand: Errand): Administration {
  return {
    createOwner: async ({ name, email }) =>
      (await errand.createOwner(email === null ? { name } : { name, email })).data,
    listOwners: () => errand.listOwners(),
    deleteOwner: async (id) => (await errand.deleteOwner({ id })).data,
    restoreOwner: async (id) => (await errand.restoreOwner({ id })).data,
    exportOwner: (id) => errand.exportOwner({ id }),
    quotas: async (id, change) => {
      if (Object.keys(change).length === 0) return (await errand.getOwnerQuotas({ id })).data;
      return (await errand.setOwnerQuotas({ id, ...change })).data;
    },
    createKey: async (ownerId, { label, scopes, expiresAtMs, workflowId, service }) => {
      const expires = expiresAtMs === null ? {} : { expires_at: Math.floor(expiresAtMs / SECOND_MS) };
      // What is undefined is left out of the JSON.
      const input: CreateKeyInput = { label, scopes: [...scopes], ...expires, workflow_id: workflowId, service };
      if (ownerId === null) return (await errand.createKey(input)).data;
      return (await errand.createOwnerKey({ id: ownerId, ...input })).data;
    },
    listKeys: (ownerId) => (ownerId === null ? errand.listKeys() : errand.listOwnerKeys({ id: ownerId })),
    revokeKey: async (ownerId, keyId) => {
      if (ownerId === null) return (await errand.revokeKey({ id: keyId })).data;
      return (await errand.revokeOwnerKey({ id: ownerId, key_id: keyId })).data;
    },
    auditPages: (ownerId, of) => {
      const paged = ownerId === null ? errand.listAudit(of) : errand.listOwnerAudit({ id: ownerId, ...of });
      return records(paged.pages());
    },
    listWorkflows: (ownerId) => (ownerId === null ? errand.listWorkflows() : none()),
  };
}

async function* records(
  pages: AsyncIterable<{ readonly data: readonly AuditRecord[] }>,
): AsyncGenerator<readonly AuditRecord[]> {
  for await (const { data } of pages) yield data;
}

async function* none(): AsyncGenerator<never> {
  // The API lists the workflows of its caller alone.
}

// Owners and keys for the command line: over the running server's API, or on its store when none runs.

import { mkdir } from 'node:fs/promises';
import { type Api, CliError, findServer } from './cli/api.ts';
import type { Administration } from './cli/owners.ts';
import { type Config, dataPaths } from './config.ts';
import { createOwners } from './engine/owners.ts';
import type { Ports } from './service.ts';
import { openSqliteStore } from './store/sqlite/open.ts';
import type { Store } from './store/store.ts';

export async function administer<T>(
  config: Config,
  ports: Omit<Ports, 'log'>,
  act: (administration: Administration) => Promise<T>,
): Promise<T> {
  const api = await findServer(config);
  if (api) return act(overApi(api));
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const store = await openSqliteStore({ path: dataPaths(config.dataDir).store, ...ports });
  try {
    return await act(onStore(store, ports));
  } finally {
    await store.close();
  }
}

function overApi(api: Api): Administration {
  const keysOf = (ownerId: string | null): string => (ownerId === null ? '/v1/keys' : `/v1/owners/${ownerId}/keys`);
  return {
    createOwner: async ({ name, email }) =>
      (await api.call('POST', '/v1/owners', email === null ? { name } : { name, email })) as object,
    listOwners: async () => (await api.call('GET', '/v1/owners')) as object[],
    createKey: async (ownerId, { label, scopes }) =>
      (await api.call('POST', keysOf(ownerId), { label, scopes: [...scopes] })) as object,
    listKeys: async (ownerId) => (await api.call('GET', keysOf(ownerId))) as object[],
    revokeKey: async (ownerId, keyId) => (await api.call('DELETE', `${keysOf(ownerId)}/${keyId}`)) as object,
  };
}

function onStore(store: Store, ports: Omit<Ports, 'log'>): Administration {
  const owners = createOwners({ store, ...ports });
  const ownerOf = async (ownerId: string | null): Promise<string> => {
    const all = await store.listOwners();
    const found = ownerId === null ? all[0] : all.find(({ id }) => id === ownerId);
    if (!found) throw new CliError(ownerId === null ? 'the store has no owner yet' : `there is no owner ${ownerId}`);
    return found.id;
  };
  return {
    createOwner: async (input) => {
      const { owner, key, apiKey } = await owners.createOwner(input);
      const { id, name, email, globalErrorWorkflowId } = owner;
      return { id, name, email, global_error_workflow_id: globalErrorWorkflowId, key_id: key.id, api_key: apiKey };
    },
    listOwners: async () => (await store.listOwners()).map(({ id, name, email }) => ({ id, name, email })),
    createKey: async (ownerId, input) => {
      const { key, apiKey } = await owners.createKey(await ownerOf(ownerId), input);
      return { id: key.id, owner_id: key.ownerId, label: key.label, scopes: key.scopes, api_key: apiKey };
    },
    listKeys: async (ownerId) =>
      (await store.listKeys(await ownerOf(ownerId))).map(({ id, label, scopes, revokedAtMs }) => ({
        id,
        label,
        scopes,
        revoked: revokedAtMs !== null,
      })),
    revokeKey: async (ownerId, keyId) => {
      const key = await owners.revokeKey(await ownerOf(ownerId), keyId);
      return { id: key.id, label: key.label, revoked: true };
    },
  };
}

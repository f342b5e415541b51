// Owners and keys for the command line: over the API of the server that runs on this data dir, or on its store when none
// does (a database may be shared with servers elsewhere, and does not mind).

import { existsSync } from 'node:fs';
import { type Api, CliError, findServer } from './cli/api.ts';
import type { Administration } from './cli/owners.ts';
import { type Config, dataPaths, maxOwnersOf } from './config.ts';
import { NO_QUOTAS } from './domain/quota.ts';
import { createOwners } from './engine/owners.ts';
import { quotasFromWire, quotasToWire } from './http/wire/quotas.ts';
import { openStore, type StorePorts } from './open-store.ts';
import type { Ids } from './ports.ts';
import { createIds } from './real-ports.ts';
import type { Store } from './store/store.ts';

export async function administer<T>(
  config: Config,
  ports: StorePorts,
  act: (administration: Administration) => Promise<T>,
): Promise<T> {
  const api = await findServer(config);
  if (api) return act(overApi(api));
  refuseMissing(config);
  const store = await openStore(config, ports);
  try {
    return await act(onStore(store, createIds(store.clock, ports.random), maxOwnersOf(config)));
  } finally {
    await store.close();
  }
}

/** A command in the wrong folder makes no new store there. */
function refuseMissing({ databaseUrl, dataDir }: Config): void {
  const { store } = dataPaths(dataDir);
  if (databaseUrl !== null || existsSync(store)) return;
  throw new CliError(`there is no store at ${store}: ERRAND_DATA_DIR says where it is, and the first start makes it`);
}

function overApi(api: Api): Administration {
  const keysOf = (ownerId: string | null): string => (ownerId === null ? '/v1/keys' : `/v1/owners/${ownerId}/keys`);
  return {
    createOwner: async ({ name, email }) =>
      (await api.call('POST', '/v1/owners', email === null ? { name } : { name, email })) as object,
    listOwners: async () => (await api.call('GET', '/v1/owners')) as object[],
    quotas: async (ownerId, change) => {
      const [method, body] = Object.keys(change).length === 0 ? (['GET'] as const) : (['PUT', change] as const);
      return (await api.call(method, `/v1/owners/${ownerId}/quotas`, body)) as object;
    },
    createKey: async (ownerId, { label, scopes }) =>
      (await api.call('POST', keysOf(ownerId), { label, scopes: [...scopes] })) as object,
    listKeys: async (ownerId) => (await api.call('GET', keysOf(ownerId))) as object[],
    revokeKey: async (ownerId, keyId) => (await api.call('DELETE', `${keysOf(ownerId)}/${keyId}`)) as object,
  };
}

function onStore(store: Store, ids: Ids, maxOwners: number | null): Administration {
  const owners = createOwners({ store, clock: store.clock, ids, maxOwners });
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
    quotas: async (ownerId, change) => {
      const limits = {
        ...((await store.listQuotas()).get(await ownerOf(ownerId)) ?? NO_QUOTAS),
        ...quotasFromWire(change),
      };
      if (Object.keys(change).length > 0) await store.setQuotas(ownerId, limits);
      // Nothing runs, and nothing is asked: what is stored is all that is used.
      const stored = (await store.storedBytes()).get(ownerId);
      const [storedBytes, storedBytesAtMs] = [stored?.bytes ?? null, stored?.measuredAtMs ?? null];
      const use = { processes: 0, cpuSecondsPerMinute: 0, requestsPerSecond: null, storedBytes, storedBytesAtMs };
      return quotasToWire(ownerId, { limits, use });
    },
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

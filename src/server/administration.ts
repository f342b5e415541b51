// Owners and keys for the command line: over the API of the server that runs on this data dir, or, when none runs, on its
// store (a database may be shared with servers elsewhere).

import { existsSync } from 'node:fs';
import type { Administration } from '../cli/administration.ts';
import { type Api, findServer } from '../cli/api.ts';
import { CliError } from '../cli/shell/exit.ts';
import { projectOf } from '../domain/errors/dsn.ts';
import { PREFIX } from '../domain/ids.ts';
import { LIMITS, SECOND_MS } from '../domain/limits.ts';
import { NO_QUOTAS } from '../domain/quota.ts';
import { createOwners } from '../engine/resources/owners.ts';
import { auditQuery, auditToWire } from '../http/wire/audit.ts';
import { quotasFromWire, quotasToWire } from '../http/wire/quotas.ts';
import type { Ids } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import { type Config, dataPaths, maxOwnersOf } from './config.ts';
import { openStore, type StorePorts } from './open-store.ts';
import { createIds } from './real-ports.ts';

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

/** Refuses a command in the wrong folder, where it would create a new store. */
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
    createKey: async (ownerId, { label, scopes, expiresAtMs, workflowId, service }) => {
      const expires = expiresAtMs === null ? {} : { expires_at: Math.floor(expiresAtMs / SECOND_MS) };
      // What is undefined is left out of the JSON.
      const body = { label, scopes: [...scopes], ...expires, workflow_id: workflowId, service };
      return (await api.call('POST', keysOf(ownerId), body)) as object;
    },
    listKeys: async (ownerId) => (await api.call('GET', keysOf(ownerId))) as object[],
    revokeKey: async (ownerId, keyId) => (await api.call('DELETE', `${keysOf(ownerId)}/${keyId}`)) as object,
    auditPage: async (ownerId, of, after) => {
      const path = ownerId === null ? '/v1/audit' : `/v1/owners/${ownerId}/audit`;
      const query = new URLSearchParams({ ...of, ...(after === null ? {} : { after }) });
      return (await api.call('GET', `${path}?${query}`)) as { id: string }[];
    },
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
  /** Writes an audit record before and after `act`, as the API does: see http/access/audit.ts. */
  const audited = async <T>(
    of: { operation: string; command: string; ownerId: string | undefined; targetId?: string },
    act: () => Promise<T>,
    idOf: (done: T) => string,
  ): Promise<T> => {
    const { operation, command, ownerId, targetId = null } = of;
    // The first owner of a store: no owner exists yet whose log could contain it.
    if (ownerId === undefined) return act();
    const from = { keyId: null, keyLabel: command, byOwnerId: null, method: 'COMMAND', path: command, clientIp: '' };
    const record = { id: ids.next(PREFIX.audit), ownerId, operation, targetId, ...from, requestId: '' };
    const begun = { ...record, status: null, count: 1, atMs: store.clock.nowMs() };
    await store.writeAudit([begun]);
    const done = await act();
    await store.writeAudit([{ ...begun, targetId: idOf(done), status: 200 }]);
    return done;
  };
  return {
    createOwner: async (input) => {
      const ownerId = (await store.listOwners())[0]?.id;
      const { owner, key, apiKey } = await audited(
        { operation: 'createOwner', command: 'errand owners create', ownerId },
        () => owners.createOwner(input),
        (made) => made.owner.id,
      );
      const { id, name, email, globalErrorWorkflowId } = owner;
      return { id, name, email, global_error_workflow_id: globalErrorWorkflowId, key_id: key.id, api_key: apiKey };
    },
    listOwners: async () => (await store.listOwners()).map(({ id, name, email }) => ({ id, name, email })),
    quotas: async (ownerId, change) => {
      const limits = {
        ...((await store.listQuotas()).get(await ownerOf(ownerId)) ?? NO_QUOTAS),
        ...quotasFromWire(change),
      };
      if (Object.keys(change).length > 0) {
        await audited(
          { operation: 'setOwnerQuotas', command: 'errand owners quotas', ownerId, targetId: ownerId },
          () => store.setQuotas(ownerId, limits),
          () => ownerId,
        );
      }
      // No process runs, so only stored bytes are used.
      const stored = (await store.storedBytes()).get(ownerId);
      const [storedBytes, storedBytesAtMs] = [stored?.bytes ?? null, stored?.measuredAtMs ?? null];
      const use = { processes: 0, cpuSecondsPerMinute: 0, requestsPerSecond: null, storedBytes, storedBytesAtMs };
      return quotasToWire(ownerId, { limits, use });
    },
    createKey: async (ownerId, input) => {
      const ofOwner = await ownerOf(ownerId);
      const { key, apiKey } = await audited(
        { operation: 'createKey', command: 'errand keys create', ownerId: ofOwner },
        () => owners.createKey(ofOwner, input, null),
        (made) => made.key.id,
      );
      const { id, label, scopes, workflowId } = key;
      const expires = secondsOf(key.expiresAtMs);
      // No DSN: the server's address is not known.
      const bound = workflowId === null ? {} : { workflow_id: workflowId, project: projectOf(workflowId) };
      return { id, owner_id: key.ownerId, label, scopes, expires_at: expires, ...bound, api_key: apiKey };
    },
    listKeys: async (ownerId) =>
      (await store.listKeys(await ownerOf(ownerId))).map(
        ({ id, label, scopes, revokedAtMs, expiresAtMs, lastUsedAtMs }) => ({
          id,
          label,
          scopes,
          expires_at: secondsOf(expiresAtMs),
          last_used_at: secondsOf(lastUsedAtMs),
          revoked: revokedAtMs !== null,
        }),
      ),
    revokeKey: async (ownerId, keyId) => {
      const ofOwner = await ownerOf(ownerId);
      const key = await audited(
        { operation: 'revokeKey', command: 'errand keys revoke', ownerId: ofOwner, targetId: keyId },
        () => owners.revokeKey(ofOwner, keyId, null),
        ({ id }) => id,
      );
      return { id: key.id, label: key.label, revoked: true };
    },
    auditPage: async (ownerId, of, after) => {
      const page = { limit: LIMITS.pageRecords, ...(after === null ? {} : { after }) };
      return (await store.listAudit(auditQuery(await ownerOf(ownerId), of), page)).items.map(auditToWire);
    },
  };
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / SECOND_MS);
}

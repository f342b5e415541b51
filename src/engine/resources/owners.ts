// Owners, their keys, and the global error workflow that each owner begins with.

import { createHash } from 'node:crypto';
import { PREFIX } from '../../domain/ids.ts';
import {
  type ApiKey,
  above,
  beyond,
  isIngestOnly,
  isoOf,
  type KeyInput,
  type KeyOrder,
  OWNER_SCOPES,
  type Scope,
} from '../../domain/keys.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { checkVersion, type Expected, nextVersion } from '../../domain/requests.ts';
import { DEFAULT_SETTINGS, type Owner, type Workflow } from '../../domain/resource.ts';
import type { Clock, Ids, Wake } from '../../ports.ts';
import type { OwnerWrite } from '../../store/contract/resources.ts';
import type { Store } from '../../store/contract/store.ts';
import { checkChannels } from '../notices/channels.ts';
import { makeDeployment } from './bundle.ts';
import { GLOBAL_ERROR_CODE } from './global-error-code.ts';
import { findService } from './services.ts';

export interface OwnerInput {
  readonly name: string;
  readonly email: string | null;
  /** The key to use instead of a generated one. */
  readonly apiKey?: string;
  readonly scopes?: readonly Scope[];
  /** The key that authorised the request; null or absent: the service itself. */
  readonly by?: ApiKey | null;
}

export interface MadeOwner {
  readonly owner: Owner;
  readonly key: ApiKey;
  /** In plain text; the store contains only its hash. */
  readonly apiKey: string;
}

export interface OwnerUpdate {
  readonly name?: string;
  readonly email?: string | null;
  readonly globalErrorWorkflowId?: string;
  readonly digestWindowMs?: number;
  readonly channelIds?: readonly string[];
  /** The versions that the change is meant for. */
  readonly expected?: Expected;
}

export function hashKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

export interface OwnerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly wake: Wake;
  /** How many owners there may be without a jail; null: any number. */
  readonly maxOwners: number | null;
}

export function createOwners(deps: OwnerDeps) {
  const { store, clock, ids, wake, maxOwners } = deps;

  function makeKey(ownerId: string, made: KeyInput, by: ApiKey | null): ApiKey {
    const times = { createdAtMs: clock.nowMs(), revokedAtMs: null, lastUsedAtMs: null, sessionEpoch: 0 };
    return { id: ids.next(PREFIX.key), ownerId, ...made, createdBy: by?.id ?? null, ...times };
  }

  async function createOwner(input: OwnerInput): Promise<MadeOwner> {
    const { write, apiKey } = await plan(input);
    if (!(await store.createOwner(write, maxOwners))) throw new Refusal('impossible', tooManyOwners(maxOwners));
    return { owner: write.owner, key: write.key, apiKey };
  }

  /** Returns null when the store has an owner already. */
  async function createFirstOwner(input: OwnerInput): Promise<MadeOwner | null> {
    const { write, apiKey } = await plan(input);
    const isMade = await store.createFirstOwner(write);
    return isMade ? { owner: write.owner, key: write.key, apiKey } : null;
  }

  async function plan(input: OwnerInput): Promise<{ write: OwnerWrite; apiKey: string }> {
    const nowMs = clock.nowMs();
    const ownerId = ids.next(PREFIX.owner);
    const id = ids.next(PREFIX.workflow);
    const steps = [{ namespace: 'notify', code: GLOBAL_ERROR_CODE }];
    const deployment = await makeDeployment(deps, { ownerId, id, previous: null }, steps);
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
    const workflow: Workflow = {
      id,
      ownerId,
      name: 'Global error workflow',
      active: true,
      deploymentId: deployment.id,
      settings: { ...DEFAULT_SETTINGS, queueLimit: LIMITS.maxQueueLimit },
      ...times,
    };
    const owner: Owner = {
      id: ownerId,
      name: input.name,
      email: input.email,
      globalErrorWorkflowId: id,
      digestWindowMs: LIMITS.digestWindowMs,
      channelIds: [],
      deletion: null,
      ...times,
    };
    const apiKey = input.apiKey ?? newApiKey();
    const { by = null, scopes = OWNER_SCOPES } = input;
    // Expires with the key that made it, though its scopes may exceed that key's: they apply to an owner of its own.
    const made = { label: 'first key', scopes, expiresAtMs: by?.expiresAtMs ?? null, workflowId: null, service: null };
    const key = makeKey(ownerId, made, by);
    const whole = { workflow, deployment, triggers: [], subscriptions: [] };
    return { write: { owner, key, keyHash: hashKey(apiKey), workflow: whole }, apiKey };
  }

  function newApiKey(): string {
    // Letters, digits and underscores alone: no other character may be in the key of a DSN.
    return `ek_${ids.secret()}${ids.secret()}`.replaceAll('-', '_');
  }

  async function updateOwner(ownerId: string, { expected = null, ...input }: OwnerUpdate): Promise<Owner> {
    const before = await store.getOwner(ownerId);
    if (!before) throw new Refusal('not_found', `there is no owner ${ownerId}`);
    checkVersion(before, expected);
    const { globalErrorWorkflowId } = input;
    if (globalErrorWorkflowId !== undefined && !(await store.getWorkflow(ownerId, globalErrorWorkflowId))) {
      const message = `there is no workflow ${globalErrorWorkflowId}`;
      throw new Refusal('not_found', message, { errors: [{ parameter: 'global_error_workflow_id', message }] });
    }
    await checkChannels(store, ownerId, { ids: input.channelIds, parameter: 'channels' });
    const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    const owner = { ...before, ...given, updatedAtMs: nextVersion(before, clock.nowMs()) };
    if (await store.updateOwner(owner, before.updatedAtMs)) return owner;
    // Another change came first, of which nothing may be lost. What is expected is compared with it.
    return updateOwner(ownerId, { expected, ...input });
  }

  /** Creates a key. `by`: the key that authorised the request, which grants no more than it has; null: the command line. */
  async function createKey(
    ownerId: string,
    { workflowId, service, ...input }: KeyOrder,
    by: ApiKey | null,
  ): Promise<{ key: ApiKey; apiKey: string }> {
    const owner = await store.getOwner(ownerId);
    if (!owner) throw new Refusal('not_found', `there is no owner ${ownerId}`);
    if (owner.deletion) {
      throw new Refusal('conflict', `${ownerId} is being deleted, and gets no keys; restore it before`);
    }
    const made = { ...input, expiresAtMs: input.expiresAtMs ?? by?.expiresAtMs ?? null };
    const why = by && beyond(by, made);
    if (why) throw new Refusal('forbidden', why);
    refusePast(made.expiresAtMs, clock.nowMs());
    const bound = await boundTo(ownerId, { workflowId, service, scopes: made.scopes });
    const key = makeKey(ownerId, { ...made, workflowId: bound, service: service ?? null }, by);
    const apiKey = newApiKey();
    await store.createKey(key, hashKey(apiKey));
    return { key, apiKey };
  }

  /** Returns the workflow that a key is bound to; null: none. */
  async function boundTo(
    ownerId: string,
    { workflowId, service, scopes }: Pick<KeyOrder, 'workflowId' | 'service' | 'scopes'>,
  ): Promise<string | null> {
    if (workflowId === undefined && service === undefined) return null;
    const parameter = workflowId === undefined ? 'service' : 'workflow_id';
    if (!isIngestOnly({ scopes })) {
      const message = `goes with the scope "ingest" alone, but the scopes are ${scopes.join(', ')}`;
      throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
    }
    if (workflowId === undefined) return (await findService(deps, { ownerId, service: service as string })).id;
    if (service !== undefined) {
      const message = 'cannot be given together with service: a service has a workflow of its own';
      throw new Refusal('malformed', `workflow_id ${message}`, { errors: [{ parameter, message }] });
    }
    if (await store.getWorkflow(ownerId, workflowId)) return workflowId;
    const message = `there is no workflow ${workflowId}`;
    throw new Refusal('not_found', message, { errors: [{ parameter, message }] });
  }

  /** Revokes a key. `by`: as for `createKey`; a key with more scopes cannot be revoked. */
  async function revokeKey(ownerId: string, keyId: string, by: ApiKey | null): Promise<ApiKey> {
    const find = async () => (await store.listKeys(ownerId)).find(({ id }) => id === keyId);
    const before = await find();
    const why = before && by && above(by, before);
    if (why) throw new Refusal('forbidden', why);
    const revoked = before && (await store.revokeKey(ownerId, keyId, clock.nowMs()));
    const key = revoked ? await find() : undefined;
    if (!key) throw new Refusal('not_found', `there is no key ${keyId}`);
    wake.notify('keys');
    return key;
  }

  /** Ends all sessions of a key, or, with null, of all the owner's keys. Returns of how many keys. */
  async function endSessions(ownerId: string, keyId: string | null): Promise<number> {
    const count = await store.endSessions(ownerId, keyId);
    wake.notify('keys');
    return count;
  }

  return { createOwner, createFirstOwner, updateOwner, createKey, revokeKey, endSessions };
}

function refusePast(expiresAtMs: number | null, nowMs: number): void {
  if (expiresAtMs === null || expiresAtMs > nowMs) return;
  const message = `must lie in the future, but was ${isoOf(expiresAtMs)}`;
  throw new Refusal('impossible', `expires_at ${message}`, { errors: [{ parameter: 'expires_at', message }] });
}

function tooManyOwners(max: number | null): string {
  const count = max === 1 ? 'one owner, and no more' : `${max} owners, and no more`;
  return (
    `this server may have ${count}: ERRAND_ISOLATION is process, which does not keep the code of owners who do not ` +
    'trust each other apart. Set ERRAND_ISOLATION to jail; or, when all owners trust each other, set ' +
    'ERRAND_OWNERS_WITHOUT_JAIL to the number of owners that there may be'
  );
}

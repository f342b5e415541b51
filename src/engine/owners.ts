// Owners, their keys, and the global error workflow that each of them begins with.

import { createHash } from 'node:crypto';
import { Refusal } from '../domain/fault.ts';
import { PREFIX } from '../domain/ids.ts';
import { LIMITS } from '../domain/limits.ts';
import { type ApiKey, DEFAULT_SETTINGS, type Owner, type Scope, type Workflow } from '../domain/resource.ts';
import type { Clock, Ids } from '../ports.ts';
import type { OwnerWrite } from '../store/resources.ts';
import type { Store } from '../store/store.ts';
import { makeDeployment } from './bundle.ts';
import { GLOBAL_ERROR_CODE } from './global-error-code.ts';

export interface OwnerInput {
  readonly name: string;
  readonly email: string | null;
  /** The key to use instead of a made one. */
  readonly apiKey?: string;
  readonly scopes?: readonly Scope[];
}

export interface MadeOwner {
  readonly owner: Owner;
  readonly key: ApiKey;
  /** In the clear; the store has its hash alone. */
  readonly apiKey: string;
}

export interface OwnerUpdate {
  readonly name?: string;
  readonly email?: string | null;
  readonly globalErrorWorkflowId?: string;
  readonly digestWindowMs?: number;
}

export function hashKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

export interface OwnerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How many owners there may be, for want of a jail; null: any number. */
  readonly maxOwners: number | null;
}

export function createOwners(deps: OwnerDeps) {
  const { store, clock, ids, maxOwners } = deps;

  function makeKey(ownerId: string, made: { label: string; scopes: readonly Scope[] }): ApiKey {
    return { id: ids.next(PREFIX.key), ownerId, ...made, createdAtMs: clock.nowMs(), revokedAtMs: null };
  }

  async function createOwner(input: OwnerInput): Promise<MadeOwner> {
    const { write, apiKey } = await plan(input);
    if (!(await store.createOwner(write, maxOwners))) throw new Refusal('impossible', tooManyOwners(maxOwners));
    return { owner: write.owner, key: write.key, apiKey };
  }

  /** Null when the store has an owner already. */
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
      ...times,
    };
    const apiKey = input.apiKey ?? newApiKey();
    const key = makeKey(ownerId, { label: 'first key', scopes: input.scopes ?? ['read', 'write'] });
    const whole = { workflow, deployment, triggers: [], subscriptions: [] };
    return { write: { owner, key, keyHash: hashKey(apiKey), workflow: whole }, apiKey };
  }

  function newApiKey(): string {
    return `ek_${ids.secret()}${ids.secret()}`;
  }

  async function updateOwner(ownerId: string, input: OwnerUpdate): Promise<Owner> {
    const before = await store.getOwner(ownerId);
    if (!before) throw new Refusal('not_found', `there is no owner ${ownerId}`);
    const { globalErrorWorkflowId } = input;
    if (globalErrorWorkflowId !== undefined && !(await store.getWorkflow(ownerId, globalErrorWorkflowId))) {
      const message = `there is no workflow ${globalErrorWorkflowId}`;
      throw new Refusal('not_found', message, { errors: [{ parameter: 'global_error_workflow_id', message }] });
    }
    const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    const owner = { ...before, ...given, updatedAtMs: clock.nowMs() };
    await store.updateOwner(owner);
    return owner;
  }

  async function createKey(
    ownerId: string,
    input: { label: string; scopes: readonly Scope[] },
  ): Promise<{ key: ApiKey; apiKey: string }> {
    if (!(await store.getOwner(ownerId))) throw new Refusal('not_found', `there is no owner ${ownerId}`);
    const key = makeKey(ownerId, { label: input.label, scopes: input.scopes });
    const apiKey = newApiKey();
    await store.createKey(key, hashKey(apiKey));
    return { key, apiKey };
  }

  async function revokeKey(ownerId: string, keyId: string): Promise<ApiKey> {
    const revoked = await store.revokeKey(ownerId, keyId, clock.nowMs());
    const key = revoked ? (await store.listKeys(ownerId)).find(({ id }) => id === keyId) : undefined;
    if (!key) throw new Refusal('not_found', `there is no key ${keyId}`);
    return key;
  }

  return { createOwner, createFirstOwner, updateOwner, createKey, revokeKey };
}

function tooManyOwners(max: number | null): string {
  const count = max === 1 ? 'one owner, and no more' : `${max} owners, and no more`;
  return (
    `this server may have ${count}: ERRAND_ISOLATION is process, which does not keep the code of owners who do not ` +
    'trust each other apart. Set ERRAND_ISOLATION to jail; or, when all owners trust each other, set ' +
    'ERRAND_OWNERS_WITHOUT_JAIL to the number of owners that there may be'
  );
}

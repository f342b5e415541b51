// Records whose ids tests can write down: the nth of a kind always has the same one.

import { createHash } from 'node:crypto';
import type { ApiKey } from '../../../src/domain/keys.ts';
import type { Operation } from '../../../src/domain/operation.ts';
import {
  DEFAULT_SETTINGS,
  DEFAULT_WEBHOOK_SETTINGS,
  type Deployment,
  type Source,
  type Subscription,
  type Trigger,
  type Webhook,
  type Workflow,
} from '../../../src/domain/resource.ts';
import type { Ids } from '../../../src/ports.ts';

export const T0_MS = 1_782_000_000_000;

/** `prefix` and sixteen characters that sort by `n`. */
export function idOf(prefix: string, n: number): string {
  return `${prefix}${String(n).padStart(7, '0')}aaaaaaaaa`;
}

export const OWNER_ID = idOf('u_', 1);
export const OTHER_ID = idOf('u_', 2);

/** The nth number that a store gives within the millisecond `T0_MS`. */
export function entryAt(n: number): number {
  return T0_MS * 1024 + n;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Owners are counted from 1; all else from 9001, so that it collides with no record of a test. */
export class RecordIds implements Ids {
  #owners = 0;
  #others = 9000;

  next(prefix: string): string {
    return idOf(prefix, prefix === 'u_' ? ++this.#owners : ++this.#others);
  }

  secret(): string {
    return `secret-${++this.#others}`;
  }
}

export function workflow(n: number, more: Partial<Workflow> = {}): Workflow {
  return {
    id: idOf('p_', n),
    ownerId: OWNER_ID,
    name: `Workflow ${n}`,
    active: true,
    deploymentId: idOf('d_', n),
    settings: DEFAULT_SETTINGS,
    createdAtMs: T0_MS,
    updatedAtMs: T0_MS + 1999,
    ...more,
  };
}

export function source(n: number, more: Partial<Source> = {}): Source {
  return {
    id: idOf('dc_', n),
    ownerId: OWNER_ID,
    name: 'New Orders',
    active: true,
    deploymentId: idOf('d_', 500 + n),
    settings: DEFAULT_SETTINGS,
    componentCode: 'export default {}',
    configuredProps: {},
    additionalProps: {},
    secretProps: [],
    dedupe: null,
    createdAtMs: T0_MS,
    updatedAtMs: T0_MS,
    ...more,
  };
}

export function deployment(n: number, of: Pick<Deployment, 'ownerId' | 'runnableId'>): Deployment {
  const step = { id: idOf('c_', 1), namespace: 'charge', code: 'export default () => 1' };
  const { ownerId, runnableId } = of;
  const steps = [{ ...step, bundle: 'secret bundle', sourceMap: '{}' }];
  return { id: idOf('d_', n), ownerId, runnableId, steps, createdAtMs: T0_MS };
}

export function webhook(n: number, more: Partial<Webhook> = {}): Webhook {
  return {
    id: idOf('wh_', n),
    ownerId: OWNER_ID,
    url: 'https://example.com/hook',
    name: null,
    description: null,
    active: true,
    settings: DEFAULT_WEBHOOK_SETTINGS,
    secrets: [
      { secret: 'whsec_newest', publicKey: null, untilMs: null },
      { secret: 'whsec_older', publicKey: null, untilMs: T0_MS + 1000 },
    ],
    createdAtMs: T0_MS,
    updatedAtMs: T0_MS,
    ...more,
  };
}

type Resend = Operation & { readonly kind: 'resend'; readonly webhookId: string };

export function operation(n: number, more: Partial<Resend> = {}): Resend {
  return {
    id: idOf('op_', n),
    ownerId: OWNER_ID,
    kind: 'resend',
    webhookId: idOf('wh_', 1),
    sinceMs: T0_MS - 5000,
    untilMs: T0_MS,
    states: ['exhausted'],
    replaying: null,
    state: 'running',
    total: 8,
    resent: 2,
    passedOver: 0,
    reason: null,
    createdAtMs: T0_MS,
    updatedAtMs: T0_MS + 1,
    endedAtMs: null,
    ...more,
  };
}

export function trigger(n: number, more: Partial<Trigger> = {}): Trigger {
  return {
    id: idOf('hi_', n),
    ownerId: OWNER_ID,
    runnableId: idOf('p_', n),
    kind: 'http',
    createdAtMs: T0_MS,
    key: `key${n}`,
    customResponse: false,
    skippedTicks: 0,
    tokenHash: null,
    schedule: null,
    nextAtMs: null,
    ...more,
  };
}

export function subscription(n: number, more: Partial<Subscription> = {}): Subscription {
  return {
    id: idOf('sub_', n),
    ownerId: OWNER_ID,
    emitterId: idOf('p_', 1),
    listenerId: idOf('wh_', 1),
    eventName: '$errors',
    filter: null,
    via: 'subscription',
    active: true,
    createdAtMs: T0_MS,
    ...more,
  };
}

export function apiKey(n: number, more: Partial<ApiKey> = {}): ApiKey {
  return {
    id: idOf('key_', n),
    ownerId: OWNER_ID,
    label: `key ${n}`,
    scopes: ['read'],
    createdAtMs: T0_MS,
    revokedAtMs: null,
    expiresAtMs: null,
    createdBy: null,
    lastUsedAtMs: null,
    workflowId: null,
    service: null,
    sessionEpoch: 0,
    ...more,
  };
}

// Makes the records that owners make: plain values, nothing of them stored yet.

import { createHash } from 'node:crypto';
import { type NewEmission, PLAIN_EMISSION, sourceTypeOf } from '../../src/domain/emission.ts';
import { PREFIX, prefixOf } from '../../src/domain/ids.ts';
import type { ApiKey } from '../../src/domain/keys.ts';
import { DAY_MS, LIMITS, MINUTE_MS } from '../../src/domain/limits.ts';
import type { NewOperation } from '../../src/domain/operation.ts';
import {
  DEFAULT_SETTINGS,
  DEFAULT_WEBHOOK_SETTINGS,
  type Deployment,
  type Owner,
  type Settings,
  type SigningSecret,
  type Source,
  type Subscription,
  type Trigger,
  type Webhook,
  type WebhookSettings,
  type Workflow,
} from '../../src/domain/resource.ts';
import type { Clock, Ids } from '../../src/ports.ts';
import { json } from './fixtures.ts';

export type WorkflowChanges = Partial<Omit<Workflow, 'settings'>> & { settings?: Partial<Settings> };
export type WebhookChanges = Partial<Omit<Webhook, 'settings'>> & { settings?: Partial<WebhookSettings> };
export type SourceChanges = Partial<Omit<Source, 'settings'>> & { settings?: Partial<Settings> };

export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** The store lets no more of a workflow run than it may on all nodes together; the tests' own slots are the limit. */
const ROOMY: Settings = { ...DEFAULT_SETTINGS, concurrency: 1000 };

export const aSecret = (secret: string, untilMs: number | null = null): SigningSecret => ({
  secret,
  publicKey: null,
  untilMs,
});

export class Maker {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly ownerId: string;

  constructor(clock: Clock, ids: Ids) {
    this.clock = clock;
    this.ids = ids;
    this.ownerId = ids.next(PREFIX.owner);
  }

  owner(changes: Partial<Owner> = {}): Owner {
    return {
      id: this.ownerId,
      name: 'Ada',
      email: 'ada@example.org',
      globalErrorWorkflowId: null,
      digestWindowMs: LIMITS.digestWindowMs,
      channelIds: [],
      deletion: null,
      ...this.#dates(),
      ...changes,
    };
  }

  key(changes: Partial<ApiKey> = {}): ApiKey {
    const id = this.ids.next(PREFIX.key);
    const createdAtMs = this.clock.nowMs();
    return {
      id,
      ownerId: this.ownerId,
      label: 'test',
      scopes: ['read'],
      createdAtMs,
      revokedAtMs: null,
      expiresAtMs: null,
      createdBy: null,
      lastUsedAtMs: null,
      workflowId: null,
      service: null,
      sessionEpoch: 0,
      ...changes,
    };
  }

  workflow({ settings, ...changes }: WorkflowChanges = {}): Workflow {
    return {
      id: this.ids.next(PREFIX.workflow),
      ownerId: this.ownerId,
      name: 'orders',
      active: true,
      deploymentId: this.ids.next(PREFIX.deployment),
      settings: { ...ROOMY, ...settings },
      ...this.#dates(),
      ...changes,
    };
  }

  source({ settings, ...changes }: SourceChanges = {}): Source {
    return {
      id: this.ids.next(PREFIX.source),
      ownerId: this.ownerId,
      name: 'feed',
      active: true,
      deploymentId: this.ids.next(PREFIX.deployment),
      settings: { ...ROOMY, ...settings },
      componentCode: 'export default {}',
      configuredProps: { every: { intervalSeconds: 60 }, nested: [1, null, 'ä'] },
      dedupe: null,
      additionalProps: {},
      secretProps: [],
      ...this.#dates(),
      ...changes,
    };
  }

  /** Its bundle is long enough to be stored apart. */
  deployment(of: { id: string; deploymentId: string }, code = 'export default () => 1'): Deployment {
    const bundle = `/*b*/${code}`.padEnd(300);
    const step = { id: this.ids.next(PREFIX.step), namespace: 'code', code, bundle, sourceMap: '{}' };
    const createdAtMs = this.clock.nowMs();
    return { id: of.deploymentId, ownerId: this.ownerId, runnableId: of.id, steps: [step], createdAtMs };
  }

  httpTrigger(runnableId: string, changes: Partial<Trigger> = {}): Trigger {
    return {
      id: this.ids.next(PREFIX.httpTrigger),
      ownerId: this.ownerId,
      runnableId,
      kind: 'http',
      createdAtMs: this.clock.nowMs(),
      key: this.ids.secret(),
      customResponse: false,
      skippedTicks: 0,
      tokenHash: null,
      schedule: null,
      nextAtMs: null,
      ...changes,
    };
  }

  timer(runnableId: string, nextAtMs: number | null, changes: Partial<Trigger> = {}): Trigger {
    return {
      ...this.httpTrigger(runnableId),
      id: this.ids.next(PREFIX.timerTrigger),
      kind: 'schedule',
      key: null,
      schedule: { cron: null, intervalMs: MINUTE_MS, timezone: 'UTC' },
      nextAtMs,
      ...changes,
    };
  }

  subscription(triple: { from: string; to: string; name?: string }, changes: Partial<Subscription> = {}): Subscription {
    return {
      id: this.ids.next(PREFIX.subscription),
      ownerId: this.ownerId,
      emitterId: triple.from,
      listenerId: triple.to,
      eventName: triple.name ?? '',
      filter: null,
      via: 'subscription',
      active: true,
      createdAtMs: this.clock.nowMs(),
      ...changes,
    };
  }

  webhook({ settings, ...changes }: WebhookChanges = {}): Webhook {
    const id = this.ids.next(PREFIX.webhook);
    return {
      id,
      ownerId: this.ownerId,
      url: `https://example.org/${id}`,
      name: 'shop',
      description: null,
      active: true,
      settings: { ...DEFAULT_WEBHOOK_SETTINGS, ...settings },
      secrets: [aSecret('whsec_bmV3'), aSecret('whsec_b2xk', this.clock.nowMs() + DAY_MS)],
      ...this.#dates(),
      ...changes,
    };
  }

  /** Of all that can be sent again and was accepted up to now. */
  operation(webhookId: string, changes: Partial<NewOperation> = {}): NewOperation {
    return {
      id: this.ids.next(PREFIX.operation),
      ownerId: this.ownerId,
      kind: 'resend',
      webhookId,
      sinceMs: 0,
      untilMs: this.clock.nowMs() + MINUTE_MS,
      states: ['exhausted'],
      createdAtMs: this.clock.nowMs(),
      ...changes,
    };
  }

  emission(emitterId: string, changes: Partial<NewEmission> = {}): NewEmission {
    return {
      ...PLAIN_EMISSION,
      ownerId: this.ownerId,
      emitterId,
      originId: emitterId,
      sourceType: sourceTypeOf(prefixOf(emitterId), changes.name ?? ''),
      body: json({ hello: 'world' }),
      ...changes,
    };
  }

  #dates(): { createdAtMs: number; updatedAtMs: number } {
    return { createdAtMs: this.clock.nowMs(), updatedAtMs: this.clock.nowMs() };
  }
}

// The verbs of the store that the HTTP layer reads, over plain arrays.

import { createHash } from 'node:crypto';
import { HEALTHY, type WebhookHealth } from '../../../src/domain/delivery/health.ts';
import type { Emission } from '../../../src/domain/emission.ts';
import { PLAIN_EMISSION } from '../../../src/domain/emission.ts';
import { emitId } from '../../../src/domain/ids.ts';
import type { ApiKey } from '../../../src/domain/keys.ts';
import type { Operation } from '../../../src/domain/operation.ts';
import {
  DEFAULT_SETTINGS,
  DEFAULT_WEBHOOK_SETTINGS,
  type Deployment,
  type Owner,
  type Source,
  type Subscription,
  type Trigger,
  type Webhook,
  type Workflow,
} from '../../../src/domain/resource.ts';
import type {
  AttemptRecord,
  DeliveryRecord,
  Page,
  PageQuery,
  Receipt,
  RunWhole,
  Standing,
} from '../../../src/store/contract/records.ts';
import type { Store } from '../../../src/store/contract/store.ts';

export const OWNER_ID = 'u_0000001aaaaaaaaa';
export const OTHER_ID = 'u_0000002bbbbbbbbb';
export const T0_MS = 1_782_000_000_000;

export function entryAt(n: number): number {
  return (T0_MS + n) * 1024;
}

/** `prefix` and sixteen digits that sort by `n`. */
export function idOf(prefix: string, n: number): string {
  return `${prefix}${String(n).padStart(7, '0')}aaaaaaaaa`;
}

export interface FakeData {
  readonly keys: Map<string, ApiKey>;
  readonly owners: Owner[];
  readonly workflows: Workflow[];
  readonly deployments: Deployment[];
  readonly sources: Source[];
  readonly webhooks: Webhook[];
  readonly subscriptions: Subscription[];
  readonly triggers: Trigger[];
  readonly emissions: Emission[];
  readonly receipts: Receipt[];
  readonly runs: (RunWhole & { ownerId: string })[];
  readonly deliveries: (DeliveryRecord & {
    ownerId: string;
    attempts: AttemptRecord[];
    standing?: Standing;
  })[];
  readonly operations: Operation[];
  /** By webhook; those not in here are well. */
  readonly healths: Map<string, WebhookHealth>;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
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

export function operation(n: number, more: Partial<Operation> = {}): Operation {
  return {
    id: idOf('op_', n),
    ownerId: OWNER_ID,
    kind: 'resend',
    webhookId: idOf('wh_', 1),
    sinceMs: T0_MS - 5000,
    untilMs: T0_MS,
    states: ['exhausted'],
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

export function emission(n: number, more: Partial<Emission> = {}): Emission {
  const entry = entryAt(n);
  return {
    ...PLAIN_EMISSION,
    ownerId: OWNER_ID,
    emitterId: idOf('p_', 1),
    originId: idOf('p_', 1),
    sourceType: 'WORKFLOW',
    body: Buffer.from('{}'),
    entry,
    emitId: emitId('tag42', entry),
    traceId: emitId('tag42', entry),
    ...more,
  };
}

function paged<T, C extends string | number>(all: readonly T[], cursorOf: (item: T) => C, page: PageQuery<C>): Page<T> {
  const { after, before, limit } = page;
  const sorted = [...all].sort((a, b) => (cursorOf(a) < cursorOf(b) ? 1 : -1));
  const fitting = sorted.filter(
    (item) => (after === undefined || cursorOf(item) < after) && (before === undefined || cursorOf(item) > before),
  );
  const items = before === undefined ? fitting.slice(0, limit) : fitting.slice(-limit);
  return { totalCount: all.length, items };
}

function isOwned<T extends { ownerId: string }>(ownerId: string): (thing: T) => boolean {
  return (thing) => thing.ownerId === ownerId;
}

export function fakeStore(data: FakeData): Store {
  const one = <T extends { id: string; ownerId: string }>(all: readonly T[], ownerId: string, id: string) =>
    all.find((thing) => thing.id === id && thing.ownerId === ownerId);
  const emitters = () => [...data.workflows, ...data.sources, ...data.webhooks, ...data.triggers];
  const verbs: Partial<Store> = {
    check: async () => true,
    clock: { nowMs: () => T0_MS, latestMs: () => T0_MS },
    touchKey: async () => undefined,
    writeAudit: async () => undefined,
    keyByHash: async (hash) => data.keys.get(hash),
    listKeys: async (ownerId) => [...data.keys.values()].filter(isOwned(ownerId)),
    getOwner: async (ownerId) => data.owners.find(({ id }) => id === ownerId),
    exists: async (ownerId, id) => emitters().some((thing) => thing.id === id && thing.ownerId === ownerId),
    listTriggers: async (ownerId, runnableId) =>
      data.triggers.filter((known) => known.ownerId === ownerId && known.runnableId === runnableId),
    triggerByKey: async (key) => data.triggers.find((known) => known.key === key),
    getWorkflow: async (ownerId, id) => one(data.workflows, ownerId, id),
    listWorkflows: async ({ ownerId, active, name }, page) => {
      const fits = (w: Workflow) => (active ?? w.active) === w.active && (name ?? w.name) === w.name;
      return paged(data.workflows.filter(isOwned(ownerId)).filter(fits), ({ id }) => id, page);
    },
    listDeployments: async (ownerId, runnableId, page) =>
      paged(
        data.deployments.filter(isOwned(ownerId)).filter((d) => d.runnableId === runnableId),
        ({ id }) => id,
        page,
      ),
    listSources: async (ownerId, page) => paged(data.sources.filter(isOwned(ownerId)), ({ id }) => id, page),
    deleteSourceEvents: async () => 3,
    getWebhook: async (ownerId, id) => one(data.webhooks, ownerId, id),
    webhookHealth: async (ownerId, ids) => {
      const owned = data.webhooks.filter((w) => w.ownerId === ownerId && ids.includes(w.id));
      return new Map(owned.map(({ id }) => [id, data.healths.get(id) ?? HEALTHY]));
    },
    getOperation: async (ownerId, id) => one(data.operations, ownerId, id),
    listOperations: async ({ ownerId, webhookId }, page) => {
      const fits = (o: Operation) => (webhookId ?? o.webhookId) === o.webhookId;
      return paged(data.operations.filter(isOwned(ownerId)).filter(fits), ({ id }) => id, page);
    },
    listWebhooks: async (ownerId, page) => paged(data.webhooks.filter(isOwned(ownerId)), ({ id }) => id, page),
    getSubscription: async (ownerId, id) => one(data.subscriptions, ownerId, id),
    listSubscriptions: async (of, page) => {
      const fits = (s: Subscription) =>
        (of.emitterId ?? s.emitterId) === s.emitterId &&
        (of.listenerId ?? s.listenerId) === s.listenerId &&
        (of.eventName ?? s.eventName) === s.eventName &&
        (of.via ?? s.via) === s.via;
      return paged(data.subscriptions.filter(isOwned(of.ownerId)).filter(fits), ({ id }) => id, page);
    },
    listEmissions: async ({ ownerId, emitterId, name }, page, withBody) => {
      const of = data.emissions.filter((e) => e.ownerId === ownerId && e.emitterId === emitterId && e.name === name);
      const { totalCount, items } = paged(of, ({ entry }) => entry, page);
      return { totalCount, items: items.map((e) => ({ ...e, body: withBody ? e.body : null })) };
    },
    getEmission: async (ownerId, entry) => data.emissions.find((e) => e.ownerId === ownerId && e.entry === entry),
    receipts: async () => data.receipts,
    listRuns: async ({ ownerId, runnableId, state }, page) => {
      const fits = (r: RunWhole) => r.runnableId === runnableId && (state ?? r.state) === r.state;
      return paged(data.runs.filter(isOwned(ownerId)).filter(fits), ({ run }) => run, page);
    },
    getRun: async (ownerId, run) => data.runs.find((r) => r.ownerId === ownerId && r.run === run),
    listDeliveries: async ({ ownerId, listenerId, state }, page) => {
      const fits = (d: DeliveryRecord) =>
        (listenerId ?? d.listenerId) === d.listenerId && (state ?? d.state) === d.state;
      return paged(data.deliveries.filter(isOwned(ownerId)).filter(fits), ({ delivery }) => delivery, page);
    },
    getDelivery: async (ownerId, delivery) => {
      const record = data.deliveries.find((d) => d.ownerId === ownerId && d.delivery === delivery);
      return record && { record, attempts: record.attempts, standing: record.standing ?? null };
    },
    ledger: async () => ({
      emissions: 10,
      runs: { queued: 1, running: 2, waiting: 0, succeeded: 3, failed: 4, cancelled: 0 },
      deliveries: { pending: 1, sending: 0, retrying: 2, held: 0, delivered: 3, exhausted: 0, cancelled: 0 },
      errors: 4,
    }),
  };
  return verbs as Store;
}

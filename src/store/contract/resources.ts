// The configuration's half of the store: what owners make. Same promises as store.ts.

import type { WebhookHealth } from '../../domain/delivery/health.ts';
import type { ApiKey } from '../../domain/keys.ts';
import type { Deployment, Owner, Source, Subscription, Trigger, Webhook, Workflow } from '../../domain/resource.ts';
import type { AccountStore, DataStoreStore } from './data.ts';
import type { DeploymentStore } from './deployments.ts';
import type { QuotaStore } from './quotas.ts';
import type { EmissionRecord, Page, PageQuery } from './records.ts';
import type { SourceChangeStore } from './source-changes.ts';

export interface OwnerWrite {
  readonly owner: Owner;
  readonly key: ApiKey;
  readonly keyHash: string;
  /** Its global error workflow. */
  readonly workflow: WorkflowWrite;
}

export interface OwnerStore {
  /**
   * The owner, its global error workflow and its first key, together or not at all. `max`: only while the store has
   * fewer owners; answers whether it was made. Of several that come at once, at any nodes, no more are made than fit.
   */
  createOwner(write: OwnerWrite, max?: number | null): Promise<boolean>;
  /**
   * The same, only when the store has no owner yet; answers whether it was made. Of several that come at once, at
   * whatever nodes, one is made.
   */
  createFirstOwner(write: OwnerWrite): Promise<boolean>;
  updateOwner(owner: Owner): Promise<void>;
  getOwner(ownerId: string): Promise<Owner | undefined>;
  listOwners(): Promise<readonly Owner[]>;
  createKey(key: ApiKey, keyHash: string): Promise<void>;
  /** By SHA-256 (hex) of the key; undefined when unknown or revoked. One that has expired is found. */
  keyByHash(keyHash: string): Promise<ApiKey | undefined>;
  listKeys(ownerId: string): Promise<readonly ApiKey[]>;
  /** False when there is no such key. */
  revokeKey(ownerId: string, keyId: string, atMs: number): Promise<boolean>;
  /** Never to an earlier time. Keys that are gone are passed over. */
  touchKey(keyId: string, usedAtMs: number): Promise<void>;
}

/** A workflow or source as it shall be from now on: the record, its triggers, and a new deployment if its code changed. */
export interface WorkflowWrite {
  readonly workflow: Workflow;
  readonly deployment: Deployment | null;
  /** All of them; what is not in here is removed, with the subscriptions that stand for them. */
  readonly triggers: readonly Trigger[];
  /** One per trigger (`via: 'trigger'`), in their order, and for `source` and `emitter` triggers the subscription itself. */
  readonly subscriptions: readonly Subscription[];
}

export interface WorkflowStore {
  createWorkflow(write: WorkflowWrite): Promise<void>;
  /**
   * Replaces; false when it is gone, or the deployment that it names. Runs in flight keep the deployment that they began
   * with.
   */
  updateWorkflow(write: WorkflowWrite): Promise<boolean>;
  getWorkflow(ownerId: string, id: string): Promise<Workflow | undefined>;
  listWorkflows(of: { ownerId: string; active?: boolean; name?: string }, page: PageQuery): Promise<Page<Workflow>>;
  /**
   * Removes the workflow with its triggers and every subscription from or to it; its queued runs are cancelled.
   * Its errors and runs stay until retention takes them, but are no longer reachable through it.
   */
  deleteWorkflow(ownerId: string, id: string): Promise<boolean>;
}

export interface SourceWrite {
  readonly source: Source;
  readonly deployment: Deployment | null;
  readonly triggers: readonly Trigger[];
  readonly subscriptions: readonly Subscription[];
  /** The change that it belongs to (SourceChangeStore) is not over with it. */
  readonly goesOn?: boolean;
}

export interface SourceStore {
  /** One that goes on is a change of kind `create` from then on. */
  createSource(write: SourceWrite): Promise<void>;
  /** Only while this node changes it. False: it does not (any more), or it is gone. */
  updateSource(write: SourceWrite): Promise<boolean>;
  getSource(ownerId: string, id: string): Promise<Source | undefined>;
  listSources(ownerId: string, page: PageQuery): Promise<Page<Source>>;
  /** Only while this node changes it, and that is over with it. False as above. */
  deleteSource(ownerId: string, id: string): Promise<boolean>;
  /** Its `$.service.db`: name → JSON text. The caller has checked whose it is. */
  readSourceDb(sourceId: string): Promise<Record<string, string>>;
  /** Forgets what the source emitted (not its errors; see LaterStore for what is yet to come). Returns how many. */
  deleteSourceEvents(ownerId: string, sourceId: string, which?: EventsOf): Promise<number>;
}

/** Entries from one to another, both included. */
export interface EventsOf {
  readonly from: number;
  readonly to: number;
  /** The channel; null: all of them. */
  readonly name: string | null;
}

export const ALL_EVENTS: EventsOf = { from: 0, to: Number.MAX_SAFE_INTEGER, name: null };

/** An emission that waits: `name` is the channel on which it will be emitted. */
export interface LaterRecord extends EmissionRecord {
  readonly dueAtMs: number;
}

/**
 * What sources have emitted for a later time. It is in the log, and in the ledger, when its time has come (see TimeStore);
 * so the log's order is that of what has happened. Until then retention leaves it alone, and it goes with its source.
 */
export interface LaterStore {
  listLater(ownerId: string, sourceId: string, page: PageQuery<number>, withBody: boolean): Promise<Page<LaterRecord>>;
  /** Returns how many. */
  deleteLater(which: { ownerId: string; sourceId: string; from: number; to: number }): Promise<number>;
}

export interface TriggerStore {
  /** Of a workflow or source, oldest first. */
  listTriggers(ownerId: string, runnableId: string): Promise<readonly Trigger[]>;
  /** By the secret part of its address; undefined when unknown, or when its workflow or source is not active. */
  triggerByKey(key: string): Promise<Trigger | undefined>;
}

export interface WebhookStore {
  createWebhook(webhook: Webhook): Promise<void>;
  /**
   * Changes what stands when it is the turn of this change: none is lost, however many come at once. `change` keeps id,
   * owner and time of creation; it may be called again, and what it throws is passed on with nothing written. Deliveries
   * are held when it became inactive, and due again when it became active. A webhook that became active, or got another
   * address, begins with a fresh health state. Undefined when it is gone.
   */
  updateWebhook(ownerId: string, id: string, change: (before: Webhook) => Webhook): Promise<Webhook | undefined>;
  getWebhook(ownerId: string, id: string): Promise<Webhook | undefined>;
  /** Of those that are the owner's. */
  webhookHealth(ownerId: string, ids: readonly string[]): Promise<ReadonlyMap<string, WebhookHealth>>;
  listWebhooks(ownerId: string, page: PageQuery): Promise<Page<Webhook>>;
  /** With its subscriptions; its open deliveries are cancelled. */
  deleteWebhook(ownerId: string, id: string): Promise<Webhook | undefined>;
}

export interface SubscriptionQuery {
  readonly ownerId: string;
  readonly emitterId?: string;
  readonly listenerId?: string;
  readonly eventName?: string;
  /** Which to list; both when not given. */
  readonly via?: 'trigger' | 'subscription';
}

export interface SubscriptionStore {
  /**
   * Idempotent by (emitter, listener, event name, via): answers the record that stands. Heard by every emission that is
   * accepted after the answer. `missing`: the emitter or listener does not exist (any more), nothing was written.
   */
  createSubscription(
    subscription: Subscription,
  ): Promise<{ subscription: Subscription } | { missing: 'emitter_id' | 'listener_id' }>;
  getSubscription(ownerId: string, id: string): Promise<Subscription | undefined>;
  listSubscriptions(of: SubscriptionQuery, page: PageQuery): Promise<Page<Subscription>>;
  /** Those that stand for the triggers of a workflow or source, in the order in which the last write gave them. */
  listTriggerSubscriptions(ownerId: string, listenerId: string): Promise<readonly Subscription[]>;
  /** Only those `via: 'subscription'`. */
  deleteSubscription(ownerId: string, id: string): Promise<Subscription | undefined>;
}

export interface ResourceStore
  extends OwnerStore,
    QuotaStore,
    WorkflowStore,
    DeploymentStore,
    SourceStore,
    SourceChangeStore,
    LaterStore,
    TriggerStore,
    WebhookStore,
    SubscriptionStore,
    AccountStore,
    DataStoreStore {
  /** Whether `p_ dc_ wh_ hi_ ti_` (or the owner itself) exists and is the owner's. */
  exists(ownerId: string, id: string): Promise<boolean>;
}

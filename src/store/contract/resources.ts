// The store's verbs of the configuration. Same promises as store.ts.

import type { WebhookHealth } from '../../domain/delivery/health.ts';
import type { EventFilter } from '../../domain/filter/event-filter.ts';
import type { ApiKey } from '../../domain/keys.ts';
import type {
  ConfiguredSource,
  Deployment,
  Owner,
  Source,
  Subscription,
  Trigger,
  Webhook,
  Workflow,
} from '../../domain/resource.ts';
import type { SourceState } from '../../domain/run/source-state.ts';
import type { ChannelStore } from './channels.ts';
import type { AccountStore, DataStoreStore } from './data.ts';
import type { DeploymentStore } from './deployments.ts';
import type { QuotaStore } from './quotas.ts';
import type { EmissionRecord, Page, PageQuery } from './records.ts';
import type { SourceChangeStore } from './source-changes.ts';

export interface OwnerWrite {
  readonly owner: Owner;
  readonly key: ApiKey;
  readonly keyHash: string;
  /** The owner's global error workflow. */
  readonly workflow: WorkflowWrite;
}

export interface OwnerStore {
  /**
   * Creates an owner with its global error workflow and first key. With `max`, only while the store has fewer owners, also when
   * several nodes create owners at the same time. Returns whether the owner was created.
   */
  createOwner(write: OwnerWrite, max?: number | null): Promise<boolean>;
  /**
   * Creates an owner as `createOwner` does, only while the store has no owner. Of several calls at the same time, at any nodes,
   * one creates its owner.
   */
  createFirstOwner(write: OwnerWrite): Promise<boolean>;
  /** Returns false, and writes nothing, when the owner has another version than `ifUpdatedAtMs`. */
  updateOwner(owner: Owner, ifUpdatedAtMs?: number): Promise<boolean>;
  getOwner(ownerId: string): Promise<Owner | undefined>;
  listOwners(): Promise<readonly Owner[]>;
  createKey(key: ApiKey, keyHash: string): Promise<void>;
  /** Finds a key by its SHA-256 (hex); undefined: unknown or revoked. Expired keys are found. */
  keyByHash(keyHash: string): Promise<ApiKey | undefined>;
  listKeys(ownerId: string): Promise<readonly ApiKey[]>;
  /** Returns false when there is no such key. */
  revokeKey(ownerId: string, keyId: string, atMs: number): Promise<boolean>;
  /**
   * Ends all sessions of a key, or, with null, of all the owner's keys, at all nodes: raises `sessionEpoch`. Revoked keys are
   * left alone. Returns how many keys it was.
   */
  endSessions(ownerId: string, keyId: string | null): Promise<number>;
  /** Sets when a key was last used, never to an earlier time. A key that is gone is no error. */
  touchKey(keyId: string, usedAtMs: number): Promise<void>;
}

/** The new state of a workflow: the record, its triggers, and a new deployment if its code changed. */
export interface WorkflowWrite {
  readonly workflow: Workflow;
  readonly deployment: Deployment | null;
  /** All triggers; others are removed, with their subscriptions. */
  readonly triggers: readonly Trigger[];
  /** One per trigger (`via: 'trigger'`), in their order, and for `source` and `emitter` triggers the subscription itself. */
  readonly subscriptions: readonly Subscription[];
  /** Writes nothing when the workflow has another version; without it, whatever it has. */
  readonly ifUpdatedAtMs?: number;
  /**
   * Rejects, with nothing written, unless these are all other workflows of the owner with the name of this one. Of several writes
   * at once, at any nodes, each sees those before it.
   */
  readonly onlyNamed?: readonly NamedWorkflow[] | undefined;
}

/** A workflow as it was when its name was looked at. */
export interface NamedWorkflow {
  readonly id: string;
  readonly deploymentId: string;
}

export interface WorkflowStore {
  createWorkflow(write: WorkflowWrite): Promise<void>;
  /**
   * Replaces a workflow. Returns false when the workflow, or the deployment that it names, is gone, or it has another
   * version than `ifUpdatedAtMs`. Open runs keep the
   * deployment that they began with.
   */
  updateWorkflow(write: WorkflowWrite): Promise<boolean>;
  getWorkflow(ownerId: string, id: string): Promise<Workflow | undefined>;
  listWorkflows(of: { ownerId: string; active?: boolean; name?: string }, page: PageQuery): Promise<Page<Workflow>>;
  /**
   * Deletes the workflow with its triggers and all subscriptions from or to it, and cancels its queued runs. Its errors and
   * runs stay until retention deletes them, but can no longer be reached through it.
   */
  deleteWorkflow(ownerId: string, id: string): Promise<boolean>;
}

export interface SourceWrite {
  /** Its `componentCode` is the code of the first step of its deployment: long code is stored with that alone. */
  readonly source: Source;
  readonly deployment: Deployment | null;
  readonly triggers: readonly Trigger[];
  readonly subscriptions: readonly Subscription[];
  /** Triggers and their subscriptions stay as they are, with the ticks that fired since they were read; those of the write are ignored. */
  readonly keepsTriggers?: boolean;
  /** The change that the write belongs to (SourceChangeStore) goes on after it. */
  readonly goesOn?: boolean;
  /** Of a new source: subscriptions of others to it. */
  readonly listeners?: readonly Subscription[];
}

export interface SourceStore {
  /**
   * Creates a source with the subscriptions of its listeners: they hear all that it emits. With `goesOn`, begins a change of kind
   * `create`. Returns the first listener that does not exist, and then nothing was written; null: the source was created.
   */
  createSource(write: SourceWrite): Promise<string | null>;
  /** Replaces a source that this node is changing. Returns false when the node is not changing it, or it is gone. */
  updateSource(write: SourceWrite): Promise<boolean>;
  getSource(ownerId: string, id: string): Promise<Source | undefined>;
  /** Reads a source as `getSource` does, without its code: what a run needs of it. */
  getConfiguredSource(ownerId: string, id: string): Promise<ConfiguredSource | undefined>;
  listSources(ownerId: string, page: PageQuery): Promise<Page<Source>>;
  /** Deletes a source that this node is changing, and ends the change. Returns false as `updateSource`. */
  deleteSource(ownerId: string, id: string): Promise<boolean>;
  /**
   * Reads the `$.service.db` of a source, or of a workflow's steps (MemoryWrites): name → JSON text. The caller has
   * checked the owner.
   */
  readSourceDb(sourceId: string): Promise<Record<string, string>>;
  /**
   * Reads as much of a source's `$.service.db` as is shown (SOURCE_STATE), behind the first `skip` names. Undefined: the owner
   * has no such source.
   */
  sourceState(ownerId: string, sourceId: string, skip?: number): Promise<SourceState | undefined>;
  /**
   * Reads all that a source keeps between its runs, or the steps of a workflow. Undefined: the owner has neither of this id.
   */
  readMemory(ownerId: string, runnableId: string): Promise<Memory | undefined>;
  /** Hides what the source emitted, but not its errors; LaterStore has what it will emit. Returns how many. */
  deleteSourceEvents(ownerId: string, sourceId: string, which?: EventsOf): Promise<number>;
}

export interface Memory {
  /** What is in `$.service.db`, by name; values are JSON text. */
  readonly db: readonly { readonly name: string; readonly value: string }[];
  /** Ids that dedupe has seen, as it remembers them, oldest first (domain/dedupe.ts). */
  readonly seenIds: readonly string[];
}

/** A range of entries, both ends included. */
export interface EventsOf {
  readonly from: number;
  readonly to: number;
  /** The channel; null: all of them. */
  readonly name: string | null;
}

export const ALL_EVENTS: EventsOf = { from: 0, to: Number.MAX_SAFE_INTEGER, name: null };

/** An emission that waits until it is due; `name` is the channel on which it will be emitted. */
export interface LaterRecord extends EmissionRecord {
  readonly dueAtMs: number;
}

/**
 * Emissions of sources for a later time. They enter the log and the ledger when they are due (see TimeStore), so the log keeps
 * the order of events. Retention does not delete them before; deleting their source does.
 */
export interface LaterStore {
  listLater(ownerId: string, sourceId: string, page: PageQuery<number>, withBody: boolean): Promise<Page<LaterRecord>>;
  /** Deletes a range of entries. Returns how many. */
  deleteLater(which: { ownerId: string; sourceId: string; from: number; to: number }): Promise<number>;
}

export interface TriggerStore {
  /** Lists the triggers of a workflow or source, oldest first. */
  listTriggers(ownerId: string, runnableId: string): Promise<readonly Trigger[]>;
  /** Finds a trigger by the secret part of its address; undefined: unknown, or its workflow or source is inactive. */
  triggerByKey(key: string): Promise<Trigger | undefined>;
}

export interface WebhookStore {
  createWebhook(webhook: Webhook): Promise<void>;
  /**
   * Applies `change` to the current webhook: concurrent changes are applied one after the other, and none is lost. Id, owner
   * and time of creation stay. `change` may be called again; an error that it throws is passed on with nothing written.
   * Deliveries are held when the webhook became inactive, and due again when it became active. Activation, or another address,
   * resets its health. Undefined: no such webhook.
   */
  updateWebhook(ownerId: string, id: string, change: (before: Webhook) => Webhook): Promise<Webhook | undefined>;
  getWebhook(ownerId: string, id: string): Promise<Webhook | undefined>;
  /** Returns the health of those of the webhooks that the owner has. */
  webhookHealth(ownerId: string, ids: readonly string[]): Promise<ReadonlyMap<string, WebhookHealth>>;
  listWebhooks(ownerId: string, page: PageQuery): Promise<Page<Webhook>>;
  /** Deletes a webhook with its subscriptions, and cancels its open deliveries. */
  deleteWebhook(ownerId: string, id: string): Promise<Webhook | undefined>;
}

export interface SubscriptionQuery {
  readonly ownerId: string;
  readonly emitterId?: string;
  readonly listenerId?: string;
  readonly eventName?: string;
  /** Default: both. */
  readonly via?: 'trigger' | 'subscription';
}

export interface SubscriptionStore {
  /**
   * Creates a subscription. Idempotent by (emitter, listener, event name, via): returns the existing record. Every emission that
   * is accepted later is routed by it. `missing`: the emitter or listener does not exist, and nothing was written.
   */
  createSubscription(
    subscription: Subscription,
  ): Promise<{ subscription: Subscription } | { missing: 'emitter_id' | 'listener_id' }>;
  getSubscription(ownerId: string, id: string): Promise<Subscription | undefined>;
  listSubscriptions(of: SubscriptionQuery, page: PageQuery): Promise<Page<Subscription>>;
  /**
   * Lists the subscriptions that stand for the triggers of a workflow or source, in the order in which the last write gave
   * them.
   */
  listTriggerSubscriptions(ownerId: string, listenerId: string): Promise<readonly Subscription[]>;
  /**
   * Replaces the filter of a subscription, if it is one `via: 'subscription'`. Every emission that is accepted later is judged
   * by the new one.
   */
  filterSubscription(
    ownerId: string,
    id: string,
    change: (before: Subscription) => EventFilter | null,
  ): Promise<Subscription | undefined>;
  /** Deletes a subscription, if it is one `via: 'subscription'`. */
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
    ChannelStore,
    DataStoreStore {
  /** Returns whether the owner has a workflow, source, webhook or trigger with this id, or is itself meant. */
  exists(ownerId: string, id: string): Promise<boolean>;
}

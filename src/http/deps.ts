// What the HTTP layer needs, as one typed object that service.ts builds. Reads go to the store; whatever changes or starts
// something goes through `actions`, which the engine implements.

import type { Account, AccountInput, DataRecord, DataStore, DataStoreChange } from '../domain/data.ts';
import type { NewEmission } from '../domain/emission.ts';
import type { Urls } from '../domain/endpoint.ts';
import type { Differences } from '../domain/errors/differences.ts';
import type { ErrorGroup, GroupChange } from '../domain/errors/group.ts';
import type { ReplayOrder } from '../domain/errors/replaying.ts';
import type { EventFilter } from '../domain/filter/event-filter.ts';
import type { ApiKey, KeyOrder } from '../domain/keys.ts';
import type { Channel, ChannelKind } from '../domain/notices/channel.ts';
import type { ShownError } from '../domain/notices/notice.ts';
import type { Operation, OperationOrder } from '../domain/operation.ts';
import type { Redaction, Redactions } from '../domain/privacy/rules.ts';
import type { ReloadedProps } from '../domain/props.ts';
import type { Quotas, QuotaUse } from '../domain/quota.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type {
  Answered,
  ChannelInput,
  CheckInput,
  ComponentChecks,
  ComponentInput,
  DeployedSourceFile,
  DeployedWorkflowFile,
  Expected,
  HeartbeatInput,
  LinkAction,
  LinkAddress,
  OptionsInput,
  Probe,
  PropOptions,
  RecordInput,
  ReportInput,
  ResendInput,
  SourceFileInput,
  SourceInput,
  WaitAddress,
  WaitOrder,
  WebhookInput,
  WhenGone,
  WholeSource,
  WholeWorkflow,
  WorkflowFileInput,
  WorkflowInput,
} from '../domain/requests.ts';
import type { Owner, Schedule, Subscription, Webhook } from '../domain/resource.ts';
import type { RunState } from '../domain/run/run.ts';
import type { OpenStream, StreamAsked } from '../domain/stream.ts';
import type { Ping, WatchedHeartbeat } from '../domain/watch/heartbeat.ts';
import type { Clock, Ids, Log } from '../ports.ts';
import type { DataPlace, RecordCheck } from '../store/contract/data.ts';
import type { DryRun, ResendPreview } from '../store/contract/operations.ts';
import type { DeliveryRecord } from '../store/contract/records.ts';
import type { Appended, Idempotency, Store } from '../store/contract/store.ts';
import type { Dashboard } from './dashboard/built.ts';
import type { SignInLinks } from './session/sign-in-links.ts';
import type { ListedComponent } from './wire/catalogue.ts';

export interface HttpDeps {
  readonly store: Store;
  readonly actions: Actions;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Is told of each request that storage failed. */
  readonly storageFailed?: (error: Error) => void;
  readonly metrics: Metrics;
  readonly streams: Streams;
  readonly quotas: OwnerQuotas;
  readonly urls: Urls;
  /** Returns what led to a request, by its header; empty unless this server sent it to this owner. */
  readonly lineageIn: (header: string, ownerId: string) => readonly string[];
  /** Undefined or null: nothing is traced. */
  readonly tracing?: Tracing | null;
  readonly signInLinks: SignInLinks;
  readonly installation: Installation;
  /** Undefined: as `npm run build` left it; null: none. */
  readonly dashboard?: Dashboard | null;
  readonly maxBodyBytes: number;
  /** False: this process does not have the role `api`, and answers only health and metrics. */
  readonly isApi: boolean;
  /** False: code cannot be bundled at present, so nothing can be deployed. */
  readonly canBundle: () => boolean;
  /** `leaving` from the first SIGTERM on: not ready. `draining` when it accepts no more: all but health answers 503 with Retry-After. */
  readonly leaving: () => boolean;
  readonly draining: () => boolean;
}

/** A setting of this process as people see it: what is secret is not in it. */
export interface ShownSetting {
  readonly name: string;
  /** What is in force, its default included; null: nothing, or a secret. */
  readonly value: string | null;
  /** Null: none. */
  readonly fallback: string | null;
  readonly about: string;
  readonly isSecret: boolean;
  /** It was given, and is not its default. */
  readonly isSet: boolean;
}

/** What the process that answers was started with. */
export interface Installation {
  readonly settings: readonly ShownSetting[];
  /**
   * Explains to an owner whether webhooks and requests may reach a URL. `namesAddresses`: also which addresses its name has,
   * and what is opened. Throws `Refusal` (rate_limited).
   */
  checkTarget(
    url: string,
    by: { readonly ownerId: string; readonly namesAddresses: boolean },
  ): Promise<{ readonly isAllowed: boolean; readonly lines: readonly string[] }>;
}

export interface Streams {
  /** Opens a stream of what the emitter emits on that channel. Throws `Refusal` for an entry that does not exist. */
  openStream(asked: StreamAsked): Promise<OpenStream>;
}

/** Each throws `Refusal`: 429 with Retry-After when a quota is reached, `not_found` when the owner does not exist. */
export interface OwnerQuotas {
  takeRequest(ownerId: string): void;
  /** Checks the quota of stored bytes before something of that size is stored. */
  takeStored(ownerId: string, bytes: number): void;
  set(ownerId: string, change: Partial<Quotas>, check?: (before: Quotas) => void): Promise<void>;
  show(ownerId: string): Promise<{ readonly limits: Quotas; readonly use: QuotaUse }>;
}

export interface Tracing {
  /** Handles a request that came with these headers; `answer` gets the header `traceresponse`. */
  during(
    call: {
      readonly traceparent: string | undefined;
      readonly tracestate: string | undefined;
      readonly answer: (traceresponse: string) => void;
    },
    handle: () => void,
  ): void;
  /** Handles such a request that is to bring an event. */
  accepting(
    call: { readonly method: string; readonly onAnswer: (answered: (status: number) => void) => void },
    handle: () => void,
  ): void;
}

export interface Metrics {
  /** Returns the metrics of the whole process as Prometheus text. */
  text(): Promise<{ contentType: string; body: string }>;
  /** Counts an item of an envelope, by whether it was an error and taken, or of another type and ignored. */
  enveloped(item: 'taken' | 'ignored'): void;
  /** Counts a request that was answered with this refusal, whatever part answered it. */
  refused(code: RefusalCode): void;
}

export interface Accepted {
  readonly appended: Appended;
  /** Set only when asked for. Never rejects. */
  readonly answer: Promise<Answered> | null;
}

/**
 * Everything that changes or starts something. All throw `Refusal` (domain/refusal.ts) for what cannot be done:
 * `not_found` for what is missing or another owner's, `impossible` (422) for what is well formed but cannot be done,
 * `code_invalid` (422, with file, line, column) for code that does not compile. `StoreUnavailable` passes through.
 */
export interface Actions {
  /**
   * Accepts an event, which is durable when this resolves; runs and deliveries have started. `wantsAnswer`: also wait for the
   * first run's answer, until the caller has disconnected.
   */
  accept(
    emission: NewEmission,
    more?: { idempotency?: Idempotency; wantsAnswer?: boolean; whenGone?: WhenGone },
  ): Promise<Accepted>;

  /** Takes an error of another program, which is durable when this resolves. `conflict` when the workflow is not active. */
  reportError(ownerId: string, input: ReportInput): Promise<Appended & { readonly workflowId: string }>;

  createWorkflow(ownerId: string, input: WorkflowInput): Promise<WholeWorkflow>;
  /** Throws the refusal that `createWorkflow` would end with, and stores nothing. */
  checkWorkflow(ownerId: string, input: WorkflowInput): Promise<void>;
  updateWorkflow(ownerId: string, id: string, input: WorkflowInput): Promise<WholeWorkflow>;
  deleteWorkflow(ownerId: string, id: string): Promise<WholeWorkflow>;
  /** Creates the workflow of that file, or updates it. */
  deployFile(ownerId: string, input: WorkflowFileInput): Promise<DeployedWorkflowFile>;
  getWorkflow(ownerId: string, id: string): Promise<WholeWorkflow>;
  activateDeployment(ownerId: string, workflowId: string, deploymentId: string): Promise<WholeWorkflow>;
  /** Runs a workflow by hand. `event`: the bytes as sent. */
  runWorkflow(ownerId: string, workflowId: string, event: Uint8Array): Promise<Appended>;
  /** Replays an event. `edited`: the bytes of the event to use instead of the original's; null: the original's. */
  replay(ownerId: string, listenerId: string, entry: number, how: { edited: Uint8Array | null }): Promise<Appended>;
  cancelRun(ownerId: string, run: number): Promise<RunState>;
  /** Ends the wait that a run is in. `request`: as that of `endWait`. Returns the run's new state; `conflict` when it does not wait. */
  resumeRun(ownerId: string, run: number, request: string): Promise<RunState>;
  /**
   * Runs a failed run again. Throws `conflict` when the run has not failed; `impossible` when the active deployment has other
   * steps before the failed one.
   */
  retryRun(ownerId: string, run: number, options: { readonly isAgain: boolean }): Promise<Appended>;
  /** Returns the owner of the run that the address names, once its token is checked; `not_found` for any other address. */
  findWait(address: WaitAddress): Promise<string>;
  /** Ends a wait, which the token permits, for any owner. Returns the run's new state; `conflict` when that wait is over. */
  endWait(order: WaitOrder): Promise<RunState>;

  /** Creates the source of that file, or updates it. */
  deploySourceFile(ownerId: string, input: SourceFileInput): Promise<DeployedSourceFile>;
  createSource(ownerId: string, input: SourceInput): Promise<WholeSource>;
  updateSource(ownerId: string, id: string, input: SourceInput): Promise<WholeSource>;
  deleteSource(ownerId: string, id: string): Promise<WholeSource>;
  getSource(ownerId: string, id: string): Promise<WholeSource>;
  /** Runs the `options` function of the prop. */
  propOptions(ownerId: string, input: OptionsInput): Promise<PropOptions>;
  /** Returns the component's props, with those that it adds for the values configured. */
  reloadProps(ownerId: string, input: ComponentInput): Promise<ReloadedProps>;
  /** Tells of code, or of files in the folder of components, whether each would run here. */
  checkComponents(ownerId: string, input: CheckInput): Promise<ComponentChecks>;
  /** Runs a source by hand; without an event, with that of its timer. */
  invokeSource(ownerId: string, id: string, event: Uint8Array | null): Promise<Appended>;

  /** Lists the components that come with Errand, by key. */
  listComponents(): Promise<readonly ListedComponent[]>;
  getComponent(key: string): Promise<ListedComponent>;

  createAccount(ownerId: string, input: AccountInput & { app: string }): Promise<Account>;
  /** Changes the fields given; null removes a field. */
  updateAccount(ownerId: string, id: string, input: AccountInput & { expected?: Expected }): Promise<Account>;
  renewAccount(ownerId: string, id: string): Promise<Account>;
  deleteAccount(ownerId: string, id: string): Promise<Account>;

  /** Changes a group. Throws `impossible` when it is to wait for the next deployment, and its errors have none. */
  /** `check` is given the group before the change, and throws to refuse it. */
  updateErrorGroup(
    ownerId: string,
    id: string,
    change: GroupChange,
    check?: (before: ErrorGroup) => void,
  ): Promise<ErrorGroup>;

  /** Returns the group that a notice's link names, once it is verified; `not_found` for any other link. */
  findLinked(link: LinkAddress): Promise<ErrorGroup>;
  showLinked(link: LinkAddress, action: LinkAction | null): Promise<{ group: ErrorGroup; newest: ShownError }>;
  actByLink(link: LinkAddress, action: LinkAction): Promise<void>;

  createChannel(ownerId: string, input: ChannelInput & { kind: ChannelKind }): Promise<Channel>;
  /** Changes the members of the configuration given; null removes one. */
  updateChannel(ownerId: string, id: string, input: ChannelInput & { expected?: Expected }): Promise<Channel>;
  deleteChannel(ownerId: string, id: string): Promise<Channel>;
  /** Sends a test notice now, also to an inactive channel. Nothing of it is kept. */
  testChannel(ownerId: string, id: string): Promise<Pick<Probe, 'attempt' | 'state'>>;

  createDataStore(ownerId: string, input: { name: string }): Promise<DataStore>;
  updateDataStore(ownerId: string, id: string, change: DataStoreChange): Promise<DataStore>;
  deleteDataStore(ownerId: string, id: string): Promise<DataStore>;
  /** Writes a record. Throws `impossible` when the data store is full. */
  setRecord(place: DataPlace, input: RecordInput & RecordCheck): Promise<DataRecord>;
  deleteRecord(place: DataPlace, input: { key: string } & RecordCheck): Promise<DataRecord>;
  clearRecords(place: DataPlace): Promise<void>;

  getRedactions(ownerId: string): Promise<Redactions>;
  /**
   * Writes the owner's redaction. Throws `malformed` for a pattern that cannot be used, `not_found` when there is no such
   * workflow.
   */
  setRedaction(
    ownerId: string,
    scopeId: string,
    change: { redaction: Redaction; check: (before: Redaction) => void },
  ): Promise<void>;

  createHeartbeat(ownerId: string, input: HeartbeatInput & { schedule: Schedule }): Promise<WatchedHeartbeat>;
  updateHeartbeat(ownerId: string, id: string, input: HeartbeatInput): Promise<WatchedHeartbeat>;
  deleteHeartbeat(ownerId: string, id: string): Promise<WatchedHeartbeat>;
  /** Finds a heartbeat. It is not bound to an owner: the key of the address permits it. */
  findHeartbeat(key: string): Promise<WatchedHeartbeat>;
  ping(key: string, ping: Ping): Promise<void>;

  /** Returns the new webhook with its secret. */
  createWebhook(ownerId: string, input: WebhookInput & { url: string }): Promise<Webhook>;
  updateWebhook(ownerId: string, id: string, input: WebhookInput): Promise<Webhook>;
  deleteWebhook(ownerId: string, id: string): Promise<Webhook>;
  /** Returns the webhook with its new secrets, newest first. The previous ones sign for `overlapMs` more. */
  rotateSecret(ownerId: string, id: string, overlapMs: number): Promise<Webhook>;
  /** Sends a test event now, also to an inactive webhook. Nothing of it is kept. `event`: null for a default one. */
  testWebhook(ownerId: string, id: string, event: Uint8Array | null): Promise<Probe>;
  /**
   * Resends a delivery. Throws `conflict` while an attempt is in progress or the webhook is inactive; `impossible` when the
   * webhook is deleted.
   */
  resendDelivery(ownerId: string, delivery: number): Promise<DeliveryRecord>;
  resendWebhook(ownerId: string, id: string, input: ResendInput): Promise<Operation>;
  /** Returns what `resendWebhook` would send again, and sends nothing. */
  previewResend(ownerId: string, id: string, input: ResendInput): Promise<ResendPreview>;
  /**
   * Replays many errors. Throws `not_found` for the group, workflow or deployment; `impossible` for a deployment of another
   * workflow.
   */
  replayMany(ownerId: string, order: ReplayOrder): Promise<Operation>;
  /** Returns what `replayMany` would do, and creates nothing. */
  previewReplays(ownerId: string, order: ReplayOrder): Promise<DryRun>;
  differences(ownerId: string, groupId: string): Promise<Differences>;
  /** Pauses, resumes or cancels an operation. Throws `conflict` when the operation is over. */
  orderOperation(ownerId: string, id: string, order: OperationOrder): Promise<Operation>;

  /** Checks the shapes of the ids (`malformed`), then that both exist (`not_found`, naming which). */
  subscribe(
    ownerId: string,
    triple: { emitterId: string; listenerId: string; eventName: string },
    filter?: EventFilter | null,
  ): Promise<Subscription>;
  /** Replaces the filter; null: everything goes through. */
  filterSubscription(
    ownerId: string,
    id: string,
    change: { filter: EventFilter | null; check: (before: EventFilter | null) => void },
  ): Promise<Subscription>;
  unsubscribe(
    ownerId: string,
    which: { id: string } | { emitterId: string; listenerId: string; eventName: string },
  ): Promise<Subscription>;

  createOwner(input: {
    name: string;
    email: string | null;
    apiKey?: string;
    /** The key that the request came with. */
    by: ApiKey;
  }): Promise<{ owner: Owner; key: ApiKey; apiKey: string }>;
  updateOwner(
    ownerId: string,
    input: {
      name?: string;
      email?: string | null;
      globalErrorWorkflowId?: string;
      digestWindowMs?: number;
      channelIds?: readonly string[];
      expected?: Expected;
    },
  ): Promise<Owner>;
  /** Creates a key. Throws `forbidden` when `by`, the key of the request, has less than the key that it would create or revoke. */
  createKey(ownerId: string, input: KeyOrder, by: ApiKey): Promise<{ key: ApiKey; apiKey: string }>;
  revokeKey(ownerId: string, keyId: string, by: ApiKey): Promise<ApiKey>;
  /** Begins the deletion of an owner. Throws `conflict` for the owner of `by` and for the first one. */
  deleteOwner(ownerId: string, by: ApiKey): Promise<Owner>;
  /** Ends a deletion. Throws `conflict` once the purge has begun. */
  restoreOwner(ownerId: string): Promise<Owner>;
  /** Ends all sessions of a key, or, with null, of all the owner's keys. Returns of how many keys. */
  endSessions(ownerId: string, keyId: string | null): Promise<number>;
}

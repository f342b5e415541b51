// What the HTTP layer needs, as one typed object that service.ts builds. Reads go to the store; whatever changes something
// or starts something goes through `actions`, which the engine implements.

import type { Account, DataRecord, DataStore } from '../domain/data.ts';
import type { NewEmission } from '../domain/emission.ts';
import type { FaultCode } from '../domain/fault.ts';
import type { ApiKey, KeyInput } from '../domain/keys.ts';
import type { Operation, OperationOrder } from '../domain/operation.ts';
import type { PropDefinitions } from '../domain/props.ts';
import type { Quotas, QuotaUse } from '../domain/quota.ts';
import type {
  AccountInput,
  Answered,
  ComponentInput,
  DeployedSourceFile,
  DeployedWorkflowFile,
  OptionsInput,
  Probe,
  PropOptions,
  RecordInput,
  ResendInput,
  SourceFileInput,
  SourceInput,
  WaitAddress,
  WaitOrder,
  WebhookInput,
  WholeSource,
  WholeWorkflow,
  WorkflowFileInput,
  WorkflowInput,
} from '../domain/requests.ts';
import type { Owner, Subscription, Webhook } from '../domain/resource.ts';
import type { RunState } from '../domain/run/run.ts';
import type { OpenStream, StreamAsked } from '../domain/stream.ts';
import type { Clock, Ids, Log } from '../ports.ts';
import type { DataPlace } from '../store/contract/data.ts';
import type { DeliveryRecord } from '../store/contract/records.ts';
import type { Appended, Idempotency, Store } from '../store/contract/store.ts';
import type { ListedComponent } from './wire/catalogue.ts';

export interface HttpDeps {
  readonly store: Store;
  readonly actions: Actions;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly streams: Streams;
  readonly quotas: OwnerQuotas;
  /** Without a trailing slash, e.g. `http://127.0.0.1:4400`. A function: the port may be known only after listening. */
  readonly publicUrl: () => string;
  readonly maxBodyBytes: number;
  /** False: this process has not the role `api`, and answers nothing but health and metrics. */
  readonly isApi: boolean;
  /** False: code cannot be bundled at the moment, so that nothing can be deployed. */
  readonly canBundle: () => boolean;
  /** True from the first SIGTERM on: everything but health answers 503 with Retry-After. */
  readonly draining: () => boolean;
}

export interface Streams {
  /** What the emitter emits on that channel. Throws `Refusal` for an entry that was never given. */
  openStream(asked: StreamAsked): Promise<OpenStream>;
}

/** Each throws `Refusal`: 429 with Retry-After when a quota is met, `not_found` when there is no such owner. */
export interface OwnerQuotas {
  takeRequest(ownerId: string): void;
  /** Before something of that size is stored. */
  takeStored(ownerId: string, bytes: number): void;
  set(ownerId: string, quotas: Quotas): Promise<void>;
  show(ownerId: string): Promise<{ readonly limits: Quotas; readonly use: QuotaUse }>;
}

export interface Metrics {
  /** Prometheus text, of the whole process. */
  text(): Promise<{ contentType: string; body: string }>;
  /** Counts a request that was answered with this refusal, for every sender. */
  refused(code: FaultCode): void;
}

export interface Accepted {
  readonly appended: Appended;
  /** Set when asked for, and only then. Never rejects. */
  readonly answer: Promise<Answered> | null;
}

/**
 * Everything that changes or starts something. All throw `Refusal` (domain/fault.ts) for what cannot be done:
 * `not_found` for what is not the owner's, `impossible` (422) for what is well formed but cannot be, `code_invalid`
 * (422, with file, line, column) for code that does not compile. `StoreUnavailable` passes through.
 */
export interface Actions {
  /** Durable when it resolves; runs and deliveries are under way. `wantsAnswer`: also wait for the first run's answer, until the caller is `gone`. */
  accept(
    emission: NewEmission,
    more?: { idempotency?: Idempotency; wantsAnswer?: boolean; gone?: AbortSignal },
  ): Promise<Accepted>;

  createWorkflow(ownerId: string, input: WorkflowInput): Promise<WholeWorkflow>;
  updateWorkflow(ownerId: string, id: string, input: WorkflowInput): Promise<WholeWorkflow>;
  deleteWorkflow(ownerId: string, id: string): Promise<WholeWorkflow>;
  /** Makes the workflow of that file, or changes it. */
  deployFile(ownerId: string, input: WorkflowFileInput): Promise<DeployedWorkflowFile>;
  getWorkflow(ownerId: string, id: string): Promise<WholeWorkflow>;
  activateDeployment(ownerId: string, workflowId: string, deploymentId: string): Promise<WholeWorkflow>;
  /** `event`: the bytes as sent. */
  runWorkflow(ownerId: string, workflowId: string, event: Uint8Array): Promise<Appended>;
  /** `edited`: the bytes of another event to use, or null for the original's own. */
  replay(ownerId: string, listenerId: string, entry: number, edited: Uint8Array | null): Promise<Appended>;
  cancelRun(ownerId: string, run: number): Promise<RunState>;
  /** `conflict` when it has not failed; `impossible` when the active deployment has other steps before the one that failed. */
  retryRun(ownerId: string, run: number): Promise<Appended>;
  /** The owner of the run that the address is of, once its token is checked; `not_found` for any other. */
  findWait(address: WaitAddress): Promise<string>;
  /** Not bound to an owner: the token is what permits it. The state after that; `conflict` when that wait is over. */
  endWait(order: WaitOrder): Promise<RunState>;

  /** Makes the source of that file, or changes it. */
  deploySourceFile(ownerId: string, input: SourceFileInput): Promise<DeployedSourceFile>;
  createSource(ownerId: string, input: SourceInput): Promise<WholeSource>;
  updateSource(ownerId: string, id: string, input: SourceInput): Promise<WholeSource>;
  deleteSource(ownerId: string, id: string): Promise<WholeSource>;
  getSource(ownerId: string, id: string): Promise<WholeSource>;
  /** Runs the prop's `options`. */
  propOptions(ownerId: string, input: OptionsInput): Promise<PropOptions>;
  /** The component's props, with those that it adds for what is configured. */
  reloadProps(ownerId: string, input: ComponentInput): Promise<PropDefinitions>;
  invokeSource(ownerId: string, id: string, event: Uint8Array): Promise<Appended>;

  /** Our own, by key. */
  listComponents(): Promise<readonly ListedComponent[]>;
  getComponent(key: string): Promise<ListedComponent>;

  createAccount(ownerId: string, input: AccountInput & { app: string }): Promise<Account>;
  /** Fields are changed one by one; null takes one away. */
  updateAccount(ownerId: string, id: string, input: AccountInput): Promise<Account>;
  deleteAccount(ownerId: string, id: string): Promise<Account>;

  createDataStore(ownerId: string, input: { name: string }): Promise<DataStore>;
  updateDataStore(ownerId: string, id: string, input: { name: string }): Promise<DataStore>;
  deleteDataStore(ownerId: string, id: string): Promise<DataStore>;
  /** `impossible` when the data store is full. */
  setRecord(place: DataPlace, input: RecordInput): Promise<DataRecord>;
  deleteRecord(place: DataPlace, key: string): Promise<DataRecord>;
  clearRecords(place: DataPlace): Promise<void>;

  /** The new webhook, with its secret. */
  createWebhook(ownerId: string, input: WebhookInput & { url: string }): Promise<Webhook>;
  updateWebhook(ownerId: string, id: string, input: WebhookInput): Promise<Webhook>;
  deleteWebhook(ownerId: string, id: string): Promise<Webhook>;
  /** Those before sign for `overlapMs` more. The webhook with its new secrets, newest first. */
  rotateSecret(ownerId: string, id: string, overlapMs: number): Promise<Webhook>;
  /** Sends a test event now, also to a webhook that is not active. Nothing of it is kept. `event`: null for one of ours. */
  testWebhook(ownerId: string, id: string, event: Uint8Array | null): Promise<Probe>;
  /** `conflict` while an attempt is under way or the webhook is not active; `impossible` when the webhook is gone. */
  resendDelivery(ownerId: string, delivery: number): Promise<DeliveryRecord>;
  resendWebhook(ownerId: string, id: string, input: ResendInput): Promise<Operation>;
  /** `conflict` when it is over. */
  orderOperation(ownerId: string, id: string, order: OperationOrder): Promise<Operation>;

  /** Shapes of the ids are checked here too (`malformed`), then that both exist (`not_found`, naming which). */
  subscribe(
    ownerId: string,
    triple: { emitterId: string; listenerId: string; eventName: string },
  ): Promise<Subscription>;
  unsubscribe(
    ownerId: string,
    which: { id: string } | { emitterId: string; listenerId: string; eventName: string },
  ): Promise<Subscription>;

  createOwner(input: {
    name: string;
    email: string | null;
    apiKey?: string;
    /** The key that asks for it. */
    by: ApiKey;
  }): Promise<{ owner: Owner; key: ApiKey; apiKey: string }>;
  updateOwner(
    ownerId: string,
    input: { name?: string; email?: string | null; globalErrorWorkflowId?: string; digestWindowMs?: number },
  ): Promise<Owner>;
  /** `forbidden` when `by`, the key that asks for it, has less than what it would give, or take away. */
  createKey(ownerId: string, input: KeyInput, by: ApiKey): Promise<{ key: ApiKey; apiKey: string }>;
  revokeKey(ownerId: string, keyId: string, by: ApiKey): Promise<ApiKey>;
}

// Made from docs/openapi.json by `npm run generate`; not changed by hand.

import type { StreamEvent, StreamOptions } from '../events.ts';
import type { CallOptions, ErrandOptions } from '../options.ts';
import type { Paged } from '../paged.ts';
import { createTransport, type Transport } from '../transport.ts';
import type {
  ActivateDeploymentAnswer,
  ActivateDeploymentInput,
  CallEndpointAnswer,
  CallEndpointInput,
  CancelOperationAnswer,
  CancelOperationInput,
  CancelRunAnswer,
  CancelRunInput,
  CheckComponentsAnswer,
  CheckComponentsInput,
  CheckTargetAnswer,
  CheckTargetInput,
  CheckWorkflowAnswer,
  CheckWorkflowInput,
  ClearDataStoreAnswer,
  ClearDataStoreInput,
  ConfigurePropAnswer,
  ConfigurePropInput,
  CreateAccountAnswer,
  CreateAccountInput,
  CreateAutoSubscriptionAnswer,
  CreateAutoSubscriptionInput,
  CreateChannelAnswer,
  CreateChannelInput,
  CreateDataStoreAnswer,
  CreateDataStoreInput,
  CreateHeartbeatAnswer,
  CreateHeartbeatInput,
  CreateKeyAnswer,
  CreateKeyInput,
  CreateOwnerAnswer,
  CreateOwnerInput,
  CreateOwnerKeyAnswer,
  CreateOwnerKeyInput,
  CreateSessionAnswer,
  CreateSessionInput,
  CreateSourceAnswer,
  CreateSourceInput,
  CreateSubscriptionAnswer,
  CreateSubscriptionInput,
  CreateWebhookAnswer,
  CreateWebhookInput,
  CreateWorkflowAnswer,
  CreateWorkflowInput,
  DeleteAccountAnswer,
  DeleteAccountInput,
  DeleteChannelAnswer,
  DeleteChannelInput,
  DeleteDataRecordAnswer,
  DeleteDataRecordInput,
  DeleteDataStoreAnswer,
  DeleteDataStoreInput,
  DeleteHeartbeatAnswer,
  DeleteHeartbeatInput,
  DeleteOwnerAnswer,
  DeleteOwnerInput,
  DeleteSourceAnswer,
  DeleteSourceEventAnswer,
  DeleteSourceEventInput,
  DeleteSourceEventsAnswer,
  DeleteSourceEventsInput,
  DeleteSourceInput,
  DeleteSubscriptionAnswer,
  DeleteSubscriptionByTripleAnswer,
  DeleteSubscriptionByTripleInput,
  DeleteSubscriptionInput,
  DeleteWebhookAnswer,
  DeleteWebhookInput,
  DeleteWorkflowAnswer,
  DeleteWorkflowInput,
  DeploySourceFileAnswer,
  DeploySourceFileInput,
  DeployWorkflowFileAnswer,
  DeployWorkflowFileInput,
  EndAllSessionsAnswer,
  EndAllSessionsInput,
  EndSessionAnswer,
  EndSessionInput,
  EndWaitAnswer,
  EndWaitInput,
  ExportErrorsInput,
  ExportErrorsItem,
  ExportOwnerInput,
  ExportOwnerItem,
  ExportSourceErrorsInput,
  ExportSourceErrorsItem,
  ExportWebhookErrorsInput,
  ExportWebhookErrorsItem,
  ExportWorkflowErrorsInput,
  ExportWorkflowErrorsItem,
  GetAccountAnswer,
  GetAccountInput,
  GetChannelAnswer,
  GetChannelInput,
  GetComponentAnswer,
  GetComponentInput,
  GetDataRecordAnswer,
  GetDataRecordInput,
  GetDataStoreAnswer,
  GetDataStoreInput,
  GetDeliveryAnswer,
  GetDeliveryInput,
  GetDeliveryMailInput,
  GetDeploymentChangesAnswer,
  GetDeploymentChangesInput,
  GetErrorFixtureAnswer,
  GetErrorFixtureInput,
  GetErrorGroupAnswer,
  GetErrorGroupDifferencesAnswer,
  GetErrorGroupDifferencesInput,
  GetErrorGroupInput,
  GetEventAnswer,
  GetEventInput,
  GetHealthAnswer,
  GetHealthInput,
  GetHeartbeatAnswer,
  GetHeartbeatErrorAnswer,
  GetHeartbeatErrorInput,
  GetHeartbeatEventAnswer,
  GetHeartbeatEventInput,
  GetHeartbeatInput,
  GetLedgerAnswer,
  GetLedgerInput,
  GetMeAnswer,
  GetMeInput,
  GetMetricsInput,
  GetMyQuotasAnswer,
  GetMyQuotasInput,
  GetOpenApiAnswer,
  GetOpenApiInput,
  GetOperationAnswer,
  GetOperationInput,
  GetOwnerQuotasAnswer,
  GetOwnerQuotasInput,
  GetReadinessAnswer,
  GetReadinessInput,
  GetRedactionAnswer,
  GetRedactionInput,
  GetRunAnswer,
  GetRunInput,
  GetSessionAnswer,
  GetSessionInput,
  GetSourceAnswer,
  GetSourceErrorAnswer,
  GetSourceErrorInput,
  GetSourceEventAnswer,
  GetSourceEventInput,
  GetSourceInput,
  GetSourceStateAnswer,
  GetSourceStateInput,
  GetStatsAnswer,
  GetStatsInput,
  GetSubscriptionAnswer,
  GetSubscriptionInput,
  GetWebhookAnswer,
  GetWebhookErrorAnswer,
  GetWebhookErrorInput,
  GetWebhookInput,
  GetWorkflowAnswer,
  GetWorkflowErrorAnswer,
  GetWorkflowErrorInput,
  GetWorkflowEventAnswer,
  GetWorkflowEventInput,
  GetWorkflowInput,
  GetWorkflowRedactionAnswer,
  GetWorkflowRedactionInput,
  InvokeSourceAnswer,
  InvokeSourceInput,
  ListAccountsAnswer,
  ListAccountsInput,
  ListAuditAnswer,
  ListAuditInput,
  ListChannelsAnswer,
  ListChannelsInput,
  ListComponentsAnswer,
  ListComponentsInput,
  ListDataRecordsAnswer,
  ListDataRecordsInput,
  ListDataStoresAnswer,
  ListDataStoresInput,
  ListDeliveriesAnswer,
  ListDeliveriesInput,
  ListDeploymentsAnswer,
  ListDeploymentsInput,
  ListErrorGroupsAnswer,
  ListErrorGroupsInput,
  ListGroupAssigneesAnswer,
  ListGroupAssigneesInput,
  ListHeartbeatErrorsAnswer,
  ListHeartbeatErrorsInput,
  ListHeartbeatEventsAnswer,
  ListHeartbeatEventsInput,
  ListHeartbeatsAnswer,
  ListHeartbeatsInput,
  ListKeysAnswer,
  ListKeysInput,
  ListMyAccountsAnswer,
  ListMyAccountsInput,
  ListMySourcesAnswer,
  ListMySourcesInput,
  ListMySubscriptionsAnswer,
  ListMySubscriptionsInput,
  ListMyWebhooksAnswer,
  ListMyWebhooksInput,
  ListOperationsAnswer,
  ListOperationsInput,
  ListOwnerAuditAnswer,
  ListOwnerAuditInput,
  ListOwnerKeysAnswer,
  ListOwnerKeysInput,
  ListOwnersAnswer,
  ListOwnersInput,
  ListReplayResultsAnswer,
  ListReplayResultsInput,
  ListRunsAnswer,
  ListRunsInput,
  ListSettingsAnswer,
  ListSettingsInput,
  ListSourceErrorsAnswer,
  ListSourceErrorsInput,
  ListSourceEventsAnswer,
  ListSourceEventsInput,
  ListSourceLogsAnswer,
  ListSourceLogsInput,
  ListSourcesAnswer,
  ListSourcesInput,
  ListSubscriptionsAnswer,
  ListSubscriptionsInput,
  ListWatchesAnswer,
  ListWatchesInput,
  ListWebhookDeliveriesAnswer,
  ListWebhookDeliveriesInput,
  ListWebhookErrorsAnswer,
  ListWebhookErrorsInput,
  ListWebhookKeysAnswer,
  ListWebhookKeysInput,
  ListWebhooksAnswer,
  ListWebhooksInput,
  ListWorkflowErrorsAnswer,
  ListWorkflowErrorsInput,
  ListWorkflowEventsAnswer,
  ListWorkflowEventsInput,
  ListWorkflowsAnswer,
  ListWorkflowsInput,
  PatchAccountAnswer,
  PatchAccountInput,
  PatchChannelAnswer,
  PatchChannelInput,
  PatchDataStoreAnswer,
  PatchDataStoreInput,
  PatchErrorGroupAnswer,
  PatchErrorGroupInput,
  PatchHeartbeatAnswer,
  PatchHeartbeatInput,
  PatchMeAnswer,
  PatchMeInput,
  PatchOwnerQuotasAnswer,
  PatchOwnerQuotasInput,
  PatchRedactionAnswer,
  PatchRedactionInput,
  PatchSourceAnswer,
  PatchSourceInput,
  PatchSubscriptionAnswer,
  PatchSubscriptionInput,
  PatchWebhookAnswer,
  PatchWebhookInput,
  PatchWorkflowAnswer,
  PatchWorkflowInput,
  PatchWorkflowRedactionAnswer,
  PatchWorkflowRedactionInput,
  PauseOperationAnswer,
  PauseOperationInput,
  PingInput,
  PingStatusInput,
  PreviewErrorGroupsAnswer,
  PreviewErrorGroupsInput,
  ReloadPropsAnswer,
  ReloadPropsInput,
  RenewAccountAnswer,
  RenewAccountInput,
  ReplayErrorAnswer,
  ReplayErrorInput,
  ReplayErrorsAnswer,
  ReplayErrorsInput,
  ReplaySourceErrorAnswer,
  ReplaySourceErrorInput,
  ReportErrorAnswer,
  ReportErrorInput,
  ResendDeliveryAnswer,
  ResendDeliveryInput,
  ResendWebhookAnswer,
  ResendWebhookInput,
  RestoreOwnerAnswer,
  RestoreOwnerInput,
  ResumeOperationAnswer,
  ResumeOperationInput,
  ResumeRunAnswer,
  ResumeRunInput,
  RetryRunAnswer,
  RetryRunInput,
  RevokeKeyAnswer,
  RevokeKeyInput,
  RevokeOwnerKeyAnswer,
  RevokeOwnerKeyInput,
  RotateWebhookSecretAnswer,
  RotateWebhookSecretInput,
  RunWorkflowAnswer,
  RunWorkflowInput,
  SearchErrorsAnswer,
  SearchErrorsInput,
  SearchRunsAnswer,
  SearchRunsInput,
  SendEnvelopeAnswer,
  SendEnvelopeInput,
  SetDataRecordAnswer,
  SetDataRecordInput,
  SetOwnerQuotasAnswer,
  SetOwnerQuotasInput,
  SetRedactionAnswer,
  SetRedactionInput,
  SetWorkflowRedactionAnswer,
  SetWorkflowRedactionInput,
  StoreEventAnswer,
  StoreEventInput,
  StreamErrorsInput,
  StreamErrorsItem,
  StreamEventsInput,
  StreamEventsItem,
  StreamSourceEventsInput,
  StreamSourceEventsItem,
  TestChannelAnswer,
  TestChannelInput,
  TestWebhookAnswer,
  TestWebhookInput,
  UpdateAccountAnswer,
  UpdateAccountInput,
  UpdateChannelAnswer,
  UpdateChannelInput,
  UpdateDataStoreAnswer,
  UpdateDataStoreInput,
  UpdateErrorGroupAnswer,
  UpdateErrorGroupInput,
  UpdateHeartbeatAnswer,
  UpdateHeartbeatInput,
  UpdateMeAnswer,
  UpdateMeInput,
  UpdateSourceAnswer,
  UpdateSourceInput,
  UpdateSubscriptionAnswer,
  UpdateSubscriptionInput,
  UpdateWebhookAnswer,
  UpdateWebhookInput,
  UpdateWorkflowAnswer,
  UpdateWorkflowInput,
} from './types.ts';

/** A server, as one of its owners sees it. Each method is an operation of the interface, by its name in the OpenAPI document. */
export class Errand {
  readonly #transport: Transport;

  constructor(options: ErrandOptions = {}) {
    this.#transport = createTransport(options);
  }

  /**
   * Send an event: `POST /e/{key}`
   *
   * The `endpoint_url` of an HTTP trigger or a source, with any method, any further path and any query. With `ERRAND_ENDPOINT_URL` it is a host without a path, such as `https://{label}.hooks.example.com`; this address stays valid. The workflow gets `{method, path, query, client_ip, url, headers, body}`: `body` is the JSON as it came, byte for byte, when the content type is JSON and it parses; an object for forms, null when empty, else text, or `{"$base64": "…"}` for bytes that are no UTF-8, also as the value of a form's field.
   *
   * The answer means that the event is on disk. With `custom_response` it is what the run passes to `$.respond`. Bodies may be compressed with gzip, deflate or br. JSON that is nested more than 256 levels deep is refused.
   */
  callEndpoint(input: CallEndpointInput, options: CallOptions = {}): Promise<CallEndpointAnswer> {
    return this.#transport.send<CallEndpointAnswer>({ method: 'POST', path: '/e/{key}', body: 'whole', isPublic: true, takesIdempotencyKey: true }, input, options);
  }

  /**
   * Resume or cancel a waiting run: `POST /r/{run}/{token}/{order}`
   *
   * The `resume_url` and `cancel_url` that `$.flow.delay`, `$.flow.suspend` and `$.flow.rerun` return, with any method but HEAD and OPTIONS, which change nothing. The request becomes `$.context.run.callback_request` of the step that comes next, its body `$resume_data` of the step that waited. A request that accepts `text/html` gets a page. 404 when there is no such wait; 409 when the wait is over.
   */
  endWait(input: EndWaitInput, options: CallOptions = {}): Promise<EndWaitAnswer> {
    return this.#transport.send<EndWaitAnswer>({ method: 'POST', path: '/r/{run}/{token}/{order}', body: 'whole', isPublic: true }, input, options);
  }

  /**
   * Report that a job ran: `POST /h/{key}`
   *
   * The `ping_url` of a heartbeat, with GET, HEAD or POST.
   */
  ping(input: PingInput, options: CallOptions = {}): Promise<string> {
    return this.#transport.text({ method: 'POST', path: '/h/{key}', isPublic: true }, input, options);
  }

  /**
   * Report that a job began or failed: `POST /h/{key}/{status}`
   *
   * The `ping_url` of a heartbeat and `/start`, `/fail`, or the exit code of the job: 0 is a success, any other one a failure. Of the body of a failure the first 100000 bytes are kept in its error.
   */
  pingStatus(input: PingStatusInput, options: CallOptions = {}): Promise<string> {
    return this.#transport.text({ method: 'POST', path: '/h/{key}/{status}', isPublic: true }, input, options);
  }

  /**
   * Report errors as clients of Sentry do: `POST /api/{project}/envelope/`
   *
   * Takes envelopes. Items of the type `event` become errors of the workflow, with the event as it came; all others are ignored. Bodies may be compressed with gzip, deflate or br. An event id that comes twice within 24 hours is one error. Pages of any origin may send here.
   */
  sendEnvelope(input: SendEnvelopeInput, options: CallOptions = {}): Promise<SendEnvelopeAnswer> {
    return this.#transport.send<SendEnvelopeAnswer>({ method: 'POST', path: '/api/{project}/envelope/', query: ['sentry_key'], isPublic: true }, input, options);
  }

  /**
   * Report an error as older clients of Sentry do: `POST /api/{project}/store/`
   *
   * Takes one event as JSON, without an envelope.
   */
  storeEvent(input: StoreEventInput, options: CallOptions = {}): Promise<StoreEventAnswer> {
    return this.#transport.send<StoreEventAnswer>({ method: 'POST', path: '/api/{project}/store/', query: ['sentry_key'], body: 'whole', isPublic: true }, input, options);
  }

  /**
   * List workflows: `GET /v1/workflows`
   *
   * Newest first, without steps and triggers. With `expand=health`, each has a summary of its newest runs: the last one, how many failed, and how long they took.
   */
  listWorkflows(input: ListWorkflowsInput = {}, options: CallOptions = {}): Paged<ListWorkflowsAnswer> {
    return this.#transport.list<ListWorkflowsAnswer>({ method: 'GET', path: '/v1/workflows', query: ['active', 'name', 'expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create a workflow: `POST /v1/workflows`
   *
   * Compiles and deploys the steps, creates the triggers, and activates the workflow. Code that does not compile is refused with 422, which names file, line and column.
   */
  createWorkflow(input: CreateWorkflowInput, options: CallOptions = {}): Promise<CreateWorkflowAnswer> {
    return this.#transport.send<CreateWorkflowAnswer>({ method: 'POST', path: '/v1/workflows', body: 'members' }, input, options);
  }

  /**
   * Check whether a workflow could be created: `POST /v1/workflows/check`
   *
   * Does all that creating the workflow does, apart from storing it: the answer is the one that creating it would be refused with, or says that it is valid.
   */
  checkWorkflow(input: CheckWorkflowInput, options: CallOptions = {}): Promise<CheckWorkflowAnswer> {
    return this.#transport.send<CheckWorkflowAnswer>({ method: 'POST', path: '/v1/workflows/check', body: 'members' }, input, options);
  }

  /**
   * Read a workflow: `GET /v1/workflows/{id}`
   *
   * Returns the code of its steps, its triggers and their addresses, and its settings.
   */
  getWorkflow(input: GetWorkflowInput, options: CallOptions = {}): Promise<GetWorkflowAnswer> {
    return this.#transport.send<GetWorkflowAnswer>({ method: 'GET', path: '/v1/workflows/{id}' }, input, options);
  }

  /**
   * Change a workflow: `PUT /v1/workflows/{id}`
   *
   * Changed code creates a new deployment. A step keeps its id as long as it keeps its namespace. `triggers` replaces the whole list. Runs in progress end with the code that they started with. Partial: members that are left out stay as they are.
   */
  updateWorkflow(input: UpdateWorkflowInput, options: CallOptions = {}): Promise<UpdateWorkflowAnswer> {
    return this.#transport.send<UpdateWorkflowAnswer>({ method: 'PUT', path: '/v1/workflows/{id}', body: 'members' }, input, options);
  }

  /**
   * Delete a workflow: `DELETE /v1/workflows/{id}`
   *
   * Deletes the workflow, its triggers, and all subscriptions from and to it, and cancels its queued and waiting runs.
   */
  deleteWorkflow(input: DeleteWorkflowInput, options: CallOptions = {}): Promise<DeleteWorkflowAnswer> {
    return this.#transport.send<DeleteWorkflowAnswer>({ method: 'DELETE', path: '/v1/workflows/{id}' }, input, options);
  }

  /**
   * Change a workflow with a merge patch: `PATCH /v1/workflows/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. Changed code creates a new deployment. A step keeps its id as long as it keeps its namespace. `triggers` replaces the whole list. Runs in progress end with the code that they started with.
   */
  patchWorkflow(input: PatchWorkflowInput, options: CallOptions = {}): Promise<PatchWorkflowAnswer> {
    return this.#transport.send<PatchWorkflowAnswer>({ method: 'PATCH', path: '/v1/workflows/{id}', body: 'members' }, input, options);
  }

  /**
   * Deploy a workflow file: `PUT /v1/workflow_files`
   *
   * A file whose default export is what `defineWorkflow` returns. `errand deploy` sends it bundled with all that it imports; without `bundle` the server bundles it, and it may import Node’s modules and packages that the server has, no other files. The same path is the same workflow: it is made, or changed, or left as it is. A file that cannot be loaded is 422 with file, line and column.
   */
  deployWorkflowFile(input: DeployWorkflowFileInput, options: CallOptions = {}): Promise<DeployWorkflowFileAnswer> {
    return this.#transport.send<DeployWorkflowFileAnswer>({ method: 'PUT', path: '/v1/workflow_files', body: 'members' }, input, options);
  }

  /**
   * List the versions of a workflow: `GET /v1/workflows/{id}/deployments`
   *
   * The newest 20 versions of its code, newest first, and older ones that are active or that open runs need. One of them is active.
   */
  listDeployments(input: ListDeploymentsInput, options: CallOptions = {}): Paged<ListDeploymentsAnswer> {
    return this.#transport.list<ListDeploymentsAnswer>({ method: 'GET', path: '/v1/workflows/{id}/deployments', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Compare two versions of a workflow: `GET /v1/workflows/{id}/deployments/{deployment_id}/changes`
   *
   * Returns the steps whose code differs between this version and another one, line by line, and those that were added, removed, renamed or moved.
   */
  getDeploymentChanges(input: GetDeploymentChangesInput, options: CallOptions = {}): Promise<GetDeploymentChangesAnswer> {
    return this.#transport.send<GetDeploymentChangesAnswer>({ method: 'GET', path: '/v1/workflows/{id}/deployments/{deployment_id}/changes', query: ['from'] }, input, options);
  }

  /**
   * Activate a version of a workflow: `POST /v1/workflows/{id}/deployments/{deployment_id}/activate`
   *
   * New events run with this version from now on. Runs in progress end with the version that they started with.
   */
  activateDeployment(input: ActivateDeploymentInput, options: CallOptions = {}): Promise<ActivateDeploymentAnswer> {
    return this.#transport.send<ActivateDeploymentAnswer>({ method: 'POST', path: '/v1/workflows/{id}/deployments/{deployment_id}/activate' }, input, options);
  }

  /**
   * Search all errors: `GET /v1/errors`
   *
   * The errors of all workflows, sources and webhooks, also of deleted ones, as long as they are kept, newest first. One request looks at no more than 10,000 records, and reads no more than 8 MiB of them: so a page may be short or empty although there are more matches. Then continue with `next_cursor`; `searched_until_ms` says how far the search came.
   */
  searchErrors(input: SearchErrorsInput = {}, options: CallOptions = {}): Paged<SearchErrorsAnswer> {
    return this.#transport.list<SearchErrorsAnswer>({ method: 'GET', path: '/v1/errors', query: ['emitter_id', 'code', 'group_id', 'step', 'text', 'deployment_id', 'since', 'until', 'told', 'replayed', 'expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Report an error of another program: `POST /v1/errors`
   *
   * The error of a program that runs elsewhere becomes an error of one of your workflows: it is listed, grouped, searched, sent to the global error workflow and forwarded like all others. `workflow_id` names the workflow; `service` names a program instead, whose workflow is created with its first error. A key that was created for a workflow can only report errors of that workflow, and needs neither. The answer means that the error is on disk.
   */
  reportError(input: ReportErrorInput, options: CallOptions = {}): Promise<ReportErrorAnswer> {
    return this.#transport.send<ReportErrorAnswer>({ method: 'POST', path: '/v1/errors', body: 'members', takesIdempotencyKey: true }, input, options);
  }

  /**
   * Search all runs: `GET /v1/runs`
   *
   * The runs of all workflows and sources, also of deleted ones, as long as they are kept, newest first. One request looks at no more than 10,000 records, and reads no more than 8 MiB of them: so a page may be short or empty although there are more matches. Then continue with `next_cursor`; `searched_until_ms` says how far the search came.
   */
  searchRuns(input: SearchRunsInput = {}, options: CallOptions = {}): Paged<SearchRunsAnswer> {
    return this.#transport.list<SearchRunsAnswer>({ method: 'GET', path: '/v1/runs', query: ['workflow_id', 'source_id', 'state', 'error_code', 'text', 'since', 'until', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * List recent errors of a workflow: `GET /v1/workflows/{id}/$errors/event_summaries`
   *
   * The newest 100, however old they are. With `expand=event`, each has the original event, its context and the error.
   */
  listWorkflowErrors(input: ListWorkflowErrorsInput, options: CallOptions = {}): Paged<ListWorkflowErrorsAnswer> {
    return this.#transport.list<ListWorkflowErrorsAnswer>({ method: 'GET', path: '/v1/workflows/{id}/$errors/event_summaries', query: ['expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read one error of a workflow: `GET /v1/workflows/{id}/$errors/event_summaries/{record_id}`
   *
   * Returns its receipts (every run, delivery and mail that it caused, and what was withheld and why), whether a listener was told, and the result of each replay; also when what failed was deleted, as long as the error is kept. A browser that opens the address without a key is sent to the page in the dashboard.
   */
  getWorkflowError(input: GetWorkflowErrorInput, options: CallOptions = {}): Promise<GetWorkflowErrorAnswer> {
    return this.#transport.send<GetWorkflowErrorAnswer>({ method: 'GET', path: '/v1/workflows/{id}/$errors/event_summaries/{record_id}', query: ['expand'] }, input, options);
  }

  /**
   * Replay an error of a workflow: `POST /v1/workflows/{id}/$errors/{record_id}/replay`
   *
   * Runs the original event again, byte for byte, with the active deployment. The run has a new id and time, the same `trace_id` and `original_ts`, and `replay: true`. With `event`, that event is run instead.
   */
  replayError(input: ReplayErrorInput, options: CallOptions = {}): Promise<ReplayErrorAnswer> {
    return this.#transport.send<ReplayErrorAnswer>({ method: 'POST', path: '/v1/workflows/{id}/$errors/{record_id}/replay', body: 'members' }, input, options);
  }

  /**
   * List recent errors of a source: `GET /v1/sources/{id}/$errors/event_summaries`
   *
   * The newest 100, however old they are. With `expand=event`, each has the original event, its context and the error.
   */
  listSourceErrors(input: ListSourceErrorsInput, options: CallOptions = {}): Paged<ListSourceErrorsAnswer> {
    return this.#transport.list<ListSourceErrorsAnswer>({ method: 'GET', path: '/v1/sources/{id}/$errors/event_summaries', query: ['expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read one error of a source: `GET /v1/sources/{id}/$errors/event_summaries/{record_id}`
   *
   * Returns its receipts (every run, delivery and mail that it caused, and what was withheld and why), whether a listener was told, and the result of each replay; also when what failed was deleted, as long as the error is kept. A browser that opens the address without a key is sent to the page in the dashboard.
   */
  getSourceError(input: GetSourceErrorInput, options: CallOptions = {}): Promise<GetSourceErrorAnswer> {
    return this.#transport.send<GetSourceErrorAnswer>({ method: 'GET', path: '/v1/sources/{id}/$errors/event_summaries/{record_id}', query: ['expand'] }, input, options);
  }

  /**
   * Replay an error of a source: `POST /v1/sources/{id}/$errors/{record_id}/replay`
   *
   * Runs the original event again, byte for byte, with the active deployment. The run has a new id and time, the same `trace_id` and `original_ts`, and `replay: true`. With `event`, that event is run instead.
   */
  replaySourceError(input: ReplaySourceErrorInput, options: CallOptions = {}): Promise<ReplaySourceErrorAnswer> {
    return this.#transport.send<ReplaySourceErrorAnswer>({ method: 'POST', path: '/v1/sources/{id}/$errors/{record_id}/replay', body: 'members' }, input, options);
  }

  /**
   * List recent errors of a webhook: `GET /v1/webhooks/{id}/$errors/event_summaries`
   *
   * The newest 100, however old they are. With `expand=event`, each has the original event, its context and the error.
   */
  listWebhookErrors(input: ListWebhookErrorsInput, options: CallOptions = {}): Paged<ListWebhookErrorsAnswer> {
    return this.#transport.list<ListWebhookErrorsAnswer>({ method: 'GET', path: '/v1/webhooks/{id}/$errors/event_summaries', query: ['expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read one error of a webhook: `GET /v1/webhooks/{id}/$errors/event_summaries/{record_id}`
   *
   * Returns its receipts (every run, delivery and mail that it caused, and what was withheld and why), whether a listener was told, and the result of each replay; also when what failed was deleted, as long as the error is kept. A browser that opens the address without a key is sent to the page in the dashboard.
   */
  getWebhookError(input: GetWebhookErrorInput, options: CallOptions = {}): Promise<GetWebhookErrorAnswer> {
    return this.#transport.send<GetWebhookErrorAnswer>({ method: 'GET', path: '/v1/webhooks/{id}/$errors/event_summaries/{record_id}', query: ['expand'] }, input, options);
  }

  /**
   * List recent errors of a heartbeat: `GET /v1/heartbeats/{id}/$errors/event_summaries`
   *
   * The newest 100, however old they are. With `expand=event`, each has the original event, its context and the error.
   */
  listHeartbeatErrors(input: ListHeartbeatErrorsInput, options: CallOptions = {}): Paged<ListHeartbeatErrorsAnswer> {
    return this.#transport.list<ListHeartbeatErrorsAnswer>({ method: 'GET', path: '/v1/heartbeats/{id}/$errors/event_summaries', query: ['expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read one error of a heartbeat: `GET /v1/heartbeats/{id}/$errors/event_summaries/{record_id}`
   *
   * Returns its receipts (every run, delivery and mail that it caused, and what was withheld and why), whether a listener was told, and the result of each replay; also when what failed was deleted, as long as the error is kept. A browser that opens the address without a key is sent to the page in the dashboard.
   */
  getHeartbeatError(input: GetHeartbeatErrorInput, options: CallOptions = {}): Promise<GetHeartbeatErrorAnswer> {
    return this.#transport.send<GetHeartbeatErrorAnswer>({ method: 'GET', path: '/v1/heartbeats/{id}/$errors/event_summaries/{record_id}', query: ['expand'] }, input, options);
  }

  /**
   * List groups of errors: `GET /v1/error_groups`
   *
   * Errors of one workflow, source or webhook with the same step, code, message template and frame are one group. Cursors are places in the list (`start_cursor`, `end_cursor`), not ids: a group that is seen again moves to the front. With `text`, one request looks at no more than 10,000 groups: a page may be short, or empty, although more groups match. Then `next_cursor` says where to go on, `looked_at` how many groups it looked at, and `searched_until_ms` how far it came.
   */
  listErrorGroups(input: ListErrorGroupsInput = {}, options: CallOptions = {}): Paged<ListErrorGroupsAnswer> {
    return this.#transport.list<ListErrorGroupsAnswer>({ method: 'GET', path: '/v1/error_groups', query: ['emitter_id', 'state', 'code', 'since', 'assignee', 'text', 'sort', 'expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * List assignees of groups: `GET /v1/error_groups/assignees`
   *
   * Whom the 10,000 groups that were seen last are assigned to, those with most open groups first: 100 at most. `GET /v1/error_groups?assignee=…` has the groups of one.
   */
  listGroupAssignees(input: ListGroupAssigneesInput = {}, options: CallOptions = {}): Promise<ListGroupAssigneesAnswer> {
    return this.#transport.send<ListGroupAssigneesAnswer>({ method: 'GET', path: '/v1/error_groups/assignees' }, input, options);
  }

  /**
   * Read a group of errors: `GET /v1/error_groups/{id}`
   *
   * With its errors by hour and by deployment, and its newest errors, each with its receipts: who was told. `GET /v1/errors?group_id=…` has all of its errors that are kept.
   */
  getErrorGroup(input: GetErrorGroupInput, options: CallOptions = {}): Promise<GetErrorGroupAnswer> {
    return this.#transport.send<GetErrorGroupAnswer>({ method: 'GET', path: '/v1/error_groups/{id}' }, input, options);
  }

  /**
   * Change a group of errors: `PUT /v1/error_groups/{id}`
   *
   * State, note and assignee. A mute always has an end, and the first of several counts. `resolved`: the next error opens the group again, with `resolved_in_next_deployment` the next error of a later deployment. Channels that were told of the group are told that it recovered. Partial: members that are left out stay as they are.
   */
  updateErrorGroup(input: UpdateErrorGroupInput, options: CallOptions = {}): Promise<UpdateErrorGroupAnswer> {
    return this.#transport.send<UpdateErrorGroupAnswer>({ method: 'PUT', path: '/v1/error_groups/{id}', body: 'members' }, input, options);
  }

  /**
   * Change a group of errors with a merge patch: `PATCH /v1/error_groups/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. State, note and assignee. A mute always has an end, and the first of several counts. `resolved`: the next error opens the group again, with `resolved_in_next_deployment` the next error of a later deployment. Channels that were told of the group are told that it recovered.
   */
  patchErrorGroup(input: PatchErrorGroupInput, options: CallOptions = {}): Promise<PatchErrorGroupAnswer> {
    return this.#transport.send<PatchErrorGroupAnswer>({ method: 'PATCH', path: '/v1/error_groups/{id}', body: 'members' }, input, options);
  }

  /**
   * Compare failures with successes: `GET /v1/error_groups/{id}/differences`
   *
   * Compares the events of the group’s errors with those of successful runs of the same workflow or source until its last error, and later ones of the deployment that failed last: which fields separate them. And what changed from the last good run before the group’s first error to that error: the code, and the types of the event’s fields. It looks at the newest 500 errors and 1,000 successes at most, and says at how many.
   */
  getErrorGroupDifferences(input: GetErrorGroupDifferencesInput, options: CallOptions = {}): Promise<GetErrorGroupDifferencesAnswer> {
    return this.#transport.send<GetErrorGroupDifferencesAnswer>({ method: 'GET', path: '/v1/error_groups/{id}/differences' }, input, options);
  }

  /**
   * Preview the grouping of a workflow’s errors: `POST /v1/workflows/{id}/error_groups/preview`
   *
   * Shows the groups that rules (`settings.grouping`) would make of the workflow’s last 100 errors; nothing is changed. Rules apply to errors that come after they were set.
   */
  previewErrorGroups(input: PreviewErrorGroupsInput, options: CallOptions = {}): Promise<PreviewErrorGroupsAnswer> {
    return this.#transport.send<PreviewErrorGroupsAnswer>({ method: 'POST', path: '/v1/workflows/{id}/error_groups/preview', body: 'members' }, input, options);
  }

  /**
   * Stream all errors: `GET /v1/errors/stream`
   *
   * Server-sent events, as those of one emitter (`GET /v1/emitters/{id}/events`): every error of all workflows, sources and webhooks from now on, also of those that are created later; each as the listings show it with `expand=event`. `Last-Event-ID` goes on behind that error. Parameters that are given must all match.
   */
  streamErrors(input: StreamErrorsInput = {}, options: StreamOptions = {}): AsyncIterable<StreamEvent<StreamErrorsItem>> {
    return this.#transport.events<StreamErrorsItem>({ method: 'GET', path: '/v1/errors/stream', query: ['emitter_id', 'code', 'group_id', 'step', 'text', 'deployment_id', 'last_event_id', 'lastEventId'] }, input, options);
  }

  /**
   * Export all errors: `GET /v1/errors/export`
   *
   * Everything that is kept, oldest first: one JSON object a line, with the original event as a string that holds its text exactly as it arrived (`original_event_text`; should the bytes be no UTF-8, `original_event_base64`). The last line is `{"end": {"complete", "cursor", "count"}}`. Without it the answer was cut off; with `"complete": false` the server stopped. Both go on with `after`: the `id` of the last line, or that cursor, which also exports later what came since.
   */
  exportErrors(input: ExportErrorsInput = {}, options: CallOptions = {}): AsyncIterable<ExportErrorsItem> {
    return this.#transport.lines<ExportErrorsItem>({ method: 'GET', path: '/v1/errors/export', query: ['emitter_id', 'code', 'group_id', 'step', 'text', 'deployment_id', 'since', 'until', 'after'] }, input, options);
  }

  /**
   * Export the errors of a workflow: `GET /v1/workflows/{id}/$errors/export`
   *
   * Everything that is kept, oldest first: one JSON object a line, with the original event as a string that holds its text exactly as it arrived (`original_event_text`; should the bytes be no UTF-8, `original_event_base64`). The last line is `{"end": {"complete", "cursor", "count"}}`. Without it the answer was cut off; with `"complete": false` the server stopped. Both go on with `after`: the `id` of the last line, or that cursor, which also exports later what came since.
   */
  exportWorkflowErrors(input: ExportWorkflowErrorsInput, options: CallOptions = {}): AsyncIterable<ExportWorkflowErrorsItem> {
    return this.#transport.lines<ExportWorkflowErrorsItem>({ method: 'GET', path: '/v1/workflows/{id}/$errors/export', query: ['code', 'group_id', 'step', 'text', 'deployment_id', 'since', 'until', 'after'] }, input, options);
  }

  /**
   * Export the errors of a source: `GET /v1/sources/{id}/$errors/export`
   *
   * Everything that is kept, oldest first: one JSON object a line, with the original event as a string that holds its text exactly as it arrived (`original_event_text`; should the bytes be no UTF-8, `original_event_base64`). The last line is `{"end": {"complete", "cursor", "count"}}`. Without it the answer was cut off; with `"complete": false` the server stopped. Both go on with `after`: the `id` of the last line, or that cursor, which also exports later what came since.
   */
  exportSourceErrors(input: ExportSourceErrorsInput, options: CallOptions = {}): AsyncIterable<ExportSourceErrorsItem> {
    return this.#transport.lines<ExportSourceErrorsItem>({ method: 'GET', path: '/v1/sources/{id}/$errors/export', query: ['code', 'group_id', 'step', 'text', 'deployment_id', 'since', 'until', 'after'] }, input, options);
  }

  /**
   * Export the errors of a webhook: `GET /v1/webhooks/{id}/$errors/export`
   *
   * Everything that is kept, oldest first: one JSON object a line, with the original event as a string that holds its text exactly as it arrived (`original_event_text`; should the bytes be no UTF-8, `original_event_base64`). The last line is `{"end": {"complete", "cursor", "count"}}`. Without it the answer was cut off; with `"complete": false` the server stopped. Both go on with `after`: the `id` of the last line, or that cursor, which also exports later what came since.
   */
  exportWebhookErrors(input: ExportWebhookErrorsInput, options: CallOptions = {}): AsyncIterable<ExportWebhookErrorsItem> {
    return this.#transport.lines<ExportWebhookErrorsItem>({ method: 'GET', path: '/v1/webhooks/{id}/$errors/export', query: ['code', 'group_id', 'step', 'text', 'deployment_id', 'since', 'until', 'after'] }, input, options);
  }

  /**
   * Read an error as a test’s fixture: `GET /v1/errors/{record_id}/fixture`
   *
   * A file for a test of your own: the original event byte for byte, its context, the step that failed and how. `runFixture` of `errand/testing` runs a workflow’s code with it. Of an event that rules redact it has what they leave, and says so.
   */
  getErrorFixture(input: GetErrorFixtureInput, options: CallOptions = {}): Promise<GetErrorFixtureAnswer> {
    return this.#transport.send<GetErrorFixtureAnswer>({ method: 'GET', path: '/v1/errors/{record_id}/fixture' }, input, options);
  }

  /**
   * List events of a workflow: `GET /v1/workflows/{id}/event_summaries`
   *
   * The newest 100 with one name, or without a name. They are always kept. `expand=event` adds the event to each, byte for byte.
   */
  listWorkflowEvents(input: ListWorkflowEventsInput, options: CallOptions = {}): Paged<ListWorkflowEventsAnswer> {
    return this.#transport.list<ListWorkflowEventsAnswer>({ method: 'GET', path: '/v1/workflows/{id}/event_summaries', query: ['event_name', 'expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read one event of a workflow: `GET /v1/workflows/{id}/event_summaries/{record_id}`
   *
   * Returns its receipts: every run and delivery that it caused, with its state, and what was withheld and why. The id may be that of the record, or the emit id, which is also the `webhook-id` of deliveries. 404 when retention has deleted the event.
   */
  getWorkflowEvent(input: GetWorkflowEventInput, options: CallOptions = {}): Promise<GetWorkflowEventAnswer> {
    return this.#transport.send<GetWorkflowEventAnswer>({ method: 'GET', path: '/v1/workflows/{id}/event_summaries/{record_id}', query: ['expand'] }, input, options);
  }

  /**
   * List events of a source: `GET /v1/sources/{id}/event_summaries`
   *
   * The newest 100 with one name, or without a name. They are always kept. `expand=event` adds the event to each, byte for byte. `event_name=$in` lists what was emitted for a later time (`delivery_ts`) and waits: all of it, with the name (`metadata.event_name`) and time that it will have.
   */
  listSourceEvents(input: ListSourceEventsInput, options: CallOptions = {}): Paged<ListSourceEventsAnswer> {
    return this.#transport.list<ListSourceEventsAnswer>({ method: 'GET', path: '/v1/sources/{id}/event_summaries', query: ['event_name', 'item_id', 'expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read one event of a source: `GET /v1/sources/{id}/event_summaries/{record_id}`
   *
   * Returns its receipts: every run and delivery that it caused, with its state, and what was withheld and why. The id may be that of the record, or the emit id, which is also the `webhook-id` of deliveries. 404 when retention has deleted the event.
   */
  getSourceEvent(input: GetSourceEventInput, options: CallOptions = {}): Promise<GetSourceEventAnswer> {
    return this.#transport.send<GetSourceEventAnswer>({ method: 'GET', path: '/v1/sources/{id}/event_summaries/{record_id}', query: ['expand'] }, input, options);
  }

  /**
   * Delete one event of a source: `DELETE /v1/sources/{id}/event_summaries/{record_id}`
   *
   * One that was emitted is listed no more; one that waits in `$in` is never emitted. Errors stay.
   */
  deleteSourceEvent(input: DeleteSourceEventInput, options: CallOptions = {}): Promise<DeleteSourceEventAnswer> {
    return this.#transport.send<DeleteSourceEventAnswer>({ method: 'DELETE', path: '/v1/sources/{id}/event_summaries/{record_id}' }, input, options);
  }

  /**
   * List events of a heartbeat: `GET /v1/heartbeats/{id}/event_summaries`
   *
   * The newest 100 with one name, or without a name. They are always kept. `expand=event` adds the event to each, byte for byte.
   */
  listHeartbeatEvents(input: ListHeartbeatEventsInput, options: CallOptions = {}): Paged<ListHeartbeatEventsAnswer> {
    return this.#transport.list<ListHeartbeatEventsAnswer>({ method: 'GET', path: '/v1/heartbeats/{id}/event_summaries', query: ['event_name', 'expand', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read one event of a heartbeat: `GET /v1/heartbeats/{id}/event_summaries/{record_id}`
   *
   * Returns its receipts: every run and delivery that it caused, with its state, and what was withheld and why. The id may be that of the record, or the emit id, which is also the `webhook-id` of deliveries. 404 when retention has deleted the event.
   */
  getHeartbeatEvent(input: GetHeartbeatEventInput, options: CallOptions = {}): Promise<GetHeartbeatEventAnswer> {
    return this.#transport.send<GetHeartbeatEventAnswer>({ method: 'GET', path: '/v1/heartbeats/{id}/event_summaries/{record_id}', query: ['expand'] }, input, options);
  }

  /**
   * Read one event: `GET /v1/events/{id}`
   *
   * The id is that which the address of a trigger has returned. Returns the event of any emitter with its receipts: who got it, and from whom it was withheld and why. 404 when retention has deleted the event.
   */
  getEvent(input: GetEventInput, options: CallOptions = {}): Promise<GetEventAnswer> {
    return this.#transport.send<GetEventAnswer>({ method: 'GET', path: '/v1/events/{id}', query: ['expand'] }, input, options);
  }

  /**
   * Stream events of an emitter: `GET /v1/emitters/{id}/events`
   *
   * Server-sent events: each with the record’s id, the name of the event (none when it has no name), and as data `{id, indexed_at_ms, event, metadata}`, as the listings show it with `expand=event`. Begins with what is emitted from now on, or, with `Last-Event-ID`, behind that record: everything that is still kept, in order and without a gap. When something may be gone that came after it, the first event is called `$gap`. A comment comes at least every 15 seconds. The key goes into the `Authorization` header, never into the address, which ends up in logs.
   */
  streamEvents(input: StreamEventsInput, options: StreamOptions = {}): AsyncIterable<StreamEvent<StreamEventsItem>> {
    return this.#transport.events<StreamEventsItem>({ method: 'GET', path: '/v1/emitters/{id}/events', query: ['event_name', 'last_event_id', 'lastEventId'] }, input, options);
  }

  /**
   * Stream events of a source: `GET /sse/dc/{id}/emits`
   *
   * The same as `GET /v1/emitters/{id}/events`, of a source.
   */
  streamSourceEvents(input: StreamSourceEventsInput, options: StreamOptions = {}): AsyncIterable<StreamEvent<StreamSourceEventsItem>> {
    return this.#transport.events<StreamSourceEventsItem>({ method: 'GET', path: '/sse/dc/{id}/emits', query: ['event_name', 'last_event_id', 'lastEventId'] }, input, options);
  }

  /**
   * List runs of a workflow: `GET /v1/workflows/{id}/runs`
   *
   * Newest first. `emission_id` is the id of the event that started the run, which its sender got in the answer.
   */
  listRuns(input: ListRunsInput, options: CallOptions = {}): Paged<ListRunsAnswer> {
    return this.#transport.list<ListRunsAnswer>({ method: 'GET', path: '/v1/workflows/{id}/runs', query: ['state', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Run a workflow: `POST /v1/workflows/{id}/runs`
   *
   * Runs the workflow with this event, whatever its triggers are. The code gets the bytes of `event` as they were sent.
   */
  runWorkflow(input: RunWorkflowInput, options: CallOptions = {}): Promise<RunWorkflowAnswer> {
    return this.#transport.send<RunWorkflowAnswer>({ method: 'POST', path: '/v1/workflows/{id}/runs', body: 'members' }, input, options);
  }

  /**
   * Read a run: `GET /v1/runs/{id}`
   *
   * Returns the state and times of the run, its event as it arrived, each step with its return value and exports, the log lines, the error, what caused the run, and what it caused.
   */
  getRun(input: GetRunInput, options: CallOptions = {}): Promise<GetRunAnswer> {
    return this.#transport.send<GetRunAnswer>({ method: 'GET', path: '/v1/runs/{id}' }, input, options);
  }

  /**
   * Cancel a run: `POST /v1/runs/{id}/cancel`
   *
   * A queued or waiting run is cancelled at once; a running one is asked to stop. The answer has the state after that.
   */
  cancelRun(input: CancelRunInput, options: CallOptions = {}): Promise<CancelRunAnswer> {
    return this.#transport.send<CancelRunAnswer>({ method: 'POST', path: '/v1/runs/{id}/cancel' }, input, options);
  }

  /**
   * Resume a waiting run: `POST /v1/runs/{id}/resume`
   *
   * Does the same as a request to its `resume_url`: the run continues with the next step, where `data` is `$resume_data` of the step that waited, with its bytes as they were sent. 409 when the run does not wait, or waits for a retry.
   */
  resumeRun(input: ResumeRunInput, options: CallOptions = {}): Promise<ResumeRunAnswer> {
    return this.#transport.send<ResumeRunAnswer>({ method: 'POST', path: '/v1/runs/{id}/resume', body: 'members' }, input, options);
  }

  /**
   * Retry a failed run: `POST /v1/runs/{id}/retry`
   *
   * Creates a new run with the same event, byte for byte, and the active deployment. It starts at the step that failed, with the results of the steps before it. 409 when the run has not failed, or was already retried and `again` is not true; 422 when the active deployment has other steps before the failed one.
   */
  retryRun(input: RetryRunInput, options: CallOptions = {}): Promise<RetryRunAnswer> {
    return this.#transport.send<RetryRunAnswer>({ method: 'POST', path: '/v1/runs/{id}/retry', body: 'members' }, input, options);
  }

  /**
   * List sources: `GET /v1/sources`
   *
   * Newest first, without their code.
   */
  listSources(input: ListSourcesInput = {}, options: CallOptions = {}): Paged<ListSourcesAnswer> {
    return this.#transport.list<ListSourcesAnswer>({ method: 'GET', path: '/v1/sources', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create a source: `POST /v1/sources`
   *
   * Deploys a component, given as code, by its path in the server’s folder of components, or by the key of a built-in one. Its hooks `deploy` and `activate` run before the answer. If a hook throws, the answer is 422, and no source is created.
   */
  createSource(input: CreateSourceInput = {}, options: CallOptions = {}): Promise<CreateSourceAnswer> {
    return this.#transport.send<CreateSourceAnswer>({ method: 'POST', path: '/v1/sources', body: 'members' }, input, options);
  }

  /**
   * List your sources: `GET /v1/users/me/sources`
   *
   * The same as `GET /v1/sources`.
   */
  listMySources(input: ListMySourcesInput = {}, options: CallOptions = {}): Paged<ListMySourcesAnswer> {
    return this.#transport.list<ListMySourcesAnswer>({ method: 'GET', path: '/v1/users/me/sources', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read a source: `GET /v1/sources/{id}`
   *
   * Returns its code, and its address if it has an HTTP interface.
   */
  getSource(input: GetSourceInput, options: CallOptions = {}): Promise<GetSourceAnswer> {
    return this.#transport.send<GetSourceAnswer>({ method: 'GET', path: '/v1/sources/{id}' }, input, options);
  }

  /**
   * Change a source: `PUT /v1/sources/{id}`
   *
   * The hook `deactivate` runs before the change, and `activate` after it. The id and the address stay the same. With the same `component_path` or `component`, its current code is deployed. Partial: members that are left out stay as they are.
   */
  updateSource(input: UpdateSourceInput, options: CallOptions = {}): Promise<UpdateSourceAnswer> {
    return this.#transport.send<UpdateSourceAnswer>({ method: 'PUT', path: '/v1/sources/{id}', body: 'members' }, input, options);
  }

  /**
   * Delete a source: `DELETE /v1/sources/{id}`
   *
   * Runs its hook `deactivate`, and deletes the source even if the hook fails.
   */
  deleteSource(input: DeleteSourceInput, options: CallOptions = {}): Promise<DeleteSourceAnswer> {
    return this.#transport.send<DeleteSourceAnswer>({ method: 'DELETE', path: '/v1/sources/{id}' }, input, options);
  }

  /**
   * Change a source with a merge patch: `PATCH /v1/sources/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. The hook `deactivate` runs before the change, and `activate` after it. The id and the address stay the same. With the same `component_path` or `component`, its current code is deployed.
   */
  patchSource(input: PatchSourceInput, options: CallOptions = {}): Promise<PatchSourceAnswer> {
    return this.#transport.send<PatchSourceAnswer>({ method: 'PATCH', path: '/v1/sources/{id}', body: 'members' }, input, options);
  }

  /**
   * Delete events of a source: `DELETE /v1/sources/{id}/events`
   *
   * All events, those with one name, or those from one id to another. The errors of the source stay; so do events that wait for their time, unless `event_name` is `$in`.
   */
  deleteSourceEvents(input: DeleteSourceEventsInput, options: CallOptions = {}): Promise<DeleteSourceEventsAnswer> {
    return this.#transport.send<DeleteSourceEventsAnswer>({ method: 'DELETE', path: '/v1/sources/{id}/events', body: 'members' }, input, options);
  }

  /**
   * Run a source now: `POST /v1/sources/{id}/invoke`
   *
   * Runs it with `event`. Without `event`, with the event that its timer would emit now, or with an empty object.
   */
  invokeSource(input: InvokeSourceInput, options: CallOptions = {}): Promise<InvokeSourceAnswer> {
    return this.#transport.send<InvokeSourceAnswer>({ method: 'POST', path: '/v1/sources/{id}/invoke', body: 'members' }, input, options);
  }

  /**
   * Read the log of a source: `GET /v1/sources/{id}/logs`
   *
   * The log lines of its last 100 runs: newest run first, the lines of a run in their order. `after` goes on behind a line, `before` has those in front of one.
   */
  listSourceLogs(input: ListSourceLogsInput, options: CallOptions = {}): Paged<ListSourceLogsAnswer> {
    return this.#transport.list<ListSourceLogsAnswer>({ method: 'GET', path: '/v1/sources/{id}/logs', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read the state of a source: `GET /v1/sources/{id}/state`
   *
   * What it has in `$.service.db` since its last run that ended: 100 names, from the first one or behind `skip` of them. What you hide is hidden.
   */
  getSourceState(input: GetSourceStateInput, options: CallOptions = {}): Promise<GetSourceStateAnswer> {
    return this.#transport.send<GetSourceStateAnswer>({ method: 'GET', path: '/v1/sources/{id}/state', query: ['skip'] }, input, options);
  }

  /**
   * Deploy a source file: `PUT /v1/source_files`
   *
   * The request that `errand deploy` sends: a source component, bundled with everything that it imports. The same path is the same source, which is created, changed, or left as it is. `configured_props` replaces all props; without it, they stay, except those that the code no longer has.
   */
  deploySourceFile(input: DeploySourceFileInput, options: CallOptions = {}): Promise<DeploySourceFileAnswer> {
    return this.#transport.send<DeploySourceFileAnswer>({ method: 'PUT', path: '/v1/source_files', body: 'members' }, input, options);
  }

  /**
   * List built-in components: `GET /v1/components`
   *
   * The sources that come with Errand, sorted by key. Create one with `POST /v1/sources` and its key as `component`.
   */
  listComponents(input: ListComponentsInput = {}, options: CallOptions = {}): Promise<ListComponentsAnswer> {
    return this.#transport.send<ListComponentsAnswer>({ method: 'GET', path: '/v1/components' }, input, options);
  }

  /**
   * Read a built-in component: `GET /v1/components/{key}`
   *
   * Returns what it does, and its props.
   */
  getComponent(input: GetComponentInput, options: CallOptions = {}): Promise<GetComponentAnswer> {
    return this.#transport.send<GetComponentAnswer>({ method: 'GET', path: '/v1/components/{key}' }, input, options);
  }

  /**
   * Read the options of a prop: `POST /v1/components/configure`
   *
   * Runs the function `options` of the prop in a process of its own, with the props that are configured so far. If it throws, the answer is 422 with message and stack.
   */
  configureProp(input: ConfigurePropInput, options: CallOptions = {}): Promise<ConfigurePropAnswer> {
    return this.#transport.send<ConfigurePropAnswer>({ method: 'POST', path: '/v1/components/configure', body: 'members' }, input, options);
  }

  /**
   * Read the props of a component: `POST /v1/components/props`
   *
   * Returns the props that the component declares, and those that its `additionalProps` adds for the given configuration. Ask again when a prop with `reloadProps` changes. If `additionalProps` throws, `additional_props_error` has the error, and the answer the props that are known without it.
   */
  reloadProps(input: ReloadPropsInput = {}, options: CallOptions = {}): Promise<ReloadPropsAnswer> {
    return this.#transport.send<ReloadPropsAnswer>({ method: 'POST', path: '/v1/components/props', body: 'members' }, input, options);
  }

  /**
   * Check whether components would run here: `POST /v1/components/check`
   *
   * Bundles and loads code, or each file of a folder, as a deployment does, and stores nothing. The answer says why a component would not run, which packages are missing, and which accounts it needs. It covers at most 100 files, or as many as were started within 30 seconds, in the order of their paths.
   */
  checkComponents(input: CheckComponentsInput = {}, options: CallOptions = {}): Promise<CheckComponentsAnswer> {
    return this.#transport.send<CheckComponentsAnswer>({ method: 'POST', path: '/v1/components/check', body: 'members' }, input, options);
  }

  /**
   * List accounts: `GET /v1/accounts`
   *
   * Newest first.
   */
  listAccounts(input: ListAccountsInput = {}, options: CallOptions = {}): Paged<ListAccountsAnswer> {
    return this.#transport.list<ListAccountsAnswer>({ method: 'GET', path: '/v1/accounts', query: ['app', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create an account: `POST /v1/accounts`
   *
   * An account holds the credentials with which code calls an app for you. A source or step uses it when the value of its app prop is `{"authProvisionId": "apn_…"}`.
   */
  createAccount(input: CreateAccountInput, options: CallOptions = {}): Promise<CreateAccountAnswer> {
    return this.#transport.send<CreateAccountAnswer>({ method: 'POST', path: '/v1/accounts', body: 'members' }, input, options);
  }

  /**
   * List your accounts: `GET /v1/users/me/accounts`
   *
   * The same as `GET /v1/accounts`.
   */
  listMyAccounts(input: ListMyAccountsInput = {}, options: CallOptions = {}): Paged<ListMyAccountsAnswer> {
    return this.#transport.list<ListMyAccountsAnswer>({ method: 'GET', path: '/v1/users/me/accounts', query: ['app', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read an account: `GET /v1/accounts/{id}`
   *
   * Returns the names of its fields; their values are never shown.
   */
  getAccount(input: GetAccountInput, options: CallOptions = {}): Promise<GetAccountAnswer> {
    return this.#transport.send<GetAccountAnswer>({ method: 'GET', path: '/v1/accounts/{id}' }, input, options);
  }

  /**
   * Change an account: `PUT /v1/accounts/{id}`
   *
   * Changes single `fields` and members of `oauth`: those that are left out stay as they are, null removes one. The next run that uses the account gets the new values. Partial: members that are left out stay as they are.
   */
  updateAccount(input: UpdateAccountInput, options: CallOptions = {}): Promise<UpdateAccountAnswer> {
    return this.#transport.send<UpdateAccountAnswer>({ method: 'PUT', path: '/v1/accounts/{id}', body: 'members' }, input, options);
  }

  /**
   * Delete an account: `DELETE /v1/accounts/{id}`
   *
   * An account in use can be deleted, too: runs of a source or step that names it then fail with `ConfigurationError`.
   */
  deleteAccount(input: DeleteAccountInput, options: CallOptions = {}): Promise<DeleteAccountAnswer> {
    return this.#transport.send<DeleteAccountAnswer>({ method: 'DELETE', path: '/v1/accounts/{id}' }, input, options);
  }

  /**
   * Change an account with a merge patch: `PATCH /v1/accounts/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. Changes single `fields` and members of `oauth`: those that are left out stay as they are, null removes one. The next run that uses the account gets the new values.
   */
  patchAccount(input: PatchAccountInput, options: CallOptions = {}): Promise<PatchAccountAnswer> {
    return this.#transport.send<PatchAccountAnswer>({ method: 'PATCH', path: '/v1/accounts/{id}', body: 'members' }, input, options);
  }

  /**
   * Renew the token of an account: `POST /v1/accounts/{id}/renew`
   *
   * Gets a new `oauth_access_token` now, as is done before runs when it is due. Refused with what the token server said when it gives none (422).
   */
  renewAccount(input: RenewAccountInput, options: CallOptions = {}): Promise<RenewAccountAnswer> {
    return this.#transport.send<RenewAccountAnswer>({ method: 'POST', path: '/v1/accounts/{id}/renew' }, input, options);
  }

  /**
   * List channels: `GET /v1/channels`
   *
   * Newest first.
   */
  listChannels(input: ListChannelsInput = {}, options: CallOptions = {}): Paged<ListChannelsAnswer> {
    return this.#transport.list<ListChannelsAnswer>({ method: 'GET', path: '/v1/channels', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create a channel: `POST /v1/channels`
   *
   * A channel receives notices about errors. It gets none until you choose it: for all errors, in `channels` of `PUT /v1/users/me`; for those of one workflow, in its setting `channels`.
   */
  createChannel(input: CreateChannelInput, options: CallOptions = {}): Promise<CreateChannelAnswer> {
    return this.#transport.send<CreateChannelAnswer>({ method: 'POST', path: '/v1/channels', body: 'members' }, input, options);
  }

  /**
   * Read a channel: `GET /v1/channels/{id}`
   *
   * Returns the channel without the secret members of its `config`.
   */
  getChannel(input: GetChannelInput, options: CallOptions = {}): Promise<GetChannelAnswer> {
    return this.#transport.send<GetChannelAnswer>({ method: 'GET', path: '/v1/channels/{id}' }, input, options);
  }

  /**
   * Change a channel: `PUT /v1/channels/{id}`
   *
   * Changes single members of `config`: those that are left out stay as they are, null removes one, and a hidden value that is sent back as it was shown stays what it is. Retries of deliveries use the new configuration. Partial: members that are left out stay as they are.
   */
  updateChannel(input: UpdateChannelInput, options: CallOptions = {}): Promise<UpdateChannelAnswer> {
    return this.#transport.send<UpdateChannelAnswer>({ method: 'PUT', path: '/v1/channels/{id}', body: 'members' }, input, options);
  }

  /**
   * Delete a channel: `DELETE /v1/channels/{id}`
   *
   * Nothing is sent to the channel from then on, and it is taken out of the `channels` of `/v1/users/me`. While workflows name it in their setting `channels`, the answer is 409 and says which.
   */
  deleteChannel(input: DeleteChannelInput, options: CallOptions = {}): Promise<DeleteChannelAnswer> {
    return this.#transport.send<DeleteChannelAnswer>({ method: 'DELETE', path: '/v1/channels/{id}' }, input, options);
  }

  /**
   * Change a channel with a merge patch: `PATCH /v1/channels/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. Changes single members of `config`: those that are left out stay as they are, null removes one, and a hidden value that is sent back as it was shown stays what it is. Retries of deliveries use the new configuration.
   */
  patchChannel(input: PatchChannelInput, options: CallOptions = {}): Promise<PatchChannelAnswer> {
    return this.#transport.send<PatchChannelAnswer>({ method: 'PATCH', path: '/v1/channels/{id}', body: 'members' }, input, options);
  }

  /**
   * Send a test notice: `POST /v1/channels/{id}/test`
   *
   * Sends one notice now, also to a channel that is not active, and returns the response. Nothing of it is stored. PagerDuty and Opsgenie get the end of an incident that never began, which shows whether they accept the key.
   */
  testChannel(input: TestChannelInput, options: CallOptions = {}): Promise<TestChannelAnswer> {
    return this.#transport.send<TestChannelAnswer>({ method: 'POST', path: '/v1/channels/{id}/test' }, input, options);
  }

  /**
   * List data stores: `GET /v1/data_stores`
   *
   * Newest first.
   */
  listDataStores(input: ListDataStoresInput = {}, options: CallOptions = {}): Paged<ListDataStoresAnswer> {
    return this.#transport.list<ListDataStoresAnswer>({ method: 'GET', path: '/v1/data_stores', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create a data store: `POST /v1/data_stores`
   *
   * A data store has keys and values that code shares. A source or step uses it when the value of its `data_store` prop is the id.
   */
  createDataStore(input: CreateDataStoreInput, options: CallOptions = {}): Promise<CreateDataStoreAnswer> {
    return this.#transport.send<CreateDataStoreAnswer>({ method: 'POST', path: '/v1/data_stores', body: 'members' }, input, options);
  }

  /**
   * Read a data store: `GET /v1/data_stores/{id}`
   *
   * Returns the data store with the number of its records.
   */
  getDataStore(input: GetDataStoreInput, options: CallOptions = {}): Promise<GetDataStoreAnswer> {
    return this.#transport.send<GetDataStoreAnswer>({ method: 'GET', path: '/v1/data_stores/{id}' }, input, options);
  }

  /**
   * Rename a data store: `PUT /v1/data_stores/{id}`
   *
   * Its records stay. Partial: members that are left out stay as they are.
   */
  updateDataStore(input: UpdateDataStoreInput, options: CallOptions = {}): Promise<UpdateDataStoreAnswer> {
    return this.#transport.send<UpdateDataStoreAnswer>({ method: 'PUT', path: '/v1/data_stores/{id}', body: 'members' }, input, options);
  }

  /**
   * Delete a data store: `DELETE /v1/data_stores/{id}`
   *
   * Deletes the data store with its records, even when it is in use: calls from code then fail.
   */
  deleteDataStore(input: DeleteDataStoreInput, options: CallOptions = {}): Promise<DeleteDataStoreAnswer> {
    return this.#transport.send<DeleteDataStoreAnswer>({ method: 'DELETE', path: '/v1/data_stores/{id}' }, input, options);
  }

  /**
   * Rename a data store with a merge patch: `PATCH /v1/data_stores/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. Its records stay.
   */
  patchDataStore(input: PatchDataStoreInput, options: CallOptions = {}): Promise<PatchDataStoreAnswer> {
    return this.#transport.send<PatchDataStoreAnswer>({ method: 'PATCH', path: '/v1/data_stores/{id}', body: 'members' }, input, options);
  }

  /**
   * List the records of a data store: `GET /v1/data_stores/{id}/records`
   *
   * In the order of their keys, which are the cursors: `after` goes on behind a key, `before` gives those in front of it. A page ends early when its values have 1048576 bytes together; the last page is the one that is empty.
   */
  listDataRecords(input: ListDataRecordsInput, options: CallOptions = {}): Paged<ListDataRecordsAnswer> {
    return this.#transport.list<ListDataRecordsAnswer>({ method: 'GET', path: '/v1/data_stores/{id}/records', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Delete all records of a data store: `DELETE /v1/data_stores/{id}/records`
   *
   * Deletes them at once. The data store itself stays.
   */
  clearDataStore(input: ClearDataStoreInput, options: CallOptions = {}): Promise<ClearDataStoreAnswer> {
    return this.#transport.send<ClearDataStoreAnswer>({ method: 'DELETE', path: '/v1/data_stores/{id}/records' }, input, options);
  }

  /**
   * Read a record: `GET /v1/data_stores/{id}/records/{key}`
   *
   * Its value as it was written.
   */
  getDataRecord(input: GetDataRecordInput, options: CallOptions = {}): Promise<GetDataRecordAnswer> {
    return this.#transport.send<GetDataRecordAnswer>({ method: 'GET', path: '/v1/data_stores/{id}/records/{key}' }, input, options);
  }

  /**
   * Write a record: `PUT /v1/data_stores/{id}/records/{key}`
   *
   * Creates or replaces the record. Keys have 1 to 255 characters; a data store has at most 100000 records. With `If-Match`, a record that is not there is not created, and with `If-None-Match: *` one that is there is not replaced: 412.
   */
  setDataRecord(input: SetDataRecordInput, options: CallOptions = {}): Promise<SetDataRecordAnswer> {
    return this.#transport.send<SetDataRecordAnswer>({ method: 'PUT', path: '/v1/data_stores/{id}/records/{key}', body: 'members' }, input, options);
  }

  /**
   * Delete a record: `DELETE /v1/data_stores/{id}/records/{key}`
   *
   * The answer is the record as it was. With `If-Match`, a record that was changed or deleted since it was read: 412.
   */
  deleteDataRecord(input: DeleteDataRecordInput, options: CallOptions = {}): Promise<DeleteDataRecordAnswer> {
    return this.#transport.send<DeleteDataRecordAnswer>({ method: 'DELETE', path: '/v1/data_stores/{id}/records/{key}' }, input, options);
  }

  /**
   * List webhooks: `GET /v1/webhooks`
   *
   * Newest first.
   */
  listWebhooks(input: ListWebhooksInput = {}, options: CallOptions = {}): Paged<ListWebhooksAnswer> {
    return this.#transport.list<ListWebhooksAnswer>({ method: 'GET', path: '/v1/webhooks', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create a webhook: `POST /v1/webhooks`
   *
   * A webhook is an HTTP endpoint of yours. Subscriptions decide which events are delivered to it. `secret`, with which a receiver checks the signature, is returned only here.
   */
  createWebhook(input: CreateWebhookInput, options: CallOptions = {}): Promise<CreateWebhookAnswer> {
    return this.#transport.send<CreateWebhookAnswer>({ method: 'POST', path: '/v1/webhooks', body: 'members' }, input, options);
  }

  /**
   * List your webhooks: `GET /v1/users/me/webhooks`
   *
   * The same as `GET /v1/webhooks`.
   */
  listMyWebhooks(input: ListMyWebhooksInput = {}, options: CallOptions = {}): Paged<ListMyWebhooksAnswer> {
    return this.#transport.list<ListMyWebhooksAnswer>({ method: 'GET', path: '/v1/users/me/webhooks', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read a webhook: `GET /v1/webhooks/{id}`
   *
   * Returns its settings, its health and its public keys, but not its secret.
   */
  getWebhook(input: GetWebhookInput, options: CallOptions = {}): Promise<GetWebhookAnswer> {
    return this.#transport.send<GetWebhookAnswer>({ method: 'GET', path: '/v1/webhooks/{id}' }, input, options);
  }

  /**
   * Change a webhook: `PUT /v1/webhooks/{id}`
   *
   * Null restores the default of a setting. Partial: members that are left out stay as they are.
   */
  updateWebhook(input: UpdateWebhookInput, options: CallOptions = {}): Promise<UpdateWebhookAnswer> {
    return this.#transport.send<UpdateWebhookAnswer>({ method: 'PUT', path: '/v1/webhooks/{id}', body: 'members' }, input, options);
  }

  /**
   * Delete a webhook: `DELETE /v1/webhooks/{id}`
   *
   * Deletes the webhook with its subscriptions, and cancels its open deliveries.
   */
  deleteWebhook(input: DeleteWebhookInput, options: CallOptions = {}): Promise<DeleteWebhookAnswer> {
    return this.#transport.send<DeleteWebhookAnswer>({ method: 'DELETE', path: '/v1/webhooks/{id}' }, input, options);
  }

  /**
   * Change a webhook with a merge patch: `PATCH /v1/webhooks/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. Null restores the default of a setting.
   */
  patchWebhook(input: PatchWebhookInput, options: CallOptions = {}): Promise<PatchWebhookAnswer> {
    return this.#transport.send<PatchWebhookAnswer>({ method: 'PATCH', path: '/v1/webhooks/{id}', body: 'members' }, input, options);
  }

  /**
   * Replace a webhook’s secret: `POST /v1/webhooks/{id}/rotate_secret`
   *
   * For `overlap_s` seconds, requests are also signed with the previous secrets, so that receivers have time to switch to the new one. The same holds for `v1a` keys. The new `secret` is returned only here.
   */
  rotateWebhookSecret(input: RotateWebhookSecretInput, options: CallOptions = {}): Promise<RotateWebhookSecretAnswer> {
    return this.#transport.send<RotateWebhookSecretAnswer>({ method: 'POST', path: '/v1/webhooks/{id}/rotate_secret', body: 'members' }, input, options);
  }

  /**
   * List public keys: `GET /v1/webhook_keys`
   *
   * The ed25519 keys of all webhooks that sign requests now. Receivers check `v1a` signatures with them. Newest webhook first.
   */
  listWebhookKeys(input: ListWebhookKeysInput = {}, options: CallOptions = {}): Paged<ListWebhookKeysAnswer> {
    return this.#transport.list<ListWebhookKeysAnswer>({ method: 'GET', path: '/v1/webhook_keys', query: ['webhook_id', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Send a test delivery: `POST /v1/webhooks/{id}/test`
   *
   * Sends one request now, also to a webhook that is not active, and returns the whole exchange. It is signed like any other request, with `errand-trigger: test`. Nothing of it is stored: there is no delivery and no retry, and the health of the webhook does not change.
   */
  testWebhook(input: TestWebhookInput, options: CallOptions = {}): Promise<TestWebhookAnswer> {
    return this.#transport.send<TestWebhookAnswer>({ method: 'POST', path: '/v1/webhooks/{id}/test', body: 'members' }, input, options);
  }

  /**
   * List heartbeats: `GET /v1/heartbeats`
   *
   * Newest first.
   */
  listHeartbeats(input: ListHeartbeatsInput = {}, options: CallOptions = {}): Paged<ListHeartbeatsAnswer> {
    return this.#transport.list<ListHeartbeatsAnswer>({ method: 'GET', path: '/v1/heartbeats', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create a heartbeat: `POST /v1/heartbeats`
   *
   * An address that a job of yours calls each time it runs. When a ping is late, or says that the job failed, the heartbeat emits `$errors`. Watching begins with the first ping. At most 1000 an owner.
   */
  createHeartbeat(input: CreateHeartbeatInput = {}, options: CallOptions = {}): Promise<CreateHeartbeatAnswer> {
    return this.#transport.send<CreateHeartbeatAnswer>({ method: 'POST', path: '/v1/heartbeats', body: 'members' }, input, options);
  }

  /**
   * Read a heartbeat: `GET /v1/heartbeats/{id}`
   *
   * Returns its state, and what is known of its pings.
   */
  getHeartbeat(input: GetHeartbeatInput, options: CallOptions = {}): Promise<GetHeartbeatAnswer> {
    return this.#transport.send<GetHeartbeatAnswer>({ method: 'GET', path: '/v1/heartbeats/{id}' }, input, options);
  }

  /**
   * Change a heartbeat: `PUT /v1/heartbeats/{id}`
   *
   * A new schedule counts from now on, and so does the schedule of a heartbeat that is activated again. Partial: members that are left out stay as they are.
   */
  updateHeartbeat(input: UpdateHeartbeatInput, options: CallOptions = {}): Promise<UpdateHeartbeatAnswer> {
    return this.#transport.send<UpdateHeartbeatAnswer>({ method: 'PUT', path: '/v1/heartbeats/{id}', body: 'members' }, input, options);
  }

  /**
   * Delete a heartbeat: `DELETE /v1/heartbeats/{id}`
   *
   * Deletes the heartbeat with its subscriptions. Its address then answers 404.
   */
  deleteHeartbeat(input: DeleteHeartbeatInput, options: CallOptions = {}): Promise<DeleteHeartbeatAnswer> {
    return this.#transport.send<DeleteHeartbeatAnswer>({ method: 'DELETE', path: '/v1/heartbeats/{id}' }, input, options);
  }

  /**
   * Change a heartbeat with a merge patch: `PATCH /v1/heartbeats/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. A new schedule counts from now on, and so does the schedule of a heartbeat that is activated again.
   */
  patchHeartbeat(input: PatchHeartbeatInput, options: CallOptions = {}): Promise<PatchHeartbeatAnswer> {
    return this.#transport.send<PatchHeartbeatAnswer>({ method: 'PATCH', path: '/v1/heartbeats/{id}', body: 'members' }, input, options);
  }

  /**
   * List watches of a workflow: `GET /v1/workflows/{id}/watches`
   *
   * One for each member of `settings.watch` that is set; none while the workflow is not active.
   */
  listWatches(input: ListWatchesInput, options: CallOptions = {}): Promise<ListWatchesAnswer> {
    return this.#transport.send<ListWatchesAnswer>({ method: 'GET', path: '/v1/workflows/{id}/watches' }, input, options);
  }

  /**
   * List deliveries to a webhook: `GET /v1/webhooks/{id}/deliveries`
   *
   * Newest first.
   */
  listWebhookDeliveries(input: ListWebhookDeliveriesInput, options: CallOptions = {}): Paged<ListWebhookDeliveriesAnswer> {
    return this.#transport.list<ListWebhookDeliveriesAnswer>({ method: 'GET', path: '/v1/webhooks/{id}/deliveries', query: ['state', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * List deliveries: `GET /v1/deliveries`
   *
   * Deliveries to webhooks and channels, mails, and requests of `$.send.http`, newest first. `emission_id` is the id of the event, and the `webhook-id` that the receiver gets.
   */
  listDeliveries(input: ListDeliveriesInput = {}, options: CallOptions = {}): Paged<ListDeliveriesAnswer> {
    return this.#transport.list<ListDeliveriesAnswer>({ method: 'GET', path: '/v1/deliveries', query: ['state', 'webhook_id', 'kind', 'channel_id', 'emission_id', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read a delivery: `GET /v1/deliveries/{id}`
   *
   * Returns every attempt with its time, duration and response, and in `why` for what the delivery waits. For a webhook, also what was sent: the event, and the headers of each attempt. For a request, what the code asked for. For a mail or notice, its content.
   */
  getDelivery(input: GetDeliveryInput, options: CallOptions = {}): Promise<GetDeliveryAnswer> {
    return this.#transport.send<GetDeliveryAnswer>({ method: 'GET', path: '/v1/deliveries/{id}' }, input, options);
  }

  /**
   * Send a delivery again: `POST /v1/deliveries/{id}/resend`
   *
   * Sends it at once, instead of the next automatic attempt, with the same `webhook-id`, signed with the current secret. A delivery that had ended starts its schedule of retries again. Mails and requests can be resent, too. 409 while an attempt is in progress or the webhook is not active, 422 when the webhook was deleted.
   */
  resendDelivery(input: ResendDeliveryInput, options: CallOptions = {}): Promise<ResendDeliveryAnswer> {
    return this.#transport.send<ResendDeliveryAnswer>({ method: 'POST', path: '/v1/deliveries/{id}/resend' }, input, options);
  }

  /**
   * Show a mail: `GET /v1/deliveries/{id}/mail`
   *
   * The HTML of a mail or notice, as a page on which nothing runs and nothing is loaded from elsewhere. Needs the scope `write`, too: the links in it need no key. 404 when it has no HTML.
   */
  getDeliveryMail(input: GetDeliveryMailInput, options: CallOptions = {}): Promise<string> {
    return this.#transport.text({ method: 'GET', path: '/v1/deliveries/{id}/mail' }, input, options);
  }

  /**
   * Send a webhook’s deliveries again: `POST /v1/webhooks/{id}/resend`
   *
   * All that were accepted within a period and are in one of the states, oldest first. It continues in the background, also after a restart: the answer is the operation, which shows its progress. With `dry_run` nothing is sent, and the answer says how many there are, and shows a few.
   */
  resendWebhook(input: ResendWebhookInput, options: CallOptions = {}): Promise<ResendWebhookAnswer> {
    return this.#transport.send<ResendWebhookAnswer>({ method: 'POST', path: '/v1/webhooks/{id}/resend', body: 'members' }, input, options);
  }

  /**
   * List operations: `GET /v1/operations`
   *
   * Newest first.
   */
  listOperations(input: ListOperationsInput = {}, options: CallOptions = {}): Paged<ListOperationsAnswer> {
    return this.#transport.list<ListOperationsAnswer>({ method: 'GET', path: '/v1/operations', query: ['kind', 'webhook_id', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read an operation: `GET /v1/operations/{id}`
   *
   * Returns its progress, and why it is paused or ended early.
   */
  getOperation(input: GetOperationInput, options: CallOptions = {}): Promise<GetOperationAnswer> {
    return this.#transport.send<GetOperationAnswer>({ method: 'GET', path: '/v1/operations/{id}' }, input, options);
  }

  /**
   * Pause an operation: `POST /v1/operations/{id}/pause`
   *
   * Nothing more is sent again or replayed until it is resumed. Deliveries already due, and replays under way, a few hundred at most, go on. 409 when it is over; repeating the request is not an error.
   */
  pauseOperation(input: PauseOperationInput, options: CallOptions = {}): Promise<PauseOperationAnswer> {
    return this.#transport.send<PauseOperationAnswer>({ method: 'POST', path: '/v1/operations/{id}/pause' }, input, options);
  }

  /**
   * Resume an operation: `POST /v1/operations/{id}/resume`
   *
   * Continues where it was paused. 409 when it is over; repeating the request is not an error.
   */
  resumeOperation(input: ResumeOperationInput, options: CallOptions = {}): Promise<ResumeOperationAnswer> {
    return this.#transport.send<ResumeOperationAnswer>({ method: 'POST', path: '/v1/operations/{id}/resume' }, input, options);
  }

  /**
   * Cancel an operation: `POST /v1/operations/{id}/cancel`
   *
   * Ends the operation. Deliveries already due, and replays under way, a few hundred at most, go on. 409 when it is over; repeating the request is not an error.
   */
  cancelOperation(input: CancelOperationInput, options: CallOptions = {}): Promise<CancelOperationAnswer> {
    return this.#transport.send<CancelOperationAnswer>({ method: 'POST', path: '/v1/operations/{id}/cancel' }, input, options);
  }

  /**
   * Replay many errors: `POST /v1/replays`
   *
   * Runs the original events of a group’s, a workflow’s or the named errors again, byte for byte, oldest first: those that there are now. It goes on in the background, also after a restart: the answer is the operation, which shows its progress. A few go first (`canary`), and at most 128 are under way at a time. What cannot be replayed is counted and listed with its reason. When all errors of a group are fixed, it is resolved. With `dry_run` nothing is made, and the answer says how many there are, up to 10,000, how many of them would be replayed now and why the others would be passed over, and shows a few.
   */
  replayErrors(input: ReplayErrorsInput = {}, options: CallOptions = {}): Promise<ReplayErrorsAnswer> {
    return this.#transport.send<ReplayErrorsAnswer>({ method: 'POST', path: '/v1/replays', body: 'members' }, input, options);
  }

  /**
   * List results of a replay: `GET /v1/operations/{id}/results`
   *
   * Of each error that the replay has come to: its replay, and whether it is fixed. The newest error first.
   */
  listReplayResults(input: ListReplayResultsInput, options: CallOptions = {}): Paged<ListReplayResultsAnswer> {
    return this.#transport.list<ListReplayResultsAnswer>({ method: 'GET', path: '/v1/operations/{id}/results', query: ['outcome', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * List subscriptions: `GET /v1/subscriptions`
   *
   * Newest first. A workflow’s own triggers are subscriptions too, and shown with `via=trigger`.
   */
  listSubscriptions(input: ListSubscriptionsInput = {}, options: CallOptions = {}): Paged<ListSubscriptionsAnswer> {
    return this.#transport.list<ListSubscriptionsAnswer>({ method: 'GET', path: '/v1/subscriptions', query: ['emitter_id', 'listener_id', 'event_name', 'via', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create a subscription: `POST /v1/subscriptions`
   *
   * From now on, the listener gets the events that the emitter emits with this name. With `event_name=$errors`, these are its errors, each with the original event. With a `filter`, only events that match it; receipts say which events were withheld. If there is already a subscription with the same emitter, listener and name, it is returned; with another filter, the request is refused (409).
   */
  createSubscription(input: CreateSubscriptionInput, options: CallOptions = {}): Promise<CreateSubscriptionAnswer> {
    return this.#transport.send<CreateSubscriptionAnswer>({ method: 'POST', path: '/v1/subscriptions', body: 'members' }, input, options);
  }

  /**
   * Delete a subscription by its members: `DELETE /v1/subscriptions`
   *
   * By emitter, listener and name, all as they were given; no name means the subscription to events without a name.
   */
  deleteSubscriptionByTriple(input: DeleteSubscriptionByTripleInput, options: CallOptions = {}): Promise<DeleteSubscriptionByTripleAnswer> {
    return this.#transport.send<DeleteSubscriptionByTripleAnswer>({ method: 'DELETE', path: '/v1/subscriptions', body: 'members' }, input, options);
  }

  /**
   * Subscribe to everything that you have: `POST /v1/auto_subscriptions`
   *
   * The same as a subscription to the emitter `*`: to everything that you have, and everything that you create later.
   */
  createAutoSubscription(input: CreateAutoSubscriptionInput, options: CallOptions = {}): Promise<CreateAutoSubscriptionAnswer> {
    return this.#transport.send<CreateAutoSubscriptionAnswer>({ method: 'POST', path: '/v1/auto_subscriptions', body: 'members' }, input, options);
  }

  /**
   * List your subscriptions: `GET /v1/users/me/subscriptions`
   *
   * The same as `GET /v1/subscriptions`.
   */
  listMySubscriptions(input: ListMySubscriptionsInput = {}, options: CallOptions = {}): Paged<ListMySubscriptionsAnswer> {
    return this.#transport.list<ListMySubscriptionsAnswer>({ method: 'GET', path: '/v1/users/me/subscriptions', query: ['emitter_id', 'listener_id', 'event_name', 'via', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read a subscription: `GET /v1/subscriptions/{id}`
   *
   * Also returns a subscription that stands for a trigger.
   */
  getSubscription(input: GetSubscriptionInput, options: CallOptions = {}): Promise<GetSubscriptionAnswer> {
    return this.#transport.send<GetSubscriptionAnswer>({ method: 'GET', path: '/v1/subscriptions/{id}' }, input, options);
  }

  /**
   * Change a subscription: `PUT /v1/subscriptions/{id}`
   *
   * Changes the filter, for events that are accepted from then on; null removes it. To change the emitter, listener or name, create another subscription. Partial: members that are left out stay as they are.
   */
  updateSubscription(input: UpdateSubscriptionInput, options: CallOptions = {}): Promise<UpdateSubscriptionAnswer> {
    return this.#transport.send<UpdateSubscriptionAnswer>({ method: 'PUT', path: '/v1/subscriptions/{id}', body: 'members' }, input, options);
  }

  /**
   * Unsubscribe by id: `DELETE /v1/subscriptions/{id}`
   *
   * The listener gets no event that is accepted after the answer.
   */
  deleteSubscription(input: DeleteSubscriptionInput, options: CallOptions = {}): Promise<DeleteSubscriptionAnswer> {
    return this.#transport.send<DeleteSubscriptionAnswer>({ method: 'DELETE', path: '/v1/subscriptions/{id}' }, input, options);
  }

  /**
   * Change a subscription with a merge patch: `PATCH /v1/subscriptions/{id}`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. Changes the filter, for events that are accepted from then on; null removes it. To change the emitter, listener or name, create another subscription.
   */
  patchSubscription(input: PatchSubscriptionInput, options: CallOptions = {}): Promise<PatchSubscriptionAnswer> {
    return this.#transport.send<PatchSubscriptionAnswer>({ method: 'PATCH', path: '/v1/subscriptions/{id}', body: 'members' }, input, options);
  }

  /**
   * Read the owner of your key: `GET /v1/users/me`
   *
   * The owner of the key, and the workflow that gets every error.
   */
  getMe(input: GetMeInput = {}, options: CallOptions = {}): Promise<GetMeAnswer> {
    return this.#transport.send<GetMeAnswer>({ method: 'GET', path: '/v1/users/me' }, input, options);
  }

  /**
   * Change the owner of your key: `PUT /v1/users/me`
   *
   * `global_error_workflow_id` may name any workflow of yours. Partial: members that are left out stay as they are.
   */
  updateMe(input: UpdateMeInput = {}, options: CallOptions = {}): Promise<UpdateMeAnswer> {
    return this.#transport.send<UpdateMeAnswer>({ method: 'PUT', path: '/v1/users/me', body: 'members' }, input, options);
  }

  /**
   * Change the owner of your key with a merge patch: `PATCH /v1/users/me`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. `global_error_workflow_id` may name any workflow of yours.
   */
  patchMe(input: PatchMeInput = {}, options: CallOptions = {}): Promise<PatchMeAnswer> {
    return this.#transport.send<PatchMeAnswer>({ method: 'PATCH', path: '/v1/users/me', body: 'members' }, input, options);
  }

  /**
   * List API keys: `GET /v1/keys`
   *
   * Newest first, revoked ones too. The keys themselves are never shown again.
   */
  listKeys(input: ListKeysInput = {}, options: CallOptions = {}): Paged<ListKeysAnswer> {
    return this.#transport.list<ListKeysAnswer>({ method: 'GET', path: '/v1/keys', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create an API key: `POST /v1/keys`
   *
   * The new key can have only scopes that your own key has, and cannot expire later. `api_key` is returned only here. With the scope `ingest` alone and a `workflow_id` or `service`, there is a `dsn` for clients of Sentry, too.
   */
  createKey(input: CreateKeyInput, options: CallOptions = {}): Promise<CreateKeyAnswer> {
    return this.#transport.send<CreateKeyAnswer>({ method: 'POST', path: '/v1/keys', body: 'members' }, input, options);
  }

  /**
   * Revoke an API key: `DELETE /v1/keys/{id}`
   *
   * From now on it is refused with 401. A key that has more scopes than yours is refused with 403.
   */
  revokeKey(input: RevokeKeyInput, options: CallOptions = {}): Promise<RevokeKeyAnswer> {
    return this.#transport.send<RevokeKeyAnswer>({ method: 'DELETE', path: '/v1/keys/{id}' }, input, options);
  }

  /**
   * Read the current key: `GET /v1/session`
   *
   * The key of the request with its scopes, its owner, and, in the dashboard, when its session ends.
   */
  getSession(input: GetSessionInput = {}, options: CallOptions = {}): Promise<GetSessionAnswer> {
    return this.#transport.send<GetSessionAnswer>({ method: 'GET', path: '/v1/session' }, input, options);
  }

  /**
   * Sign in to the dashboard: `POST /v1/session`
   *
   * With an API key. The answer sets a cookie, which stands for the key for seven days, in the dashboard’s own requests alone: a change also needs the header `x-errand-dashboard`. Programs send the key itself.
   */
  createSession(input: CreateSessionInput = {}, options: CallOptions = {}): Promise<CreateSessionAnswer> {
    return this.#transport.send<CreateSessionAnswer>({ method: 'POST', path: '/v1/session', body: 'members', isPublic: true }, input, options);
  }

  /**
   * Sign out of the dashboard: `DELETE /v1/session`
   *
   * Removes the cookie of this browser. `DELETE /v1/sessions` ends all sessions of the key, and so does revoking it.
   */
  endSession(input: EndSessionInput = {}, options: CallOptions = {}): Promise<EndSessionAnswer> {
    return this.#transport.send<EndSessionAnswer>({ method: 'DELETE', path: '/v1/session' }, input, options);
  }

  /**
   * Sign out everywhere: `DELETE /v1/sessions`
   *
   * Ends all sessions of your key in all browsers, at once and at every node, and the streams that they have open. With `of=owner`, those of all keys of the owner, which needs the scope `account`. The keys themselves stay good.
   */
  endAllSessions(input: EndAllSessionsInput = {}, options: CallOptions = {}): Promise<EndAllSessionsAnswer> {
    return this.#transport.send<EndAllSessionsAnswer>({ method: 'DELETE', path: '/v1/sessions', query: ['of'] }, input, options);
  }

  /**
   * List the owners: `GET /v1/owners`
   *
   * Of this whole installation, newest first. Needs the scope `admin`.
   */
  listOwners(input: ListOwnersInput = {}, options: CallOptions = {}): Paged<ListOwnersAnswer> {
    return this.#transport.list<ListOwnersAnswer>({ method: 'GET', path: '/v1/owners', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create an owner: `POST /v1/owners`
   *
   * A tenant whose workflows, sources and webhooks are apart from yours, with a first key and a global error workflow. Needs the scope `admin`.
   */
  createOwner(input: CreateOwnerInput, options: CallOptions = {}): Promise<CreateOwnerAnswer> {
    return this.#transport.send<CreateOwnerAnswer>({ method: 'POST', path: '/v1/owners', body: 'members' }, input, options);
  }

  /**
   * Delete an owner with all that it owns: `DELETE /v1/owners/{id}`
   *
   * From now on its keys, addresses and sessions are refused, nothing of it begins, and what waits is cancelled. At `purge_at` (`ERRAND_OWNER_GRACE_DAYS`) all that it owns is deleted; until then it can be exported and restored. An owner that is being deleted keeps its `purge_at`. Neither your own owner nor the first one of the installation can be deleted (409). Needs the scope `admin`.
   */
  deleteOwner(input: DeleteOwnerInput, options: CallOptions = {}): Promise<DeleteOwnerAnswer> {
    return this.#transport.send<DeleteOwnerAnswer>({ method: 'DELETE', path: '/v1/owners/{id}' }, input, options);
  }

  /**
   * Restore a deleted owner: `POST /v1/owners/{id}/restore`
   *
   * Until its purge has begun (409 from then on): its keys and addresses work again, and its schedules, sources and watches go on. What the deletion has cancelled stays cancelled: retry those runs, and resend those deliveries. Needs the scope `admin`.
   */
  restoreOwner(input: RestoreOwnerInput, options: CallOptions = {}): Promise<RestoreOwnerAnswer> {
    return this.#transport.send<RestoreOwnerAnswer>({ method: 'POST', path: '/v1/owners/{id}/restore' }, input, options);
  }

  /**
   * Export everything of an owner: `GET /v1/owners/{id}/export`
   *
   * One JSON object a line: the owner, its quotas, keys (not themselves), redaction, workflows with their code and versions, sources with events that are emitted later, what both keep between runs (`$.service.db`, ids that dedupe has seen), runs, webhooks, subscriptions, channels, accounts, heartbeats, data stores with their records, groups of errors with their state, note and assignee, operations with what became of each replay, the ledger, audit records, deliveries, and last all events that are kept, errors among them, oldest first, as text exactly as they are. Records are as the interface shows them to a key that may only read, so secrets are left out or masked, and what requests of code, mails and notices contain; variables of workflows (`env`) are in it. The last line is `{"end": {"complete", "cursor", "count"}}`; without it, or with `"complete": false`, go on with `after`. Also of an owner that is being deleted, until its purge. The export itself has a record in the audit log. Needs the scopes `admin` and `read`.
   */
  exportOwner(input: ExportOwnerInput, options: CallOptions = {}): AsyncIterable<ExportOwnerItem> {
    return this.#transport.lines<ExportOwnerItem>({ method: 'GET', path: '/v1/owners/{id}/export', query: ['after'] }, input, options);
  }

  /**
   * List the keys of an owner: `GET /v1/owners/{id}/keys`
   *
   * Newest first, revoked ones too, never the keys themselves. Needs the scope `admin`.
   */
  listOwnerKeys(input: ListOwnerKeysInput, options: CallOptions = {}): Paged<ListOwnerKeysAnswer> {
    return this.#transport.list<ListOwnerKeysAnswer>({ method: 'GET', path: '/v1/owners/{id}/keys', query: ['limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Create a key for an owner: `POST /v1/owners/{id}/keys`
   *
   * For example for an owner who has lost all keys. Needs the scope `admin`, and every scope that the key gets.
   */
  createOwnerKey(input: CreateOwnerKeyInput, options: CallOptions = {}): Promise<CreateOwnerKeyAnswer> {
    return this.#transport.send<CreateOwnerKeyAnswer>({ method: 'POST', path: '/v1/owners/{id}/keys', body: 'members' }, input, options);
  }

  /**
   * Revoke a key of an owner: `DELETE /v1/owners/{id}/keys/{key_id}`
   *
   * From now on it is refused with 401. Needs the scope `admin`, and every scope that the key has.
   */
  revokeOwnerKey(input: RevokeOwnerKeyInput, options: CallOptions = {}): Promise<RevokeOwnerKeyAnswer> {
    return this.#transport.send<RevokeOwnerKeyAnswer>({ method: 'DELETE', path: '/v1/owners/{id}/keys/{key_id}' }, input, options);
  }

  /**
   * Read your quotas: `GET /v1/users/me/quotas`
   *
   * Your quotas, and how much of them you use.
   */
  getMyQuotas(input: GetMyQuotasInput = {}, options: CallOptions = {}): Promise<GetMyQuotasAnswer> {
    return this.#transport.send<GetMyQuotasAnswer>({ method: 'GET', path: '/v1/users/me/quotas' }, input, options);
  }

  /**
   * Read the quotas of an owner: `GET /v1/owners/{id}/quotas`
   *
   * Its quotas, and how much of them it uses. Needs the scope `admin`.
   */
  getOwnerQuotas(input: GetOwnerQuotasInput, options: CallOptions = {}): Promise<GetOwnerQuotasAnswer> {
    return this.#transport.send<GetOwnerQuotasAnswer>({ method: 'GET', path: '/v1/owners/{id}/quotas' }, input, options);
  }

  /**
   * Set the quotas of an owner: `PUT /v1/owners/{id}/quotas`
   *
   * Null removes a quota. A change takes effect at once here, and at all nodes within seconds. Needs the scope `admin`. Partial: members that are left out stay as they are.
   */
  setOwnerQuotas(input: SetOwnerQuotasInput, options: CallOptions = {}): Promise<SetOwnerQuotasAnswer> {
    return this.#transport.send<SetOwnerQuotasAnswer>({ method: 'PUT', path: '/v1/owners/{id}/quotas', body: 'members' }, input, options);
  }

  /**
   * Set the quotas of an owner with a merge patch: `PATCH /v1/owners/{id}/quotas`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. Null removes a quota. A change takes effect at once here, and at all nodes within seconds. Needs the scope `admin`.
   */
  patchOwnerQuotas(input: PatchOwnerQuotasInput, options: CallOptions = {}): Promise<PatchOwnerQuotasAnswer> {
    return this.#transport.send<PatchOwnerQuotasAnswer>({ method: 'PATCH', path: '/v1/owners/{id}/quotas', body: 'members' }, input, options);
  }

  /**
   * List the settings of this server: `GET /v1/settings`
   *
   * Of the process that answers, in the order of the documents. What is secret is not shown, and no password in a URL. Needs the scope `admin`.
   */
  listSettings(input: ListSettingsInput = {}, options: CallOptions = {}): Promise<ListSettingsAnswer> {
    return this.#transport.send<ListSettingsAnswer>({ method: 'GET', path: '/v1/settings' }, input, options);
  }

  /**
   * Check whether a URL may be reached: `POST /v1/targets/check`
   *
   * Says step by step whether webhooks, and requests of code, may be sent to a URL: how it is read, which addresses its name has, and what forbids one of them. Nothing is sent.
   */
  checkTarget(input: CheckTargetInput, options: CallOptions = {}): Promise<CheckTargetAnswer> {
    return this.#transport.send<CheckTargetAnswer>({ method: 'POST', path: '/v1/targets/check', body: 'members' }, input, options);
  }

  /**
   * Read your redaction rules: `GET /v1/users/me/redaction`
   *
   * Values that the rules match are hidden in lists, searches, runs, groups, streams, exports, fixtures and mails. Listeners and replays get the unchanged events.
   */
  getRedaction(input: GetRedactionInput = {}, options: CallOptions = {}): Promise<GetRedactionAnswer> {
    return this.#transport.send<GetRedactionAnswer>({ method: 'GET', path: '/v1/users/me/redaction' }, input, options);
  }

  /**
   * Set your redaction rules: `PUT /v1/users/me/redaction`
   *
   * Values that the rules match are hidden in lists, searches, runs, groups, streams, exports, fixtures and mails. Listeners and replays get the unchanged events. Replaces the whole record: members that are left out become empty, or get their default.
   */
  setRedaction(input: SetRedactionInput = {}, options: CallOptions = {}): Promise<SetRedactionAnswer> {
    return this.#transport.send<SetRedactionAnswer>({ method: 'PUT', path: '/v1/users/me/redaction', body: 'members' }, input, options);
  }

  /**
   * Set your redaction rules with a merge patch: `PATCH /v1/users/me/redaction`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. Values that the rules match are hidden in lists, searches, runs, groups, streams, exports, fixtures and mails. Listeners and replays get the unchanged events.
   */
  patchRedaction(input: PatchRedactionInput = {}, options: CallOptions = {}): Promise<PatchRedactionAnswer> {
    return this.#transport.send<PatchRedactionAnswer>({ method: 'PATCH', path: '/v1/users/me/redaction', body: 'members' }, input, options);
  }

  /**
   * Read the redaction rules of a workflow: `GET /v1/workflows/{id}/redaction`
   *
   * They apply in addition to your own rules.
   */
  getWorkflowRedaction(input: GetWorkflowRedactionInput, options: CallOptions = {}): Promise<GetWorkflowRedactionAnswer> {
    return this.#transport.send<GetWorkflowRedactionAnswer>({ method: 'GET', path: '/v1/workflows/{id}/redaction' }, input, options);
  }

  /**
   * Set the redaction rules of a workflow: `PUT /v1/workflows/{id}/redaction`
   *
   * The rules of the workflow, which apply in addition to your own. Replaces the whole record: members that are left out become empty, or get their default.
   */
  setWorkflowRedaction(input: SetWorkflowRedactionInput, options: CallOptions = {}): Promise<SetWorkflowRedactionAnswer> {
    return this.#transport.send<SetWorkflowRedactionAnswer>({ method: 'PUT', path: '/v1/workflows/{id}/redaction', body: 'members' }, input, options);
  }

  /**
   * Set the redaction rules of a workflow with a merge patch: `PATCH /v1/workflows/{id}/redaction`
   *
   * A JSON merge patch (RFC 7396) of what GET shows: members that are left out stay as they are, objects are changed member by member, null removes a member, and lists are replaced. The rules of the workflow, which apply in addition to your own.
   */
  patchWorkflowRedaction(input: PatchWorkflowRedactionInput, options: CallOptions = {}): Promise<PatchWorkflowRedactionAnswer> {
    return this.#transport.send<PatchWorkflowRedactionAnswer>({ method: 'PATCH', path: '/v1/workflows/{id}/redaction', body: 'members' }, input, options);
  }

  /**
   * List audit records: `GET /v1/audit`
   *
   * Newest first: every request with one of your keys that was not a GET, also refused ones, and what an admin did to your owner. A record is written before anything is done, and kept as long as all else (`ERRAND_RETENTION_DAYS`). It has no body, no query string and no secret.
   */
  listAudit(input: ListAuditInput = {}, options: CallOptions = {}): Paged<ListAuditAnswer> {
    return this.#transport.list<ListAuditAnswer>({ method: 'GET', path: '/v1/audit', query: ['key', 'operation', 'target', 'since', 'until', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * List audit records of an owner: `GET /v1/owners/{id}/audit`
   *
   * The same as `GET /v1/audit`, of another owner. Needs the scope `admin`.
   */
  listOwnerAudit(input: ListOwnerAuditInput, options: CallOptions = {}): Paged<ListOwnerAuditAnswer> {
    return this.#transport.list<ListOwnerAuditAnswer>({ method: 'GET', path: '/v1/owners/{id}/audit', query: ['key', 'operation', 'target', 'since', 'until', 'limit', 'after', 'before', 'include', 'exclude'] }, input, options);
  }

  /**
   * Read the ledger: `GET /v1/ledger`
   *
   * Counts of everything that was ever accepted, by state. They add up at any moment, after any crash.
   */
  getLedger(input: GetLedgerInput = {}, options: CallOptions = {}): Promise<GetLedgerAnswer> {
    return this.#transport.send<GetLedgerAnswer>({ method: 'GET', path: '/v1/ledger' }, input, options);
  }

  /**
   * Count events over time: `GET /v1/stats`
   *
   * Events, runs, errors and deliveries that were accepted in each hour, or in each day of 24 hours by UTC. They are what the ledger counted, so they stay when retention deletes events; the current hour is counted now. `since` and `until` are rounded outwards to whole buckets: 24 hours until now when not given, at most 744 buckets, and none older than 90 days.
   */
  getStats(input: GetStatsInput = {}, options: CallOptions = {}): Promise<GetStatsAnswer> {
    return this.#transport.send<GetStatsAnswer>({ method: 'GET', path: '/v1/stats', query: ['bucket', 'since', 'until'] }, input, options);
  }

  /**
   * Check that the server is alive: `GET /healthz`
   *
   * 200 as long as the process answers. Any query is taken, and ignored.
   */
  getHealth(input: GetHealthInput = {}, options: CallOptions = {}): Promise<GetHealthAnswer> {
    return this.#transport.send<GetHealthAnswer>({ method: 'GET', path: '/healthz', isPublic: true }, input, options);
  }

  /**
   * Check that the server is ready: `GET /readyz`
   *
   * 200 when storage answers, no part of it was found damaged, and the process is not about to stop, else 503. While the process that bundles code cannot be started, `status` is `degraded` and `bundling` is `failing`: events are taken and run, and deploying answers 503. Any query is taken, and ignored.
   */
  getReadiness(input: GetReadinessInput = {}, options: CallOptions = {}): Promise<GetReadinessAnswer> {
    return this.#transport.send<GetReadinessAnswer>({ method: 'GET', path: '/readyz', isPublic: true }, input, options);
  }

  /**
   * Read metrics: `GET /metrics`
   *
   * In Prometheus’ text format, of the whole process and all owners. Where `ERRAND_METRICS_PORT` is set, they are also at that address, without a key.
   */
  getMetrics(input: GetMetricsInput = {}, options: CallOptions = {}): Promise<string> {
    return this.#transport.text({ method: 'GET', path: '/metrics' }, input, options);
  }

  /**
   * Read this document: `GET /v1/openapi.json`
   *
   * OpenAPI 3.1. Needs no key.
   */
  getOpenApi(input: GetOpenApiInput = {}, options: CallOptions = {}): Promise<GetOpenApiAnswer> {
    return this.#transport.send<GetOpenApiAnswer>({ method: 'GET', path: '/v1/openapi.json', isPublic: true }, input, options);
  }
}

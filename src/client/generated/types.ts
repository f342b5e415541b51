// Made from docs/openapi.json by `npm run generate`; not changed by hand.

export interface Account {
  /** Id of the account. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** The app’s name, as components spell it. */
  readonly app: string;
  /** Label for your own use; the app’s name when not given. */
  readonly name: string;
  /** Names of its fields; their values are never shown. */
  readonly field_names: readonly string[];
  /** How its token is renewed; null: it is not. */
  readonly oauth: AccountOauth | null;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
}

/** How its token is renewed; null: it is not. */
export interface AccountOauth {
  /** The address of the app’s token server (OAuth 2). */
  readonly token_url: string;
  /** What your own application is called there. */
  readonly client_id: string;
  /** How the client’s id and secret are sent: in the body, or as basic authentication. */
  readonly client_auth: "body" | "basic";
  /** Sent with each renewal, when given. */
  readonly scope: string | null;
  /** What a new token is given for. */
  readonly grant: "refresh_token" | "client_credentials";
  /** When the token expires, in seconds since the Unix epoch; null: none was got yet. */
  readonly expires_at: number | null;
  /** `expires_at` as ISO 8601, in UTC. */
  readonly expires_at_iso: string | null;
  /** Why the last renewal failed; null: it did not. */
  readonly failure: string | null;
}

/** The key, without the key itself. */
export interface ApiKey {
  /** Id of the API key. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** What the key is for. */
  readonly label: string;
  /** What the key may do. */
  readonly scopes: readonly ("ingest" | "read" | "write" | "keys" | "account" | "admin")[];
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** The key that created it; null: the service itself, or the command line. */
  readonly created_by: string | null;
  /** When it expires, in seconds since the Unix epoch; null: never. */
  readonly expires_at: number | null;
  /** `expires_at` as ISO 8601, in UTC. */
  readonly expires_at_iso: string | null;
  /** When it was used last, in seconds since the Unix epoch, to the minute; null: never. */
  readonly last_used_at: number | null;
  /** `last_used_at` as ISO 8601, in UTC. */
  readonly last_used_at_iso: string | null;
  /** When it was revoked, in seconds since the Unix epoch; null: it is good. */
  readonly revoked_at: number | null;
  /** `revoked_at` as ISO 8601, in UTC. */
  readonly revoked_at_iso: string | null;
  /** Of a key with `ingest` alone: the only workflow whose errors it reports; null: any of yours. */
  readonly workflow_id: string | null;
}

/** Only of a request: what the code asked for. To a key without the scope `write` its path, the values of its headers and its body are `(hidden)`. */
export interface AskedRequest {
  /** HTTP method. */
  readonly method: string;
  /** Where the request goes. */
  readonly url: string;
  /** Headers that the code gave. */
  readonly headers: { readonly [name: string]: string };
  /** Body of the request: a text, or `{"$base64": "…"}` for other bytes. */
  readonly body?: unknown;
}

/** One attempt, and what came back. */
export interface Attempt {
  /** Number of the request, counted from 1. */
  readonly n: number;
  /** Why it was made: `event`, `retry`, `resend` or `test`. */
  readonly trigger: string;
  /** When it began, in milliseconds since the Unix epoch. */
  readonly started_at_ms: number;
  /** `started_at_ms` as ISO 8601, in UTC. */
  readonly started_at_iso: string;
  /** How long it took in all, in milliseconds. */
  readonly took_ms: number;
  /** The parts of `took_ms`. */
  readonly timing: {
    /** Milliseconds until the address of the host was known; null: it did not come to that. */
    readonly dns_ms: number | null;
    /** Milliseconds until the connection was open, TLS included; null: it did not come to that. */
    readonly connect_ms: number | null;
    /** Milliseconds until the first byte of the answer; null: it did not come to that. */
    readonly first_byte_ms: number | null;
  };
  /** `answered`: there was an answer, of any status. `timeout`, `refused`, `reset`, `tls` and `dns`: there was none, for that reason. `forbidden`: the address may not be reached. `withheld`: nothing was sent. */
  readonly outcome: "answered" | "timeout" | "refused" | "reset" | "tls" | "dns" | "forbidden" | "withheld";
  /** HTTP status of the answer; null: there was none. */
  readonly status: number | null;
  readonly request?: AttemptRequest;
  /** At most 4 KiB of them. Of headers that hold credentials, such as `set-cookie`, the value is `(hidden)`. */
  readonly response_headers: { readonly [name: string]: string };
  /** At most the first 4 KiB. */
  readonly response_body: string;
  /** What happened, in words. */
  readonly detail: string;
  /** How long the receiver asked to wait (`Retry-After` of a 429 or 503), in milliseconds: the attempt does not count. Null: it did not ask. */
  readonly retry_after_ms: number | null;
  /** True: a mail server refused the mail for good, and there is no further attempt. */
  readonly permanent: boolean;
}

/** Only of a delivery to a webhook: the request that was made, also when no server was reached. Its body is `event` of the delivery. */
export interface AttemptRequest {
  /** HTTP method. */
  readonly method: string;
  /** The address of the webhook at that time. */
  readonly url: string;
  /** In order, without those of the connection (`host`, `connection`, `content-length`). Values of the webhook’s own headers may be credentials, and a signature would give away what rules of redaction hide: neither is kept. */
  readonly headers: readonly ({
    /** Name of the header. */
    readonly name: string;
    /** Value of the header; null: it was sent, but is not kept. */
    readonly value: string | null;
  })[];
}

export interface AuditRecord {
  /** Id of the audit record. */
  readonly id: string;
  /** When the request came, in milliseconds since the Unix epoch. */
  readonly at_ms: number;
  /** `at_ms` as ISO 8601, in UTC. */
  readonly at_iso: string;
  /** In whose log it stands. */
  readonly owner_id: string;
  /** The key of the request; null: the command line, on the store itself. */
  readonly key_id: string | null;
  /** Label of that key. */
  readonly key_label: string;
  /** The owner of that key: another owner, when an admin’s key was used. */
  readonly by_owner_id: string | null;
  /** `operationId` of this document. */
  readonly operation: string;
  /** The id of what was changed or created. */
  readonly target_id: string | null;
  /** HTTP method of the request. */
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** The caller’s address: a proxy’s, if there is one. */
  readonly client_ip: string;
  /** The `x-request-id` of the answer. */
  readonly request_id: string;
  /** What was answered; null while nothing was, and for ever when the process died meanwhile: then it may have been done. */
  readonly status: number | null;
  /** How many requests it stands for. Of a key that is refused more than 20 times within a minute, one record counts the rest, and shows the first of them. */
  readonly count: number;
}

export interface Channel {
  /** Id of the channel. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** What is at the other end. It cannot be changed. */
  readonly kind: "slack" | "discord" | "teams" | "pagerduty" | "opsgenie" | "http" | "mail";
  /** Label for your own use; the kind when not given. */
  readonly name: string;
  /** False: no notice is sent to it. */
  readonly active: boolean;
  /** Without what is secret. */
  readonly config: {
    /** Scheme and host alone. */
    readonly url?: string;
    /** Always hidden. */
    readonly key?: string;
    /** Of mail: the address that notices go to. */
    readonly to?: string;
    /** Of http: names of the headers; their values are hidden. */
    readonly headers?: { readonly [name: string]: string };
    /** Of http: the body of the request, with placeholders. To a key without the scope `write` it is `(hidden)`: services take keys there, too. */
    readonly template?: string;
  };
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
}

export interface ChannelTest {
  /** Whether the notice was accepted. */
  readonly delivered: boolean;
  readonly attempt: Attempt;
}

export interface Component {
  /** What `POST /v1/sources` takes as `component`. */
  readonly key: string;
  /** What it is called. */
  readonly name: string;
  /** Its version. */
  readonly version: string;
  /** What it does. */
  readonly description: string;
  /** What can be configured: `{name, type, label, description, optional, default, secret, …}` of each prop. */
  readonly configurable_props: readonly { readonly [name: string]: unknown }[];
}

export interface ComponentCheck {
  /** In the folder of components; null: the code was sent. */
  readonly path: string | null;
  /** `app` and `module` (a file that others import) are for other components; `broken`: it cannot be bundled or loaded. */
  readonly kind: "source" | "action" | "app" | "module" | "broken";
  /** Whether nothing is in its way; true for apps and modules, too, where other files can import them. */
  readonly runs: boolean;
  /** What it is called; null: it does not say. */
  readonly name: string | null;
  /** Its `key`; null: it has none. */
  readonly key: string | null;
  /** Its version; null: it does not say. */
  readonly version: string | null;
  /** Packages and modules of Node that it and its files name. */
  readonly imports: readonly string[];
  /** Those that are not there, as npm takes them. */
  readonly missing_packages: readonly string[];
  /** Apps of which it needs an account. */
  readonly accounts: readonly string[];
  /** What is in its way. */
  readonly problems: readonly ComponentProblem[];
  /** What may fail when that part of the code runs. */
  readonly warnings: readonly ComponentProblem[];
}

export interface ComponentChecks {
  /** The files that were checked, in the order of their paths. */
  readonly data: readonly ComponentCheck[];
  /** The command that adds all missing packages on the server; null: none is missing, or it has no folder of packages. */
  readonly install: string | null;
  /** There are more files: ask again, with the last `path` as `after`. */
  readonly truncated: boolean;
}

export interface ComponentProblem {
  /** Path of the file. */
  readonly file: string;
  /** Line, counted from 1. */
  readonly line: number;
  /** Column, counted from 1. */
  readonly column: number;
  /** What is wrong. */
  readonly text: string;
}

export interface ConfigurableProps {
  /** In the order of the component, each as it defines it; `remoteOptions`: its options are asked for. */
  readonly configurable_props: readonly ({
    /** Name of the prop. */
    readonly name: string;
    /** Type of the prop. */
    readonly type?: string;
  } & { readonly [name: string]: unknown })[];
  /** What `additionalProps` threw for this configuration. Props that it added before are kept. */
  readonly additional_props_error: {
    /** Its message. */
    readonly message: string;
    /** Its stack, or empty. */
    readonly stack: string;
  } | null;
}

export interface DataRecord {
  /** Also its cursor in lists. */
  readonly key: string;
  /** Any JSON. */
  readonly value: unknown;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  /** When it is gone, in seconds since the Unix epoch; null: never. */
  readonly expires_at: number | null;
  /** `expires_at` as ISO 8601, in UTC. */
  readonly expires_at_iso: string | null;
}

export interface DataStore {
  /** Id of the data store. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** Label for your own use. */
  readonly name: string;
  /** Records in it. */
  readonly size: number;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
}

export interface Delivery {
  /** Id of the delivery. */
  readonly id: string;
  /** `http`: a request that code asked for with `$.send.http`. `channel`: a notice to one of your channels. */
  readonly kind: "webhook" | "mail" | "http" | "channel";
  /** Null for a mail, a request and a notice. */
  readonly webhook_id: string | null;
  /** Only of a notice. `ch_mail`: the owner’s mail address, which is told of errors of the global error workflow. */
  readonly channel_id?: string;
  /** Only of a request: where it goes. */
  readonly origin?: string;
  /** The subscription that it is for; null: there is none. */
  readonly subscription_id: string | null;
  /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
  readonly emission_id: string;
  /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
  readonly emitter_id: string;
  /** Name of the event: empty when it has none, `$errors` for errors. */
  readonly event_name: string;
  /** Only of a mail and of a notice: the first 200 characters of its subject. */
  readonly subject?: string;
  /** `pending`: it waits for its first attempt. `sending`: an attempt is under way. `retrying`: an attempt failed, and another one is due. `held`: the webhook is not active. `delivered`, `exhausted` (all attempts failed) and `cancelled` are final. */
  readonly state: "pending" | "sending" | "retrying" | "held" | "delivered" | "exhausted" | "cancelled";
  /** How many attempts were made. An attempt that the receiver put off with `Retry-After` does not count. */
  readonly attempts_made: number;
  /** When the next attempt is due, in milliseconds since the Unix epoch, and not before the pause of the webhook is over. Null: none is due. */
  readonly next_attempt_at_ms: number | null;
  /** `next_attempt_at_ms` as ISO 8601, in UTC. */
  readonly next_attempt_at_iso: string | null;
  /** Why it is due when it is; null when it is over. Of a mail that is only in the outbox folder: why it was not sent. */
  readonly why: string | null;
  /** When it was created, in milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
  /** `created_at_ms` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was delivered, exhausted or cancelled, in milliseconds since the Unix epoch; null: it is not over. */
  readonly ended_at_ms: number | null;
  /** `ended_at_ms` as ISO 8601, in UTC. */
  readonly ended_at_iso: string | null;
}

/** Only of a mail and of a notice: what it says; a notice in the form of a mail. To a key without the scope `write` its text is `(hidden)`: the links in it need no key. */
export interface DeliveryMail {
  /** Subject line. */
  readonly subject: string;
  /** The message as plain text. */
  readonly text: string;
  /** Whether `GET /v1/deliveries/{id}/mail` shows it. */
  readonly has_html: boolean;
}

export interface DeliveryWhole {
  /** Id of the delivery. */
  readonly id: string;
  /** `http`: a request that code asked for with `$.send.http`. `channel`: a notice to one of your channels. */
  readonly kind: "webhook" | "mail" | "http" | "channel";
  /** Null for a mail, a request and a notice. */
  readonly webhook_id: string | null;
  /** Only of a notice. `ch_mail`: the owner’s mail address, which is told of errors of the global error workflow. */
  readonly channel_id?: string;
  /** Only of a request: where it goes. */
  readonly origin?: string;
  /** The subscription that it is for; null: there is none. */
  readonly subscription_id: string | null;
  /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
  readonly emission_id: string;
  /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
  readonly emitter_id: string;
  /** Name of the event: empty when it has none, `$errors` for errors. */
  readonly event_name: string;
  /** Only of a mail and of a notice: the first 200 characters of its subject. */
  readonly subject?: string;
  /** `pending`: it waits for its first attempt. `sending`: an attempt is under way. `retrying`: an attempt failed, and another one is due. `held`: the webhook is not active. `delivered`, `exhausted` (all attempts failed) and `cancelled` are final. */
  readonly state: "pending" | "sending" | "retrying" | "held" | "delivered" | "exhausted" | "cancelled";
  /** How many attempts were made. An attempt that the receiver put off with `Retry-After` does not count. */
  readonly attempts_made: number;
  /** When the next attempt is due, in milliseconds since the Unix epoch, and not before the pause of the webhook is over. Null: none is due. */
  readonly next_attempt_at_ms: number | null;
  /** `next_attempt_at_ms` as ISO 8601, in UTC. */
  readonly next_attempt_at_iso: string | null;
  /** Why it is due when it is; null when it is over. Of a mail that is only in the outbox folder: why it was not sent. */
  readonly why: string | null;
  /** When it was created, in milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
  /** `created_at_ms` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was delivered, exhausted or cancelled, in milliseconds since the Unix epoch; null: it is not over. */
  readonly ended_at_ms: number | null;
  /** `ended_at_ms` as ISO 8601, in UTC. */
  readonly ended_at_iso: string | null;
  /** Only of a delivery to a webhook: the event, byte for byte the body of each request. */
  readonly event?: unknown;
  readonly request?: AskedRequest;
  readonly mail?: DeliveryMail;
  /** All attempts, oldest first. */
  readonly attempts: readonly Attempt[];
}

export interface Deployment {
  /** Id of the deployment. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** Id of the workflow. */
  readonly workflow_id: string;
  /** True: new events run with it. */
  readonly active: boolean;
  /** The steps of this version. */
  readonly steps: readonly {
    /** Id of the step. */
    readonly id: string;
    /** Name of the step. */
    readonly namespace: string;
    /** When it was deployed by path. */
    readonly component_path?: string;
    /** Values of the props of a component, by name. Values of secret props are never shown; left out of an update, they stay. */
    readonly configured_props?: { readonly [name: string]: unknown };
  }[];
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
}

export interface DeploymentChanges {
  /** Id of the deployment. */
  readonly deployment_id: string;
  /** Null: there is none before it, and all of its code is new. */
  readonly from_deployment_id: string | null;
  /** Steps whose code differs. */
  readonly code: readonly StepDifference[];
  /** Steps that were added, removed, renamed or moved. A step is known by its name, or by its code. */
  readonly steps: readonly StepChange[];
}

export interface Differences {
  /** Id of the group of errors. */
  readonly group_id: string;
  /** How many failures and successes were compared. */
  readonly looked_at: {
    readonly failures: LookedAt;
    readonly successes: LookedAt;
  };
  /** What separates failures from successes, the clearest first; of each field one fact. */
  readonly fields: readonly ({
    /** The field; `[]`: any element of an array. */
    readonly path: string;
    /** `missing`, or a type of JSON; `empty string`, `empty array`. */
    readonly type: string;
    /** One value that it has; absent: any of the type. */
    readonly value?: string | number | boolean;
    /** Failures in which the field is so. */
    readonly failures: number;
    /** Successes in which the field is so. */
    readonly successes: number;
    /** The same as a sentence. */
    readonly text: string;
  })[];
  /** The last run that succeeded before the first error; null: it is not kept. */
  readonly last_good: {
    /** Id of the run. */
    readonly run_id: string;
    /** Deployment of the run; null: it is not known. */
    readonly deployment_id: string | null;
  } | null;
  /** The first error of the group; null: it is not kept. */
  readonly first_bad: {
    /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
    readonly error_id: string;
    /** The run that failed; null: none did. */
    readonly run_id: string | null;
    /** Deployment of the run; null: it is not known. */
    readonly deployment_id: string | null;
  } | null;
  /** Steps that the two deployments have differently; null: it is one deployment, or one is not kept. */
  readonly code: readonly StepDifference[] | null;
  /** Fields with other types in the first bad event than in the last good one. */
  readonly shape: readonly {
    /** The field. */
    readonly path: string;
    /** Empty: the field is missing. */
    readonly before: readonly string[];
    /** Empty: the field is missing. */
    readonly after: readonly string[];
  }[] | null;
}

/** The error. */
export interface Error {
  /** A code of the platform, or the thrown error’s own `code` or `name`. */
  readonly code: string;
  /** The message of the error. */
  readonly msg: string;
  /** Id of the step that threw it. */
  readonly cellId: string;
  /** When it was thrown: ISO 8601, in UTC. */
  readonly ts: string;
  /** Lines of the stack, source-mapped; empty when the thrown value had none. */
  readonly stack: string;
  /** The name of that step. */
  readonly namespace: string;
  /** Of a reported error: what its program told. */
  readonly context?: unknown;
}

/** The error, with the event that caused it. Only with `expand=event`. */
export interface ErrorEvent {
  /** The event that started the run, byte for byte as it arrived. */
  readonly original_event: unknown;
  readonly original_context: OriginalContext;
  readonly error: Error;
}

export interface ErrorFixture {
  /** The version of this form. */
  readonly fixture: 1;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
  readonly emitter_id: string;
  /** The step that failed. */
  readonly step: {
    /** Name of the step. */
    readonly namespace: string;
    /** Id of the step. */
    readonly id: string;
  };
  readonly error: Error;
  readonly original_context: OriginalContext;
  /** The text of the event, exactly as it arrived. */
  readonly original_event_text?: string;
  /** In its place, should the bytes be no UTF-8. */
  readonly original_event_base64?: string;
  /** True: rules hide a part of the event or of the error, or hid it before it was stored, so code that is tested with it gets `[redacted]` in its place. */
  readonly redacted: boolean;
}

export interface ErrorGroup {
  /** Id of the group of errors. */
  readonly id: string;
  /** The workflow, source or webhook that failed. */
  readonly emitter_id: string;
  /** `open`: its errors are told. `resolved`: the next error opens it again. `muted`: nothing is told of it until the mute ends. */
  readonly state: "open" | "resolved" | "muted";
  /** What the errors have in common. */
  readonly why: string;
  readonly fingerprint: Fingerprint;
  /** The name that a rule of the workflow gave it (`settings.grouping`). */
  readonly rule: string | null;
  /** Number of its errors, also of those that are no longer kept. */
  readonly count: number;
  /** When the first of its errors came, in milliseconds since the Unix epoch. */
  readonly first_seen_ms: number;
  /** `first_seen_ms` as ISO 8601, in UTC. */
  readonly first_seen_iso: string;
  /** When the last of its errors came, in milliseconds since the Unix epoch. */
  readonly last_seen_ms: number;
  /** `last_seen_ms` as ISO 8601, in UTC. */
  readonly last_seen_iso: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly first_error_id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly last_error_id: string;
  /** Deployment of its first error; null: none ran. */
  readonly first_deployment_id: string | null;
  /** Deployment of its last error; null: none ran. */
  readonly last_deployment_id: string | null;
  /** Errors of deployments that were there when it was resolved do not open it again. */
  readonly resolved_in_next_deployment: boolean;
  /** When the mute ends, in milliseconds since the Unix epoch; null: at no set time. */
  readonly muted_until_ms: number | null;
  /** `muted_until_ms` as ISO 8601, in UTC. */
  readonly muted_until_iso: string | null;
  /** How many more errors end the mute; null: it does not end by a count. */
  readonly muted_errors_left: number | null;
  /** True: the first error of a later deployment ends the mute. */
  readonly muted_until_next_deployment: boolean;
  /** How the group was last opened again. */
  readonly reopened: Reopened | null;
  /** A note of yours; null: there is none. */
  readonly note: string | null;
  /** Who takes care of it, by mail address; null: no person is named. */
  readonly assignee: string | null;
  /** When it was changed last, in milliseconds since the Unix epoch. */
  readonly updated_at_ms: number;
  /** `updated_at_ms` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
}

export interface ErrorGroupPreview {
  /** What the errors have in common. */
  readonly why: string;
  readonly fingerprint: Fingerprint;
  /** Name of the rule that makes it; null: none does. */
  readonly rule: string | null;
  /** How many of the errors that were looked at. */
  readonly count: number;
  /** These errors, newest first. */
  readonly error_ids: readonly string[];
  /** The groups that these errors are in now. */
  readonly group_ids: readonly string[];
}

export interface ErrorGroupWhole {
  /** Id of the group of errors. */
  readonly id: string;
  /** The workflow, source or webhook that failed. */
  readonly emitter_id: string;
  /** `open`: its errors are told. `resolved`: the next error opens it again. `muted`: nothing is told of it until the mute ends. */
  readonly state: "open" | "resolved" | "muted";
  /** What the errors have in common. */
  readonly why: string;
  readonly fingerprint: Fingerprint;
  /** The name that a rule of the workflow gave it (`settings.grouping`). */
  readonly rule: string | null;
  /** Number of its errors, also of those that are no longer kept. */
  readonly count: number;
  /** When the first of its errors came, in milliseconds since the Unix epoch. */
  readonly first_seen_ms: number;
  /** `first_seen_ms` as ISO 8601, in UTC. */
  readonly first_seen_iso: string;
  /** When the last of its errors came, in milliseconds since the Unix epoch. */
  readonly last_seen_ms: number;
  /** `last_seen_ms` as ISO 8601, in UTC. */
  readonly last_seen_iso: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly first_error_id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly last_error_id: string;
  /** Deployment of its first error; null: none ran. */
  readonly first_deployment_id: string | null;
  /** Deployment of its last error; null: none ran. */
  readonly last_deployment_id: string | null;
  /** Errors of deployments that were there when it was resolved do not open it again. */
  readonly resolved_in_next_deployment: boolean;
  /** When the mute ends, in milliseconds since the Unix epoch; null: at no set time. */
  readonly muted_until_ms: number | null;
  /** `muted_until_ms` as ISO 8601, in UTC. */
  readonly muted_until_iso: string | null;
  /** How many more errors end the mute; null: it does not end by a count. */
  readonly muted_errors_left: number | null;
  /** True: the first error of a later deployment ends the mute. */
  readonly muted_until_next_deployment: boolean;
  /** How the group was last opened again. */
  readonly reopened: Reopened | null;
  /** A note of yours; null: there is none. */
  readonly note: string | null;
  /** Who takes care of it, by mail address; null: no person is named. */
  readonly assignee: string | null;
  /** When it was changed last, in milliseconds since the Unix epoch. */
  readonly updated_at_ms: number;
  /** `updated_at_ms` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  /** Of the last 168 hours those that had errors, newest first. */
  readonly hours: readonly GroupHour[];
  /** The newest 50 that had errors, newest first. */
  readonly deployments: readonly GroupDeployment[];
  /** The newest 5 errors that are kept. */
  readonly samples: readonly ErrorSample[];
}

export interface ErrorRecord {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** When it was written to the log, in milliseconds since the Unix epoch. */
  readonly indexed_at_ms: number;
  readonly event?: ErrorEvent;
  /** Which emission it is. */
  readonly metadata: {
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emit_id: string;
    /** Name of the event: empty when it has none, `$errors` for errors. */
    readonly name: string;
  };
}

export interface ErrorRecordWhole {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** When it was written to the log, in milliseconds since the Unix epoch. */
  readonly indexed_at_ms: number;
  /** `indexed_at_ms` as ISO 8601, in UTC. */
  readonly indexed_at_iso: string;
  readonly event?: ErrorEvent;
  /** Which emission it is. */
  readonly metadata: {
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emit_id: string;
    /** Name of the event: empty when it has none, `$errors` for errors. */
    readonly name: string;
    /** The group of errors. */
    readonly group_id?: string;
  };
  /** The run that failed; null: none did, as for a delivery. */
  readonly run_id: string | null;
  /** False: the record of that run went with the retention of the server, and its address answers 404; the error is kept longer. Null: no run failed. */
  readonly run_retained: boolean | null;
  /** The delivery that was given up (`dl_…`); null for a run. */
  readonly delivery_id: string | null;
  /** Who was told of it, and from whom it was withheld. */
  readonly receipts: readonly Receipt[];
  /** `told`: a listener’s run succeeded, or a mail, webhook, request or notice to a channel went out. `under_way`: one of them is not over. `counted`: its mail was withheld, or the next notice of its group is due later, and a digest counts it. `failed`: all failed or were given up. `withheld`: every listener was left out. `no_listener`: there was none. */
  readonly told: "told" | "under_way" | "counted" | "failed" | "withheld" | "no_listener";
  /** Replays of it and retries of its run, newest first; at most 100. */
  readonly replays: readonly Replay[];
}

export interface ErrorSample {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** When it was written to the log, in milliseconds since the Unix epoch. */
  readonly indexed_at_ms: number;
  /** `indexed_at_ms` as ISO 8601, in UTC. */
  readonly indexed_at_iso: string;
  /** Which emission it is. */
  readonly metadata: {
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emit_id: string;
    /** Name of the event: empty when it has none, `$errors` for errors. */
    readonly name: string;
    /** The group of errors. */
    readonly group_id?: string;
  };
  /** The deployment that failed; null: none ran. */
  readonly deployment_id: string | null;
  readonly error: Error;
  /** Who was told. */
  readonly receipts: readonly Receipt[];
}

/** The error. */
export interface ErrorSummary {
  /** Code of the error. */
  readonly code: string | null;
  /** At most 500 characters. */
  readonly msg: string;
  /** Id of the step that threw it. */
  readonly cellId: string;
  /** When it was thrown: ISO 8601, in UTC. */
  readonly ts: string;
  /** The name of that step. */
  readonly namespace: string;
}

export interface EventRecord {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** When it was written to the log, in milliseconds since the Unix epoch. */
  readonly indexed_at_ms: number;
  /** Only with `expand=event`, as it was emitted. */
  readonly event?: unknown;
  /** Which emission it is. */
  readonly metadata: {
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emit_id: string;
    /** Name of the event: empty when it has none, `$errors` for errors. */
    readonly name: string;
    /** Id that the source gave to the event, by which duplicates are dropped. */
    readonly id?: string;
    /** Of an event that waits in `$in`: the name under which it will be emitted. */
    readonly event_name?: string;
    /** Of an event that waits in `$in`: when it will be emitted, in milliseconds since the Unix epoch. */
    readonly delivery_ts?: number;
    /** Summary that the source gave. */
    readonly summary?: string;
    /** Time that the source gave, in milliseconds since the Unix epoch. */
    readonly ts?: number;
  };
}

export interface EventWhole {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** When it was written to the log, in milliseconds since the Unix epoch. */
  readonly indexed_at_ms: number;
  /** `indexed_at_ms` as ISO 8601, in UTC. */
  readonly indexed_at_iso: string;
  /** Only with `expand=event`, as it was emitted. */
  readonly event?: unknown;
  /** Which emission it is. */
  readonly metadata: {
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emit_id: string;
    /** Name of the event: empty when it has none, `$errors` for errors. */
    readonly name: string;
    /** Id that the source gave to the event, by which duplicates are dropped. */
    readonly id?: string;
    /** Of an event that waits in `$in`: the name under which it will be emitted. */
    readonly event_name?: string;
    /** Of an event that waits in `$in`: when it will be emitted, in milliseconds since the Unix epoch. */
    readonly delivery_ts?: number;
    /** Summary that the source gave. */
    readonly summary?: string;
    /** Time that the source gave, in milliseconds since the Unix epoch. */
    readonly ts?: number;
  };
  /** Who got it. */
  readonly receipts: readonly Receipt[];
}

export interface ExportedError {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** When it was written to the log, in milliseconds since the Unix epoch. */
  readonly indexed_at_ms: number;
  /** Which emission it is. */
  readonly metadata: {
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emit_id: string;
    /** Name of the event: empty when it has none, `$errors` for errors. */
    readonly name: string;
    /** The group of errors. */
    readonly group_id?: string;
  };
  readonly error: Error;
  readonly original_context: OriginalContext;
  /** The event that started the run, exactly as it arrived. */
  readonly original_event_text?: string;
  /** Instead, where its bytes are no UTF-8. */
  readonly original_event_base64?: string;
}

/** Of a group that a rule made: of its first error. */
export interface Fingerprint {
  /** Of the way in which fingerprints are made. */
  readonly version: number;
  /** The step; empty when the error belongs to none. */
  readonly namespace: string;
  /** The code of the errors. */
  readonly code: string;
  /** The message without its variable parts, and the codes of its causes. */
  readonly template: string;
  /** The first frame of own code; empty when there is none. */
  readonly frame: string;
}

export interface FoundError {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** When it was written to the log, in milliseconds since the Unix epoch. */
  readonly indexed_at_ms: number;
  /** `indexed_at_ms` as ISO 8601, in UTC. */
  readonly indexed_at_iso: string;
  readonly event?: ErrorEvent;
  /** Which emission it is. */
  readonly metadata: {
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emit_id: string;
    /** Name of the event: empty when it has none, `$errors` for errors. */
    readonly name: string;
    /** The group of errors. */
    readonly group_id?: string;
  };
  readonly error: ErrorSummary;
  /** The name of what failed, at that time. */
  readonly workflow_name: string | null;
  /** The deployment that failed; null: none ran. */
  readonly deployment_id: string | null;
  /** The run that failed; null: none did, as for a delivery. */
  readonly run_id: string | null;
  /** False: the record of that run went with the retention of the server, and its address answers 404; the error is kept longer. Null: no run failed. */
  readonly run_retained: boolean | null;
  /** The delivery that was given up (`dl_…`); null for a run. */
  readonly delivery_id: string | null;
  /** `told`: a listener’s run succeeded, or a mail, webhook, request or notice to a channel went out. `under_way`: one of them is not over. `counted`: its mail was withheld, or the next notice of its group is due later, and a digest counts it. `failed`: all failed or were given up. `withheld`: every listener was left out. `no_listener`: there was none. */
  readonly told: "told" | "under_way" | "counted" | "failed" | "withheld" | "no_listener";
  /** The newest replay of it, or retry of its run; null when there is none. */
  readonly replay: Replay | null;
}

export interface GroupAssignee {
  /** The mail address, as one of the groups has it. */
  readonly assignee: string;
  /** How many groups are assigned to it. */
  readonly groups: number;
  /** How many of them are open. */
  readonly open: number;
}

export interface GroupDeployment {
  /** Id of the deployment. */
  readonly id: string;
  /** How many errors. */
  readonly count: number;
  /** When the first of its errors came, in milliseconds since the Unix epoch. */
  readonly first_seen_ms: number;
  /** `first_seen_ms` as ISO 8601, in UTC. */
  readonly first_seen_iso: string;
  /** When the last of its errors came, in milliseconds since the Unix epoch. */
  readonly last_seen_ms: number;
  /** `last_seen_ms` as ISO 8601, in UTC. */
  readonly last_seen_iso: string;
}

export interface GroupHour {
  /** Start of the hour, in milliseconds since the Unix epoch. */
  readonly from_ms: number;
  /** `from_ms` as ISO 8601, in UTC. */
  readonly from_iso: string;
  /** How many errors. */
  readonly count: number;
}

/** Which part of the list this is, and where it goes on. */
export interface GroupPageInfo {
  /** Groups that match, whatever the cursor: up to 10,000. Null with `text`, which has to read each group to know. */
  readonly total_count: number | null;
  /** Groups in `data`. */
  readonly count: number;
  /** Place of the first group; null when there is none. */
  readonly start_cursor: string | null;
  /** Place of the last group; null when there is none. */
  readonly end_cursor: string | null;
  /** Where the list goes on: as `after`, or as `before` if this page had `before` alone. Null when it has come to the end. */
  readonly next_cursor: string | null;
  /** When the last group that it looked at was last seen, in milliseconds since the Unix epoch; null when it has come to the end, and with `sort=count`. */
  readonly searched_until_ms: number | null;
  /** `searched_until_ms` as ISO 8601, in UTC. */
  readonly searched_until_iso: string | null;
  /** Groups that this page looked at. */
  readonly looked_at: number;
}

export interface GroupingRule {
  /** Errors that match make up this group. */
  readonly group: string;
  /** The code. */
  readonly code?: string;
  /** The whole message; `*` stands for any characters. */
  readonly message?: string;
  /** The name of the step. */
  readonly step?: string;
}

export interface Heartbeat {
  /** Id of the heartbeat. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** Name of the heartbeat. */
  readonly name: string;
  /** False: pings are counted, and none is missed. */
  readonly active: boolean;
  /** True: GET and HEAD are refused, so that whatever follows links (a mail scanner, a preview of a chat) does not ping. */
  readonly post_only: boolean;
  /** A secret: a caller who has it can ping. */
  readonly ping_url: string;
  /** Cron expression of when the job runs, instead of `interval_seconds`. */
  readonly cron?: string;
  /** The longest time between two pings, in seconds, instead of `cron`. */
  readonly interval_seconds?: number;
  /** Time zone of `cron`, an IANA name; UTC when not given. */
  readonly timezone: string;
  /** How many seconds late a ping may be, and how many seconds a run may take that pinged `/start`; 300 when not given. */
  readonly grace_seconds: number;
  /** `new`: it was never pinged, and is not missed yet. `down`: it is silent, or its job failed last. `paused`: it is not active. */
  readonly status: "up" | "new" | "down" | "paused";
  /** What is wrong with it: `Silent`, `HeartbeatFailed`. */
  readonly codes: readonly string[];
  /** Since when it is down, in milliseconds since the Unix epoch; null: it is not. */
  readonly down_since_ms: number | null;
  /** `down_since_ms` as ISO 8601, in UTC. */
  readonly down_since_iso: string | null;
  /** When the last ping came, other than `/start`, in milliseconds since the Unix epoch; null: none came yet. */
  readonly last_ping_at_ms: number | null;
  /** `last_ping_at_ms` as ISO 8601, in UTC. */
  readonly last_ping_at_iso: string | null;
  /** When the run began that is under way, in milliseconds since the Unix epoch; null: none is. */
  readonly started_at_ms: number | null;
  /** `started_at_ms` as ISO 8601, in UTC. */
  readonly started_at_iso: string | null;
  /** How long the last run took from `/start` to its end, in milliseconds; null: it is not known. */
  readonly last_duration_ms: number | null;
  /** When the next ping is expected, without the grace, in milliseconds since the Unix epoch; null: none is. */
  readonly next_expected_at_ms: number | null;
  /** `next_expected_at_ms` as ISO 8601, in UTC. */
  readonly next_expected_at_iso: string | null;
  /** How many pings have come, `/start` included. */
  readonly pings: number;
  /** How many of them told of a failure. */
  readonly failures: number;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
}

/** The owner of the key. */
export interface KeyOwner {
  /** Id of the owner. */
  readonly id: string;
  /** Name of the owner. */
  readonly name: string;
  /** Where mails go; null: into the outbox folder only. */
  readonly email: string | null;
  /** The workflow that gets every error; null: there is none. */
  readonly global_error_workflow_id: string | null;
  /** Repeats of an error within so many milliseconds become one mail at their end. */
  readonly digest_window_ms: number;
  /** The channels that are notified of errors. */
  readonly channels: readonly string[];
  /** `deleting`: its keys and addresses are refused, and nothing of it runs. */
  readonly state: "active" | "deleting";
  /** While it is being deleted: from when on all that it owns is deleted, in seconds since the Unix epoch. */
  readonly purge_at: number | null;
  /** `purge_at` as ISO 8601, in UTC. */
  readonly purge_at_iso: string | null;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  /** The same as `name`, by the name that callers of users know. */
  readonly username: string;
  /** Empty: there are no organisations here. */
  readonly orgs: readonly unknown[];
}

/** The newest, whatever its state. */
export interface LastRun {
  /** Id of the run. */
  readonly id: string;
  /** `queued`: it waits to begin. `running`: its code runs. `waiting`: it waits for a time, a person or its next attempt. `succeeded`, `failed` and `cancelled` are final. */
  readonly state: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
  /** When it was created, in milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
  /** `created_at_ms` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
}

export interface Ledger {
  /** How many events were accepted. */
  readonly emissions: number;
  /** The runs, by state. */
  readonly runs: {
    /** How many runs are `queued`. */
    readonly queued: number;
    /** How many runs are `running`. */
    readonly running: number;
    /** How many runs are `waiting`. */
    readonly waiting: number;
    /** How many runs are `succeeded`. */
    readonly succeeded: number;
    /** How many runs are `failed`. */
    readonly failed: number;
    /** How many runs are `cancelled`. */
    readonly cancelled: number;
    /** All runs: the sum of the others. */
    readonly total: number;
  };
  /** The deliveries, by state. */
  readonly deliveries: {
    /** How many deliveries are `pending`. */
    readonly pending: number;
    /** How many deliveries are `sending`. */
    readonly sending: number;
    /** How many deliveries are `retrying`. */
    readonly retrying: number;
    /** How many deliveries are `held`. */
    readonly held: number;
    /** How many deliveries are `delivered`. */
    readonly delivered: number;
    /** How many deliveries are `exhausted`. */
    readonly exhausted: number;
    /** How many deliveries are `cancelled`. */
    readonly cancelled: number;
    /** All deliveries: the sum of the others. */
    readonly total: number;
  };
  /** The errors. */
  readonly errors: {
    /** How many errors there were. */
    readonly captured: number;
  };
}

export interface ListedErrorGroup {
  /** Id of the group of errors. */
  readonly id: string;
  /** The workflow, source or webhook that failed. */
  readonly emitter_id: string;
  /** `open`: its errors are told. `resolved`: the next error opens it again. `muted`: nothing is told of it until the mute ends. */
  readonly state: "open" | "resolved" | "muted";
  /** What the errors have in common. */
  readonly why: string;
  readonly fingerprint: Fingerprint;
  /** The name that a rule of the workflow gave it (`settings.grouping`). */
  readonly rule: string | null;
  /** Number of its errors, also of those that are no longer kept. */
  readonly count: number;
  /** When the first of its errors came, in milliseconds since the Unix epoch. */
  readonly first_seen_ms: number;
  /** `first_seen_ms` as ISO 8601, in UTC. */
  readonly first_seen_iso: string;
  /** When the last of its errors came, in milliseconds since the Unix epoch. */
  readonly last_seen_ms: number;
  /** `last_seen_ms` as ISO 8601, in UTC. */
  readonly last_seen_iso: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly first_error_id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly last_error_id: string;
  /** Deployment of its first error; null: none ran. */
  readonly first_deployment_id: string | null;
  /** Deployment of its last error; null: none ran. */
  readonly last_deployment_id: string | null;
  /** Errors of deployments that were there when it was resolved do not open it again. */
  readonly resolved_in_next_deployment: boolean;
  /** When the mute ends, in milliseconds since the Unix epoch; null: at no set time. */
  readonly muted_until_ms: number | null;
  /** `muted_until_ms` as ISO 8601, in UTC. */
  readonly muted_until_iso: string | null;
  /** How many more errors end the mute; null: it does not end by a count. */
  readonly muted_errors_left: number | null;
  /** True: the first error of a later deployment ends the mute. */
  readonly muted_until_next_deployment: boolean;
  /** How the group was last opened again. */
  readonly reopened: Reopened | null;
  /** A note of yours; null: there is none. */
  readonly note: string | null;
  /** Who takes care of it, by mail address; null: no person is named. */
  readonly assignee: string | null;
  /** When it was changed last, in milliseconds since the Unix epoch. */
  readonly updated_at_ms: number;
  /** `updated_at_ms` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  /** Of the last 168 hours those that had errors, newest first. */
  readonly hours?: readonly GroupHour[];
}

export interface LogLine {
  /** When it was printed, in milliseconds since the Unix epoch. */
  readonly ts_ms: number;
  /** `ts_ms` as ISO 8601, in UTC. */
  readonly ts_iso: string;
  /** `debug`, `info`, `warn` or `error`. */
  readonly level: string;
  /** The step that printed it. */
  readonly namespace: string;
  /** The line. */
  readonly text: string;
}

/** How many runs were looked at. */
export interface LookedAt {
  /** How many were looked at. */
  readonly count: number;
  /** There are more, which were not looked at. */
  readonly part: boolean;
}

export interface NewApiKey {
  /** Id of the API key. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** What the key is for. */
  readonly label: string;
  /** What the key may do. */
  readonly scopes: readonly ("ingest" | "read" | "write" | "keys" | "account" | "admin")[];
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** The key that created it; null: the service itself, or the command line. */
  readonly created_by: string | null;
  /** When it expires, in seconds since the Unix epoch; null: never. */
  readonly expires_at: number | null;
  /** `expires_at` as ISO 8601, in UTC. */
  readonly expires_at_iso: string | null;
  /** When it was used last, in seconds since the Unix epoch, to the minute; null: never. */
  readonly last_used_at: number | null;
  /** `last_used_at` as ISO 8601, in UTC. */
  readonly last_used_at_iso: string | null;
  /** When it was revoked, in seconds since the Unix epoch; null: it is good. */
  readonly revoked_at: number | null;
  /** `revoked_at` as ISO 8601, in UTC. */
  readonly revoked_at_iso: string | null;
  /** Of a key with `ingest` alone: the only workflow whose errors it reports; null: any of yours. */
  readonly workflow_id: string | null;
  /** The key itself. Shown here and never again. */
  readonly api_key: string;
  /** Of a key with a workflow: what clients of Sentry are given, so that they report here. Contains the key. */
  readonly dsn?: string;
}

export interface NewOwner {
  /** Id of the owner. */
  readonly id: string;
  /** Name of the owner. */
  readonly name: string;
  /** Where mails go; null: into the outbox folder only. */
  readonly email: string | null;
  /** The workflow that gets every error; null: there is none. */
  readonly global_error_workflow_id: string | null;
  /** Repeats of an error within so many milliseconds become one mail at their end. */
  readonly digest_window_ms: number;
  /** The channels that are notified of errors. */
  readonly channels: readonly string[];
  /** `deleting`: its keys and addresses are refused, and nothing of it runs. */
  readonly state: "active" | "deleting";
  /** While it is being deleted: from when on all that it owns is deleted, in seconds since the Unix epoch. */
  readonly purge_at: number | null;
  /** `purge_at` as ISO 8601, in UTC. */
  readonly purge_at_iso: string | null;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  readonly key: ApiKey;
  /** The key itself. Shown here and never again. */
  readonly api_key: string;
}

export interface NewWebhook {
  /** Id of the webhook. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** The same as `owner_id`, by the name that callers of webhooks know. */
  readonly user_id: string;
  /** Where events are delivered. */
  readonly url: string;
  /** Label for your own use. */
  readonly name: string | null;
  /** Longer description for your own use. */
  readonly description: string | null;
  /** False: deliveries are held. */
  readonly active: boolean;
  /** Request headers of your own, at most 32. None of Errand’s or of the connection’s can be set. Where a key without the scope `write` reads them, their values are "(hidden)". */
  readonly headers: { readonly [name: string]: string };
  /** How long an attempt may take in all, in milliseconds. Null: 15000. */
  readonly timeout_ms: number | null;
  /** The schedule of retries. Null: 10 of them in about three days. */
  readonly retry: {
    /** Before the second attempt, the third, …, each give or take 10 %. Empty: no retries. */
    readonly delays_ms: readonly number[];
  } | null;
  /** At most `limit` requests begin within any `interval_ms`. Null: no such limit. */
  readonly rate_limit: {
    /** How many requests may begin. */
    readonly limit: number;
    /** Within how many milliseconds. */
    readonly interval_ms: number;
  } | null;
  /** Requests on their way at a time. Null: 8. */
  readonly max_in_flight: number | null;
  /** True: one delivery at a time, in the order of the events; one that fails holds up those behind it until it is delivered or exhausted. */
  readonly ordered: boolean;
  /** `v1`: HMAC-SHA256 with the secret. `v1a`: ed25519, which receivers check with a public key. */
  readonly signature: readonly ("v1" | "v1a")[];
  readonly health: WebhookHealth;
  /** For `v1a` signatures, newest first. */
  readonly public_keys: readonly PublicKey[];
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  /** Signs what is delivered (Standard Webhooks, `v1`). Shown here and never again. */
  readonly secret: string;
}

export interface Operation {
  /** Id of the operation. */
  readonly id: string;
  /** `resend` sends deliveries of a webhook again, `replay` runs the events of errors again. */
  readonly kind: "resend" | "replay";
  /** The webhook, of a resend. */
  readonly webhook_id: string | null;
  /** Whether it runs, pauses or is over. */
  readonly state: "running" | "paused" | "done" | "cancelled";
  /** Of a resend: states of the deliveries that are sent again. */
  readonly states: readonly ("exhausted" | "delivered" | "cancelled" | "retrying")[];
  /** Start of the period that it is about, in milliseconds since the Unix epoch. */
  readonly since_ms: number;
  /** `since_ms` as ISO 8601, in UTC. */
  readonly since_iso: string;
  /** End of the period that it is about, in milliseconds since the Unix epoch. */
  readonly until_ms: number;
  /** `until_ms` as ISO 8601, in UTC. */
  readonly until_iso: string;
  /** How many were found; null while they are still being counted. */
  readonly total: number | null;
  /** How many deliveries were sent again. */
  readonly resent: number;
  /** How many were in another state when it was their turn. Set when the operation is done. */
  readonly passed_over: number;
  /** Of a replay: what it was asked for, and how many errors have come to which outcome. */
  readonly replay: ReplayProgress | null;
  /** From 0 to 1; null while they are still being counted. */
  readonly progress: number | null;
  /** Why it waits, or ended early. */
  readonly reason: string | null;
  /** When it was created, in milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
  /** `created_at_ms` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it last went on, in milliseconds since the Unix epoch. */
  readonly updated_at_ms: number;
  /** `updated_at_ms` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  /** When it ended, in milliseconds since the Unix epoch; null: it has not ended. */
  readonly ended_at_ms: number | null;
  /** `ended_at_ms` as ISO 8601, in UTC. */
  readonly ended_at_iso: string | null;
}

/** Where the original event came from, and what ran for it. */
export interface OriginalContext {
  /** The original event: its emit id. */
  readonly id: string;
  /** When the original event was accepted: ISO 8601, in UTC. */
  readonly ts: string;
  /** The workflow that ran; null: it was none. */
  readonly workflow_id: string | null;
  /** The deployment that ran; null: none did. */
  readonly deployment_id: string | null;
  /** Kind of the trigger: HTTP, TIMER, SOURCE, WORKFLOW, ERROR, WEBHOOK or API. */
  readonly source_type: string;
  /** True: the trigger checked a token, or the source a signature. */
  readonly verified: boolean;
  /** Id of the owner. */
  readonly owner_id: string;
  /** Version of Errand that ran it. */
  readonly platform_version: string;
  /** Name of the workflow; null: it was none. */
  readonly workflow_name: string | null;
  /** Who emitted the original event. */
  readonly emitter_id: string;
  /** One per original event, kept across retries and replays. */
  readonly trace_id: string;
  /** True: the run was a replay. */
  readonly replay: boolean;
  /** Number of the attempt, counted from 1. */
  readonly attempt: number;
  /** True: the event was a test. */
  readonly test: boolean;
  /** True: another program reported the error; no run of the workflow failed. */
  readonly reported?: boolean;
  /** The source, when the run was of one. */
  readonly source_id?: string;
  /** The webhook, when a delivery failed. */
  readonly webhook_id?: string;
  /** The heartbeat, when the error is of one. */
  readonly heartbeat_id?: string;
  /** Name of that heartbeat. */
  readonly heartbeat_name?: string;
  /** Of a notice or mail that the service itself sent, and gave up: your name. */
  readonly owner_name?: string;
  /** Name of the event, when a delivery failed. */
  readonly event_name?: string;
}

/** The owner. */
export interface Owner {
  /** Id of the owner. */
  readonly id: string;
  /** Name of the owner. */
  readonly name: string;
  /** Where mails go; null: into the outbox folder only. */
  readonly email: string | null;
  /** The workflow that gets every error; null: there is none. */
  readonly global_error_workflow_id: string | null;
  /** Repeats of an error within so many milliseconds become one mail at their end. */
  readonly digest_window_ms: number;
  /** The channels that are notified of errors. */
  readonly channels: readonly string[];
  /** `deleting`: its keys and addresses are refused, and nothing of it runs. */
  readonly state: "active" | "deleting";
  /** While it is being deleted: from when on all that it owns is deleted, in seconds since the Unix epoch. */
  readonly purge_at: number | null;
  /** `purge_at` as ISO 8601, in UTC. */
  readonly purge_at_iso: string | null;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
}

export interface OwnerExportLine {
  /** The line: the export goes on behind it with `after`. */
  readonly id: string;
  /** What the record is. */
  readonly type: string;
  /** As the interface shows it to a key that may only read. */
  readonly record: { readonly [name: string]: unknown };
}

/** Which part of the list this is. */
export interface PageInfo {
  /** Records that match, whatever the cursor. */
  readonly total_count: number;
  /** Records in `data`. */
  readonly count: number;
  /** Id of the first record; null when there is none. */
  readonly start_cursor: string | null;
  /** Id of the last record; null when there is none. */
  readonly end_cursor: string | null;
}

/** The refusal (RFC 9457). The codes are at /docs/errors. */
export interface Problem {
  /** Address of the error code’s documentation; its last part is the code. */
  readonly type: "/docs/errors#malformed" | "/docs/errors#no_answer" | "/docs/errors#unauthenticated" | "/docs/errors#forbidden" | "/docs/errors#owner_deleted" | "/docs/errors#not_found" | "/docs/errors#method_not_allowed" | "/docs/errors#too_slow" | "/docs/errors#conflict" | "/docs/errors#precondition_failed" | "/docs/errors#too_large" | "/docs/errors#unsupported_media" | "/docs/errors#impossible" | "/docs/errors#code_invalid" | "/docs/errors#key_reused" | "/docs/errors#rate_limited" | "/docs/errors#internal" | "/docs/errors#unavailable" | "/docs/errors#run_timeout";
  /** The code in words. */
  readonly title: string;
  /** HTTP status of this answer. */
  readonly status: number;
  /** What was wrong, with which value, and what would be right. */
  readonly detail: string;
  /** The same as `detail`. */
  readonly error: string;
  /** Each parameter that was wrong. */
  readonly errors?: readonly {
    /** Name of the parameter or member. */
    readonly parameter: string;
    /** What is wrong with it, and what would be right. */
    readonly message: string;
    /** Of code: the file. */
    readonly file?: string;
    /** Of code: the line, counted from 1. */
    readonly line?: number;
    /** Of code: the column, counted from 1. */
    readonly column?: number;
  }[];
}

export interface PropOptions {
  /** As the component gave them: values, or `{label, value}`. */
  readonly options: readonly unknown[];
  /** When all of them are strings. */
  readonly string_options?: readonly string[];
  /** To be sent as `prev_context` with the next page. */
  readonly context: unknown;
}

export interface PublicKey {
  /** `whpk_` and the base64 of the 32 bytes of an ed25519 public key. */
  readonly public_key: string;
  /** Until when a replaced key still signs, in milliseconds since the Unix epoch; null: no end is set. */
  readonly until_ms: number | null;
  /** `until_ms` as ISO 8601, in UTC. */
  readonly until_iso: string | null;
}

export interface Quotas {
  /** Id of the owner. */
  readonly owner_id: string;
  /** The quotas. */
  readonly limits: {
    /** Processes of user code at each node, idle ones included. Further runs wait. Null: any number. */
    readonly processes: number | null;
    /** CPU seconds of user code within a minute at each node: 60 is one core. Beyond it, runs wait. Null: any number. */
    readonly cpu_seconds_per_minute: number | null;
    /** API requests and events together in a second, at each node. Beyond it, they are refused with 429. Null: any number. */
    readonly requests_per_second: number | null;
    /** Bytes of events, results and logs of runs, code, and data stores. Beyond it, what would be stored is refused with 429, and runs wait. Null: any number. */
    readonly stored_bytes: number | null;
  };
  /** At the node that answers, but for the stored bytes. */
  readonly use: {
    /** Processes now. */
    readonly processes: number;
    /** CPU seconds within the last minute. */
    readonly cpu_seconds_per_minute: number;
    /** Requests within the last second. Null: not counted, since there is no quota. */
    readonly requests_per_second: number | null;
    /** Bytes as last measured, and those that came to this node since. Null: not measured yet. */
    readonly stored_bytes: number | null;
    /** When they were measured, in milliseconds since the Unix epoch. Null: not yet. */
    readonly stored_bytes_at_ms: number | null;
    /** `stored_bytes_at_ms` as ISO 8601, in UTC. */
    readonly stored_bytes_at_iso: string | null;
  };
}

/** A listener of an emission, and what became of its run, delivery or mail. */
export interface Receipt {
  /** What came of it; `withheld`: nothing was run or sent. */
  readonly kind: "run" | "delivery" | "mail" | "withheld";
  /** The run or delivery; null for what was withheld. */
  readonly id: string | null;
  /** Workflow, source, webhook or channel; `mail` for a mail, `http:` and where it goes for a request that code asked for. */
  readonly listener_id: string;
  /** The subscription that it came by; null: it came in another way. */
  readonly subscription_id: string | null;
  /** How it came: by `trigger`, `subscription`, `global` (the global error workflow) or `channel`. */
  readonly via: string;
  /** State of the run or delivery, or `withheld`. */
  readonly state: string;
  /** Why it was withheld; of a delivery that failed, what its last attempt came to; of a failed run, its code. */
  readonly reason?: string;
}

export interface Redaction {
  /** Names of members whose values are hidden, at any depth, also in query strings and headers; `*` stands for any characters. Case, `-`, `_` and spaces do not count: `api_key` hides `X-Api-Key` only with `*apikey`, and `apiKey` as it is. */
  readonly keys: readonly string[];
  /** Regular expressions in the syntax of RE2, without lookaround and back references. What they match is hidden: in texts, names of members, and numbers, which are hidden whole. */
  readonly patterns: readonly string[];
}

/** How the group was last opened again. */
export interface Reopened {
  /** The state that it had before. */
  readonly from: "resolved" | "muted";
  /** What opened it again: an error, the end of a mute by its time, its count or a deployment, or a person. */
  readonly by: "error" | "time" | "count" | "deployment" | "person";
  /** When it was opened again, in milliseconds since the Unix epoch. */
  readonly at_ms: number;
  /** `at_ms` as ISO 8601, in UTC. */
  readonly at_iso: string;
  /** The error that opened it; null: none did. */
  readonly error_id: string | null;
  /** Deployment of the error that opened it. */
  readonly deployment_id: string | null;
}

/** Another run for the same event, and what it came to: `error_id` is the error that it ended in. */
export interface Replay {
  /** Of the error, or of the run that failed. */
  readonly kind: "replay" | "retry";
  /** Id of the run. */
  readonly run_id: string;
  /** State of that run. */
  readonly state: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
  /** With another event than the original one. */
  readonly edited: boolean;
  /** The operation that made it (`op_…`), one of many replays; null: it was made by itself. */
  readonly operation_id: string | null;
  /** `under_way`: the run is not over. `fixed`: it succeeded. `failed_same`: it failed with an error of the same group. `failed_differently`: with another one. `cancelled`: the run was cancelled. Null with another event. */
  readonly outcome: "under_way" | "fixed" | "failed_same" | "failed_differently" | "cancelled" | "unknown" | null;
  /** When it was created, in milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
  /** `created_at_ms` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it ended, in milliseconds since the Unix epoch; null: it has not ended. */
  readonly ended_at_ms: number | null;
  /** `ended_at_ms` as ISO 8601, in UTC. */
  readonly ended_at_iso: string | null;
  /** The error that it ended in; null: it ended in none. */
  readonly error_id: string | null;
}

export interface ReplayDryRun {
  /** Nothing was replayed. */
  readonly dry_run: true;
  /** Errors found. */
  readonly count: number;
  /** There may be more than were counted: so many errors, and so many bytes of their events, are looked at. */
  readonly at_least: boolean;
  /** Of these, how many would be replayed now. */
  readonly to_replay: number;
  /** And how many would not: see `reasons`. With `again`, what was run before is replayed. */
  readonly passed_over: number;
  /** Why errors would be passed over, the reason of most first. */
  readonly reasons: readonly ({
    /** What the replay would count them as. It follows the replay of one that is `under_way`. */
    readonly outcome: "under_way" | "not_replayed" | "replayed_before";
    /** Why. */
    readonly reason: string;
    /** How many errors it is the reason for. */
    readonly count: number;
  })[];
  /** How many errors there are of each. */
  readonly by_workflow: readonly {
    /** The workflow, source or webhook that failed. */
    readonly id: string;
    /** How many of the errors are its. */
    readonly count: number;
  }[];
  /** The oldest 5, which would go first. */
  readonly sample: readonly ({
    /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
    readonly id: string;
    /** The workflow or source that failed; null: there is no such error. */
    readonly emitter_id: string | null;
    /** Code of the error. */
    readonly code: string | null;
    /** Message of the error. */
    readonly msg: string | null;
    /** Why it would not be replayed; null: it would. */
    readonly reason: string | null;
  })[];
}

/** Of a replay: what it was asked for, and how many errors have come to which outcome. */
export interface ReplayProgress {
  /** Group that the errors are of; null: it was not asked for. */
  readonly group_id: string | null;
  /** Workflow that the errors are of; null: it was not asked for. */
  readonly workflow_id: string | null;
  /** Source that the errors are of; null: it was not asked for. */
  readonly source_id: string | null;
  /** Only errors with this code. */
  readonly code: string | null;
  /** Only errors of steps with this name. */
  readonly step: string | null;
  /** Only errors of runs with this deployment. */
  readonly failed_deployment_id: string | null;
  /** Only errors from then on, in milliseconds since the Unix epoch; null: all. */
  readonly since_ms: number | null;
  /** `since_ms` as ISO 8601, in UTC. */
  readonly since_iso: string | null;
  /** Only errors before then, in milliseconds since the Unix epoch; null: all. */
  readonly until_ms: number | null;
  /** `until_ms` as ISO 8601, in UTC. */
  readonly until_iso: string | null;
  /** How many errors were named; null: none. */
  readonly error_ids: number | null;
  /** The deployment that runs; `current`: the active one. */
  readonly deployment: string;
  /** Most replays that begin in a second; null: no limit was set. */
  readonly rate: number | null;
  /** How many errors go first. */
  readonly canary: number;
  /** True: the first ones are fixed, and the others are replayed, too. */
  readonly canary_over: boolean;
  /** After how many failures it pauses; null: after none. */
  readonly stop_on_failures: number | null;
  /** The step that replays begin with. */
  readonly from: "first_step" | "failed_step";
  /** True: one at a time, in the order in which the errors came. */
  readonly ordered: boolean;
  /** True: also errors that were replayed before. */
  readonly again: boolean;
  /** How many replays were begun. */
  readonly replayed: number;
  /** How many errors are `under_way`. */
  readonly under_way: number;
  /** How many errors are `fixed`. */
  readonly fixed: number;
  /** How many errors are `failed_same`. */
  readonly failed_same: number;
  /** How many errors are `failed_differently`. */
  readonly failed_differently: number;
  /** How many errors are `cancelled`. */
  readonly cancelled: number;
  /** How many errors are `unknown`. */
  readonly unknown: number;
  /** How many errors are `not_replayed`. */
  readonly not_replayed: number;
  /** How many errors are `replayed_before`. */
  readonly replayed_before: number;
}

/** `id`: of the error. */
export interface ReplayResult {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** The workflow or source that failed; null: there is no such error. */
  readonly emitter_id: string | null;
  /** What became of the error. `under_way`: the run of its replay is not over. `fixed`: it succeeded. `failed_same`: it failed with an error of the same group. `failed_differently`: with another one. `cancelled`: the run was cancelled. `unknown`: the run ended, and is no longer kept. `not_replayed`: it cannot be, see `reason`. `replayed_before`: a replay of it has ended already, see `reason`. */
  readonly outcome: "under_way" | "fixed" | "failed_same" | "failed_differently" | "cancelled" | "unknown" | "not_replayed" | "replayed_before";
  /** The replay, also when the operation did not make it: see `reason`. */
  readonly run_id: string | null;
  /** Why it was not replayed, or what else replays it: an operation follows a replay that is under way already. */
  readonly reason: string | null;
  /** The error that the replay ended in. */
  readonly error_id: string | null;
  /** What that error says; null: there is none, or it is no longer kept. In lists alone. */
  readonly error?: {
    /** The code of that error. */
    readonly code: string;
    /** At most 500 characters of its message. */
    readonly msg: string;
  } | null;
}

export interface ReportedError {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
  readonly emit_id: string;
  /** The workflow whose error it is. */
  readonly workflow_id: string;
}

export interface ResendDryRun {
  /** Nothing was sent. */
  readonly dry_run: true;
  /** Deliveries found. */
  readonly count: number;
  /** There are more than were counted. */
  readonly at_least: boolean;
  /** How many there are of each state. */
  readonly by_state: readonly ({
    /** State of the delivery. */
    readonly state: "exhausted" | "delivered" | "cancelled" | "retrying";
    /** How many deliveries have it. */
    readonly count: number;
  })[];
  /** The oldest 5, which would go first. */
  readonly sample: readonly ({
    /** Id of the delivery. */
    readonly id: string;
    /** State of the delivery. */
    readonly state: "exhausted" | "delivered" | "cancelled" | "retrying";
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Name of the event: empty when it has none. */
    readonly event_name: string;
    /** How many attempts were made. */
    readonly attempts_made: number;
    /** When it was created, in milliseconds since the Unix epoch. */
    readonly created_at_ms: number;
    /** `created_at_ms` as ISO 8601, in UTC. */
    readonly created_at_iso: string;
  })[];
}

export interface Run {
  /** Id of the run. */
  readonly id: string;
  /** The workflow that runs. */
  readonly workflow_id?: string;
  /** Instead of `workflow_id` when a source ran. */
  readonly source_id?: string;
  /** Id of the deployment. */
  readonly deployment_id: string;
  /** `queued`: it waits to begin. `running`: its code runs. `waiting`: it waits for a time, a person or its next attempt. `succeeded`, `failed` and `cancelled` are final. */
  readonly state: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
  /** While it waits. A suspended run is cancelled then, all others go on. */
  readonly waiting?: {
    /** What it waits for: `retry` is a failed attempt that is tried again. */
    readonly kind: "delay" | "suspend" | "rerun" | "retry";
    /** When it goes on by itself, or is cancelled, in milliseconds since the Unix epoch. */
    readonly until_ms: number;
    /** `until_ms` as ISO 8601, in UTC. */
    readonly until_iso: string;
  };
  /** Number of the attempt, counted from 1. */
  readonly attempt: number;
  /** True: it replays the event of an error. */
  readonly replay: boolean;
  /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
  readonly emission_id: string;
  /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
  readonly emitter_id: string;
  /** Name of the event: empty when it has none, `$errors` for errors. */
  readonly event_name: string;
  /** What the run exported as `$summary`. */
  readonly summary: string | null;
  /** When it was created, in milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
  /** `created_at_ms` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When its code began, in milliseconds since the Unix epoch; null: it has not begun. */
  readonly started_at_ms: number | null;
  /** `started_at_ms` as ISO 8601, in UTC. */
  readonly started_at_iso: string | null;
  /** When it ended, in milliseconds since the Unix epoch; null: it has not ended. */
  readonly ended_at_ms: number | null;
  /** `ended_at_ms` as ISO 8601, in UTC. */
  readonly ended_at_iso: string | null;
  /** The error that it ended in; null: in none. */
  readonly error_id: string | null;
  /** The newest run that is a retry of this one, or a replay of its error. */
  readonly retried_by: string | null;
  /** Of a failed run. */
  readonly error?: {
    /** Code of the error. */
    readonly code: string;
    /** Message of the error, at most 500 characters of it. */
    readonly msg: string;
  };
}

export interface RunWhole {
  /** Id of the run. */
  readonly id: string;
  /** The workflow that runs. */
  readonly workflow_id?: string;
  /** Instead of `workflow_id` when a source ran. */
  readonly source_id?: string;
  /** Id of the deployment. */
  readonly deployment_id: string;
  /** `queued`: it waits to begin. `running`: its code runs. `waiting`: it waits for a time, a person or its next attempt. `succeeded`, `failed` and `cancelled` are final. */
  readonly state: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
  /** While it waits. A suspended run is cancelled then, all others go on. */
  readonly waiting?: {
    /** What it waits for: `retry` is a failed attempt that is tried again. */
    readonly kind: "delay" | "suspend" | "rerun" | "retry";
    /** When it goes on by itself, or is cancelled, in milliseconds since the Unix epoch. */
    readonly until_ms: number;
    /** `until_ms` as ISO 8601, in UTC. */
    readonly until_iso: string;
  };
  /** Number of the attempt, counted from 1. */
  readonly attempt: number;
  /** True: it replays the event of an error. */
  readonly replay: boolean;
  /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
  readonly emission_id: string;
  /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
  readonly emitter_id: string;
  /** Name of the event: empty when it has none, `$errors` for errors. */
  readonly event_name: string;
  /** What the run exported as `$summary`. */
  readonly summary: string | null;
  /** When it was created, in milliseconds since the Unix epoch. */
  readonly created_at_ms: number;
  /** `created_at_ms` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When its code began, in milliseconds since the Unix epoch; null: it has not begun. */
  readonly started_at_ms: number | null;
  /** `started_at_ms` as ISO 8601, in UTC. */
  readonly started_at_iso: string | null;
  /** When it ended, in milliseconds since the Unix epoch; null: it has not ended. */
  readonly ended_at_ms: number | null;
  /** `ended_at_ms` as ISO 8601, in UTC. */
  readonly ended_at_iso: string | null;
  /** The error that it ended in; null: in none. */
  readonly error_id: string | null;
  /** The newest run that is a retry of this one, or a replay of its error. */
  readonly retried_by: string | null;
  readonly error?: Error;
  /** The event, byte for byte as it came. */
  readonly event: unknown;
  /** The steps that ran, in order. */
  readonly steps: readonly StepResult[];
  /** What the code printed. */
  readonly logs: readonly LogLine[];
  /** How many bytes were printed beyond the limit of the log, and are not kept; absent when none. */
  readonly log_bytes_dropped?: number;
  /** What `$.flow.exit` was given; absent when nothing. */
  readonly exit_reason?: string;
  /** Of a source: emissions that dedupe has dropped; absent when none. */
  readonly suppressed?: number;
  /** The event that it ran for, and where that came from. */
  readonly caused_by: {
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emission_id: string;
    /** The run that emitted the event; null when it came from outside. */
    readonly run_id: string | null;
    /** What a source said of its event; of a replay, which error it is of, and whether edited. */
    readonly summary: string | null;
  };
  /** What its first 100 emissions started. */
  readonly causes: readonly Receipt[];
}

/** Which part of the results this is, and where the search goes on. */
export interface SearchInfo {
  /** Records that match, whatever the cursor: among the newest 10,000 in the range of time. Null when a filter has to read each record to know. */
  readonly total_count: number | null;
  /** Records in `data`. */
  readonly count: number;
  /** Id of the first record; null when there is none. */
  readonly start_cursor: string | null;
  /** Id of the last record; null when there is none. */
  readonly end_cursor: string | null;
  /** Where the search goes on: as `after`, or as `before` if this page had `before` alone. Null when it has come to the end. */
  readonly next_cursor: string | null;
  /** Time of the last record that it looked at, in milliseconds since the Unix epoch; null when it has come to the end. */
  readonly searched_until_ms: number | null;
  /** `searched_until_ms` as ISO 8601, in UTC. */
  readonly searched_until_iso: string | null;
  /** Records that this page looked at. */
  readonly looked_at: number;
}

export interface Session {
  readonly owner: Owner;
  readonly key: ApiKey;
  /** When the session ends, in milliseconds since the Unix epoch; null: this is no session. */
  readonly ends_at_ms: number | null;
  /** `ends_at_ms` as ISO 8601, in UTC. */
  readonly ends_at_iso: string | null;
  /** Of the server. */
  readonly version: string;
}

export interface Setting {
  /** Name of the setting. */
  readonly name: string;
  /** What is in force; null: nothing, or it is secret. */
  readonly value: string | null;
  /** Its default; null: none. */
  readonly default: string | null;
  /** It was given to the server. */
  readonly set: boolean;
  /** Its value is never shown. */
  readonly secret: boolean;
  /** What it is for, with its unit. */
  readonly about: string;
}

/** Its settings. */
export interface Settings {
  /** How long a run may take, in milliseconds. Null: 30000, or 60000 when a schedule started it. */
  readonly timeout_ms: number | null;
  /** Memory of the workflow’s process, in MiB. */
  readonly memory_mb: number;
  /** How many runs may be under way at the same time. */
  readonly concurrency: number;
  /** Runs that may wait; those beyond fail with `QueueFull`, or `RateLimited` while `throttle` lets none begin. */
  readonly queue_limit: number;
  /** At most `limit` runs begin within any `interval_ms`; the others wait in the queue. Null: no such limit. */
  readonly throttle: {
    /** How many runs may begin. */
    readonly limit: number;
    /** Within how many milliseconds. */
    readonly interval_ms: number;
  } | null;
  /** A run that fails is tried again from the step that failed; what the steps before it gave is kept. Null: it is not. */
  readonly retry: {
    /** How many attempts there are, the first one included. */
    readonly attempts: number;
    /** How many milliseconds pass before the second attempt; doubled for each further one, give or take 10 %. 1000 when it is left out. */
    readonly base_ms: number;
    /** The longest wait between two attempts, in milliseconds. 3600000, or base_ms when that is more, when it is left out. */
    readonly max_ms: number;
    /** Failures that are tried again although they are not by default. */
    readonly also: readonly ("Timeout" | "OutOfMemory")[];
    /** True: the first failed attempt is among the errors too, beside the last one. */
    readonly report_first: boolean;
  } | null;
  /** False: errors are listed and forwarded, but not sent to the global error workflow. */
  readonly notify: boolean;
  /** `always`: the global error workflow gets every error. `fallback`: workflows and webhooks that are subscribed to its errors get them first, and the global error workflow only what none of them has taken: their runs have failed, their deliveries were given up. Without subscribers it gets all. */
  readonly global_errors: "always" | "fallback";
  /** Environment variables of the code. */
  readonly env: { readonly [name: string]: string };
  /** Errors that match all patterns of a rule are one group, whatever their fingerprints; the first rule that matches counts. A rule has a code, a message or a step. Rules apply to errors that come after they were set. */
  readonly grouping: readonly GroupingRule[];
  /** What is an error although no run fails. Null: nothing. Only of workflows; judged while it is active. */
  readonly watch: {
    /** When it has not run for so many milliseconds, there is an error with code `Silent`. */
    readonly silent_after_ms: number | null;
    /** When it has not succeeded for so many milliseconds, there is an error with code `Silent`. */
    readonly succeeded_within_ms: number | null;
    /** When too many of its runs fail: an error with code `Unhealthy`. */
    readonly error_ratio: {
      /** Of the runs that ended in the window, more than this part failed. */
      readonly over: number;
      /** Fewer runs in the window say nothing. */
      readonly of_at_least: number;
      /** Length of the window, in milliseconds. */
      readonly window_ms: number;
    } | null;
  } | null;
  /** The channels that are notified of its errors; none when empty. Null: those of its owner, and none when notify is false. */
  readonly channels: readonly string[] | null;
  /** How long its errors are kept: as long as `days` or `newest` says so. Null: as everything, `ERRAND_RETENTION_DAYS` and the newest 100. */
  readonly error_retention: {
    /** So many days, if that is longer than `ERRAND_RETENTION_DAYS`. */
    readonly days: number | null;
    /** The newest, however old they are. Null: 100. */
    readonly newest: number | null;
  } | null;
}

export interface SourceLogLine {
  /** Id of the line. Also its cursor. */
  readonly id: string;
  /** Id of the run. */
  readonly run_id: string;
  /** When it was printed, in milliseconds since the Unix epoch. */
  readonly ts_ms: number;
  /** `ts_ms` as ISO 8601, in UTC. */
  readonly ts_iso: string;
  /** `debug`, `info`, `warn` or `error`. */
  readonly level: string;
  /** The step that printed it. */
  readonly namespace: string;
  /** The line. */
  readonly text: string;
}

export interface SourceState {
  /** Names that it keeps, also those that are not shown. */
  readonly count: number;
  /** At most 100, in the order of their names. */
  readonly values: readonly SourceStateValue[];
}

export interface SourceStateValue {
  /** Null when it is longer than 256 characters. */
  readonly name: string | null;
  /** Any JSON, as the source wrote it; left out when its text is longer than 4096 characters. */
  readonly value?: unknown;
  /** Length of the value as JSON text. */
  readonly chars: number;
}

/** The source. */
export interface SourceWhole {
  /** Id of the source. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** Name of the source. */
  readonly name: string;
  /** Its name in lower case, with hyphens. */
  readonly name_slug: string;
  /** False: it neither runs nor takes events. */
  readonly active: boolean;
  /** Values of the component’s props, by name. A timer is `{cron}` or `{intervalSeconds}`. Values of secret props are never shown; left out of an update, they stay. */
  readonly configured_props: { readonly [name: string]: unknown };
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  /** With an HTTP interface: its address, without a trailing slash. */
  readonly endpoint_url?: string;
  /** With a timer: ticks that were skipped, since the run of the one before was not over. */
  readonly skipped_ticks?: number;
  /** When one source is read: as it was deployed. */
  readonly component_code?: string;
  /** When it was deployed by path. */
  readonly component_path?: string;
  /** When it comes with Errand. */
  readonly component?: string;
  /** When it was deployed from a file: its path. */
  readonly file_path?: string;
  /** Whose file it is, when that was said. */
  readonly project?: string;
}

export interface Started {
  /** The run that began; null: none did. */
  readonly run_id: string | null;
  /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
  readonly emit_id: string;
}

export interface Stats {
  /** How long a bucket is. */
  readonly bucket: "hour" | "day";
  /** Oldest first, without a gap. */
  readonly buckets: readonly StatsBucket[];
}

export interface StatsBucket {
  /** Start of the bucket, in milliseconds since the Unix epoch. */
  readonly from_ms: number;
  /** `from_ms` as ISO 8601, in UTC. */
  readonly from_iso: string;
  /** Events that were accepted in this time. */
  readonly events: number;
  /** Runs that were accepted in this time. */
  readonly runs: number;
  /** Errors that were accepted in this time. */
  readonly errors: number;
  /** Deliveries that were accepted in this time. */
  readonly deliveries: number;
}

export interface StepChange {
  /** What became of it. */
  readonly change: "added" | "removed" | "renamed" | "moved";
  /** Name of the step. */
  readonly namespace: string;
  /** Of a step that was renamed: its name before. */
  readonly was: string | null;
}

export interface StepDifference {
  /** The step. */
  readonly namespace: string;
  /** Lines of the code. A line begins with a space when both have it, with `-` when only the older one has it, and with `+` when only the newer one has it. Null: too many lines differ. */
  readonly lines: readonly string[] | null;
}

export interface StepResult {
  /** Id of the step. */
  readonly id: string;
  /** Name of the step. */
  readonly namespace: string;
  /** `succeeded`, `failed` or `exited`. */
  readonly state: string;
  /** When the step began, in milliseconds since the Unix epoch. */
  readonly started_at_ms: number;
  /** `started_at_ms` as ISO 8601, in UTC. */
  readonly started_at_iso: string;
  /** How long it took, in milliseconds. */
  readonly took_ms: number;
  /** What it returned. */
  readonly return_value: unknown;
  /** What it exported with `$.export`, by name. */
  readonly exports: { readonly [name: string]: unknown };
  /** True: it waits to be executed again. */
  readonly again?: boolean;
  /** Body of the request that ended the wait after this step. */
  readonly resume_data?: unknown;
}

export interface StreamedError {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly id: string;
  /** When it was written to the log, in milliseconds since the Unix epoch. */
  readonly indexed_at_ms: number;
  readonly event: ErrorEvent;
  /** Which emission it is. */
  readonly metadata: {
    /** Id of the emitter: a workflow, source, webhook, heartbeat or trigger. */
    readonly emitter_id: string;
    /** Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`. */
    readonly emit_id: string;
    /** Name of the event: empty when it has none, `$errors` for errors. */
    readonly name: string;
    /** The group of errors. */
    readonly group_id?: string;
  };
}

export interface Subscription {
  /** Id of the subscription. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** Id of the emitter, or `*`, `p_*` or `dc_*`. */
  readonly emitter_id: string;
  /** Id of the listener: a workflow, source or webhook. */
  readonly listener_id: string;
  /** Name of the event: empty when it has none, `$errors` for errors. */
  readonly event_name: string;
  /** Which of these events go through, by their content: for each field a list of what is wanted. [How it is written](/docs/webhooks#filters). At most 8192 bytes. Null: all. */
  readonly filter: { readonly [name: string]: unknown } | null;
  /** Whether the listener gets events. */
  readonly active: boolean;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
}

export interface TargetCheck {
  /** Whether the URL may be reached. */
  readonly allowed: boolean;
  /** Step by step, for people. A key with the scope `admin` is told which addresses a name has here, and what `ERRAND_ALLOW_TARGETS` opens. */
  readonly lines: readonly string[];
}

export interface Trigger {
  /** Id of the trigger. */
  readonly id: string;
  /** `http`, `errors`, `schedule`, `source` or `emitter`. */
  readonly type: string;
  /** Of http and errors: its address. A secret. */
  readonly endpoint_url?: string;
  /** Of http: callers wait for what the run passes to `$.respond`. */
  readonly custom_response?: boolean;
  /** Of http and errors: what callers must send. */
  readonly auth?: {
    /** `none` or `bearer`. */
    readonly type: string;
  };
  /** Of a schedule: its cron expression. */
  readonly cron?: string;
  /** Of a schedule: seconds between two ticks. */
  readonly interval_seconds?: number;
  /** Of a schedule: time zone of `cron`, an IANA name. */
  readonly timezone?: string;
  /** Of a schedule: when the next tick is due, in milliseconds since the Unix epoch; null while the workflow is inactive. */
  readonly next_at_ms?: number | null;
  /** `next_at_ms` as ISO 8601, in UTC. */
  readonly next_at_iso?: string | null;
  /** The source that it hears. */
  readonly source_id?: string;
  /** The emitter that it hears. */
  readonly emitter_id?: string;
  /** Name of the events that start it: empty for events without a name. */
  readonly event_name?: string;
}

export interface Watch {
  /** Which member of `settings.watch` it is. */
  readonly setting: "silent_after_ms" | "succeeded_within_ms" | "error_ratio";
  /** `down`: its error was told, and is not over. */
  readonly status: "up" | "down";
  /** Since when it is watched, in milliseconds since the Unix epoch. */
  readonly watched_since_ms: number;
  /** `watched_since_ms` as ISO 8601, in UTC. */
  readonly watched_since_iso: string;
  /** When the last run, or the last success, came since then, in milliseconds since the Unix epoch; null: none did. */
  readonly last_at_ms: number | null;
  /** `last_at_ms` as ISO 8601, in UTC. */
  readonly last_at_iso: string | null;
  /** Since when it is down, in milliseconds since the Unix epoch; null: it is not. */
  readonly down_since_ms: number | null;
  /** `down_since_ms` as ISO 8601, in UTC. */
  readonly down_since_iso: string | null;
}

export interface Webhook {
  /** Id of the webhook. */
  readonly id: string;
  /** Id of the owner. */
  readonly owner_id: string;
  /** The same as `owner_id`, by the name that callers of webhooks know. */
  readonly user_id: string;
  /** Where events are delivered. */
  readonly url: string;
  /** Label for your own use. */
  readonly name: string | null;
  /** Longer description for your own use. */
  readonly description: string | null;
  /** False: deliveries are held. */
  readonly active: boolean;
  /** Request headers of your own, at most 32. None of Errand’s or of the connection’s can be set. Where a key without the scope `write` reads them, their values are "(hidden)". */
  readonly headers: { readonly [name: string]: string };
  /** How long an attempt may take in all, in milliseconds. Null: 15000. */
  readonly timeout_ms: number | null;
  /** The schedule of retries. Null: 10 of them in about three days. */
  readonly retry: {
    /** Before the second attempt, the third, …, each give or take 10 %. Empty: no retries. */
    readonly delays_ms: readonly number[];
  } | null;
  /** At most `limit` requests begin within any `interval_ms`. Null: no such limit. */
  readonly rate_limit: {
    /** How many requests may begin. */
    readonly limit: number;
    /** Within how many milliseconds. */
    readonly interval_ms: number;
  } | null;
  /** Requests on their way at a time. Null: 8. */
  readonly max_in_flight: number | null;
  /** True: one delivery at a time, in the order of the events; one that fails holds up those behind it until it is delivered or exhausted. */
  readonly ordered: boolean;
  /** `v1`: HMAC-SHA256 with the secret. `v1a`: ed25519, which receivers check with a public key. */
  readonly signature: readonly ("v1" | "v1a")[];
  readonly health: WebhookHealth;
  /** For `v1a` signatures, newest first. */
  readonly public_keys: readonly PublicKey[];
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
}

/** Whether deliveries succeed. */
export interface WebhookHealth {
  /** `failing`: no attempt has succeeded since the last one that failed. `paused`: the receiver asked to be left alone. `disabled`: it is not active. */
  readonly status: "healthy" | "failing" | "paused" | "disabled";
  /** When the first attempt failed since the last success, in milliseconds since the Unix epoch; null: none has. */
  readonly failing_since_ms: number | null;
  /** `failing_since_ms` as ISO 8601, in UTC. */
  readonly failing_since_iso: string | null;
  /** Deliveries given up since the last success. */
  readonly exhausted_in_row: number;
  /** Nothing is sent to it before then (`Retry-After`), in milliseconds since the Unix epoch; null: it is not paused. */
  readonly paused_until_ms: number | null;
  /** `paused_until_ms` as ISO 8601, in UTC. */
  readonly paused_until_iso: string | null;
}

export interface WebhookKey {
  /** Names the key in lists. */
  readonly id: string;
  /** Id of the webhook. */
  readonly webhook_id: string;
  /** `whpk_` and the base64 of the 32 bytes of an ed25519 public key. */
  readonly public_key: string;
  /** Until when a replaced key still signs, in milliseconds since the Unix epoch; null: no end is set. */
  readonly until_ms: number | null;
  /** `until_ms` as ISO 8601, in UTC. */
  readonly until_iso: string | null;
}

export interface WebhookTest {
  /** Whether the receiver took it. */
  readonly delivered: boolean;
  /** What would follow if it were a delivery. */
  readonly follows: string;
  /** The request that was sent. */
  readonly request: {
    /** HTTP method. */
    readonly method: string;
    /** The address of the webhook. */
    readonly url: string;
    /** As they were sent, in order. */
    readonly headers: readonly {
      /** Name of the header. */
      readonly name: string;
      /** Value of the header. */
      readonly value: string;
    }[];
    /** As it was sent. */
    readonly body: string;
  };
  readonly attempt: Attempt;
}

export interface Workflow {
  /** Id of the workflow. */
  readonly id: string;
  /** Name of the workflow. */
  readonly name: string;
  /** False: it gets no events. */
  readonly active: boolean;
  /** Id of the owner. */
  readonly owner_id: string;
  /** The active deployment: the version of its code that new events run with. */
  readonly deployment_id: string;
  /** Its page in the dashboard. */
  readonly editor_url: string;
  readonly settings: Settings;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  readonly health?: WorkflowHealth;
}

export interface WorkflowChecked {
  /** True: it could be created. */
  readonly valid: boolean;
}

/** What its newest runs tell. */
export interface WorkflowHealth {
  /** The newest, whatever its state. */
  readonly last_run: LastRun | null;
  /** How many runs the rest is about: the newest 100 that succeeded or failed and are kept. Cancelled ones are not among them, and of runs that are over no more than 500 are looked at. */
  readonly runs: number;
  /** When the first of them was created, in milliseconds since the Unix epoch. Null when no run is judged. */
  readonly since_ms: number | null;
  /** `since_ms` as ISO 8601, in UTC. */
  readonly since_iso: string | null;
  /** How many of these runs failed. */
  readonly failed: number;
  /** The part of `runs` that failed, from 0 to 1. Null when no run is judged. */
  readonly error_ratio: number | null;
  /** 95 of 100 runs took at most so many milliseconds from their start to their end, waits included. Null when no run is judged. */
  readonly p95_ms: number | null;
}

export interface WorkflowRedaction {
  /** Names of members whose values are hidden, at any depth, also in query strings and headers; `*` stands for any characters. Case, `-`, `_` and spaces do not count: `api_key` hides `X-Api-Key` only with `*apikey`, and `apiKey` as it is. */
  readonly keys: readonly string[];
  /** Regular expressions in the syntax of RE2, without lookaround and back references. What they match is hidden: in texts, names of members, and numbers, which are hidden whole. */
  readonly patterns: readonly string[];
  /** The rules, with those of the owner, hold for what is stored, too: events of the workflow’s triggers and runs by hand, which its code gets so, what its runs leave, and its errors. Errors that are stored so are not replayed, and their runs not tried again. */
  readonly before_storing: boolean;
}

/** The workflow. */
export interface WorkflowWhole {
  /** Id of the workflow. */
  readonly id: string;
  /** Name of the workflow. */
  readonly name: string;
  /** False: it gets no events. */
  readonly active: boolean;
  /** Id of the owner. */
  readonly owner_id: string;
  /** The active deployment: the version of its code that new events run with. */
  readonly deployment_id: string;
  /** Its page in the dashboard. */
  readonly editor_url: string;
  readonly settings: Settings;
  /** When it was created, in seconds since the Unix epoch. */
  readonly created_at: number;
  /** `created_at` as ISO 8601, in UTC. */
  readonly created_at_iso: string;
  /** When it was changed last, in seconds since the Unix epoch. */
  readonly updated_at: number;
  /** `updated_at` as ISO 8601, in UTC. */
  readonly updated_at_iso: string;
  /** Its steps, in the order in which they run. */
  readonly steps: readonly {
    /** Id of the step. */
    readonly id: string;
    /** Name of the step. */
    readonly namespace: string;
    /** When it was deployed by path. */
    readonly component_path?: string;
    /** Values of the props of a component, by name. Values of secret props are never shown; left out of an update, they stay. */
    readonly configured_props?: { readonly [name: string]: unknown };
    /** Its code, when one workflow is read. */
    readonly code?: string;
  }[];
  /** Its own triggers; what it hears by subscription is not among them. */
  readonly triggers: readonly Trigger[];
}

/** What `callEndpoint` takes. */
export interface CallEndpointInput {
  /** The secret part of the address. */
  readonly key: string;
  /** Any JSON. */
  readonly body?: unknown;
}

export interface CallEndpointAnswer {
  /** Emit id of the event. */
  readonly id: string;
}

/** What `endWait` takes. */
export interface EndWaitInput {
  /** The run. */
  readonly run: string;
  /** The secret part of the address, which also names the wait. */
  readonly token: string;
  /** What to do: `resume` or `cancel`. */
  readonly order: "resume" | "cancel";
  /** Any JSON. */
  readonly body?: unknown;
}

export interface EndWaitAnswer {
  readonly data: {
    /** Id of the run. */
    readonly run_id: string;
    /** State of the run after the request. */
    readonly state: string;
  };
}

/** What `ping` takes. */
export interface PingInput {
  /** The secret part of the address. */
  readonly key: string;
}

export type PingAnswer = string;

/** What `pingStatus` takes. */
export interface PingStatusInput {
  /** The secret part of the address. */
  readonly key: string;
  /** `start`, `fail`, or 0 to 255. */
  readonly status: string;
}

export type PingStatusAnswer = string;

/** What `sendEnvelope` takes. */
export interface SendEnvelopeInput {
  /** The workflow, by the number in its DSN. */
  readonly project: string;
  /** The key of the DSN, when it comes in no header. */
  readonly sentry_key?: string | undefined;
}

export interface SendEnvelopeAnswer {
  /** Id of the event, as Sentry has it. */
  readonly id?: string;
}

/** What `storeEvent` takes. */
export interface StoreEventInput {
  /** The workflow, by the number in its DSN. */
  readonly project: string;
  /** The key of the DSN, when it comes in no header. */
  readonly sentry_key?: string | undefined;
  /** Any JSON. */
  readonly body?: unknown;
}

export interface StoreEventAnswer {
  /** Id of the event, as Sentry has it. */
  readonly id?: string;
}

/** What `listWorkflows` takes. */
export interface ListWorkflowsInput {
  /** True: only active ones; false: only inactive ones. */
  readonly active?: boolean | undefined;
  /** Only those with exactly this name. */
  readonly name?: string | undefined;
  /** Adds a summary of its newest runs to each workflow. */
  readonly expand?: "health" | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListWorkflowsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Workflow[];
}

/** What `createWorkflow` takes. */
export interface CreateWorkflowInput {
  /** Name of the workflow. */
  readonly name: string;
  /** Its steps, in the order in which they run. */
  readonly steps: readonly {
    /** The step’s name, unique in the workflow. */
    readonly namespace: string;
    /** An ES module in JavaScript or TypeScript; its default export is a component or a function `({steps, $}) => …`. The code of a step that was deployed by `component_path`, sent back as it was returned, stays as it was deployed, with the files around it. */
    readonly code?: string;
    /** Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`). */
    readonly component_path?: string;
    /** Values of the props of a component, by name. Values of secret props are never shown; left out of an update, they stay. */
    readonly configured_props?: { readonly [name: string]: unknown };
  }[];
  /** What starts it; empty for a workflow that only listens. */
  readonly triggers?: readonly ({
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It takes events at an address of its own. */
    readonly type: "http";
    /** The caller waits for what the run passes to `$.respond`. */
    readonly custom_response?: boolean;
    /** What callers of the address must send. */
    readonly auth?: {
      /** `bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them. */
      readonly type: "none" | "bearer";
      /** With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out. */
      readonly token?: string;
    };
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It takes errors of another program at an address of its own. */
    readonly type: "errors";
    /** What callers of the address must send. */
    readonly auth?: {
      /** `bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them. */
      readonly type: "none" | "bearer";
      /** With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out. */
      readonly token?: string;
    };
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It fires at set times. */
    readonly type: "schedule";
    /** Cron expression, instead of `interval_seconds`. */
    readonly cron?: string;
    /** Seconds between two ticks. */
    readonly interval_seconds?: number;
    /** Time zone of `cron`, an IANA name; UTC when not given. */
    readonly timezone?: string;
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It hears a source. */
    readonly type: "source";
    /** Id of the source. */
    readonly source_id: string;
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It hears another emitter. */
    readonly type: "emitter";
    /** Who emits: a workflow `p_…`, source `dc_…`, webhook `wh_…`, heartbeat `hb_…`, trigger `hi_…` or `ti_…`; or `p_*`, `dc_*`, `*` (or your own `u_…`) for everything of that kind, also what is made later. */
    readonly emitter_id: string;
    /** Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name. */
    readonly event_name?: string | null;
  })[] | undefined;
  /** Settings to change; those that are left out keep their values, or their defaults. Null: the default. */
  readonly settings?: {
    /** How long a run may take, in milliseconds. Null: 30000, or 60000 when a schedule started it. */
    readonly timeout_ms?: number | null;
    /** Memory of the workflow’s process, in MiB. */
    readonly memory_mb?: number | null;
    /** How many runs may be under way at the same time. */
    readonly concurrency?: number | null;
    /** Runs that may wait; those beyond fail with `QueueFull`, or `RateLimited` while `throttle` lets none begin. */
    readonly queue_limit?: number | null;
    /** At most `limit` runs begin within any `interval_ms`; the others wait in the queue. Null: no such limit. */
    readonly throttle?: {
      /** How many runs may begin. */
      readonly limit: number;
      /** Within how many milliseconds. */
      readonly interval_ms: number;
    } | null;
    /** A run that fails is tried again from the step that failed; what the steps before it gave is kept. Null: it is not. */
    readonly retry?: {
      /** How many attempts there are, the first one included. */
      readonly attempts: number;
      /** How many milliseconds pass before the second attempt; doubled for each further one, give or take 10 %. 1000 when it is left out. */
      readonly base_ms?: number;
      /** The longest wait between two attempts, in milliseconds. 3600000, or base_ms when that is more, when it is left out. */
      readonly max_ms?: number;
      /** Failures that are tried again although they are not by default. */
      readonly also?: readonly ("Timeout" | "OutOfMemory")[];
      /** True: the first failed attempt is among the errors too, beside the last one. */
      readonly report_first?: boolean;
    } | null;
    /** False: errors are listed and forwarded, but not sent to the global error workflow. */
    readonly notify?: boolean | null;
    /** `always`: the global error workflow gets every error. `fallback`: workflows and webhooks that are subscribed to its errors get them first, and the global error workflow only what none of them has taken: their runs have failed, their deliveries were given up. Without subscribers it gets all. */
    readonly global_errors?: "always" | "fallback" | null;
    /** Environment variables of the code. */
    readonly env?: { readonly [name: string]: string } | null;
    /** Errors that match all patterns of a rule are one group, whatever their fingerprints; the first rule that matches counts. A rule has a code, a message or a step. Rules apply to errors that come after they were set. */
    readonly grouping?: readonly GroupingRule[] | null;
    /** What is an error although no run fails. Null: nothing. Only of workflows; judged while it is active. */
    readonly watch?: {
      /** When it has not run for so many milliseconds, there is an error with code `Silent`. */
      readonly silent_after_ms?: number | null;
      /** When it has not succeeded for so many milliseconds, there is an error with code `Silent`. */
      readonly succeeded_within_ms?: number | null;
      /** When too many of its runs fail: an error with code `Unhealthy`. */
      readonly error_ratio?: {
        /** Of the runs that ended in the window, more than this part failed. */
        readonly over: number;
        /** Fewer runs in the window say nothing. */
        readonly of_at_least: number;
        /** Length of the window, in milliseconds. */
        readonly window_ms: number;
      } | null;
    } | null;
    /** The channels that are notified of its errors; none when empty. Null: those of its owner, and none when notify is false. */
    readonly channels?: readonly string[] | null;
    /** How long its errors are kept: as long as `days` or `newest` says so. Null: as everything, `ERRAND_RETENTION_DAYS` and the newest 100. */
    readonly error_retention?: {
      /** So many days, if that is longer than `ERRAND_RETENTION_DAYS`. */
      readonly days?: number | null;
      /** The newest, however old they are. Null: 100. */
      readonly newest?: number | null;
    } | null;
  } | undefined;
  /** False: it gets no events yet. True when not given. */
  readonly active?: boolean | undefined;
}

export interface CreateWorkflowAnswer {
  readonly data: WorkflowWhole;
}

/** What `checkWorkflow` takes. */
export interface CheckWorkflowInput {
  /** Name of the workflow. */
  readonly name: string;
  /** Its steps, in the order in which they run. */
  readonly steps: readonly {
    /** The step’s name, unique in the workflow. */
    readonly namespace: string;
    /** An ES module in JavaScript or TypeScript; its default export is a component or a function `({steps, $}) => …`. The code of a step that was deployed by `component_path`, sent back as it was returned, stays as it was deployed, with the files around it. */
    readonly code?: string;
    /** Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`). */
    readonly component_path?: string;
    /** Values of the props of a component, by name. Values of secret props are never shown; left out of an update, they stay. */
    readonly configured_props?: { readonly [name: string]: unknown };
  }[];
  /** What starts it; empty for a workflow that only listens. */
  readonly triggers?: readonly ({
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It takes events at an address of its own. */
    readonly type: "http";
    /** The caller waits for what the run passes to `$.respond`. */
    readonly custom_response?: boolean;
    /** What callers of the address must send. */
    readonly auth?: {
      /** `bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them. */
      readonly type: "none" | "bearer";
      /** With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out. */
      readonly token?: string;
    };
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It takes errors of another program at an address of its own. */
    readonly type: "errors";
    /** What callers of the address must send. */
    readonly auth?: {
      /** `bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them. */
      readonly type: "none" | "bearer";
      /** With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out. */
      readonly token?: string;
    };
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It fires at set times. */
    readonly type: "schedule";
    /** Cron expression, instead of `interval_seconds`. */
    readonly cron?: string;
    /** Seconds between two ticks. */
    readonly interval_seconds?: number;
    /** Time zone of `cron`, an IANA name; UTC when not given. */
    readonly timezone?: string;
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It hears a source. */
    readonly type: "source";
    /** Id of the source. */
    readonly source_id: string;
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It hears another emitter. */
    readonly type: "emitter";
    /** Who emits: a workflow `p_…`, source `dc_…`, webhook `wh_…`, heartbeat `hb_…`, trigger `hi_…` or `ti_…`; or `p_*`, `dc_*`, `*` (or your own `u_…`) for everything of that kind, also what is made later. */
    readonly emitter_id: string;
    /** Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name. */
    readonly event_name?: string | null;
  })[] | undefined;
  /** Settings to change; those that are left out keep their values, or their defaults. Null: the default. */
  readonly settings?: {
    /** How long a run may take, in milliseconds. Null: 30000, or 60000 when a schedule started it. */
    readonly timeout_ms?: number | null;
    /** Memory of the workflow’s process, in MiB. */
    readonly memory_mb?: number | null;
    /** How many runs may be under way at the same time. */
    readonly concurrency?: number | null;
    /** Runs that may wait; those beyond fail with `QueueFull`, or `RateLimited` while `throttle` lets none begin. */
    readonly queue_limit?: number | null;
    /** At most `limit` runs begin within any `interval_ms`; the others wait in the queue. Null: no such limit. */
    readonly throttle?: {
      /** How many runs may begin. */
      readonly limit: number;
      /** Within how many milliseconds. */
      readonly interval_ms: number;
    } | null;
    /** A run that fails is tried again from the step that failed; what the steps before it gave is kept. Null: it is not. */
    readonly retry?: {
      /** How many attempts there are, the first one included. */
      readonly attempts: number;
      /** How many milliseconds pass before the second attempt; doubled for each further one, give or take 10 %. 1000 when it is left out. */
      readonly base_ms?: number;
      /** The longest wait between two attempts, in milliseconds. 3600000, or base_ms when that is more, when it is left out. */
      readonly max_ms?: number;
      /** Failures that are tried again although they are not by default. */
      readonly also?: readonly ("Timeout" | "OutOfMemory")[];
      /** True: the first failed attempt is among the errors too, beside the last one. */
      readonly report_first?: boolean;
    } | null;
    /** False: errors are listed and forwarded, but not sent to the global error workflow. */
    readonly notify?: boolean | null;
    /** `always`: the global error workflow gets every error. `fallback`: workflows and webhooks that are subscribed to its errors get them first, and the global error workflow only what none of them has taken: their runs have failed, their deliveries were given up. Without subscribers it gets all. */
    readonly global_errors?: "always" | "fallback" | null;
    /** Environment variables of the code. */
    readonly env?: { readonly [name: string]: string } | null;
    /** Errors that match all patterns of a rule are one group, whatever their fingerprints; the first rule that matches counts. A rule has a code, a message or a step. Rules apply to errors that come after they were set. */
    readonly grouping?: readonly GroupingRule[] | null;
    /** What is an error although no run fails. Null: nothing. Only of workflows; judged while it is active. */
    readonly watch?: {
      /** When it has not run for so many milliseconds, there is an error with code `Silent`. */
      readonly silent_after_ms?: number | null;
      /** When it has not succeeded for so many milliseconds, there is an error with code `Silent`. */
      readonly succeeded_within_ms?: number | null;
      /** When too many of its runs fail: an error with code `Unhealthy`. */
      readonly error_ratio?: {
        /** Of the runs that ended in the window, more than this part failed. */
        readonly over: number;
        /** Fewer runs in the window say nothing. */
        readonly of_at_least: number;
        /** Length of the window, in milliseconds. */
        readonly window_ms: number;
      } | null;
    } | null;
    /** The channels that are notified of its errors; none when empty. Null: those of its owner, and none when notify is false. */
    readonly channels?: readonly string[] | null;
    /** How long its errors are kept: as long as `days` or `newest` says so. Null: as everything, `ERRAND_RETENTION_DAYS` and the newest 100. */
    readonly error_retention?: {
      /** So many days, if that is longer than `ERRAND_RETENTION_DAYS`. */
      readonly days?: number | null;
      /** The newest, however old they are. Null: 100. */
      readonly newest?: number | null;
    } | null;
  } | undefined;
  /** False: it gets no events yet. True when not given. */
  readonly active?: boolean | undefined;
}

export interface CheckWorkflowAnswer {
  readonly data: WorkflowChecked;
}

/** What `getWorkflow` takes. */
export interface GetWorkflowInput {
  /** The workflow. */
  readonly id: string;
}

export interface GetWorkflowAnswer {
  readonly data: WorkflowWhole;
}

/** What `updateWorkflow` takes. */
export interface UpdateWorkflowInput {
  /** The workflow. */
  readonly id: string;
  /** Name of the workflow. */
  readonly name?: string | undefined;
  /** False: it gets no more events. */
  readonly active?: boolean | undefined;
  /** Its steps, in the order in which they run. */
  readonly steps?: readonly {
    /** The step’s name, unique in the workflow. */
    readonly namespace: string;
    /** An ES module in JavaScript or TypeScript; its default export is a component or a function `({steps, $}) => …`. The code of a step that was deployed by `component_path`, sent back as it was returned, stays as it was deployed, with the files around it. */
    readonly code?: string;
    /** Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`). */
    readonly component_path?: string;
    /** Values of the props of a component, by name. Values of secret props are never shown; left out of an update, they stay. */
    readonly configured_props?: { readonly [name: string]: unknown };
  }[] | undefined;
  /** What starts it; empty for a workflow that only listens. */
  readonly triggers?: readonly ({
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It takes events at an address of its own. */
    readonly type: "http";
    /** The caller waits for what the run passes to `$.respond`. */
    readonly custom_response?: boolean;
    /** What callers of the address must send. */
    readonly auth?: {
      /** `bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them. */
      readonly type: "none" | "bearer";
      /** With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out. */
      readonly token?: string;
    };
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It takes errors of another program at an address of its own. */
    readonly type: "errors";
    /** What callers of the address must send. */
    readonly auth?: {
      /** `bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them. */
      readonly type: "none" | "bearer";
      /** With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out. */
      readonly token?: string;
    };
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It fires at set times. */
    readonly type: "schedule";
    /** Cron expression, instead of `interval_seconds`. */
    readonly cron?: string;
    /** Seconds between two ticks. */
    readonly interval_seconds?: number;
    /** Time zone of `cron`, an IANA name; UTC when not given. */
    readonly timezone?: string;
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It hears a source. */
    readonly type: "source";
    /** Id of the source. */
    readonly source_id: string;
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It hears another emitter. */
    readonly type: "emitter";
    /** Who emits: a workflow `p_…`, source `dc_…`, webhook `wh_…`, heartbeat `hb_…`, trigger `hi_…` or `ti_…`; or `p_*`, `dc_*`, `*` (or your own `u_…`) for everything of that kind, also what is made later. */
    readonly emitter_id: string;
    /** Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name. */
    readonly event_name?: string | null;
  })[] | undefined;
  /** Settings to change; those that are left out keep their values, or their defaults. Null: the default. */
  readonly settings?: {
    /** How long a run may take, in milliseconds. Null: 30000, or 60000 when a schedule started it. */
    readonly timeout_ms?: number | null;
    /** Memory of the workflow’s process, in MiB. */
    readonly memory_mb?: number | null;
    /** How many runs may be under way at the same time. */
    readonly concurrency?: number | null;
    /** Runs that may wait; those beyond fail with `QueueFull`, or `RateLimited` while `throttle` lets none begin. */
    readonly queue_limit?: number | null;
    /** At most `limit` runs begin within any `interval_ms`; the others wait in the queue. Null: no such limit. */
    readonly throttle?: {
      /** How many runs may begin. */
      readonly limit: number;
      /** Within how many milliseconds. */
      readonly interval_ms: number;
    } | null;
    /** A run that fails is tried again from the step that failed; what the steps before it gave is kept. Null: it is not. */
    readonly retry?: {
      /** How many attempts there are, the first one included. */
      readonly attempts: number;
      /** How many milliseconds pass before the second attempt; doubled for each further one, give or take 10 %. 1000 when it is left out. */
      readonly base_ms?: number;
      /** The longest wait between two attempts, in milliseconds. 3600000, or base_ms when that is more, when it is left out. */
      readonly max_ms?: number;
      /** Failures that are tried again although they are not by default. */
      readonly also?: readonly ("Timeout" | "OutOfMemory")[];
      /** True: the first failed attempt is among the errors too, beside the last one. */
      readonly report_first?: boolean;
    } | null;
    /** False: errors are listed and forwarded, but not sent to the global error workflow. */
    readonly notify?: boolean | null;
    /** `always`: the global error workflow gets every error. `fallback`: workflows and webhooks that are subscribed to its errors get them first, and the global error workflow only what none of them has taken: their runs have failed, their deliveries were given up. Without subscribers it gets all. */
    readonly global_errors?: "always" | "fallback" | null;
    /** Environment variables of the code. */
    readonly env?: { readonly [name: string]: string } | null;
    /** Errors that match all patterns of a rule are one group, whatever their fingerprints; the first rule that matches counts. A rule has a code, a message or a step. Rules apply to errors that come after they were set. */
    readonly grouping?: readonly GroupingRule[] | null;
    /** What is an error although no run fails. Null: nothing. Only of workflows; judged while it is active. */
    readonly watch?: {
      /** When it has not run for so many milliseconds, there is an error with code `Silent`. */
      readonly silent_after_ms?: number | null;
      /** When it has not succeeded for so many milliseconds, there is an error with code `Silent`. */
      readonly succeeded_within_ms?: number | null;
      /** When too many of its runs fail: an error with code `Unhealthy`. */
      readonly error_ratio?: {
        /** Of the runs that ended in the window, more than this part failed. */
        readonly over: number;
        /** Fewer runs in the window say nothing. */
        readonly of_at_least: number;
        /** Length of the window, in milliseconds. */
        readonly window_ms: number;
      } | null;
    } | null;
    /** The channels that are notified of its errors; none when empty. Null: those of its owner, and none when notify is false. */
    readonly channels?: readonly string[] | null;
    /** How long its errors are kept: as long as `days` or `newest` says so. Null: as everything, `ERRAND_RETENTION_DAYS` and the newest 100. */
    readonly error_retention?: {
      /** So many days, if that is longer than `ERRAND_RETENTION_DAYS`. */
      readonly days?: number | null;
      /** The newest, however old they are. Null: 100. */
      readonly newest?: number | null;
    } | null;
  } | undefined;
}

export interface UpdateWorkflowAnswer {
  readonly data: WorkflowWhole;
}

/** What `deleteWorkflow` takes. */
export interface DeleteWorkflowInput {
  /** The workflow. */
  readonly id: string;
}

export interface DeleteWorkflowAnswer {
  readonly data: WorkflowWhole;
}

/** What `patchWorkflow` takes. */
export interface PatchWorkflowInput {
  /** The workflow. */
  readonly id: string;
  /** Name of the workflow. */
  readonly name?: string | undefined;
  /** False: it gets no more events. */
  readonly active?: boolean | undefined;
  /** Its steps, in the order in which they run. */
  readonly steps?: readonly {
    /** The step’s name, unique in the workflow. */
    readonly namespace: string;
    /** An ES module in JavaScript or TypeScript; its default export is a component or a function `({steps, $}) => …`. The code of a step that was deployed by `component_path`, sent back as it was returned, stays as it was deployed, with the files around it. */
    readonly code?: string;
    /** Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`). */
    readonly component_path?: string;
    /** Values of the props of a component, by name. Values of secret props are never shown; left out of an update, they stay. */
    readonly configured_props?: { readonly [name: string]: unknown };
  }[] | undefined;
  /** What starts it; empty for a workflow that only listens. */
  readonly triggers?: readonly ({
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It takes events at an address of its own. */
    readonly type: "http";
    /** The caller waits for what the run passes to `$.respond`. */
    readonly custom_response?: boolean;
    /** What callers of the address must send. */
    readonly auth?: {
      /** `bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them. */
      readonly type: "none" | "bearer";
      /** With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out. */
      readonly token?: string;
    };
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It takes errors of another program at an address of its own. */
    readonly type: "errors";
    /** What callers of the address must send. */
    readonly auth?: {
      /** `bearer`: callers must send `Authorization: Bearer <token>`. `none`: nothing is asked of them. */
      readonly type: "none" | "bearer";
      /** With `bearer`: what callers must send. Kept hashed, never shown. In an update, the trigger with this `id` keeps its token when this is left out. */
      readonly token?: string;
    };
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It fires at set times. */
    readonly type: "schedule";
    /** Cron expression, instead of `interval_seconds`. */
    readonly cron?: string;
    /** Seconds between two ticks. */
    readonly interval_seconds?: number;
    /** Time zone of `cron`, an IANA name; UTC when not given. */
    readonly timezone?: string;
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It hears a source. */
    readonly type: "source";
    /** Id of the source. */
    readonly source_id: string;
  } | {
    /** In an update: the trigger that keeps its id and address, also when its other members are changed. Ignored when the workflow has no such trigger of this type. */
    readonly id?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly endpoint_url?: string;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_ms?: number | null;
    /** Accepted and ignored, so that an answer can be sent back. */
    readonly next_at_iso?: string | null;
    /** It hears another emitter. */
    readonly type: "emitter";
    /** Who emits: a workflow `p_…`, source `dc_…`, webhook `wh_…`, heartbeat `hb_…`, trigger `hi_…` or `ti_…`; or `p_*`, `dc_*`, `*` (or your own `u_…`) for everything of that kind, also what is made later. */
    readonly emitter_id: string;
    /** Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name. */
    readonly event_name?: string | null;
  })[] | undefined;
  /** Settings to change; those that are left out keep their values, or their defaults. Null: the default. */
  readonly settings?: {
    /** How long a run may take, in milliseconds. Null: 30000, or 60000 when a schedule started it. */
    readonly timeout_ms?: number | null;
    /** Memory of the workflow’s process, in MiB. */
    readonly memory_mb?: number | null;
    /** How many runs may be under way at the same time. */
    readonly concurrency?: number | null;
    /** Runs that may wait; those beyond fail with `QueueFull`, or `RateLimited` while `throttle` lets none begin. */
    readonly queue_limit?: number | null;
    /** At most `limit` runs begin within any `interval_ms`; the others wait in the queue. Null: no such limit. */
    readonly throttle?: {
      /** How many runs may begin. */
      readonly limit?: number | null;
      /** Within how many milliseconds. */
      readonly interval_ms?: number | null;
    } | null;
    /** A run that fails is tried again from the step that failed; what the steps before it gave is kept. Null: it is not. */
    readonly retry?: {
      /** How many attempts there are, the first one included. */
      readonly attempts?: number | null;
      /** How many milliseconds pass before the second attempt; doubled for each further one, give or take 10 %. 1000 when it is left out. */
      readonly base_ms?: number | null;
      /** The longest wait between two attempts, in milliseconds. 3600000, or base_ms when that is more, when it is left out. */
      readonly max_ms?: number | null;
      /** Failures that are tried again although they are not by default. */
      readonly also?: readonly ("Timeout" | "OutOfMemory")[] | null;
      /** True: the first failed attempt is among the errors too, beside the last one. */
      readonly report_first?: boolean | null;
    } | null;
    /** False: errors are listed and forwarded, but not sent to the global error workflow. */
    readonly notify?: boolean | null;
    /** `always`: the global error workflow gets every error. `fallback`: workflows and webhooks that are subscribed to its errors get them first, and the global error workflow only what none of them has taken: their runs have failed, their deliveries were given up. Without subscribers it gets all. */
    readonly global_errors?: "always" | "fallback" | null;
    /** Environment variables of the code. */
    readonly env?: { readonly [name: string]: string | null } | null;
    /** Errors that match all patterns of a rule are one group, whatever their fingerprints; the first rule that matches counts. A rule has a code, a message or a step. Rules apply to errors that come after they were set. */
    readonly grouping?: readonly GroupingRule[] | null;
    /** What is an error although no run fails. Null: nothing. Only of workflows; judged while it is active. */
    readonly watch?: {
      /** When it has not run for so many milliseconds, there is an error with code `Silent`. */
      readonly silent_after_ms?: number | null;
      /** When it has not succeeded for so many milliseconds, there is an error with code `Silent`. */
      readonly succeeded_within_ms?: number | null;
      /** When too many of its runs fail: an error with code `Unhealthy`. */
      readonly error_ratio?: {
        /** Of the runs that ended in the window, more than this part failed. */
        readonly over?: number | null;
        /** Fewer runs in the window say nothing. */
        readonly of_at_least?: number | null;
        /** Length of the window, in milliseconds. */
        readonly window_ms?: number | null;
      } | null;
    } | null;
    /** The channels that are notified of its errors; none when empty. Null: those of its owner, and none when notify is false. */
    readonly channels?: readonly string[] | null;
    /** How long its errors are kept: as long as `days` or `newest` says so. Null: as everything, `ERRAND_RETENTION_DAYS` and the newest 100. */
    readonly error_retention?: {
      /** So many days, if that is longer than `ERRAND_RETENTION_DAYS`. */
      readonly days?: number | null;
      /** The newest, however old they are. Null: 100. */
      readonly newest?: number | null;
    } | null;
  } | undefined;
}

export interface PatchWorkflowAnswer {
  readonly data: WorkflowWhole;
}

/** What `deployWorkflowFile` takes. */
export interface DeployWorkflowFileInput {
  /** Of the file in its folder. */
  readonly path: string;
  /** Whose file it is. A path belongs to the project that deployed it first, and another one is refused: 409. Absent: it stays whose it is. */
  readonly project?: string | undefined;
  /** The file as it was written: what is shown as its code. */
  readonly source: string;
  /** An ES module that needs nothing but Node’s own modules; the bundler decides what it exports. Absent: the server bundles `source`. */
  readonly bundle?: string | undefined;
  /** From the bundle to the files, as JSON text. Given with `bundle`. */
  readonly source_map?: string | undefined;
  /** Environment variables of the code. */
  readonly env?: { readonly [name: string]: string } | undefined;
  /** True: a new workflow is refused when another active one has its name: 409. */
  readonly unique_name?: boolean | undefined;
}

export interface DeployWorkflowFileAnswer {
  readonly data: {
    /** What became of the workflow; `same`: nothing has changed. */
    readonly result: "made" | "changed" | "same";
    readonly workflow: WorkflowWhole;
  };
}

/** What `listDeployments` takes. */
export interface ListDeploymentsInput {
  /** The workflow. */
  readonly id: string;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListDeploymentsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Deployment[];
}

/** What `getDeploymentChanges` takes. */
export interface GetDeploymentChangesInput {
  /** The workflow. */
  readonly id: string;
  /** The version. */
  readonly deployment_id: string;
  /** The version to compare with; the one before it when not given. */
  readonly from?: string | undefined;
}

export interface GetDeploymentChangesAnswer {
  readonly data: DeploymentChanges;
}

/** What `activateDeployment` takes. */
export interface ActivateDeploymentInput {
  /** The workflow. */
  readonly id: string;
  /** The version. */
  readonly deployment_id: string;
}

export interface ActivateDeploymentAnswer {
  readonly data: WorkflowWhole;
}

/** What `searchErrors` takes. */
export interface SearchErrorsInput {
  /** Only errors of this workflow, source, webhook or heartbeat. */
  readonly emitter_id?: string | undefined;
  /** Only errors with this code, in its own upper and lower case. */
  readonly code?: string | undefined;
  /** Only errors of this group (`GET /v1/error_groups`). */
  readonly group_id?: string | undefined;
  /** Only errors of steps with this name (`namespace`). */
  readonly step?: string | undefined;
  /** A part of the message, or of a cause, in upper or lower case. No character of it is a wildcard. */
  readonly text?: string | undefined;
  /** Only errors of runs with this deployment. */
  readonly deployment_id?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly until?: string | undefined;
  /** `true`: a listener was told. `false`: none was, for whatever reason. Or one state of `told`. */
  readonly told?: "true" | "false" | "told" | "under_way" | "counted" | "failed" | "withheld" | "no_listener" | undefined;
  /** `true`: there is a replay of it, or a retry of its run. `false`: there is none. */
  readonly replayed?: boolean | undefined;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface SearchErrorsAnswer {
  readonly page_info: SearchInfo;
  /** The records of this page. */
  readonly data: readonly FoundError[];
}

/** What `reportError` takes. */
export interface ReportErrorInput {
  /** The workflow whose error it is. */
  readonly workflow_id?: string | undefined;
  /** Instead of `workflow_id`: the program, by a name of your own. */
  readonly service?: string | undefined;
  /** What went wrong. Cut at 8192 bytes. */
  readonly message: string;
  /** The error’s code, or the name of its class; `Error` when not given. */
  readonly code?: string | undefined;
  /** The stack as the program has it, one frame a line. At most 50 lines are kept. */
  readonly stack?: string | undefined;
  /** The part of the program: shown as the step, and grouped by. */
  readonly step?: string | undefined;
  /** When it happened; now when not given. */
  readonly ts?: number | string | undefined;
  /** A JSON object with whatever helps: release, host, user. At most 65536 bytes. */
  readonly context?: unknown;
  /** Any JSON: what the program was working on. Kept byte for byte. */
  readonly original_event?: unknown;
}

export interface ReportErrorAnswer {
  readonly data: ReportedError;
}

/** What `searchRuns` takes. */
export interface SearchRunsInput {
  /** Only runs of this workflow. */
  readonly workflow_id?: string | undefined;
  /** Only runs of this source. */
  readonly source_id?: string | undefined;
  /** `queued`: it waits to begin. `running`: its code runs. `waiting`: it waits for a time, a person or its next attempt. `succeeded`, `failed` and `cancelled` are final. */
  readonly state?: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | undefined;
  /** Only runs that failed with this code. */
  readonly error_code?: string | undefined;
  /** A part of `$summary`, or of the event’s JSON text as it came, in upper or lower case. No character of it is a wildcard. */
  readonly text?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly until?: string | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface SearchRunsAnswer {
  readonly page_info: SearchInfo;
  /** The records of this page. */
  readonly data: readonly Run[];
}

/** What `listWorkflowErrors` takes. */
export interface ListWorkflowErrorsInput {
  /** The workflow. */
  readonly id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
  /** Records to return; 100 when not given, and never more than 100. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListWorkflowErrorsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly ErrorRecord[];
}

/** What `getWorkflowError` takes. */
export interface GetWorkflowErrorInput {
  /** The workflow. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
}

export interface GetWorkflowErrorAnswer {
  readonly data: ErrorRecordWhole;
}

/** What `replayError` takes. */
export interface ReplayErrorInput {
  /** The workflow. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Another event to run, as edited; its bytes as sent. */
  readonly event?: unknown;
}

export interface ReplayErrorAnswer {
  readonly data: Started;
}

/** What `listSourceErrors` takes. */
export interface ListSourceErrorsInput {
  /** The source. */
  readonly id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
  /** Records to return; 100 when not given, and never more than 100. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListSourceErrorsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly ErrorRecord[];
}

/** What `getSourceError` takes. */
export interface GetSourceErrorInput {
  /** The source. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
}

export interface GetSourceErrorAnswer {
  readonly data: ErrorRecordWhole;
}

/** What `replaySourceError` takes. */
export interface ReplaySourceErrorInput {
  /** The source. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Another event to run, as edited; its bytes as sent. */
  readonly event?: unknown;
}

export interface ReplaySourceErrorAnswer {
  readonly data: Started;
}

/** What `listWebhookErrors` takes. */
export interface ListWebhookErrorsInput {
  /** The webhook. */
  readonly id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
  /** Records to return; 100 when not given, and never more than 100. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListWebhookErrorsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly ErrorRecord[];
}

/** What `getWebhookError` takes. */
export interface GetWebhookErrorInput {
  /** The webhook. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
}

export interface GetWebhookErrorAnswer {
  readonly data: ErrorRecordWhole;
}

/** What `listHeartbeatErrors` takes. */
export interface ListHeartbeatErrorsInput {
  /** The heartbeat. */
  readonly id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
  /** Records to return; 100 when not given, and never more than 100. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListHeartbeatErrorsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly ErrorRecord[];
}

/** What `getHeartbeatError` takes. */
export interface GetHeartbeatErrorInput {
  /** The heartbeat. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
}

export interface GetHeartbeatErrorAnswer {
  readonly data: ErrorRecordWhole;
}

/** What `listErrorGroups` takes. */
export interface ListErrorGroupsInput {
  /** Only groups of this workflow, source, webhook or heartbeat. */
  readonly emitter_id?: string | undefined;
  /** Only groups in this state. */
  readonly state?: "open" | "resolved" | "muted" | undefined;
  /** Only groups with this code. */
  readonly code?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Only groups that are assigned to this mail address, in upper or lower case; `none`: to no person. */
  readonly assignee?: string | undefined;
  /** A part of the code, the message template, the frame, the step or the rule’s name, in upper or lower case. No character of it is a wildcard. */
  readonly text?: string | undefined;
  /** Seen last first, or most errors first, of the 10,000 that were seen last. */
  readonly sort?: "last_seen" | "count" | undefined;
  /** Each group with its errors by hour, as the whole group has them. */
  readonly expand?: "hours" | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, a place in the list as `page_info` has it: only groups behind it. */
  readonly after?: string | undefined;
  /** Cursor, a place in the list as `page_info` has it: only groups in front of it, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListErrorGroupsAnswer {
  readonly page_info: GroupPageInfo;
  /** The groups of this page. */
  readonly data: readonly ListedErrorGroup[];
}

export type ListGroupAssigneesInput = Readonly<Record<string, never>>;

export interface ListGroupAssigneesAnswer {
  readonly data: readonly GroupAssignee[];
}

/** What `getErrorGroup` takes. */
export interface GetErrorGroupInput {
  /** The group. */
  readonly id: string;
}

export interface GetErrorGroupAnswer {
  readonly data: ErrorGroupWhole;
}

/** What `updateErrorGroup` takes. */
export interface UpdateErrorGroupInput {
  /** The group. */
  readonly id: string;
  /** `open`: its errors are told. `resolved`: the next error opens it again. `muted`: nothing is told of it until the mute ends. */
  readonly state?: "open" | "resolved" | "muted" | undefined;
  /** With the state `resolved`: only an error of a later deployment opens it again. */
  readonly resolved_in_next_deployment?: boolean | undefined;
  /** With the state `muted`: until then, milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly muted_until?: number | string | null | undefined;
  /** With the state `muted`: until so many more errors have come. */
  readonly muted_errors?: number | null | undefined;
  /** With the state `muted`: until an error of a later deployment. */
  readonly muted_until_next_deployment?: boolean | undefined;
  /** A note of yours. Null removes it. */
  readonly note?: string | null | undefined;
  /** Who takes care of it, by mail address. Null: no person. */
  readonly assignee?: string | null | undefined;
}

export interface UpdateErrorGroupAnswer {
  readonly data: ErrorGroup;
}

/** What `patchErrorGroup` takes. */
export interface PatchErrorGroupInput {
  /** The group. */
  readonly id: string;
  /** `open`: its errors are told. `resolved`: the next error opens it again. `muted`: nothing is told of it until the mute ends. */
  readonly state?: "open" | "resolved" | "muted" | undefined;
  /** With the state `resolved`: only an error of a later deployment opens it again. */
  readonly resolved_in_next_deployment?: boolean | undefined;
  /** With the state `muted`: until then, milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly muted_until?: number | string | null | undefined;
  /** With the state `muted`: until so many more errors have come. */
  readonly muted_errors?: number | null | undefined;
  /** With the state `muted`: until an error of a later deployment. */
  readonly muted_until_next_deployment?: boolean | undefined;
  /** A note of yours. Null removes it. */
  readonly note?: string | null | undefined;
  /** Who takes care of it, by mail address. Null: no person. */
  readonly assignee?: string | null | undefined;
}

export interface PatchErrorGroupAnswer {
  readonly data: ErrorGroup;
}

/** What `getErrorGroupDifferences` takes. */
export interface GetErrorGroupDifferencesInput {
  /** The group. */
  readonly id: string;
}

export interface GetErrorGroupDifferencesAnswer {
  readonly data: Differences;
}

/** What `previewErrorGroups` takes. */
export interface PreviewErrorGroupsInput {
  /** The workflow. */
  readonly id: string;
  /** Errors that match all patterns of a rule are one group, whatever their fingerprints; the first rule that matches counts. A rule has a code, a message or a step. Rules apply to errors that come after they were set. */
  readonly grouping: readonly GroupingRule[];
}

export interface PreviewErrorGroupsAnswer {
  readonly data: readonly ErrorGroupPreview[];
}

/** What `streamErrors` takes. */
export interface StreamErrorsInput {
  /** Only errors of this workflow, source, webhook or heartbeat. */
  readonly emitter_id?: string | undefined;
  /** Only errors with this code, in its own upper and lower case. */
  readonly code?: string | undefined;
  /** Only errors of this group (`GET /v1/error_groups`). */
  readonly group_id?: string | undefined;
  /** Only errors of steps with this name (`namespace`). */
  readonly step?: string | undefined;
  /** A part of the message, or of a cause, in upper or lower case. No character of it is a wildcard. */
  readonly text?: string | undefined;
  /** Only errors of runs with this deployment. */
  readonly deployment_id?: string | undefined;
  /** As the header `Last-Event-ID`, for clients that cannot set one; the header wins. */
  readonly last_event_id?: string | undefined;
  /** The same, as common replacements of `EventSource` send it. */
  readonly lastEventId?: string | undefined;
}

export type StreamErrorsItem = StreamedError;

/** What `exportErrors` takes. */
export interface ExportErrorsInput {
  /** Only errors of this workflow, source, webhook or heartbeat. */
  readonly emitter_id?: string | undefined;
  /** Only errors with this code, in its own upper and lower case. */
  readonly code?: string | undefined;
  /** Only errors of this group (`GET /v1/error_groups`). */
  readonly group_id?: string | undefined;
  /** Only errors of steps with this name (`namespace`). */
  readonly step?: string | undefined;
  /** A part of the message, or of a cause, in upper or lower case. No character of it is a wildcard. */
  readonly text?: string | undefined;
  /** Only errors of runs with this deployment. */
  readonly deployment_id?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly until?: string | undefined;
  /** Only errors behind this one: the `id` of a line, or the cursor of the last line. */
  readonly after?: string | undefined;
}

export type ExportErrorsItem = ExportedError;

/** What `exportWorkflowErrors` takes. */
export interface ExportWorkflowErrorsInput {
  /** The workflow. */
  readonly id: string;
  /** Only errors with this code, in its own upper and lower case. */
  readonly code?: string | undefined;
  /** Only errors of this group (`GET /v1/error_groups`). */
  readonly group_id?: string | undefined;
  /** Only errors of steps with this name (`namespace`). */
  readonly step?: string | undefined;
  /** A part of the message, or of a cause, in upper or lower case. No character of it is a wildcard. */
  readonly text?: string | undefined;
  /** Only errors of runs with this deployment. */
  readonly deployment_id?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly until?: string | undefined;
  /** Only errors behind this one: the `id` of a line, or the cursor of the last line. */
  readonly after?: string | undefined;
}

export type ExportWorkflowErrorsItem = ExportedError;

/** What `exportSourceErrors` takes. */
export interface ExportSourceErrorsInput {
  /** The source. */
  readonly id: string;
  /** Only errors with this code, in its own upper and lower case. */
  readonly code?: string | undefined;
  /** Only errors of this group (`GET /v1/error_groups`). */
  readonly group_id?: string | undefined;
  /** Only errors of steps with this name (`namespace`). */
  readonly step?: string | undefined;
  /** A part of the message, or of a cause, in upper or lower case. No character of it is a wildcard. */
  readonly text?: string | undefined;
  /** Only errors of runs with this deployment. */
  readonly deployment_id?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly until?: string | undefined;
  /** Only errors behind this one: the `id` of a line, or the cursor of the last line. */
  readonly after?: string | undefined;
}

export type ExportSourceErrorsItem = ExportedError;

/** What `exportWebhookErrors` takes. */
export interface ExportWebhookErrorsInput {
  /** The webhook. */
  readonly id: string;
  /** Only errors with this code, in its own upper and lower case. */
  readonly code?: string | undefined;
  /** Only errors of this group (`GET /v1/error_groups`). */
  readonly group_id?: string | undefined;
  /** Only errors of steps with this name (`namespace`). */
  readonly step?: string | undefined;
  /** A part of the message, or of a cause, in upper or lower case. No character of it is a wildcard. */
  readonly text?: string | undefined;
  /** Only errors of runs with this deployment. */
  readonly deployment_id?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly until?: string | undefined;
  /** Only errors behind this one: the `id` of a line, or the cursor of the last line. */
  readonly after?: string | undefined;
}

export type ExportWebhookErrorsItem = ExportedError;

/** What `getErrorFixture` takes. */
export interface GetErrorFixtureInput {
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
}

export type GetErrorFixtureAnswer = ErrorFixture;

/** What `listWorkflowEvents` takes. */
export interface ListWorkflowEventsInput {
  /** The workflow. */
  readonly id: string;
  /** Name of the events; not given: events without a name. */
  readonly event_name?: string | undefined;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
  /** Records to return; 100 when not given, and never more than 100. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListWorkflowEventsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly EventRecord[];
}

/** What `getWorkflowEvent` takes. */
export interface GetWorkflowEventInput {
  /** The workflow. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
}

export interface GetWorkflowEventAnswer {
  readonly data: EventWhole;
}

/** What `listSourceEvents` takes. */
export interface ListSourceEventsInput {
  /** The source. */
  readonly id: string;
  /** Name of the events; not given: events without a name. */
  readonly event_name?: string | undefined;
  /** Only those to which the source gave this id (Stripe’s `evt_…`, for instance), among the newest 10,000. */
  readonly item_id?: string | undefined;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
  /** Records to return; 100 when not given, and never more than 100. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListSourceEventsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly EventRecord[];
}

/** What `getSourceEvent` takes. */
export interface GetSourceEventInput {
  /** The source. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
}

export interface GetSourceEventAnswer {
  readonly data: EventWhole;
}

/** What `deleteSourceEvent` takes. */
export interface DeleteSourceEventInput {
  /** The source. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
}

export interface DeleteSourceEventAnswer {
  readonly data: {
    /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
    readonly id: string;
  };
}

/** What `listHeartbeatEvents` takes. */
export interface ListHeartbeatEventsInput {
  /** The heartbeat. */
  readonly id: string;
  /** Name of the events; not given: events without a name. */
  readonly event_name?: string | undefined;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
  /** Records to return; 100 when not given, and never more than 100. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListHeartbeatEventsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly EventRecord[];
}

/** What `getHeartbeatEvent` takes. */
export interface GetHeartbeatEventInput {
  /** The heartbeat. */
  readonly id: string;
  /** Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists. */
  readonly record_id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
}

export interface GetHeartbeatEventAnswer {
  readonly data: EventWhole;
}

/** What `getEvent` takes. */
export interface GetEventInput {
  /** Its emit id, or its record id. */
  readonly id: string;
  /** Each record with its whole event. */
  readonly expand?: "event" | undefined;
}

export interface GetEventAnswer {
  readonly data: EventWhole;
}

/** What `streamEvents` takes. */
export interface StreamEventsInput {
  /** A source, workflow, webhook or heartbeat; or `p_*`, `dc_*`, `*` for all of that kind, also those that are made later. */
  readonly id: string;
  /** Name of the events, as in a subscription: not given for events without a name, `*` for every name that does not begin with `$`, `$errors` for errors. */
  readonly event_name?: string | undefined;
  /** As the header `Last-Event-ID`, for clients that cannot set one; the header wins. */
  readonly last_event_id?: string | undefined;
  /** The same, as common replacements of `EventSource` send it. */
  readonly lastEventId?: string | undefined;
}

export type StreamEventsItem = EventRecord;

/** What `streamSourceEvents` takes. */
export interface StreamSourceEventsInput {
  /** The source. */
  readonly id: string;
  /** Name of the events, as in a subscription: not given for events without a name, `*` for every name that does not begin with `$`, `$errors` for errors. */
  readonly event_name?: string | undefined;
  /** As the header `Last-Event-ID`, for clients that cannot set one; the header wins. */
  readonly last_event_id?: string | undefined;
  /** The same, as common replacements of `EventSource` send it. */
  readonly lastEventId?: string | undefined;
}

export type StreamSourceEventsItem = EventRecord;

/** What `listRuns` takes. */
export interface ListRunsInput {
  /** The workflow. */
  readonly id: string;
  /** `queued`: it waits to begin. `running`: its code runs. `waiting`: it waits for a time, a person or its next attempt. `succeeded`, `failed` and `cancelled` are final. */
  readonly state?: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListRunsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Run[];
}

/** What `runWorkflow` takes. */
export interface RunWorkflowInput {
  /** The workflow. */
  readonly id: string;
  /** Any JSON value. */
  readonly event: unknown;
}

export interface RunWorkflowAnswer {
  readonly data: Started;
}

/** What `getRun` takes. */
export interface GetRunInput {
  /** The run. */
  readonly id: string;
}

export interface GetRunAnswer {
  readonly data: RunWhole;
}

/** What `cancelRun` takes. */
export interface CancelRunInput {
  /** The run. */
  readonly id: string;
}

export interface CancelRunAnswer {
  readonly data: {
    /** Id of the run. */
    readonly id: string;
    /** `queued`: it waits to begin. `running`: its code runs. `waiting`: it waits for a time, a person or its next attempt. `succeeded`, `failed` and `cancelled` are final. */
    readonly state: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
  };
}

/** What `resumeRun` takes. */
export interface ResumeRunInput {
  /** The run. */
  readonly id: string;
  /** Any JSON value; null when not given. */
  readonly data?: unknown;
}

export interface ResumeRunAnswer {
  readonly data: {
    /** Id of the run. */
    readonly id: string;
    /** `queued`: it waits to begin. `running`: its code runs. `waiting`: it waits for a time, a person or its next attempt. `succeeded`, `failed` and `cancelled` are final. */
    readonly state: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
  };
}

/** What `retryRun` takes. */
export interface RetryRunInput {
  /** The run that failed, of a workflow. */
  readonly id: string;
  /** Also when a retry of the run, or a replay of its error, was made before and was not cancelled. */
  readonly again?: boolean | undefined;
}

export interface RetryRunAnswer {
  readonly data: Started;
}

/** What `listSources` takes. */
export interface ListSourcesInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListSourcesAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly SourceWhole[];
}

/** What `createSource` takes. */
export interface CreateSourceInput {
  /** Name of the source; that of its component when not given. */
  readonly name?: string | undefined;
  /** The component: an ES module in JavaScript or TypeScript. */
  readonly component_code?: string | undefined;
  /** Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`). */
  readonly component_path?: string | undefined;
  /** Instead of code: one of `GET /v1/components`. */
  readonly component?: string | undefined;
  /** Values of the component’s props, by name. A timer is `{cron}` or `{intervalSeconds}`. Values of secret props are never shown; left out of an update, they stay. */
  readonly configured_props?: { readonly [name: string]: unknown } | undefined;
  /** Who hears it from its first emission on: ids of workflows, sources and webhooks, or objects as subscriptions take them, without the emitter. What it emits while it is created reaches those alone that are named here, or that hear all sources. */
  readonly listeners?: readonly (string | {
    /** Who listens: a workflow `p_…`, source `dc_…` or webhook `wh_…`. */
    readonly listener_id: string;
    /** Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name. */
    readonly event_name?: string | null;
    /** Which of these events go through, by their content: for each field a list of what is wanted. [How it is written](/docs/webhooks#filters). At most 8192 bytes. Null: all. */
    readonly filter?: { readonly [name: string]: unknown } | null;
  })[] | undefined;
}

export interface CreateSourceAnswer {
  readonly data: SourceWhole;
}

/** What `listMySources` takes. */
export interface ListMySourcesInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListMySourcesAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly SourceWhole[];
}

/** What `getSource` takes. */
export interface GetSourceInput {
  /** The source. */
  readonly id: string;
}

export interface GetSourceAnswer {
  readonly data: SourceWhole;
}

/** What `updateSource` takes. */
export interface UpdateSourceInput {
  /** The source. */
  readonly id: string;
  /** Name of the source; that of its component when not given. */
  readonly name?: string | undefined;
  /** The component: an ES module in JavaScript or TypeScript. */
  readonly component_code?: string | undefined;
  /** Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`). */
  readonly component_path?: string | undefined;
  /** Instead of code: one of `GET /v1/components`. */
  readonly component?: string | undefined;
  /** Values of the component’s props, by name. A timer is `{cron}` or `{intervalSeconds}`. Values of secret props are never shown; left out of an update, they stay. */
  readonly configured_props?: { readonly [name: string]: unknown } | undefined;
  /** False: it neither runs nor takes events. */
  readonly active?: boolean | undefined;
}

export interface UpdateSourceAnswer {
  readonly data: SourceWhole;
}

/** What `deleteSource` takes. */
export interface DeleteSourceInput {
  /** The source. */
  readonly id: string;
}

export interface DeleteSourceAnswer {
  readonly data: SourceWhole;
}

/** What `patchSource` takes. */
export interface PatchSourceInput {
  /** The source. */
  readonly id: string;
  /** Name of the source; that of its component when not given. */
  readonly name?: string | undefined;
  /** The component: an ES module in JavaScript or TypeScript. */
  readonly component_code?: string | undefined;
  /** Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`). */
  readonly component_path?: string | undefined;
  /** Instead of code: one of `GET /v1/components`. */
  readonly component?: string | undefined;
  /** Values of the component’s props, by name. A timer is `{cron}` or `{intervalSeconds}`. Values of secret props are never shown; left out of an update, they stay. */
  readonly configured_props?: { readonly [name: string]: unknown } | undefined;
  /** False: it neither runs nor takes events. */
  readonly active?: boolean | undefined;
}

export interface PatchSourceAnswer {
  readonly data: SourceWhole;
}

/** What `deleteSourceEvents` takes. */
export interface DeleteSourceEventsInput {
  /** The source. */
  readonly id: string;
  /** Only events with this name (empty: those without a name). `$in`: those that wait for their time, which are then never emitted. */
  readonly event_name?: string | undefined;
  /** From this record on, and with it. */
  readonly start_id?: string | undefined;
  /** Up to this record, and with it. */
  readonly end_id?: string | undefined;
}

export interface DeleteSourceEventsAnswer {
  readonly data: {
    /** How many events were deleted. */
    readonly deleted: number;
  };
}

/** What `invokeSource` takes. */
export interface InvokeSourceInput {
  /** The source. */
  readonly id: string;
  /** Any JSON value; its bytes as sent. */
  readonly event?: unknown;
}

export interface InvokeSourceAnswer {
  readonly data: Started;
}

/** What `listSourceLogs` takes. */
export interface ListSourceLogsInput {
  /** The source. */
  readonly id: string;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListSourceLogsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly SourceLogLine[];
}

/** What `getSourceState` takes. */
export interface GetSourceStateInput {
  /** The source. */
  readonly id: string;
  /** How many names to pass over; none when not given. */
  readonly skip?: number | undefined;
}

export interface GetSourceStateAnswer {
  readonly data: SourceState;
}

/** What `deploySourceFile` takes. */
export interface DeploySourceFileInput {
  /** Of the file in its folder. */
  readonly path: string;
  /** The file as it was written: what is shown as its code. */
  readonly source: string;
  /** An ES module that needs nothing but Node’s own modules; the bundler decides what it exports. */
  readonly bundle: string;
  /** From the bundle to the files, as JSON text. */
  readonly source_map: string;
  /** Whose file it is. A path belongs to the project that deployed it first, and another one is refused: 409. Absent: it stays whose it is. */
  readonly project?: string | undefined;
  /** Name of the source; that of its component when not given. */
  readonly name?: string | undefined;
  /** Values of the component’s props, by name. A timer is `{cron}` or `{intervalSeconds}`. Values of secret props are never shown; left out of an update, they stay. */
  readonly configured_props?: { readonly [name: string]: unknown } | undefined;
  /** It is one of all files of a folder: what is no source with a `key`, and was not deployed before, is skipped; what looks like a workflow is refused. */
  readonly from_folder?: boolean | undefined;
  /** Nothing is deployed: `result` says what would become of it. */
  readonly dry_run?: boolean | undefined;
}

export interface DeploySourceFileAnswer {
  readonly data: {
    /** What became of the source; `same`: nothing has changed. `skipped`: the file is no source. */
    readonly result: "made" | "changed" | "same" | "skipped";
    readonly source?: SourceWhole;
  };
}

export type ListComponentsInput = Readonly<Record<string, never>>;

export interface ListComponentsAnswer {
  readonly data: readonly Component[];
}

/** What `getComponent` takes. */
export interface GetComponentInput {
  /** Its key. */
  readonly key: string;
}

export interface GetComponentAnswer {
  readonly data: Component;
}

/** What `configureProp` takes. */
export interface ConfigurePropInput {
  /** The component: an ES module in JavaScript or TypeScript. Or name one that is deployed. */
  readonly component_code?: string | undefined;
  /** A file in the server’s folder of components. */
  readonly component_path?: string | undefined;
  /** The key of a component that comes with Errand. */
  readonly component?: string | undefined;
  /** The component of a source, and what it is configured with. */
  readonly source_id?: string | undefined;
  /** The component of a workflow’s step, likewise. */
  readonly workflow_id?: string | undefined;
  /** With `workflow_id`: which step; the first when left out. */
  readonly namespace?: string | undefined;
  /** Values of the props that are configured so far, by name. They need not be complete. */
  readonly configured_props?: { readonly [name: string]: unknown } | undefined;
  /** The prop whose options are asked for. */
  readonly prop_name: string;
  /** Page of the options, counted from 0. */
  readonly page?: number | undefined;
  /** The `context` of the page before; null or left out for the first. */
  readonly prev_context?: { readonly [name: string]: unknown } | null | undefined;
  /** The text that the user typed, for props with `useQuery`. */
  readonly query?: string | undefined;
}

export interface ConfigurePropAnswer {
  readonly data: PropOptions;
}

/** What `reloadProps` takes. */
export interface ReloadPropsInput {
  /** The component: an ES module in JavaScript or TypeScript. Or name one that is deployed. */
  readonly component_code?: string | undefined;
  /** A file in the server’s folder of components. */
  readonly component_path?: string | undefined;
  /** The key of a component that comes with Errand. */
  readonly component?: string | undefined;
  /** The component of a source, and what it is configured with. */
  readonly source_id?: string | undefined;
  /** The component of a workflow’s step, likewise. */
  readonly workflow_id?: string | undefined;
  /** With `workflow_id`: which step; the first when left out. */
  readonly namespace?: string | undefined;
  /** Values of the props that are configured so far, by name. They need not be complete. */
  readonly configured_props?: { readonly [name: string]: unknown } | undefined;
}

export interface ReloadPropsAnswer {
  readonly data: ConfigurableProps;
}

/** What `checkComponents` takes. */
export interface CheckComponentsInput {
  /** The component: an ES module in JavaScript or TypeScript. Or name files of the server. */
  readonly component_code?: string | undefined;
  /** A file or a folder in the server’s folder of components; `.` is all of it. */
  readonly component_path?: string | undefined;
  /** Cursor: only files behind this path. */
  readonly after?: string | undefined;
}

export type CheckComponentsAnswer = ComponentChecks;

/** What `listAccounts` takes. */
export interface ListAccountsInput {
  /** Only those of this app. */
  readonly app?: string | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListAccountsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Account[];
}

/** What `createAccount` takes. */
export interface CreateAccountInput {
  /** The app’s name, as components spell it. */
  readonly app: string;
  /** Label for your own use; the app’s name when not given. */
  readonly name?: string | undefined;
  /** What the app needs, as JSON: code finds it in `this.app.$auth`. At most 100 fields, 65536 bytes together. Never shown. */
  readonly fields?: { readonly [name: string]: unknown } | undefined;
  /** How the field `oauth_access_token` is renewed with OAuth 2, before a run that needs it. `token_url` and `client_id` are required. Null: it is not renewed. */
  readonly oauth?: {
    /** The address of the app’s token server (OAuth 2). */
    readonly token_url?: string;
    /** What your own application is called there. */
    readonly client_id?: string;
    /** The secret of your own application. Never shown. */
    readonly client_secret?: string | null;
    /** What a new token is given for. A new refresh token that comes with it takes its place. Without one, the client’s own credentials are enough (`client_credentials`). Never shown. */
    readonly refresh_token?: string | null;
    /** Sent with each renewal, when given. */
    readonly scope?: string | null;
    /** How the client’s id and secret are sent: in the body, or as basic authentication. */
    readonly client_auth?: "body" | "basic";
  } | null | undefined;
}

export interface CreateAccountAnswer {
  readonly data: Account;
}

/** What `listMyAccounts` takes. */
export interface ListMyAccountsInput {
  /** Only those of this app. */
  readonly app?: string | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListMyAccountsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Account[];
}

/** What `getAccount` takes. */
export interface GetAccountInput {
  /** The account. */
  readonly id: string;
}

export interface GetAccountAnswer {
  readonly data: Account;
}

/** What `updateAccount` takes. */
export interface UpdateAccountInput {
  /** The account. */
  readonly id: string;
  /** The app’s name, as components spell it. */
  readonly app?: string | undefined;
  /** Label for your own use; the app’s name when not given. */
  readonly name?: string | undefined;
  /** What the app needs, as JSON: code finds it in `this.app.$auth`. At most 100 fields, 65536 bytes together. Never shown. */
  readonly fields?: { readonly [name: string]: unknown } | undefined;
  /** How the field `oauth_access_token` is renewed with OAuth 2, before a run that needs it. `token_url` and `client_id` are required. Null: it is not renewed. */
  readonly oauth?: {
    /** The address of the app’s token server (OAuth 2). */
    readonly token_url?: string;
    /** What your own application is called there. */
    readonly client_id?: string;
    /** The secret of your own application. Never shown. */
    readonly client_secret?: string | null;
    /** What a new token is given for. A new refresh token that comes with it takes its place. Without one, the client’s own credentials are enough (`client_credentials`). Never shown. */
    readonly refresh_token?: string | null;
    /** Sent with each renewal, when given. */
    readonly scope?: string | null;
    /** How the client’s id and secret are sent: in the body, or as basic authentication. */
    readonly client_auth?: "body" | "basic";
  } | null | undefined;
}

export interface UpdateAccountAnswer {
  readonly data: Account;
}

/** What `deleteAccount` takes. */
export interface DeleteAccountInput {
  /** The account. */
  readonly id: string;
}

export interface DeleteAccountAnswer {
  readonly data: Account;
}

/** What `patchAccount` takes. */
export interface PatchAccountInput {
  /** The account. */
  readonly id: string;
  /** The app’s name, as components spell it. */
  readonly app?: string | undefined;
  /** Label for your own use; the app’s name when not given. */
  readonly name?: string | undefined;
  /** What the app needs, as JSON: code finds it in `this.app.$auth`. At most 100 fields, 65536 bytes together. Never shown. */
  readonly fields?: { readonly [name: string]: unknown } | undefined;
  /** How the field `oauth_access_token` is renewed with OAuth 2, before a run that needs it. `token_url` and `client_id` are required. Null: it is not renewed. */
  readonly oauth?: {
    /** The address of the app’s token server (OAuth 2). */
    readonly token_url?: string;
    /** What your own application is called there. */
    readonly client_id?: string;
    /** The secret of your own application. Never shown. */
    readonly client_secret?: string | null;
    /** What a new token is given for. A new refresh token that comes with it takes its place. Without one, the client’s own credentials are enough (`client_credentials`). Never shown. */
    readonly refresh_token?: string | null;
    /** Sent with each renewal, when given. */
    readonly scope?: string | null;
    /** How the client’s id and secret are sent: in the body, or as basic authentication. */
    readonly client_auth?: "body" | "basic";
  } | null | undefined;
}

export interface PatchAccountAnswer {
  readonly data: Account;
}

/** What `renewAccount` takes. */
export interface RenewAccountInput {
  /** The account. */
  readonly id: string;
}

export interface RenewAccountAnswer {
  readonly data: Account;
}

/** What `listChannels` takes. */
export interface ListChannelsInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListChannelsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Channel[];
}

/** What `createChannel` takes. */
export interface CreateChannelInput {
  /** What is at the other end. It cannot be changed. */
  readonly kind: "slack" | "discord" | "teams" | "pagerduty" | "opsgenie" | "http" | "mail";
  /** Label for your own use; the kind when not given. */
  readonly name?: string | undefined;
  /** False: no notice is sent to it. */
  readonly active?: boolean | undefined;
  /** What the kind needs. It is kept sealed; addresses, keys and the values of headers are never shown, the template to keys with the scope `write` alone. */
  readonly config: {
    /** Of slack, discord, teams: the address of the incoming webhook. Of http: where the notice goes. Of pagerduty and opsgenie: instead of the service’s address, e.g. `https://api.eu.opsgenie.com`. */
    readonly url?: string | null;
    /** Of pagerduty: the routing key of an Events API v2 integration. Of opsgenie: the API key. */
    readonly key?: string | null;
    /** Of mail: the address that notices go to. */
    readonly to?: string | null;
    /** Of `http`: headers of each request, such as `authorization`. */
    readonly headers?: { readonly [name: string]: string } | null;
    /** Of http: the body of the request, with placeholders such as {{title}}; the notice as JSON when not given. There are title, kind, group_id, emitter_id, name, code, message, step, line, cause, count, more, groups, first_seen, last_seen, event, link, json. */
    readonly template?: string | null;
  };
}

export interface CreateChannelAnswer {
  readonly data: Channel;
}

/** What `getChannel` takes. */
export interface GetChannelInput {
  /** The channel. */
  readonly id: string;
}

export interface GetChannelAnswer {
  readonly data: Channel;
}

/** What `updateChannel` takes. */
export interface UpdateChannelInput {
  /** The channel. */
  readonly id: string;
  /** Label for your own use; the kind when not given. */
  readonly name?: string | undefined;
  /** False: no notice is sent to it. */
  readonly active?: boolean | undefined;
  /** What the kind needs. It is kept sealed; addresses, keys and the values of headers are never shown, the template to keys with the scope `write` alone. */
  readonly config?: {
    /** Of slack, discord, teams: the address of the incoming webhook. Of http: where the notice goes. Of pagerduty and opsgenie: instead of the service’s address, e.g. `https://api.eu.opsgenie.com`. */
    readonly url?: string | null;
    /** Of pagerduty: the routing key of an Events API v2 integration. Of opsgenie: the API key. */
    readonly key?: string | null;
    /** Of mail: the address that notices go to. */
    readonly to?: string | null;
    /** Of `http`: headers of each request, such as `authorization`. */
    readonly headers?: { readonly [name: string]: string } | null;
    /** Of http: the body of the request, with placeholders such as {{title}}; the notice as JSON when not given. There are title, kind, group_id, emitter_id, name, code, message, step, line, cause, count, more, groups, first_seen, last_seen, event, link, json. */
    readonly template?: string | null;
  } | undefined;
}

export interface UpdateChannelAnswer {
  readonly data: Channel;
}

/** What `deleteChannel` takes. */
export interface DeleteChannelInput {
  /** The channel. */
  readonly id: string;
}

export interface DeleteChannelAnswer {
  readonly data: Channel;
}

/** What `patchChannel` takes. */
export interface PatchChannelInput {
  /** The channel. */
  readonly id: string;
  /** Label for your own use; the kind when not given. */
  readonly name?: string | undefined;
  /** False: no notice is sent to it. */
  readonly active?: boolean | undefined;
  /** What the kind needs. It is kept sealed; addresses, keys and the values of headers are never shown, the template to keys with the scope `write` alone. */
  readonly config?: {
    /** Of slack, discord, teams: the address of the incoming webhook. Of http: where the notice goes. Of pagerduty and opsgenie: instead of the service’s address, e.g. `https://api.eu.opsgenie.com`. */
    readonly url?: string | null;
    /** Of pagerduty: the routing key of an Events API v2 integration. Of opsgenie: the API key. */
    readonly key?: string | null;
    /** Of mail: the address that notices go to. */
    readonly to?: string | null;
    /** Of `http`: headers of each request, such as `authorization`. */
    readonly headers?: { readonly [name: string]: string | null } | null;
    /** Of http: the body of the request, with placeholders such as {{title}}; the notice as JSON when not given. There are title, kind, group_id, emitter_id, name, code, message, step, line, cause, count, more, groups, first_seen, last_seen, event, link, json. */
    readonly template?: string | null;
  } | undefined;
}

export interface PatchChannelAnswer {
  readonly data: Channel;
}

/** What `testChannel` takes. */
export interface TestChannelInput {
  /** The channel. */
  readonly id: string;
}

export interface TestChannelAnswer {
  readonly data: ChannelTest;
}

/** What `listDataStores` takes. */
export interface ListDataStoresInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListDataStoresAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly DataStore[];
}

/** What `createDataStore` takes. */
export interface CreateDataStoreInput {
  /** Label for your own use. */
  readonly name: string;
}

export interface CreateDataStoreAnswer {
  readonly data: DataStore;
}

/** What `getDataStore` takes. */
export interface GetDataStoreInput {
  /** The data store. */
  readonly id: string;
}

export interface GetDataStoreAnswer {
  readonly data: DataStore;
}

/** What `updateDataStore` takes. */
export interface UpdateDataStoreInput {
  /** The data store. */
  readonly id: string;
  /** Label for your own use. */
  readonly name: string;
}

export interface UpdateDataStoreAnswer {
  readonly data: DataStore;
}

/** What `deleteDataStore` takes. */
export interface DeleteDataStoreInput {
  /** The data store. */
  readonly id: string;
}

export interface DeleteDataStoreAnswer {
  readonly data: DataStore;
}

/** What `patchDataStore` takes. */
export interface PatchDataStoreInput {
  /** The data store. */
  readonly id: string;
  /** Label for your own use. */
  readonly name?: string | undefined;
}

export interface PatchDataStoreAnswer {
  readonly data: DataStore;
}

/** What `listDataRecords` takes. */
export interface ListDataRecordsInput {
  /** The data store. */
  readonly id: string;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, a key: only records whose keys come behind it. */
  readonly after?: string | undefined;
  /** Cursor, a key: only records whose keys come in front of it, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListDataRecordsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly DataRecord[];
}

/** What `clearDataStore` takes. */
export interface ClearDataStoreInput {
  /** The data store. */
  readonly id: string;
}

export interface ClearDataStoreAnswer {
  readonly data: DataStore;
}

/** What `getDataRecord` takes. */
export interface GetDataRecordInput {
  /** The data store. */
  readonly id: string;
  /** The record’s key, percent-encoded. */
  readonly key: string;
}

export interface GetDataRecordAnswer {
  readonly data: DataRecord;
}

/** What `setDataRecord` takes. */
export interface SetDataRecordInput {
  /** The data store. */
  readonly id: string;
  /** The record’s key, percent-encoded. */
  readonly key: string;
  /** Any JSON, at most 1048576 bytes. */
  readonly value: unknown;
  /** Seconds after which the record is gone; null or not given: it stays. */
  readonly ttl?: number | null | undefined;
}

export interface SetDataRecordAnswer {
  readonly data: DataRecord;
}

/** What `deleteDataRecord` takes. */
export interface DeleteDataRecordInput {
  /** The data store. */
  readonly id: string;
  /** The record’s key, percent-encoded. */
  readonly key: string;
}

export interface DeleteDataRecordAnswer {
  readonly data: DataRecord;
}

/** What `listWebhooks` takes. */
export interface ListWebhooksInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListWebhooksAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Webhook[];
}

/** What `createWebhook` takes. */
export interface CreateWebhookInput {
  /** Where events are delivered: an http or https address without credentials, at most 2048 characters. */
  readonly url: string;
  /** Label for your own use. */
  readonly name?: string | null | undefined;
  /** Longer description. */
  readonly description?: string | null | undefined;
  /** False: deliveries are held. True: what was held goes out. */
  readonly active?: boolean | undefined;
  /** Request headers of your own, at most 32. None of Errand’s or of the connection’s can be set. Where a key without the scope `write` reads them, their values are "(hidden)". */
  readonly headers?: { readonly [name: string]: string } | null | undefined;
  /** How long an attempt may take in all, in milliseconds. Null: 15000. */
  readonly timeout_ms?: number | null | undefined;
  /** The schedule of retries. Null: 10 of them in about three days. */
  readonly retry?: {
    /** Before the second attempt, the third, …, each give or take 10 %. Empty: no retries. */
    readonly delays_ms: readonly number[];
  } | null | undefined;
  /** At most `limit` requests begin within any `interval_ms`. Null: no such limit. */
  readonly rate_limit?: {
    /** How many requests may begin. */
    readonly limit: number;
    /** Within how many milliseconds. */
    readonly interval_ms: number;
  } | null | undefined;
  /** Requests on their way at a time. Null: 8. */
  readonly max_in_flight?: number | null | undefined;
  /** True: one delivery at a time, in the order of the events; one that fails holds up those behind it until it is delivered or exhausted. */
  readonly ordered?: boolean | null | undefined;
  /** `v1`: HMAC-SHA256 with the secret. `v1a`: ed25519, which receivers check with a public key. */
  readonly signature?: readonly ("v1" | "v1a")[] | null | undefined;
}

export interface CreateWebhookAnswer {
  readonly data: NewWebhook;
}

/** What `listMyWebhooks` takes. */
export interface ListMyWebhooksInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListMyWebhooksAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Webhook[];
}

/** What `getWebhook` takes. */
export interface GetWebhookInput {
  /** The webhook. */
  readonly id: string;
}

export interface GetWebhookAnswer {
  readonly data: Webhook;
}

/** What `updateWebhook` takes. */
export interface UpdateWebhookInput {
  /** The webhook. */
  readonly id: string;
  /** Where events are delivered: an http or https address without credentials, at most 2048 characters. */
  readonly url?: string | undefined;
  /** Label for your own use. */
  readonly name?: string | null | undefined;
  /** Longer description. */
  readonly description?: string | null | undefined;
  /** False: deliveries are held. True: what was held goes out. */
  readonly active?: boolean | undefined;
  /** Request headers of your own, at most 32. None of Errand’s or of the connection’s can be set. Where a key without the scope `write` reads them, their values are "(hidden)". */
  readonly headers?: { readonly [name: string]: string } | null | undefined;
  /** How long an attempt may take in all, in milliseconds. Null: 15000. */
  readonly timeout_ms?: number | null | undefined;
  /** The schedule of retries. Null: 10 of them in about three days. */
  readonly retry?: {
    /** Before the second attempt, the third, …, each give or take 10 %. Empty: no retries. */
    readonly delays_ms: readonly number[];
  } | null | undefined;
  /** At most `limit` requests begin within any `interval_ms`. Null: no such limit. */
  readonly rate_limit?: {
    /** How many requests may begin. */
    readonly limit: number;
    /** Within how many milliseconds. */
    readonly interval_ms: number;
  } | null | undefined;
  /** Requests on their way at a time. Null: 8. */
  readonly max_in_flight?: number | null | undefined;
  /** True: one delivery at a time, in the order of the events; one that fails holds up those behind it until it is delivered or exhausted. */
  readonly ordered?: boolean | null | undefined;
  /** `v1`: HMAC-SHA256 with the secret. `v1a`: ed25519, which receivers check with a public key. */
  readonly signature?: readonly ("v1" | "v1a")[] | null | undefined;
}

export interface UpdateWebhookAnswer {
  readonly data: Webhook;
}

/** What `deleteWebhook` takes. */
export interface DeleteWebhookInput {
  /** The webhook. */
  readonly id: string;
}

export interface DeleteWebhookAnswer {
  readonly data: Webhook;
}

/** What `patchWebhook` takes. */
export interface PatchWebhookInput {
  /** The webhook. */
  readonly id: string;
  /** Where events are delivered: an http or https address without credentials, at most 2048 characters. */
  readonly url?: string | undefined;
  /** Label for your own use. */
  readonly name?: string | null | undefined;
  /** Longer description. */
  readonly description?: string | null | undefined;
  /** False: deliveries are held. True: what was held goes out. */
  readonly active?: boolean | undefined;
  /** Request headers of your own, at most 32. None of Errand’s or of the connection’s can be set. Where a key without the scope `write` reads them, their values are "(hidden)". */
  readonly headers?: { readonly [name: string]: string | null } | null | undefined;
  /** How long an attempt may take in all, in milliseconds. Null: 15000. */
  readonly timeout_ms?: number | null | undefined;
  /** The schedule of retries. Null: 10 of them in about three days. */
  readonly retry?: {
    /** Before the second attempt, the third, …, each give or take 10 %. Empty: no retries. */
    readonly delays_ms?: readonly number[] | null;
  } | null | undefined;
  /** At most `limit` requests begin within any `interval_ms`. Null: no such limit. */
  readonly rate_limit?: {
    /** How many requests may begin. */
    readonly limit?: number | null;
    /** Within how many milliseconds. */
    readonly interval_ms?: number | null;
  } | null | undefined;
  /** Requests on their way at a time. Null: 8. */
  readonly max_in_flight?: number | null | undefined;
  /** True: one delivery at a time, in the order of the events; one that fails holds up those behind it until it is delivered or exhausted. */
  readonly ordered?: boolean | null | undefined;
  /** `v1`: HMAC-SHA256 with the secret. `v1a`: ed25519, which receivers check with a public key. */
  readonly signature?: readonly ("v1" | "v1a")[] | null | undefined;
}

export interface PatchWebhookAnswer {
  readonly data: Webhook;
}

/** What `rotateWebhookSecret` takes. */
export interface RotateWebhookSecretInput {
  /** The webhook. */
  readonly id: string;
  /** For how many seconds the secrets before sign along; 86400 when not given. 0: not at all. */
  readonly overlap_s?: number | undefined;
}

export interface RotateWebhookSecretAnswer {
  readonly data: NewWebhook;
}

/** What `listWebhookKeys` takes. */
export interface ListWebhookKeysInput {
  /** Only those of this webhook. */
  readonly webhook_id?: string | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListWebhookKeysAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly WebhookKey[];
}

/** What `testWebhook` takes. */
export interface TestWebhookInput {
  /** The webhook. */
  readonly id: string;
  /** Any JSON value, sent unchanged; a default event when not given. */
  readonly event?: unknown;
}

export interface TestWebhookAnswer {
  readonly data: WebhookTest;
}

/** What `listHeartbeats` takes. */
export interface ListHeartbeatsInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListHeartbeatsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Heartbeat[];
}

/** What `createHeartbeat` takes. */
export interface CreateHeartbeatInput {
  /** Name of the heartbeat. */
  readonly name?: string | undefined;
  /** Cron expression of when the job runs, instead of `interval_seconds`. */
  readonly cron?: string | undefined;
  /** The longest time between two pings, in seconds, instead of `cron`. */
  readonly interval_seconds?: number | undefined;
  /** Time zone of `cron`, an IANA name; UTC when not given. */
  readonly timezone?: string | undefined;
  /** How many seconds late a ping may be, and how many seconds a run may take that pinged `/start`; 300 when not given. */
  readonly grace_seconds?: number | undefined;
  /** False: pings are counted, and none is missed. */
  readonly active?: boolean | undefined;
  /** True: GET and HEAD are refused, so that whatever follows links (a mail scanner, a preview of a chat) does not ping. */
  readonly post_only?: boolean | undefined;
}

export interface CreateHeartbeatAnswer {
  readonly data: Heartbeat;
}

/** What `getHeartbeat` takes. */
export interface GetHeartbeatInput {
  /** The heartbeat. */
  readonly id: string;
}

export interface GetHeartbeatAnswer {
  readonly data: Heartbeat;
}

/** What `updateHeartbeat` takes. */
export interface UpdateHeartbeatInput {
  /** The heartbeat. */
  readonly id: string;
  /** Name of the heartbeat. */
  readonly name?: string | undefined;
  /** Cron expression of when the job runs, instead of `interval_seconds`. */
  readonly cron?: string | undefined;
  /** The longest time between two pings, in seconds, instead of `cron`. */
  readonly interval_seconds?: number | undefined;
  /** Time zone of `cron`, an IANA name; UTC when not given. */
  readonly timezone?: string | undefined;
  /** How many seconds late a ping may be, and how many seconds a run may take that pinged `/start`; 300 when not given. */
  readonly grace_seconds?: number | undefined;
  /** False: pings are counted, and none is missed. */
  readonly active?: boolean | undefined;
  /** True: GET and HEAD are refused, so that whatever follows links (a mail scanner, a preview of a chat) does not ping. */
  readonly post_only?: boolean | undefined;
}

export interface UpdateHeartbeatAnswer {
  readonly data: Heartbeat;
}

/** What `deleteHeartbeat` takes. */
export interface DeleteHeartbeatInput {
  /** The heartbeat. */
  readonly id: string;
}

export interface DeleteHeartbeatAnswer {
  readonly data: Heartbeat;
}

/** What `patchHeartbeat` takes. */
export interface PatchHeartbeatInput {
  /** The heartbeat. */
  readonly id: string;
  /** Name of the heartbeat. */
  readonly name?: string | undefined;
  /** Cron expression of when the job runs, instead of `interval_seconds`. */
  readonly cron?: string | undefined;
  /** The longest time between two pings, in seconds, instead of `cron`. */
  readonly interval_seconds?: number | undefined;
  /** Time zone of `cron`, an IANA name; UTC when not given. */
  readonly timezone?: string | undefined;
  /** How many seconds late a ping may be, and how many seconds a run may take that pinged `/start`; 300 when not given. */
  readonly grace_seconds?: number | undefined;
  /** False: pings are counted, and none is missed. */
  readonly active?: boolean | undefined;
  /** True: GET and HEAD are refused, so that whatever follows links (a mail scanner, a preview of a chat) does not ping. */
  readonly post_only?: boolean | undefined;
}

export interface PatchHeartbeatAnswer {
  readonly data: Heartbeat;
}

/** What `listWatches` takes. */
export interface ListWatchesInput {
  /** The workflow. */
  readonly id: string;
}

export interface ListWatchesAnswer {
  readonly data: readonly Watch[];
}

/** What `listWebhookDeliveries` takes. */
export interface ListWebhookDeliveriesInput {
  /** The webhook. */
  readonly id: string;
  /** `pending`: it waits for its first attempt. `sending`: an attempt is under way. `retrying`: an attempt failed, and another one is due. `held`: the webhook is not active. `delivered`, `exhausted` (all attempts failed) and `cancelled` are final. */
  readonly state?: "pending" | "sending" | "retrying" | "held" | "delivered" | "exhausted" | "cancelled" | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListWebhookDeliveriesAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Delivery[];
}

/** What `listDeliveries` takes. */
export interface ListDeliveriesInput {
  /** `pending`: it waits for its first attempt. `sending`: an attempt is under way. `retrying`: an attempt failed, and another one is due. `held`: the webhook is not active. `delivered`, `exhausted` (all attempts failed) and `cancelled` are final. */
  readonly state?: "pending" | "sending" | "retrying" | "held" | "delivered" | "exhausted" | "cancelled" | undefined;
  /** Only those to this webhook. */
  readonly webhook_id?: string | undefined;
  /** Only to webhooks, mails, or requests that code asked for with `$.send.http`. */
  readonly kind?: "webhook" | "mail" | "http" | undefined;
  /** Only notices to this channel of yours. */
  readonly channel_id?: string | undefined;
  /** Only those of this event: its emit id, or its record id. */
  readonly emission_id?: string | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListDeliveriesAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Delivery[];
}

/** What `getDelivery` takes. */
export interface GetDeliveryInput {
  /** The delivery. */
  readonly id: string;
}

export interface GetDeliveryAnswer {
  readonly data: DeliveryWhole;
}

/** What `resendDelivery` takes. */
export interface ResendDeliveryInput {
  /** The delivery. */
  readonly id: string;
}

export interface ResendDeliveryAnswer {
  readonly data: Delivery;
}

/** What `getDeliveryMail` takes. */
export interface GetDeliveryMailInput {
  /** The delivery. */
  readonly id: string;
}

export type GetDeliveryMailAnswer = string;

/** What `resendWebhook` takes. */
export interface ResendWebhookInput {
  /** The webhook. */
  readonly id: string;
  /** Deliveries that were accepted from then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since: number | string;
  /** And before then; now when not given. */
  readonly until?: number | string | null | undefined;
  /** Those that are in one of these states when it is their turn: one or more of exhausted, delivered, cancelled, retrying, by commas or as an array; exhausted when not given. */
  readonly state?: string | readonly string[] | undefined;
  /** True: nothing is sent, and the answer says what would be. */
  readonly dry_run?: boolean | undefined;
}

export interface ResendWebhookAnswer {
  readonly data: Operation | ResendDryRun;
}

/** What `listOperations` takes. */
export interface ListOperationsInput {
  /** Only those of this kind. */
  readonly kind?: "resend" | "replay" | undefined;
  /** Only those of this webhook. */
  readonly webhook_id?: string | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListOperationsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Operation[];
}

/** What `getOperation` takes. */
export interface GetOperationInput {
  /** The operation. */
  readonly id: string;
}

export interface GetOperationAnswer {
  readonly data: Operation;
}

/** What `pauseOperation` takes. */
export interface PauseOperationInput {
  /** The operation. */
  readonly id: string;
}

export interface PauseOperationAnswer {
  readonly data: Operation;
}

/** What `resumeOperation` takes. */
export interface ResumeOperationInput {
  /** The operation. */
  readonly id: string;
}

export interface ResumeOperationAnswer {
  readonly data: Operation;
}

/** What `cancelOperation` takes. */
export interface CancelOperationInput {
  /** The operation. */
  readonly id: string;
}

export interface CancelOperationAnswer {
  readonly data: Operation;
}

/** What `replayErrors` takes. */
export interface ReplayErrorsInput {
  /** The errors of this group. */
  readonly group_id?: string | undefined;
  /** The errors of this workflow. */
  readonly workflow_id?: string | undefined;
  /** The errors of this source. */
  readonly source_id?: string | undefined;
  /** These errors, of any workflows: 1 to 1000 ids of errors, by commas or as an array. */
  readonly error_ids?: string | readonly string[] | undefined;
  /** With a group, workflow or source: only errors from then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: number | string | undefined;
  /** And before then: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly until?: number | string | undefined;
  /** With a group, workflow or source: only errors with this code. */
  readonly code?: string | undefined;
  /** With a group, workflow or source: only errors of steps with this name (`namespace`). */
  readonly step?: string | undefined;
  /** With a group, workflow or source: only errors of runs with this deployment. */
  readonly failed_deployment_id?: string | undefined;
  /** `current`: the deployment that is active when a replay begins; or the id of one of the workflow. */
  readonly deployment?: string | undefined;
  /** At most so many replays a second; as many as may be under way when not given. */
  readonly rate?: number | undefined;
  /** So many errors go first; the others wait until all of these are fixed, else the operation pauses. 1 when not given. */
  readonly canary?: number | undefined;
  /** Pauses after so many failures, and again after as many more. */
  readonly stop_on_failures?: number | undefined;
  /** The step that replays begin with. `failed_step`: the one that failed; those before it are not run again, and what they gave is kept. The deployment must begin with the same steps. `first_step` when not given. */
  readonly from?: "first_step" | "failed_step" | undefined;
  /** One at a time, in the order in which the errors came. */
  readonly ordered?: boolean | undefined;
  /** Also errors of which a replay or a retry has ended already; they are left and counted when not given. */
  readonly again?: boolean | undefined;
  /** Only tells how many errors there are, how many of them would be replayed now and why the others would not, and shows a few. */
  readonly dry_run?: boolean | undefined;
}

export interface ReplayErrorsAnswer {
  readonly data: Operation | ReplayDryRun;
}

/** What `listReplayResults` takes. */
export interface ListReplayResultsInput {
  /** The operation: a replay. */
  readonly id: string;
  /** What became of the error. `under_way`: the run of its replay is not over. `fixed`: it succeeded. `failed_same`: it failed with an error of the same group. `failed_differently`: with another one. `cancelled`: the run was cancelled. `unknown`: the run ended, and is no longer kept. `not_replayed`: it cannot be, see `reason`. `replayed_before`: a replay of it has ended already, see `reason`. */
  readonly outcome?: "under_way" | "fixed" | "failed_same" | "failed_differently" | "cancelled" | "unknown" | "not_replayed" | "replayed_before" | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListReplayResultsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly ReplayResult[];
}

/** What `listSubscriptions` takes. */
export interface ListSubscriptionsInput {
  /** Only subscriptions to this emitter. */
  readonly emitter_id?: string | undefined;
  /** Only subscriptions of this listener. */
  readonly listener_id?: string | undefined;
  /** Empty: subscriptions to events without a name. */
  readonly event_name?: string | undefined;
  /** Only those that were created as subscriptions, or only those that stand for triggers; `subscription` when not given. */
  readonly via?: "subscription" | "trigger" | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListSubscriptionsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Subscription[];
}

/** What `createSubscription` takes. */
export interface CreateSubscriptionInput {
  /** Who emits: a workflow `p_…`, source `dc_…`, webhook `wh_…`, heartbeat `hb_…`, trigger `hi_…` or `ti_…`; or `p_*`, `dc_*`, `*` (or your own `u_…`) for everything of that kind, also what is made later. */
  readonly emitter_id: string;
  /** Who listens: a workflow `p_…`, source `dc_…` or webhook `wh_…`. */
  readonly listener_id: string;
  /** Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name. */
  readonly event_name?: string | null | undefined;
  /** Which of these events go through, by their content: for each field a list of what is wanted. [How it is written](/docs/webhooks#filters). At most 8192 bytes. Null: all. */
  readonly filter?: { readonly [name: string]: unknown } | null | undefined;
}

export interface CreateSubscriptionAnswer {
  readonly data: readonly Subscription[];
}

/** What `deleteSubscriptionByTriple` takes. */
export interface DeleteSubscriptionByTripleInput {
  /** Who emits: a workflow `p_…`, source `dc_…`, webhook `wh_…`, heartbeat `hb_…`, trigger `hi_…` or `ti_…`; or `p_*`, `dc_*`, `*` (or your own `u_…`) for everything of that kind, also what is made later. */
  readonly emitter_id: string;
  /** Who listens: a workflow `p_…`, source `dc_…` or webhook `wh_…`. */
  readonly listener_id: string;
  /** Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name. */
  readonly event_name?: string | null | undefined;
}

export interface DeleteSubscriptionByTripleAnswer {
  readonly data: Subscription;
}

/** What `createAutoSubscription` takes. */
export interface CreateAutoSubscriptionInput {
  /** Which events: a name; `$errors` for errors; `*` for every name that does not begin with `$`; nothing for events without a name. */
  readonly event_name?: string | null | undefined;
  /** Who listens: a workflow `p_…`, source `dc_…` or webhook `wh_…`. */
  readonly listener_id: string;
  /** Which of these events go through, by their content: for each field a list of what is wanted. [How it is written](/docs/webhooks#filters). At most 8192 bytes. Null: all. */
  readonly filter?: { readonly [name: string]: unknown } | null | undefined;
}

export interface CreateAutoSubscriptionAnswer {
  readonly data: readonly Subscription[];
}

/** What `listMySubscriptions` takes. */
export interface ListMySubscriptionsInput {
  /** Only subscriptions to this emitter. */
  readonly emitter_id?: string | undefined;
  /** Only subscriptions of this listener. */
  readonly listener_id?: string | undefined;
  /** Empty: subscriptions to events without a name. */
  readonly event_name?: string | undefined;
  /** Only those that were created as subscriptions, or only those that stand for triggers; `subscription` when not given. */
  readonly via?: "subscription" | "trigger" | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListMySubscriptionsAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Subscription[];
}

/** What `getSubscription` takes. */
export interface GetSubscriptionInput {
  /** The subscription. */
  readonly id: string;
}

export interface GetSubscriptionAnswer {
  readonly data: Subscription;
}

/** What `updateSubscription` takes. */
export interface UpdateSubscriptionInput {
  /** The subscription. */
  readonly id: string;
  /** Which of these events go through, by their content: for each field a list of what is wanted. [How it is written](/docs/webhooks#filters). At most 8192 bytes. Null: all. */
  readonly filter: { readonly [name: string]: unknown } | null;
}

export interface UpdateSubscriptionAnswer {
  readonly data: Subscription;
}

/** What `deleteSubscription` takes. */
export interface DeleteSubscriptionInput {
  /** The subscription. */
  readonly id: string;
}

export interface DeleteSubscriptionAnswer {
  readonly data: Subscription;
}

/** What `patchSubscription` takes. */
export interface PatchSubscriptionInput {
  /** The subscription. */
  readonly id: string;
  /** Which of these events go through, by their content: for each field a list of what is wanted. [How it is written](/docs/webhooks#filters). At most 8192 bytes. Null: all. */
  readonly filter?: { readonly [name: string]: unknown } | null | undefined;
}

export interface PatchSubscriptionAnswer {
  readonly data: Subscription;
}

export type GetMeInput = Readonly<Record<string, never>>;

export interface GetMeAnswer {
  readonly data: KeyOwner;
}

/** What `updateMe` takes. */
export interface UpdateMeInput {
  /** Name of the owner. */
  readonly name?: string | undefined;
  /** Where mails go, a mail address; null: into the outbox folder only. */
  readonly email?: string | null | undefined;
  /** A workflow of yours that gets every error. */
  readonly global_error_workflow_id?: string | undefined;
  /** Repeats of an error within so many milliseconds become one mail at their end. */
  readonly digest_window_ms?: number | undefined;
  /** The channels that are notified of the errors of your workflows, sources and webhooks, beside the global error workflow. */
  readonly channels?: readonly string[] | undefined;
}

export interface UpdateMeAnswer {
  readonly data: KeyOwner;
}

/** What `patchMe` takes. */
export interface PatchMeInput {
  /** Name of the owner. */
  readonly name?: string | undefined;
  /** Where mails go, a mail address; null: into the outbox folder only. */
  readonly email?: string | null | undefined;
  /** A workflow of yours that gets every error. */
  readonly global_error_workflow_id?: string | undefined;
  /** Repeats of an error within so many milliseconds become one mail at their end. */
  readonly digest_window_ms?: number | undefined;
  /** The channels that are notified of the errors of your workflows, sources and webhooks, beside the global error workflow. */
  readonly channels?: readonly string[] | undefined;
}

export interface PatchMeAnswer {
  readonly data: KeyOwner;
}

/** What `listKeys` takes. */
export interface ListKeysInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListKeysAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly ApiKey[];
}

/** What `createKey` takes. */
export interface CreateKeyInput {
  /** What the key is for. */
  readonly label: string;
  /** What the key may do: `ingest` reports errors of other programs, `read` reads, `write` changes, `keys` manages API keys, `account` changes the owner’s own data and reads the audit log, `admin` manages owners. `read` and `write` when not given. */
  readonly scopes?: readonly ("ingest" | "read" | "write" | "keys" | "account" | "admin")[] | undefined;
  /** When it expires, in seconds since the Unix epoch: from then on it is refused with 401. When not given, never, or when your own key does. */
  readonly expires_at?: number | null | undefined;
  /** With the scope `ingest` alone: the only workflow whose errors the key reports. The answer has its `dsn`. */
  readonly workflow_id?: string | undefined;
  /** Instead of `workflow_id`: a service by its name, whose workflow is made when there is none. */
  readonly service?: string | undefined;
}

export interface CreateKeyAnswer {
  readonly data: NewApiKey;
}

/** What `revokeKey` takes. */
export interface RevokeKeyInput {
  /** The key’s id. */
  readonly id: string;
}

export interface RevokeKeyAnswer {
  readonly data: ApiKey;
}

export type GetSessionInput = Readonly<Record<string, never>>;

export interface GetSessionAnswer {
  readonly data: Session;
}

/** What `createSession` takes. */
export interface CreateSessionInput {
  /** An API key that may read. */
  readonly api_key?: string | undefined;
  /** The end of the link that the server printed when it started. */
  readonly link?: string | undefined;
}

export interface CreateSessionAnswer {
  readonly data: Session;
}

export type EndSessionInput = Readonly<Record<string, never>>;

export interface EndSessionAnswer {
  readonly data: {
    /** False: there was no session. */
    readonly ended: boolean;
  };
}

/** What `endAllSessions` takes. */
export interface EndAllSessionsInput {
  /** Whose sessions; `key` when not given. */
  readonly of?: "key" | "owner" | undefined;
}

export interface EndAllSessionsAnswer {
  readonly data: {
    /** Of how many keys the sessions were ended. */
    readonly keys: number;
  };
}

/** What `listOwners` takes. */
export interface ListOwnersInput {
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListOwnersAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly Owner[];
}

/** What `createOwner` takes. */
export interface CreateOwnerInput {
  /** Name of the owner. */
  readonly name: string;
  /** Where mails go, a mail address; null: into the outbox folder only. */
  readonly email?: string | null | undefined;
}

export interface CreateOwnerAnswer {
  readonly data: NewOwner;
}

/** What `deleteOwner` takes. */
export interface DeleteOwnerInput {
  /** The owner. */
  readonly id: string;
}

export interface DeleteOwnerAnswer {
  readonly data: Owner;
}

/** What `restoreOwner` takes. */
export interface RestoreOwnerInput {
  /** The owner. */
  readonly id: string;
}

export interface RestoreOwnerAnswer {
  readonly data: Owner;
}

/** What `exportOwner` takes. */
export interface ExportOwnerInput {
  /** The owner. */
  readonly id: string;
  /** Only lines behind this one: the `id` of a line. */
  readonly after?: string | undefined;
}

export type ExportOwnerItem = OwnerExportLine;

/** What `listOwnerKeys` takes. */
export interface ListOwnerKeysInput {
  /** The owner. */
  readonly id: string;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListOwnerKeysAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly ApiKey[];
}

/** What `createOwnerKey` takes. */
export interface CreateOwnerKeyInput {
  /** The owner. */
  readonly id: string;
  /** What the key is for. */
  readonly label: string;
  /** What the key may do: `ingest` reports errors of other programs, `read` reads, `write` changes, `keys` manages API keys, `account` changes the owner’s own data and reads the audit log, `admin` manages owners. `read` and `write` when not given. */
  readonly scopes?: readonly ("ingest" | "read" | "write" | "keys" | "account" | "admin")[] | undefined;
  /** When it expires, in seconds since the Unix epoch: from then on it is refused with 401. When not given, never, or when your own key does. */
  readonly expires_at?: number | null | undefined;
  /** With the scope `ingest` alone: the only workflow whose errors the key reports. The answer has its `dsn`. */
  readonly workflow_id?: string | undefined;
  /** Instead of `workflow_id`: a service by its name, whose workflow is made when there is none. */
  readonly service?: string | undefined;
}

export interface CreateOwnerKeyAnswer {
  readonly data: NewApiKey;
}

/** What `revokeOwnerKey` takes. */
export interface RevokeOwnerKeyInput {
  /** The owner. */
  readonly id: string;
  /** The key’s id. */
  readonly key_id: string;
}

export interface RevokeOwnerKeyAnswer {
  readonly data: ApiKey;
}

export type GetMyQuotasInput = Readonly<Record<string, never>>;

export interface GetMyQuotasAnswer {
  readonly data: Quotas;
}

/** What `getOwnerQuotas` takes. */
export interface GetOwnerQuotasInput {
  /** The owner. */
  readonly id: string;
}

export interface GetOwnerQuotasAnswer {
  readonly data: Quotas;
}

/** What `setOwnerQuotas` takes. */
export interface SetOwnerQuotasInput {
  /** The owner. */
  readonly id: string;
  /** Processes of user code at each node, idle ones included. Further runs wait. Null: any number. */
  readonly processes?: number | null | undefined;
  /** CPU seconds of user code within a minute at each node: 60 is one core. Beyond it, runs wait. Null: any number. */
  readonly cpu_seconds_per_minute?: number | null | undefined;
  /** API requests and events together in a second, at each node. Beyond it, they are refused with 429. Null: any number. */
  readonly requests_per_second?: number | null | undefined;
  /** Bytes of events, results and logs of runs, code, and data stores. Beyond it, what would be stored is refused with 429, and runs wait. Null: any number. */
  readonly stored_bytes?: number | null | undefined;
}

export interface SetOwnerQuotasAnswer {
  readonly data: Quotas;
}

/** What `patchOwnerQuotas` takes. */
export interface PatchOwnerQuotasInput {
  /** The owner. */
  readonly id: string;
  /** Processes of user code at each node, idle ones included. Further runs wait. Null: any number. */
  readonly processes?: number | null | undefined;
  /** CPU seconds of user code within a minute at each node: 60 is one core. Beyond it, runs wait. Null: any number. */
  readonly cpu_seconds_per_minute?: number | null | undefined;
  /** API requests and events together in a second, at each node. Beyond it, they are refused with 429. Null: any number. */
  readonly requests_per_second?: number | null | undefined;
  /** Bytes of events, results and logs of runs, code, and data stores. Beyond it, what would be stored is refused with 429, and runs wait. Null: any number. */
  readonly stored_bytes?: number | null | undefined;
}

export interface PatchOwnerQuotasAnswer {
  readonly data: Quotas;
}

export type ListSettingsInput = Readonly<Record<string, never>>;

export interface ListSettingsAnswer {
  readonly data: readonly Setting[];
}

/** What `checkTarget` takes. */
export interface CheckTargetInput {
  /** The URL, as a webhook would have it. */
  readonly url: string;
}

export interface CheckTargetAnswer {
  readonly data: TargetCheck;
}

export type GetRedactionInput = Readonly<Record<string, never>>;

export interface GetRedactionAnswer {
  readonly data: Redaction;
}

/** What `setRedaction` takes. */
export interface SetRedactionInput {
  /** Names of members whose values are hidden, at any depth, also in query strings and headers; `*` stands for any characters. Case, `-`, `_` and spaces do not count: `api_key` hides `X-Api-Key` only with `*apikey`, and `apiKey` as it is. */
  readonly keys?: readonly string[] | undefined;
  /** Regular expressions in the syntax of RE2, without lookaround and back references. What they match is hidden: in texts, names of members, and numbers, which are hidden whole. */
  readonly patterns?: readonly string[] | undefined;
}

export interface SetRedactionAnswer {
  readonly data: Redaction;
}

/** What `patchRedaction` takes. */
export interface PatchRedactionInput {
  /** Names of members whose values are hidden, at any depth, also in query strings and headers; `*` stands for any characters. Case, `-`, `_` and spaces do not count: `api_key` hides `X-Api-Key` only with `*apikey`, and `apiKey` as it is. */
  readonly keys?: readonly string[] | undefined;
  /** Regular expressions in the syntax of RE2, without lookaround and back references. What they match is hidden: in texts, names of members, and numbers, which are hidden whole. */
  readonly patterns?: readonly string[] | undefined;
}

export interface PatchRedactionAnswer {
  readonly data: Redaction;
}

/** What `getWorkflowRedaction` takes. */
export interface GetWorkflowRedactionInput {
  /** The workflow. */
  readonly id: string;
}

export interface GetWorkflowRedactionAnswer {
  readonly data: WorkflowRedaction;
}

/** What `setWorkflowRedaction` takes. */
export interface SetWorkflowRedactionInput {
  /** The workflow. */
  readonly id: string;
  /** Names of members whose values are hidden, at any depth, also in query strings and headers; `*` stands for any characters. Case, `-`, `_` and spaces do not count: `api_key` hides `X-Api-Key` only with `*apikey`, and `apiKey` as it is. */
  readonly keys?: readonly string[] | undefined;
  /** Regular expressions in the syntax of RE2, without lookaround and back references. What they match is hidden: in texts, names of members, and numbers, which are hidden whole. */
  readonly patterns?: readonly string[] | undefined;
  /** The rules, with those of the owner, hold for what is stored, too: events of the workflow’s triggers and runs by hand, which its code gets so, what its runs leave, and its errors. Errors that are stored so are not replayed, and their runs not tried again. */
  readonly before_storing?: boolean | undefined;
}

export interface SetWorkflowRedactionAnswer {
  readonly data: WorkflowRedaction;
}

/** What `patchWorkflowRedaction` takes. */
export interface PatchWorkflowRedactionInput {
  /** The workflow. */
  readonly id: string;
  /** Names of members whose values are hidden, at any depth, also in query strings and headers; `*` stands for any characters. Case, `-`, `_` and spaces do not count: `api_key` hides `X-Api-Key` only with `*apikey`, and `apiKey` as it is. */
  readonly keys?: readonly string[] | undefined;
  /** Regular expressions in the syntax of RE2, without lookaround and back references. What they match is hidden: in texts, names of members, and numbers, which are hidden whole. */
  readonly patterns?: readonly string[] | undefined;
  /** The rules, with those of the owner, hold for what is stored, too: events of the workflow’s triggers and runs by hand, which its code gets so, what its runs leave, and its errors. Errors that are stored so are not replayed, and their runs not tried again. */
  readonly before_storing?: boolean | undefined;
}

export interface PatchWorkflowRedactionAnswer {
  readonly data: WorkflowRedaction;
}

/** What `listAudit` takes. */
export interface ListAuditInput {
  /** Only by this key. */
  readonly key?: string | undefined;
  /** Only this `operationId`. */
  readonly operation?: string | undefined;
  /** Only changes of this one. */
  readonly target?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then. */
  readonly until?: string | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListAuditAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly AuditRecord[];
}

/** What `listOwnerAudit` takes. */
export interface ListOwnerAuditInput {
  /** The owner. */
  readonly id: string;
  /** Only by this key. */
  readonly key?: string | undefined;
  /** Only this `operationId`. */
  readonly operation?: string | undefined;
  /** Only changes of this one. */
  readonly target?: string | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then. */
  readonly until?: string | undefined;
  /** Records to return; 100 when not given. */
  readonly limit?: number | undefined;
  /** Cursor, the id of a record: only records that are older. */
  readonly after?: string | undefined;
  /** Cursor, the id of a record: only records that are newer, those next to it. */
  readonly before?: string | undefined;
  /** Comma-separated fields to return; all others are dropped. */
  readonly include?: string | undefined;
  /** Comma-separated fields to drop. */
  readonly exclude?: string | undefined;
}

export interface ListOwnerAuditAnswer {
  readonly page_info: PageInfo;
  /** The records of this page. */
  readonly data: readonly AuditRecord[];
}

export type GetLedgerInput = Readonly<Record<string, never>>;

export interface GetLedgerAnswer {
  readonly data: Ledger;
}

/** What `getStats` takes. */
export interface GetStatsInput {
  /** How long a bucket is; `hour` when not given. */
  readonly bucket?: "hour" | "day" | undefined;
  /** From then on: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly since?: string | undefined;
  /** Before then: milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z". */
  readonly until?: string | undefined;
}

export interface GetStatsAnswer {
  readonly data: Stats;
}

export type GetHealthInput = Readonly<Record<string, never>>;

export interface GetHealthAnswer {
  /** Always `ok`. */
  readonly status: string;
}

export type GetReadinessInput = Readonly<Record<string, never>>;

export interface GetReadinessAnswer {
  /** `ok`, or `degraded` when a part that is named does not work */
  readonly status: string;
  /** `failing`: no code can be deployed here; the log says why */
  readonly bundling?: string;
}

export type GetMetricsInput = Readonly<Record<string, never>>;

export type GetMetricsAnswer = string;

export type GetOpenApiInput = Readonly<Record<string, never>>;

export type GetOpenApiAnswer = {
  /** Version of OpenAPI. */
  readonly openapi: string;
} & { readonly [name: string]: unknown };

// What owners make: workflows, sources, webhooks, subscriptions, keys. Plain records; times in epoch milliseconds.

import type { SourceType } from './emission.ts';
import { LIMITS } from './limits.ts';
import type { ComponentProps, PropDefinitions, PropValues } from './props.ts';

export interface Owner {
  readonly id: string;
  readonly name: string;
  /** Where the owner's mail goes; null: only into the outbox folder. */
  readonly email: string | null;
  readonly globalErrorWorkflowId: string | null;
  /** Repeats of an error within this window are counted and sent as one mail at its end. */
  readonly digestWindowMs: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface Throttle {
  readonly limit: number;
  readonly intervalMs: number;
}

/** A failed run is tried again from the step that failed; what the steps before it gave is kept. */
export interface RetrySettings {
  /** In all, the first one included. */
  readonly attempts: number;
  /** Before the second attempt; doubled for each one more, with jitter. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Codes of failures that are tried again although they are not by default: `Timeout`, `OutOfMemory`. */
  readonly also: readonly string[];
  /** The first failed attempt has a `$errors` of its own, beside that of the last one. */
  readonly reportFirst: boolean;
}

export interface Settings {
  /** Null: 30 s, or 60 s for a run that a schedule started. */
  readonly timeoutMs: number | null;
  readonly memoryMb: number;
  readonly concurrency: number;
  readonly queueLimit: number;
  /** Runs that may begin within any such interval; null: as many as there are. */
  readonly throttle: Throttle | null;
  /** Null: a failed run is not tried again. */
  readonly retry: RetrySettings | null;
  /** False: this workflow's errors are listed and forwarded, but not sent to the global error workflow. */
  readonly notify: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Of a source: true while a change of it runs its hooks. */
  readonly inHooks?: boolean;
}

export const DEFAULT_SETTINGS: Settings = {
  timeoutMs: null,
  memoryMb: LIMITS.memoryMb,
  concurrency: LIMITS.concurrency,
  queueLimit: LIMITS.queueLimit,
  throttle: null,
  retry: null,
  notify: true,
  env: {},
};

/** What executes: a workflow or a source, with what a run of it needs to know. */
export interface Runnable {
  /** `p_…` or `dc_…`. */
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly active: boolean;
  readonly deploymentId: string;
  readonly settings: Settings;
}

/** Runs of it at a time. A source's are serialised, so that its db has no races; `besideHooks`: but for this one. */
export function concurrencyOf(runnable: Runnable, besideHooks = false): number {
  if (!runnable.id.startsWith('dc_')) return runnable.settings.concurrency;
  return besideHooks ? LIMITS.concurrency : 1;
}

/**
 * Whether a run begins although its source's hooks are under way: one whose caller waits for the answer. Many vendors call
 * the address that `activate` names to them, and answer the hook only when they have been answered.
 */
export function isBesideHooks({ settings }: Runnable, call: { sourceType: SourceType; isAwaited: boolean }): boolean {
  return settings.inHooks === true && call.isAwaited && call.sourceType === 'HTTP';
}

export interface Workflow extends Runnable {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface Step {
  /** `c_…`; stays with its namespace across deployments. */
  readonly id: string;
  readonly namespace: string;
  /** As the owner wrote it. */
  readonly code: string;
  /** One bundled ES module, no imports left but Node's own modules. */
  readonly bundle: string;
  /** Source map (JSON text) from bundle to code. */
  readonly sourceMap: string;
  /** Of a component that has props; absent: it has none. */
  readonly props?: ComponentProps;
}

/** One immutable version of a workflow's or source's code. */
export interface Deployment {
  readonly id: string;
  readonly ownerId: string;
  /** `p_…` or `dc_…`. */
  readonly runnableId: string;
  readonly steps: readonly Step[];
  readonly createdAtMs: number;
}

export interface Schedule {
  /** Exactly one of the two. */
  readonly cron: string | null;
  readonly intervalMs: number | null;
  /** IANA name; UTC when not given. */
  readonly timezone: string;
}

/** An HTTP endpoint or a timer: an emitter of its own, heard by the workflow or source that it belongs to. */
export interface Trigger {
  /** `hi_…` or `ti_…`. */
  readonly id: string;
  readonly ownerId: string;
  /** The workflow or source that it triggers. */
  readonly runnableId: string;
  readonly kind: 'http' | 'schedule';
  readonly createdAtMs: number;
  /** HTTP: the secret part of the address. */
  readonly key: string | null;
  readonly customResponse: boolean;
  /** HTTP: SHA-256 (hex) of the bearer token that callers must send; null: anybody may call. */
  readonly tokenHash: string | null;
  readonly schedule: Schedule | null;
  /** Schedule: the next tick; null while inactive. */
  readonly nextAtMs: number | null;
  /** Of a source: ticks that came while the run of the last one was not over, and were skipped. */
  readonly skippedTicks: number;
}

export type Via = 'trigger' | 'subscription' | 'global' | 'direct';

export interface Subscription {
  readonly id: string;
  readonly ownerId: string;
  /** An emitter's id, or `p_*`, `dc_*`, `*`, or the owner's own id, which hears the same as `*`. */
  readonly emitterId: string;
  readonly listenerId: string;
  /** Empty: the default channel. `*`: every name that does not begin with `$`. */
  readonly eventName: string;
  readonly via: 'trigger' | 'subscription';
  readonly active: boolean;
  readonly createdAtMs: number;
}

/** `v1`: HMAC-SHA256 with a shared secret. `v1a`: ed25519, which receivers check with a public key. */
export type SignatureScheme = 'v1' | 'v1a';

export const SIGNATURE_SCHEMES: readonly SignatureScheme[] = ['v1', 'v1a'];

export interface SigningSecret {
  /** `whsec_…` signs `v1`, `whsk_…` signs `v1a`. */
  readonly secret: string;
  /** `whpk_…`, of a `whsk_…` alone. */
  readonly publicKey: string | null;
  /** It was replaced, and signs until then; null: it signs until it is replaced. */
  readonly untilMs: number | null;
}

export interface WebhookSettings {
  /** The webhook's own request headers, by lower-case name. They may hold credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** For a whole attempt; null: LIMITS.attemptTimeoutMs. */
  readonly timeoutMs: number | null;
  /** Before the second attempt, the third, …; null: LIMITS.retryDelaysMs. Empty: no retries. */
  readonly retryDelaysMs: readonly number[] | null;
  /** Requests that may begin within any such interval; null: as many as there are. */
  readonly rateLimit: Throttle | null;
  /** Requests on their way at a time; null: LIMITS.inFlightPerWebhook. */
  readonly maxInFlight: number | null;
  /** One at a time, in the order of the emissions; one that fails holds up those behind it until it is delivered or exhausted. */
  readonly ordered: boolean;
  /** Never empty, each once. */
  readonly signature: readonly SignatureScheme[];
}

export const DEFAULT_WEBHOOK_SETTINGS: WebhookSettings = {
  headers: {},
  timeoutMs: null,
  retryDelaysMs: null,
  rateLimit: null,
  maxInFlight: null,
  ordered: false,
  signature: ['v1'],
};

export interface Webhook {
  readonly id: string;
  readonly ownerId: string;
  readonly url: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly active: boolean;
  readonly settings: WebhookSettings;
  /** Newest first within each scheme. */
  readonly secrets: readonly SigningSecret[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** `unique`: the last 100 ids; `greatest`: only larger numbers; `last`: only what follows the id emitted last. */
export type Dedupe = 'unique' | 'greatest' | 'last';

export const DEDUPES: readonly Dedupe[] = ['unique', 'greatest', 'last'];

export interface Source extends Runnable {
  readonly componentCode: string;
  readonly configuredProps: PropValues;
  /** What the component's `additionalProps` has added to its props. */
  readonly additionalProps: PropDefinitions;
  /** From the component: drops emissions whose id was seen. */
  readonly dedupe: Dedupe | null;
  /** Props whose values are never shown. */
  readonly secretProps: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

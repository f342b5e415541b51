// The resources of owners: workflows, sources, webhooks, subscriptions, keys. Plain records; times in epoch milliseconds.

import type { SourceType } from './emission.ts';
import type { GroupingRule } from './errors/fingerprint.ts';
import type { ErrorRetention } from './errors/retention.ts';
import type { EventFilter } from './filter/event-filter.ts';
import { LIMITS } from './limits.ts';
import type { ComponentProps, PropDefinitions, PropValues } from './props.ts';

export interface Owner {
  readonly id: string;
  readonly name: string;
  /** Recipient of the owner's mail; null: mail goes only into the outbox folder. */
  readonly email: string | null;
  readonly globalErrorWorkflowId: string | null;
  /** Repeats of an error within this window are counted and sent as one mail at its end. */
  readonly digestWindowMs: number;
  /** Channels that are notified of errors, unless a workflow has its own. */
  readonly channelIds: readonly string[];
  /** Null: it is not being deleted. */
  readonly deletion: OwnerDeletion | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** An owner that is being deleted: until its purge it can be restored, its keys and addresses are refused, and nothing of it begins. */
export interface OwnerDeletion {
  /** When the deletion was asked for. */
  readonly askedAtMs: number;
  /** When the purge may begin. */
  readonly purgeAtMs: number;
  /** What it owns is being deleted: it cannot be restored. */
  readonly hasBegun: boolean;
}

export interface Throttle {
  readonly limit: number;
  readonly intervalMs: number;
}

/** A failed run is retried from the step that failed; results of earlier steps are kept. */
export interface RetrySettings {
  /** Attempts in all, the first one included. */
  readonly attempts: number;
  /** Delay before the second attempt; doubled for each further one, with jitter. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Codes of failures that are retried although they are not by default: `Timeout`, `OutOfMemory`. */
  readonly also: readonly string[];
  /** The first failed attempt emits `$errors`, and so does the last. */
  readonly reportFirst: boolean;
}

/** Too many of a workflow's runs fail. */
export interface ErrorRatio {
  /** From 0 to 0.99: more failed runs than this part of those that ended. */
  readonly over: number;
  /** Fewer runs in the window say nothing. */
  readonly ofAtLeast: number;
  readonly windowMs: number;
}

/** What a workflow is watched for (domain/watch/). Each null: not watched for. */
export interface WatchSettings {
  readonly silentAfterMs: number | null;
  readonly succeededWithinMs: number | null;
  readonly errorRatio: ErrorRatio | null;
}

export interface Settings {
  /** Null: 30 s, or 60 s for a run that a schedule started. */
  readonly timeoutMs: number | null;
  readonly memoryMb: number;
  readonly concurrency: number;
  readonly queueLimit: number;
  /** Runs that may begin within any such interval; null: no throttle. */
  readonly throttle: Throttle | null;
  /** Null: no retries. */
  readonly retry: RetrySettings | null;
  /** False: this workflow's errors are listed and forwarded, but not sent to the global error workflow. */
  readonly notify: boolean;
  /** `fallback`: the global error workflow gets an error of it only when no subscriber to the error has succeeded. */
  readonly globalErrors: GlobalErrors;
  readonly env: Readonly<Record<string, string>>;
  /** Which of its errors are one group, whatever their fingerprints. */
  readonly grouping: readonly GroupingRule[];
  /** Of a workflow: what emits an error although no run fails; null: nothing. */
  readonly watch: WatchSettings | null;
  /** Channels that are notified of its errors; null: those of its owner. */
  readonly channels: readonly string[] | null;
  /** Of a workflow: null: its errors are kept as everything is. */
  readonly errorRetention: ErrorRetention | null;
  /** Of a source: true while a change that is written runs its hooks; `leaving`: `deactivate` of what it was before. */
  readonly inHooks?: boolean | 'leaving';
}

export const GLOBAL_ERRORS = ['always', 'fallback'] as const;
export type GlobalErrors = (typeof GLOBAL_ERRORS)[number];

export const DEFAULT_SETTINGS: Settings = {
  timeoutMs: null,
  memoryMb: LIMITS.memoryMb,
  concurrency: LIMITS.concurrency,
  queueLimit: LIMITS.queueLimit,
  throttle: null,
  retry: null,
  notify: true,
  globalErrors: 'always',
  env: {},
  grouping: [],
  watch: null,
  channels: null,
  errorRetention: null,
};

/** What executes: a workflow or a source, as far as its runs depend on it. */
export interface Runnable {
  /** `p_…` or `dc_…`. */
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly active: boolean;
  readonly deploymentId: string;
  readonly settings: Settings;
}

/**
 * Returns how many of its runs may be under way. A source's are serialised, so that its db has no races; `besideHooks`:
 * except this one.
 */
export function concurrencyOf(runnable: Runnable, besideHooks = false): number {
  if (!runnable.id.startsWith('dc_')) return runnable.settings.concurrency;
  return besideHooks ? LIMITS.concurrency : 1;
}

/**
 * Returns whether a run begins while its source's hooks are under way: one whose caller waits for the answer. Many vendors
 * call the address that `activate` registers or `deactivate` removes, and answer the hook only after that call was answered.
 */
export function isBesideHooks({ settings }: Runnable, call: { sourceType: SourceType; isAwaited: boolean }): boolean {
  const { inHooks = false } = settings;
  return inHooks !== false && call.isAwaited && call.sourceType === 'HTTP';
}

export interface Workflow extends Runnable {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface Step {
  /** `c_…`; belongs to the namespace across deployments. */
  readonly id: string;
  readonly namespace: string;
  /** As the owner wrote it. */
  readonly code: string;
  /** One bundled ES module; it imports only Node's own modules. */
  readonly bundle: string;
  /** Source map (JSON text) from the bundle to the code. */
  readonly sourceMap: string;
  /** Absent: the component has no props. */
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
  /** Exactly one of `cron` and `intervalMs` is set. */
  readonly cron: string | null;
  readonly intervalMs: number | null;
  /** IANA name; UTC by default. */
  readonly timezone: string;
}

/**
 * An HTTP endpoint or a timer: an emitter whose only listener is its workflow or source. One of kind `errors` is an endpoint that
 * emits nothing itself: what it takes are errors of its workflow.
 */
export interface Trigger {
  /** `hi_…` or `ti_…`. */
  readonly id: string;
  readonly ownerId: string;
  /** The workflow or source that the trigger starts. */
  readonly runnableId: string;
  readonly kind: 'http' | 'errors' | 'schedule';
  readonly createdAtMs: number;
  /** HTTP: the secret part of the address. */
  readonly key: string | null;
  readonly customResponse: boolean;
  /** HTTP: SHA-256 (hex) of the bearer token that callers must send; null: no token is needed. */
  readonly tokenHash: string | null;
  readonly schedule: Schedule | null;
  /** Schedule: the next tick; null while inactive. */
  readonly nextAtMs: number | null;
  /** Of a source: ticks that were skipped because the previous run was not over. */
  readonly skippedTicks: number;
  /** Set, where a trigger is found by its key, while its owner is being deleted. */
  readonly ownerPurgeAtMs?: number;
}

export type Via = 'trigger' | 'subscription' | 'global' | 'direct' | 'channel';

export interface Subscription {
  readonly id: string;
  readonly ownerId: string;
  /** An emitter's id, or `p_*`, `dc_*`, `*`, or the owner's own id, which means the same as `*`. */
  readonly emitterId: string;
  readonly listenerId: string;
  /** Empty: the default channel. `*`: every name that does not begin with `$`. */
  readonly eventName: string;
  /** Which of them, by their content; null: all. */
  readonly filter: EventFilter | null;
  readonly via: 'trigger' | 'subscription';
  readonly active: boolean;
  readonly createdAtMs: number;
}

/** A subscription to what is only being created. */
export type ListenerInput = Pick<Subscription, 'listenerId' | 'eventName' | 'filter'>;

/** `v1`: HMAC-SHA256 with a shared secret. `v1a`: ed25519, which receivers check with a public key. */
export const SIGNATURE_SCHEMES = ['v1', 'v1a'] as const;
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

export interface SigningSecret {
  /** `whsec_…` signs `v1`, `whsk_…` signs `v1a`. */
  readonly secret: string;
  /** `whpk_…`, of a `whsk_…` alone. */
  readonly publicKey: string | null;
  /** End of a replaced secret; null: the secret is current. */
  readonly untilMs: number | null;
}

export interface WebhookSettings {
  /** Custom request headers, by lower-case name. They may contain credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a whole attempt; null: LIMITS.attemptTimeoutMs. */
  readonly timeoutMs: number | null;
  /** Before the second attempt, the third, …; null: LIMITS.retryDelaysMs. Empty: no retries. */
  readonly retryDelaysMs: readonly number[] | null;
  /** Requests that may begin within any such interval; null: no limit. */
  readonly rateLimit: Throttle | null;
  /** Requests under way at a time; null: LIMITS.inFlightPerWebhook. */
  readonly maxInFlight: number | null;
  /** One at a time, in the order of the emissions; a failing one delays those behind it until it is delivered or exhausted. */
  readonly ordered: boolean;
  /** Never empty, without duplicates. */
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

/** `unique`: the last 100 ids; `greatest`: only larger numbers; `last`: only items behind the id emitted last. */
export const DEDUPES = ['unique', 'greatest', 'last'] as const;
export type Dedupe = (typeof DEDUPES)[number];

export interface Source extends ConfiguredSource {
  readonly componentCode: string;
}

/** A source without its code, which may be long. */
export interface ConfiguredSource extends Runnable {
  readonly configuredProps: PropValues;
  /** Props that the component's `additionalProps` has added. */
  readonly additionalProps: PropDefinitions;
  /** Set by the component: drops emissions whose id was emitted before. */
  readonly dedupe: Dedupe | null;
  /** Props whose values are never shown. */
  readonly secretProps: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

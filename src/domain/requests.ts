// Inputs of callers and their results: shared by HTTP, which reads and shows them, and the engine.

import type { Attempt, AttemptDecision } from './delivery/delivery.ts';
import type { SourceType } from './emission.ts';
import type { TokenInput } from './endpoint.ts';
import type { Report } from './errors/report.ts';
import type { ChannelConfig } from './notices/channel.ts';
import type { ResendableState } from './operation.ts';
import type { PropValues } from './props.ts';
import { Refusal } from './refusal.ts';
import type {
  Deployment,
  ListenerInput,
  Schedule,
  Settings,
  Source,
  Subscription,
  Trigger,
  WebhookSettings,
  Workflow,
} from './resource.ts';
import type { HttpAnswer } from './run/run.ts';

/** The end of a run with `custom_response`, as its waiting caller sees it. */
export type Answered =
  | { readonly kind: 'answer'; readonly answer: HttpAnswer }
  /** The run succeeded without `$.respond`. */
  | { readonly kind: 'silent' }
  /** It ended otherwise, or waits, without `$.respond`. `refused`: what it passed to `$.respond` cannot be sent. */
  | { readonly kind: 'none' | 'refused' | 'cancelled' }
  /** This process stops before it has ended: another one, or this one after its next start, runs it again. */
  | { readonly kind: 'stopping' }
  | { readonly kind: 'timeout' }
  /** The run never began: its workflow's queue was full. */
  | { readonly kind: 'full' };

/** Calls `leave` when the caller has disconnected before it was answered; at once, if it has already. */
export type WhenGone = (leave: () => void) => void;

/** The parts of a wait's resume address. */
export interface WaitAddress {
  readonly run: number;
  /** Which of the run's waits; the first one is 1. */
  readonly waits: number;
  readonly token: string;
  readonly order: 'resume' | 'cancel';
}

/** A request to a wait's resume address. */
export interface WaitOrder extends WaitAddress {
  /** JSON text of the request, in the shape of an HTTP trigger's event. */
  readonly request: string;
}

/** A heartbeat as the caller sent it; absent members stay as they are. */
export interface HeartbeatInput {
  readonly name?: string;
  readonly active?: boolean;
  readonly postOnly?: boolean;
  readonly schedule?: Schedule;
  readonly graceMs?: number;
  /** The versions that the change is meant for. */
  readonly expected?: Expected;
}

/** A trigger as the caller sent it. `id`: the existing one that it is; another id is ignored. */
export type TriggerInput = { readonly id?: string } & (
  | ({ readonly type: 'http'; readonly customResponse: boolean } & TokenInput)
  | ({ readonly type: 'errors' } & TokenInput)
  | { readonly type: 'schedule'; readonly schedule: Schedule }
  | { readonly type: 'source'; readonly sourceId: string }
  | { readonly type: 'emitter'; readonly emitterId: string; readonly eventName: string }
);

/** An error that another program reports. */
export interface ReportInput {
  /** The workflow whose error it is; that of a service is made when there is none, and `beforeMaking` is awaited before. */
  readonly to:
    | { readonly workflowId: string }
    | { readonly service: string; readonly beforeMaking: () => Promise<void> };
  readonly report: Report;
  /** The trigger, or the owner for a key; and what led to a report that this server sent. */
  readonly originId: string;
  readonly lineage?: readonly string[];
  readonly sourceType: SourceType;
  readonly verified: boolean;
  /** A second report of that key at the same workflow is none. */
  readonly idempotency?: { readonly key: string; readonly requestHash: string } | undefined;
}

export interface StepInput {
  readonly namespace: string;
  /** Empty for a `componentPath` that has not been read yet. */
  readonly code: string;
  /** A file of the server's folder of components, instead of code. */
  readonly componentPath?: string;
  /** Bundled already. Not settable over HTTP. */
  readonly ready?: BundledCode;
  /** Absent: unchanged. */
  readonly configuredProps?: PropValues;
}

export interface BundledCode {
  readonly bundle: string;
  readonly sourceMap: string;
}

/** A component, by its code or by where it is deployed, and its configuration so far. */
export interface ComponentInput {
  readonly componentCode?: string;
  readonly componentPath?: string;
  /** The key of a built-in component. */
  readonly component?: string;
  readonly sourceId?: string;
  readonly workflowId?: string;
  /** The step of the workflow; its first when absent. */
  readonly namespace?: string;
  readonly configuredProps: PropValues;
}

export interface OptionsInput extends ComponentInput {
  readonly propName: string;
  /** From 0. */
  readonly page: number;
  /** Null: this is the first page. */
  readonly prevContext: Readonly<Record<string, unknown>> | null;
  readonly query?: string;
}

/** JSON values, as the component returned them. */
export interface PropOptions {
  readonly options: readonly unknown[];
  readonly context: unknown;
}

/** Exactly one of the two says what is checked. */
export interface CheckInput {
  readonly componentCode?: string;
  /** A file or a folder in the server's folder of components; `.`: all of it. */
  readonly componentPath?: string;
  /** Only files behind this path, in the order of paths. */
  readonly after?: string;
}

export interface CheckProblem {
  readonly file: string;
  /** From 1, like the column. */
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

export const CHECKED_KINDS = ['source', 'action', 'app', 'module', 'broken'] as const;

/** Whether a component would run here, and what it needs. */
export interface ComponentCheck {
  /** In the folder, with slashes; null: the code was sent. */
  readonly path: string | null;
  /** `app`, `module`: for other components. `broken`: it cannot be bundled or loaded. */
  readonly kind: (typeof CHECKED_KINDS)[number];
  /** Nothing is in its way; always so for a module. */
  readonly runs: boolean;
  readonly name: string | null;
  readonly key: string | null;
  readonly version: string | null;
  /** Packages and Node's modules that the code and its files name. */
  readonly imports: readonly string[];
  /** As npm takes them, with the versions that imports pin. */
  readonly missingPackages: readonly string[];
  /** Names of the apps of which it needs an account. */
  readonly accounts: readonly string[];
  /** What is in its way. */
  readonly problems: readonly CheckProblem[];
  /** What may fail when that part of the code runs. */
  readonly warnings: readonly CheckProblem[];
}

export interface ComponentChecks {
  readonly components: readonly ComponentCheck[];
  /** The command that adds all packages that they miss; null: none is missing, or there is no folder of packages. */
  readonly install: string | null;
  /** There are more files, behind the last one's path. */
  readonly isTruncated: boolean;
}

/** Absent members stay unchanged (on creation: their defaults). */
export interface WorkflowInput {
  readonly name?: string;
  readonly active?: boolean;
  readonly steps?: readonly StepInput[];
  /** Bundled already, instead of steps; a new workflow gets the id that it names. Not settable over HTTP. */
  readonly ready?: Deployment;
  readonly triggers?: readonly TriggerInput[];
  readonly settings?: Partial<Settings>;
  /** The versions that the change is meant for. */
  readonly expected?: Expected;
}

/** A workflow file, bundled by the caller. */
export interface WorkflowFileInput {
  /** The path in the caller's folder, with slashes; identifies the file for its owner. `project`: whose it is; null: as before. */
  readonly path: string;
  readonly project: string | null;
  readonly source: string;
  /** Null: the server bundles the source. */
  readonly bundled: BundledCode | null;
  readonly env: Readonly<Record<string, string>>;
  readonly hasUniqueName?: boolean;
}

export interface DeployedWorkflowFile {
  readonly result: 'made' | 'changed' | 'same';
  readonly whole: WholeWorkflow;
}

/** A source component, bundled by the caller. */
export interface SourceFileInput extends BundledCode, Pick<WorkflowFileInput, 'path' | 'project' | 'source'> {
  readonly name?: string;
  readonly configuredProps?: Readonly<Record<string, unknown>>;
  /** One of all files of a folder: a file that is no source with a key is skipped. */
  readonly fromFolder: boolean;
  /** Nothing is deployed. */
  readonly isDryRun?: boolean;
}

export interface DeployedSourceFile {
  readonly result: 'made' | 'changed' | 'same' | 'skipped';
  /** Null: it was skipped, or nothing is deployed. */
  readonly whole: WholeSource | null;
}

export interface SourceInput {
  readonly name?: string;
  readonly active?: boolean;
  /** At most one of the three. */
  readonly componentCode?: string;
  readonly componentPath?: string;
  /** The key of a built-in component. */
  readonly component?: string;
  /** Bundled already, instead of code; a new source gets the id. Not settable over HTTP. */
  readonly ready?: BundledCode & { readonly id: string; readonly code: string };
  readonly configuredProps?: PropValues;
  /** Of a new source: who hears it from its first emission on. */
  readonly listeners?: readonly ListenerInput[];
  /** The versions that the change is meant for. */
  readonly expected?: Expected;
}

export interface ChannelInput {
  readonly name?: string;
  readonly active?: boolean;
  /** Members to set; null deletes one. */
  readonly config?: Readonly<{ [M in keyof ChannelConfig]?: ChannelConfig[M] | null }>;
}

/** What the link of a notice may do. */
export const LINK_ACTIONS = ['mute', 'resolve', 'replay'] as const;
export type LinkAction = (typeof LINK_ACTIONS)[number];

/** The parts of a notice's link. */
export interface LinkAddress {
  readonly ownerId: string;
  readonly groupId: string;
  readonly expiresS: number;
  readonly mac: string;
}

export interface RecordInput {
  readonly key: string;
  /** JSON text. */
  readonly value: string;
  /** Null: the record does not expire. */
  readonly ttlMs: number | null;
}

export interface WebhookInput {
  readonly url?: string;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly active?: boolean;
  /** Settings to change. */
  readonly settings?: Partial<WebhookSettings>;
  /** The versions that the change is meant for. */
  readonly expected?: Expected;
}

/** A request of the API to resend a webhook's deliveries. */
export interface ResendInput {
  readonly sinceMs: number;
  /** Null: until now. */
  readonly untilMs: number | null;
  readonly states: readonly ResendableState[];
}

/** The request of a webhook's test, and its answer. */
export interface Probe {
  readonly request: {
    readonly method: string;
    readonly url: string;
    /** As sent, in order. */
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body: Uint8Array;
  };
  readonly attempt: Attempt;
  /** The state that a delivery would get. */
  readonly state: AttemptDecision['state'];
}

/** A trigger as shown, with its subscription: those of `source` and `emitter` are nothing else. */
export interface ShownTrigger {
  readonly subscription: Subscription;
  readonly trigger: Trigger | null;
}

export interface WholeWorkflow {
  readonly workflow: Workflow;
  readonly deployment: Deployment;
  readonly triggers: readonly ShownTrigger[];
}

export interface WholeSource {
  readonly source: Source;
  readonly triggers: readonly ShownTrigger[];
}

/**
 * The versions that a change is meant for; null: any. A version is the millisecond of a record's last change, which each change
 * moves on: a caller that sends the version that it has read overwrites no change of another caller.
 */
export type Expected = readonly number[] | null;

export interface Versioned {
  readonly id: string;
  readonly updatedAtMs: number;
}

/** Returns the version after a change: also of two changes in one millisecond, or when the clock was set back. */
export function nextVersion(before: Pick<Versioned, 'updatedAtMs'>, nowMs: number): number {
  return Math.max(nowMs, before.updatedAtMs + 1);
}

/** Throws `Refusal` when the record has another version than the change is meant for. */
export function checkVersion({ id, updatedAtMs }: Versioned, expected: Expected = null): void {
  if (expected !== null && !expected.includes(updatedAtMs)) throw changedMeanwhile(id);
}

export function changedMeanwhile(id: string): Refusal {
  const what = `${id} is not what If-Match names: it was changed since`;
  return new Refusal('precondition_failed', `${what}; read it again, and send the ETag that it has then`);
}

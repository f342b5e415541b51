// What callers ask for and are given: shared by HTTP, which reads and shows it, and the engine, which does it.

import type { Attempt } from './delivery/delivery.ts';
import type { ResendableState } from './operation.ts';
import type { PropValues } from './props.ts';
import type {
  Deployment,
  Schedule,
  Settings,
  Source,
  Subscription,
  Trigger,
  WebhookSettings,
  Workflow,
} from './resource.ts';
import type { HttpAnswer } from './run/run.ts';

/** How the run behind an HTTP trigger with `custom_response` ended, as far as its caller is concerned. */
export type Answered =
  | { readonly kind: 'answer'; readonly answer: HttpAnswer }
  /** The run ended without `$.respond`. */
  | { readonly kind: 'none' }
  | { readonly kind: 'timeout' }
  /** It never ran: its workflow's queue was full. */
  | { readonly kind: 'full' };

/** What the address of a run's wait says. */
export interface WaitAddress {
  readonly run: number;
  /** Which of the run's waits; the first one is 1. */
  readonly waits: number;
  readonly token: string;
  readonly order: 'resume' | 'cancel';
}

/** A request to the address of a run's wait. */
export interface WaitOrder extends WaitAddress {
  /** JSON text of the request, in the shape of an HTTP trigger's event. */
  readonly request: string;
}

/** A trigger as asked for. */
export type TriggerInput =
  | { readonly type: 'http'; readonly customResponse: boolean; readonly token: string | null }
  | { readonly type: 'schedule'; readonly schedule: Schedule }
  | { readonly type: 'source'; readonly sourceId: string }
  | { readonly type: 'emitter'; readonly emitterId: string; readonly eventName: string };

export interface StepInput {
  readonly namespace: string;
  /** Empty for a `componentPath`, until that has been read. */
  readonly code: string;
  /** A file of the server's folder of components, instead of code. */
  readonly componentPath?: string;
  /** Bundled already. Callers of HTTP cannot give it. */
  readonly ready?: BundledCode;
  /** Absent: as before. */
  readonly configuredProps?: PropValues;
}

export interface BundledCode {
  readonly bundle: string;
  readonly sourceMap: string;
}

/** A component, by what it is made of or where it is deployed, and what is configured so far. */
export interface ComponentInput {
  readonly componentCode?: string;
  readonly componentPath?: string;
  /** The key of one of ours. */
  readonly component?: string;
  readonly sourceId?: string;
  readonly workflowId?: string;
  /** Which step of the workflow; its first when not given. */
  readonly namespace?: string;
  readonly configuredProps: PropValues;
}

export interface OptionsInput extends ComponentInput {
  readonly propName: string;
  /** From 0. */
  readonly page: number;
  /** Null: there was no page before. */
  readonly prevContext: Readonly<Record<string, unknown>> | null;
  readonly query?: string;
}

/** JSON values, as the component gave them. */
export interface PropOptions {
  readonly options: readonly unknown[];
  readonly context: unknown;
}

/** Members that are absent stay as they are (on creation: their defaults). */
export interface WorkflowInput {
  readonly name?: string;
  readonly active?: boolean;
  readonly steps?: readonly StepInput[];
  /** Bundled already, instead of steps; a new workflow gets the id that it names. Callers of HTTP cannot give one. */
  readonly ready?: Deployment;
  readonly triggers?: readonly TriggerInput[];
  readonly settings?: Partial<Settings>;
}

/** A workflow file, bundled by the caller. */
export interface WorkflowFileInput {
  /** In its folder, with slashes. The owner's file of this path is this one. */
  readonly path: string;
  readonly source: string;
  readonly bundle: string;
  readonly sourceMap: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface DeployedWorkflowFile {
  readonly result: 'made' | 'changed' | 'same';
  readonly whole: WholeWorkflow;
}

/** A source component, bundled by the caller. */
export interface SourceFileInput extends BundledCode {
  /** In its folder, with slashes. The owner's source of this path is this one. */
  readonly path: string;
  readonly source: string;
  readonly name?: string;
  readonly configuredProps?: Readonly<Record<string, unknown>>;
  /** One of all files of a folder: what is no source with a key is left alone. */
  readonly fromFolder: boolean;
}

export type DeployedSourceFile =
  | { readonly result: 'made' | 'changed' | 'same'; readonly whole: WholeSource }
  | { readonly result: 'skipped'; readonly whole: null };

export interface SourceInput {
  readonly name?: string;
  readonly active?: boolean;
  /** At most one of the three. */
  readonly componentCode?: string;
  readonly componentPath?: string;
  /** The key of one of ours. */
  readonly component?: string;
  /** Bundled already, instead of code; a new source gets the id. Callers of HTTP cannot give it. */
  readonly ready?: BundledCode & { readonly id: string; readonly code: string };
  readonly configuredProps?: PropValues;
}

export interface AccountInput {
  readonly app?: string;
  readonly name?: string;
  /** Those that are given; null takes one away. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface RecordInput {
  readonly key: string;
  /** JSON text. */
  readonly value: string;
  /** Null: it does not expire. */
  readonly ttlMs: number | null;
}

export interface WebhookInput {
  readonly url?: string;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly active?: boolean;
  /** Those that are given. */
  readonly settings?: Partial<WebhookSettings>;
}

/** A request of the API to send again what a webhook was sent. */
export interface ResendInput {
  readonly sinceMs: number;
  /** Null: up to now. */
  readonly untilMs: number | null;
  readonly states: readonly ResendableState[];
}

/** What a test of a webhook sent, and what came back. */
export interface Probe {
  readonly request: {
    readonly method: string;
    readonly url: string;
    /** As sent, in order. */
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body: Uint8Array;
  };
  readonly attempt: Attempt;
  /** What would follow if it were a delivery. */
  readonly state: 'delivered' | 'retrying' | 'exhausted';
}

/** A trigger as shown, with the subscription that stands for it. */
export interface ShownTrigger {
  readonly subscription: Subscription;
  /** Null for `source` and `emitter` triggers, which are only a subscription. */
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

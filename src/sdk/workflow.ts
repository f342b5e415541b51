// Workflows as code: a file with `export default defineWorkflow({…})`. It becomes part of users' bundles, so it imports
// nothing but types.
//
// Steps are a chain, `(flow) => flow.step('one', …).step('two', …)`: only then plain TypeScript knows in each step what the
// steps before it returned. (Rejected: one object literal of functions. TypeScript fixes the type of an object's members
// before it checks functions that read them, so that `steps.one` would be unknown in `two`. It is accepted, too, for short
// workflows and for JavaScript.)

import type { WorkflowSettings } from './settings.ts';

export type { WorkflowSettings };

/** As JSON keeps it: what later steps see of a step's return value. */
export type Json<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : // biome-ignore lint/suspicious/noConfusingVoidType: what a function without return returns
      T extends undefined | void
      ? undefined
      : T extends { toJSON(): infer Shown }
        ? Json<Shown>
        : T extends bigint | symbol | ((...args: never) => unknown)
          ? never
          : T extends readonly unknown[]
            ? { [K in keyof T]: Json<T[K]> }
            : { [K in keyof T as T[K] extends symbol | ((...args: never) => unknown) ? never : K]: Json<T[K]> };

declare const BODY: unique symbol;

export interface HttpTrigger<Body = unknown> {
  readonly type: 'http';
  /** The caller waits for what the run passes to `$.respond`. */
  readonly custom_response?: boolean;
  readonly auth?: { readonly type: 'none' } | { readonly type: 'bearer'; readonly token: string };
  /** Never set; it carries the body's type. */
  readonly [BODY]?: Body;
}

/** An address that takes errors of a program elsewhere: they are errors of the workflow, and start no run of it. */
export type ErrorsTrigger = { readonly type: 'errors' } & Pick<HttpTrigger, 'auth'>;

export interface CronTrigger {
  readonly type: 'schedule';
  /** Five or six fields. */
  readonly cron: string;
  /** IANA name; UTC when not given. */
  readonly timezone?: string;
  readonly interval_seconds?: never;
}

export interface IntervalTrigger {
  readonly type: 'schedule';
  readonly interval_seconds: number;
  readonly timezone?: string;
  readonly cron?: never;
}

export interface SourceTrigger {
  readonly type: 'source';
  readonly source_id: `dc_${string}`;
}

export interface EmitterTrigger {
  readonly type: 'emitter';
  readonly emitter_id: string;
  /** Left out: what it emits without a name. `*`: every name that does not begin with `$`. */
  readonly event_name?: string;
}

export type Trigger = HttpTrigger | ErrorsTrigger | CronTrigger | IntervalTrigger | SourceTrigger | EmitterTrigger;

/** Declares an HTTP trigger whose callers send this body. The type is a claim: the server does not check it. */
export function http<Body = unknown>(options: Omit<HttpTrigger, 'type' | typeof BODY> = {}): HttpTrigger<Body> {
  return { type: 'http', ...options };
}

export interface HttpEvent<Body = unknown> {
  readonly method: string;
  /** What follows the key in the address. */
  readonly path: string;
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly client_ip: string;
  readonly url: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

export interface CronEvent {
  /** Seconds since the Unix epoch. */
  readonly timestamp: number;
  readonly cron: string;
  readonly timezone_configured: { readonly timezone: string; readonly iso8601: string };
  readonly timezone_utc: { readonly timezone: string; readonly iso8601: string };
  /** The time that the schedule named, by which its ticks differ: milliseconds since the Unix epoch. */
  readonly due_at_ms: number;
  /** Due times behind it that had passed already, and get no tick; counted up to 100. */
  readonly missed_ticks: number;
}

export interface IntervalEvent {
  /** Seconds since the Unix epoch. */
  readonly timestamp: number;
  readonly interval_seconds: number;
  /** The time that the schedule named, by which its ticks differ: milliseconds since the Unix epoch. */
  readonly due_at_ms: number;
  /** Due times behind it that had passed already, and get no tick. */
  readonly missed_ticks: number;
}

/** The event of a workflow that listens to `$errors`. */
export interface ErrorEvent {
  readonly error: {
    readonly code: string;
    readonly msg: string;
    readonly cellId: string;
    readonly ts: string;
    readonly stack: string;
    readonly namespace: string;
    /** Of an error that another program reported: what it told. */
    readonly context?: unknown;
  };
  readonly original_event: unknown;
  readonly original_context: Readonly<Record<string, unknown>>;
}

type EventOfOne<T> =
  T extends HttpTrigger<infer Body>
    ? HttpEvent<Body>
    : T extends CronTrigger
      ? CronEvent
      : T extends IntervalTrigger
        ? IntervalEvent
        : T extends { readonly event_name: '$errors' }
          ? ErrorEvent
          : unknown;

/** The event of a workflow with these triggers. */
export type EventOf<T extends Trigger> = [T] extends [never] ? unknown : EventOfOne<Exclude<T, ErrorsTrigger>>;

export interface Context {
  readonly id: string;
  readonly ts: string;
  readonly workflow_id: string;
  readonly deployment_id: string;
  readonly source_type: string;
  readonly verified: boolean;
  readonly emitter_id: string;
  readonly trace_id: string;
  readonly replay: boolean;
  readonly attempt: number;
  readonly record_id: string;
  /** Of the global error workflow: a page about the errors of this kind, which needs no key. It is good for 30 days. */
  readonly page_url?: string;
  readonly [name: string]: unknown;
}

export interface Answer {
  /** 200 to 599. */
  readonly status?: number | string;
  readonly headers?: Readonly<Record<string, string | number | readonly string[] | null | undefined>>;
  /** A string, bytes, a `Blob`, a stream of Node's or the web's; everything else goes out as JSON. */
  readonly body?: unknown;
  /** Sent at once, not when the run has ended. */
  readonly immediate?: boolean;
}

/** What `$.context` has in addition to the trigger's context. */
export interface RunContext {
  /** The time at which this part of the run must have ended, epoch milliseconds. */
  readonly deadline: number;
  /** True for a run that was started to try the workflow out. */
  readonly test: boolean;
  readonly run: {
    /** How often this step was executed, with this time: more than once only by `$.flow.rerun`. */
    readonly runs: number;
    /** What `$.flow.rerun` passed on. */
    readonly context?: unknown;
    /** The request to `resume_url` by which the run goes on now; undefined when time ended the wait. */
    readonly callback_request?: HttpEvent;
  };
}

/** A request that the server makes when the run has ended, or starts to wait. The run does not see its answer. */
export interface SentRequest {
  /** GET; POST when there is data. */
  readonly method?: string;
  /** http or https. */
  readonly url: string | URL;
  /** A string, bytes, or what goes out as JSON, or as a form when the content type says so. */
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string | number | readonly string[] | null | undefined>>;
  /** Become part of the address. */
  readonly params?: Readonly<Record<string, unknown>> | URLSearchParams;
  readonly auth?: { readonly username: string; readonly password?: string };
}

/** Addresses that end a wait. A request to `resume_url` resumes the run, one to `cancel_url` cancels it. */
export interface WaitAddresses {
  readonly resume_url: string;
  readonly cancel_url: string;
}

/** What happens after a step. It takes effect when the step has ended; the last wait counts, and `exit` comes before all. */
export interface Flow {
  /** Ends the run as succeeded. */
  exit(reason?: string): void;
  /** Suspends the run, which continues with the next step after that many milliseconds, at most 366 days. */
  delay(ms: number | string): WaitAddresses;
  /**
   * Suspends the run, which continues when it is resumed, and is cancelled when it is not resumed within that many
   * milliseconds: 24 hours.
   */
  suspend(ms?: number | string): WaitAddresses;
  /**
   * Suspends the run. This step is executed again after that many milliseconds, with `context` in `$.context.run`. After
   * `max` times (10) the next step follows.
   */
  rerun(ms: number | string, context?: unknown, max?: number): WaitAddresses;
  /** Runs another workflow (`p_…`) with this event, when this run has ended or starts to wait. */
  trigger(workflowId: string, event?: unknown): void;
}

/** `$`: what a step may do. */
export interface StepApi {
  export(name: string, value: unknown): void;
  respond(answer?: Answer): Promise<void>;
  readonly context: Context & RunContext;
  readonly send: {
    emit(event: unknown, channel?: string): void;
    email(mail: { readonly subject: string; readonly text?: string; readonly html?: string }): void;
    http(request: SentRequest): void;
  };
  readonly flow: Flow;
}

/** What a step leaves for later ones: its exports by name, and its return value. */
export interface StepResult<Returned> {
  readonly $return_value: Json<Returned>;
  /** The body of the request that ended the wait after this step; undefined when time ended it, or there was none. */
  readonly $resume_data?: unknown;
  readonly [exported: string]: unknown;
}

/** The argument of a step. `Done`: the results of earlier steps, by name. */
export interface Given<Event, Done> {
  readonly steps: {
    readonly trigger: { readonly event: Event; readonly raw: string; readonly context: Context };
  } & Done;
  readonly $: StepApi;
  /** `steps.trigger.event`. */
  readonly event: Event;
  /** `steps.trigger.context`. */
  readonly context: Context;
}

export type StepCode<G, Returned> = ((given: G) => Returned) | { run(given: G): Returned };

interface NamedStep {
  readonly namespace: string;
  readonly code: StepCode<never, unknown>;
}

export interface StepList {
  readonly list: readonly NamedStep[];
}

type UnusedName<Name, Taken> = Name extends Taken | 'trigger' ? never : unknown;

/** A chain of steps: each call returns the chain with one more step at its end. */
export interface Steps<Event, Done> extends StepList {
  step<Name extends string, Returned>(
    namespace: Name & UnusedName<Name, keyof Done>,
    code: StepCode<Given<Event, Done>, Returned>,
  ): Steps<Event, Done & { readonly [K in Name]: StepResult<Awaited<Returned>> }>;
}

type UntypedSteps = Readonly<Record<string, StepResult<unknown>>>;

export interface WorkflowDefinition<T extends readonly Trigger[]> {
  readonly name: string;
  /** None for a workflow that only listens by subscription. */
  readonly triggers?: T;
  readonly settings?: WorkflowSettings;
  /** A chain, or an object in which later steps see what earlier ones returned as unknown. */
  readonly steps:
    | ((flow: Steps<EventOf<T[number]>, Record<never, never>>) => StepList)
    | Readonly<Record<string, StepCode<Given<EventOf<T[number]>, UntypedSteps>, unknown>>>;
}

/** Read by the server. Its shape may change; do not build one by hand. */
export interface Workflow {
  readonly kind: 'errand.workflow';
  readonly name: string;
  readonly triggers: readonly Trigger[];
  readonly settings: WorkflowSettings;
  readonly steps: readonly NamedStep[];
  /** Names of other members that the definition has: the server refuses them. */
  readonly unknownMembers: readonly string[];
}

class Chain implements StepList {
  readonly list: readonly NamedStep[];

  constructor(list: readonly NamedStep[]) {
    this.list = list;
  }

  step(namespace: string, code: NamedStep['code']): Chain {
    return new Chain([...this.list, { namespace, code }]);
  }
}

/** Defines a workflow, to be its file's default export. Names and settings are checked when it is deployed. */
export function defineWorkflow<const T extends readonly Trigger[] = readonly []>(
  definition: WorkflowDefinition<T>,
): Workflow {
  const { name, triggers = [], settings = {}, steps, ...others } = definition;
  const unknownMembers = Object.keys(others);
  return { kind: 'errand.workflow', name, triggers, settings, steps: listOf(steps), unknownMembers };
}

function listOf(steps: unknown): readonly NamedStep[] {
  if (typeof steps === 'function') {
    const made: unknown = steps(new Chain([]));
    if (!(made instanceof Chain)) throw new TypeError('steps must return the chain: (flow) => flow.step(…).step(…)');
    return made.list;
  }
  if (typeof steps !== 'object' || steps === null)
    throw new TypeError('steps must be (flow) => flow.step(…), or an object');
  return Object.entries(steps).map(([namespace, code]) => ({ namespace, code }));
}

// Workflows as code: a file that says `export default defineWorkflow({…})`. It becomes part of users' bundles, so it
// imports nothing.
//
// Steps are a chain, `(flow) => flow.step('one', …).step('two', …)`, since only then plain TypeScript knows in each step
// what those before it returned. (Rejected: one object literal of functions. TypeScript fixes the type of an object's
// members before it looks into functions that read them, so that `steps.one` would be unknown in `two`. It is taken too,
// for what is short or JavaScript.)

/** As JSON keeps it: what later steps see of what a step returned. */
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
  /** Never there; it carries the body's type. */
  readonly [BODY]?: Body;
}

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

export type Trigger = HttpTrigger | CronTrigger | IntervalTrigger | SourceTrigger | EmitterTrigger;

/** An HTTP trigger whose callers send this body. The type is a claim: what arrives is not checked. */
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

/** What a workflow hears that listens to `$errors`. */
export interface ErrorEvent {
  readonly error: {
    readonly code: string;
    readonly msg: string;
    readonly cellId: string;
    readonly ts: string;
    readonly stack: string;
    readonly namespace: string;
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
export type EventOf<T extends Trigger> = [T] extends [never] ? unknown : EventOfOne<T>;

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
  readonly [name: string]: unknown;
}

export interface Answer {
  /** 200 to 599. */
  readonly status?: number | string;
  readonly headers?: Readonly<Record<string, string | number | readonly string[] | null | undefined>>;
  /** A string, bytes, a `Blob`, a stream of Node's or the web's; everything else goes out as JSON. */
  readonly body?: unknown;
  /** Goes out at once, and not when the run has ended. */
  readonly immediate?: boolean;
}

/** What `$.context` knows besides the trigger's context. */
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

/** A request that the server makes when the run has ended, or begins to wait. What comes back is not seen by the run. */
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

/** Addresses that end a wait. A request to `resume_url` lets the run go on, one to `cancel_url` cancels it. */
export interface WaitAddresses {
  readonly resume_url: string;
  readonly cancel_url: string;
}

/** What comes behind a step. It acts when the step has ended; the last wait that was asked for counts, and `exit` before all. */
export interface Flow {
  /** The run ends as succeeded. */
  exit(reason?: string): void;
  /** The run goes on with the next step after so many milliseconds, at most 366 days. */
  delay(ms: number | string): WaitAddresses;
  /** The run goes on when it is resumed, and is cancelled when it was not after so many milliseconds: 24 hours. */
  suspend(ms?: number | string): WaitAddresses;
  /** This step is executed again after so many milliseconds, with `context` in `$.context.run`; fails when that happened `max` times: 10. */
  rerun(ms: number | string, context?: unknown, max?: number): WaitAddresses;
  /** Runs another workflow (`p_…`) with this event, when this run has ended or begins to wait. */
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

/** What a step left for those behind it: its exports by their names, and what it returned. */
export interface StepResult<Returned> {
  readonly $return_value: Json<Returned>;
  /** The body of the request that ended the wait behind this step; undefined when time did, or it did not wait. */
  readonly $resume_data?: unknown;
  readonly [exported: string]: unknown;
}

/** What a step is given. `Done`: the results of those before it, by their names. */
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

type Free<Name, Taken> = Name extends Taken | 'trigger' ? never : unknown;

/** A chain of steps: each call answers the chain with one more at its end. */
export interface Steps<Event, Done> extends StepList {
  step<Name extends string, Returned>(
    namespace: Name & Free<Name, keyof Done>,
    code: StepCode<Given<Event, Done>, Returned>,
  ): Steps<Event, Done & { readonly [K in Name]: StepResult<Awaited<Returned>> }>;
}

type Untyped = Readonly<Record<string, StepResult<unknown>>>;

/** What is left out has its default. */
export interface WorkflowSettings {
  readonly timeout_ms?: number | null;
  readonly memory_mb?: number;
  readonly concurrency?: number;
  readonly queue_limit?: number;
  /** At most `limit` runs begin within any `interval_ms`. */
  readonly throttle?: { readonly limit: number; readonly interval_ms: number } | null;
  /** A run that fails is tried again from the step that failed. */
  readonly retry?: {
    /** In all, the first one included. */
    readonly attempts: number;
    /** Before the second attempt; doubled for each one more. 1,000 when left out. */
    readonly base_ms?: number;
    readonly max_ms?: number;
    readonly also?: readonly ('Timeout' | 'OutOfMemory')[];
    readonly report_first?: boolean;
  } | null;
  readonly notify?: boolean;
  /** Left out: what was set over the API stays, so that secrets need not stand in the file. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface WorkflowDefinition<T extends readonly Trigger[]> {
  readonly name: string;
  /** None for a workflow that only listens by subscription. */
  readonly triggers?: T;
  readonly settings?: WorkflowSettings;
  /** A chain, or an object in which later steps see what earlier ones returned as unknown. */
  readonly steps:
    | ((flow: Steps<EventOf<T[number]>, Record<never, never>>) => StepList)
    | Readonly<Record<string, StepCode<Given<EventOf<T[number]>, Untyped>, unknown>>>;
}

/** What the server reads. Its shape may change; do not make one by hand. */
export interface Workflow {
  readonly kind: 'errand.workflow';
  readonly name: string;
  readonly triggers: readonly Trigger[];
  readonly settings: WorkflowSettings;
  readonly steps: readonly NamedStep[];
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

/** A workflow, to be the default export of its file. Names and settings are checked when it is deployed. */
export function defineWorkflow<const T extends readonly Trigger[] = readonly []>(
  definition: WorkflowDefinition<T>,
): Workflow {
  const { name, triggers = [], settings = {}, steps } = definition;
  return { kind: 'errand.workflow', name, triggers, settings, steps: listOf(steps) };
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

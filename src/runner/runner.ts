// The interface between the engine and user code: what a runner is asked, and what it promises.
//
// Promises: `run` never rejects and always settles, at the latest a second after the run's timeout, whatever the code
// does. User code never runs in the server's process. A run's outcome is a value (RunOutcome), also for every failure.

import type { PropDefinitions, PropValues } from '../domain/props.ts';
import type { Deployment } from '../domain/resource.ts';
import type { Fault, HttpAnswer, RunOutcome } from '../domain/run/run.ts';
import type { EarlierSegments } from '../domain/run/wait.ts';

export interface RunRequest {
  /** The run's number, unique among those in flight. */
  readonly run: number;
  readonly deployment: Deployment;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** Environment variables for the code; none of the server's is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the run must share its process with no other run. */
  readonly alone: boolean;
  readonly attempt: number;
  /** The event's bytes: JSON text in UTF-8. */
  readonly event: Uint8Array;
  /** The value of `steps.trigger.context`; JSON values only. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Set when the deployment is a source. */
  readonly source: SourceRunInput | null;
  /** The checkpoint of a run that goes on after a wait; null: the run begins at its first step. */
  readonly earlier: EarlierSegments | null;
  /** Hex; the process makes the tokens of its runs' resume addresses with it (resume-token.ts). */
  readonly resumeKey: string;
  /** The props of a workflow's steps, in order; null when none of them has props. */
  readonly stepProps?: readonly (PropsInput | null)[] | null;
  /** The `$.service.db` of a workflow's steps, by `<namespace>.<name>`: JSON texts; null when no step uses it. */
  readonly stepDb?: Readonly<Record<string, string>> | null;
  /** The run waits in its process while so many others are in flight there. None: it begins at once. */
  readonly atOnce?: number;
  /** Called when a run with `atOnce` begins. */
  readonly onBegun?: () => void;
  /** Called at most once, for an answer that must not wait for the run's end (`immediate`). */
  readonly onAnswer: (answer: HttpAnswer) => void;
  /**
   * Answers a request of the code while the run is in flight. Called in the order of the requests, while earlier ones
   * may still be open, so it keeps whatever order it needs. It must check every argument, and must not reject.
   */
  readonly onChildRequest?: (request: ChildRequest) => Promise<ChildReply>;
}

/** The values of a component's `this`, beside its code. */
export interface PropsInput {
  readonly configuredProps: PropValues;
  /** The props that its `additionalProps` returned when it was configured. */
  readonly additionalProps?: PropDefinitions;
  /** Prop name of an app → the fields of the configured account. */
  readonly accounts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Prop name of an app → why the configured account cannot be used. */
  readonly refusedAccounts?: Readonly<Record<string, string>>;
}

/** A request that user code sends to the server while its run waits. Only its shape was checked. */
export interface ChildRequest {
  readonly verb: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** JSON text, where the verb takes any value. */
  readonly value: string | null;
}

/** `json`: JSON text. `name` and `message` are those of the error that the code gets. */
export type ChildReply =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly name: string; readonly message: string };

export type Hook = 'deploy' | 'activate' | 'deactivate';

export interface SourceRunInput extends PropsInput {
  readonly sourceId: string;
  /** What is called on the component: `run`, or hooks one after the other. */
  readonly call: 'run' | readonly Hook[];
  /** Prop name of an `$.interface.http` → its endpoint's address. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** The whole `$.service.db`: name → JSON text. */
  readonly db: Readonly<Record<string, string>>;
}

/**
 * What a component says about itself, read by loading it in a child process. JSON values only; functions are left out.
 */
export interface ComponentShape {
  readonly type: 'source' | 'action' | 'app' | 'function';
  /** Whether it names its type. A component that does not is a source, and may be a step. */
  readonly isTyped: boolean;
  readonly key: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly version: string | null;
  readonly dedupe: string | null;
  /** With the definitions of `propDefinition`s merged in. */
  readonly props: PropDefinitions;
  readonly hooks: readonly string[];
  /** Names of the first of its members. */
  readonly members: readonly string[];
  readonly hasRun: boolean;
  readonly hasAdditionalProps: boolean;
  /** What a workflow file says about itself (sdk/workflow.ts); not checked. */
  readonly workflow?: unknown;
  /** It has a name and steps, and neither a key nor `run`: a workflow that `defineWorkflow` was not called with. */
  readonly hasSteps?: true;
}

export type DescribeResult =
  | { readonly ok: true; readonly shape: ComponentShape }
  | { readonly ok: false; readonly message: string; readonly stack: string };

/** A question to a component that is being configured: its additional props, or the options of one prop. */
export type ComponentQuery = {
  /** What is configured so far. */
  readonly props: PropsInput;
  /** As in SourceInput. */
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly db?: Readonly<Record<string, string>>;
} & (
  | { readonly what: 'props' }
  | {
      readonly what: 'options';
      readonly prop: string;
      /** From 0. */
      readonly page: number;
      readonly prevContext: unknown;
      readonly query?: string;
    }
);

/** What the code of a query gets beside the query. */
export interface QuerySurroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** As in RunRequest; none: every request is refused. */
  readonly onChildRequest?: RunRequest['onChildRequest'];
}

export type ComponentQueryResult =
  | { readonly ok: true; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string; readonly stack: string };

export interface RunnerStats {
  readonly processes: number;
  readonly inFlight: number;
}

/** What one owner uses at this node. */
export interface RunnerUse {
  /** Idle ones included. */
  readonly processes: number;
  /** In the last minute. */
  readonly cpuMs: number;
}

/** What code did whose run has ended, as the process of the code tells of it: an exception, or calls without effect. */
export interface LateFailure {
  readonly ownerId: string;
  /** Those of the process: the run should be of one of them. */
  readonly deploymentIds: readonly string[];
  readonly run: number;
  /** The index of the step that left it behind. */
  readonly step: number;
  /** Its step is that of the process's first deployment. */
  readonly fault: Fault;
  /** The calls by which something was lost; null: the fault was thrown. */
  readonly lost: readonly string[] | null;
}

export interface Runner {
  run(request: RunRequest): Promise<RunOutcome>;
  /** Returns how many runs are in flight in the process that would take this run now; null: it would wait for a process. */
  runsBeside(request: RunRequest): number | null;
  /** Loads the first step of a deployment in a process of its own and returns its description. Never rejects. */
  describe(deployment: Deployment, env?: Readonly<Record<string, string>>): Promise<DescribeResult>;
  /**
   * Loads the first step of a deployment in a process of its own and queries it. Never rejects; settles within
   * LIMITS.componentQueryMs.
   */
  queryComponent(
    deployment: Deployment,
    query: ComponentQuery,
    surroundings?: QuerySurroundings,
  ): Promise<ComponentQueryResult>;
  /** Starts the deployment's process ahead of its first run. A hint: failures show on the run. */
  warm(deployment: Deployment, memoryMb: number, env: Readonly<Record<string, string>>): void;
  /** Asks a run to end as cancelled; its outcome comes through `run`. Returns false when the run is not in flight. */
  cancel(run: number): boolean;
  /**
   * Gives the deployment's process no new runs; the process ends when its last run has. Returns false when there is
   * none.
   */
  retire(deploymentId: string): boolean;
  /**
   * Waits up to `graceMs` for runs in flight, then kills the processes; interrupted runs end as `returned`. May be
   * called twice.
   */
  stop(graceMs: number): Promise<void>;
  stats(): RunnerStats;
  useOf(ownerId: string): RunnerUse;
}

// The messages between the server and a child process. The imports are types only.
//
// A frame carries the messages of one event-loop turn as a JSON array, followed by raw bytes. A message with `bytes`
// owns the next bytes of that number, so that events and response bodies cross without being escaped. The server trusts
// nothing that a child sends: user code shares the process, and could write to the pipe itself. (Rejected for that:
// Node's own IPC channel. A few invalid bytes on it throw inside the server.)

import type { Outgoing } from '../../domain/run/run.ts';
import type { EarlierSegments, WaitAsked } from '../../domain/run/wait.ts';
import type { ComponentQuery, PropsInput, SourceRunInput } from '../runner.ts';

/**
 * The exit code of a process that finds its pipe closed. When the code closed the pipe, the server may see this exit
 * before the pipe's end; it is not the code's exit.
 */
export const CONNECTION_LOST = 86;

/** Stands for the run in the requests of a query's code, and in their replies. */
export const QUERY_RUN = 0;

export interface StepFile {
  readonly id: string;
  readonly namespace: string;
  /** Absolute paths in the process's own folder. */
  readonly file: string;
  readonly mapFile: string;
}

/** The parts of `LIMITS` that hold inside the process. */
export interface ChildLimits {
  readonly messageBytes: number;
  readonly stackFrames: number;
  readonly frameBytes: number;
  readonly codeChars: number;
  readonly resultBytes: number;
  readonly logBytes: number;
  readonly emissionsPerRun: number;
  readonly exportsPerRun: number;
  readonly dbWritesPerRun: number;
  readonly eventNameChars: number;
  readonly descriptionChars: number;
  readonly recordKeyChars: number;
  readonly recordBytes: number;
  readonly openChildRequests: number;
  readonly openChildRequestBytes: number;
  readonly laterMs: number;
  readonly nestingDepth: number;
  readonly maxWaitMs: number;
  readonly suspendMs: number;
  readonly reruns: number;
  readonly maxReruns: number;
  readonly requestMethodChars: number;
  readonly requestUrlChars: number;
  readonly requestBodyBytes: number;
  readonly headersPerWebhook: number;
  readonly headerNameChars: number;
  readonly headerValueChars: number;
}

/** The first message. */
export interface InitMessage {
  readonly t: 'init';
  /** `describe`: load the steps, answer with the first one's shape, run nothing. */
  readonly mode: 'workflow' | 'source' | 'describe';
  readonly steps: readonly StepFile[];
  readonly env: Readonly<Record<string, string>>;
  readonly limits: ChildLimits;
  /** With `describe`: answer this query instead. */
  readonly query?: ComponentQuery | undefined;
}

export interface RunMessage {
  readonly t: 'run';
  readonly run: number;
  /** The event's length. */
  readonly bytes: number;
  readonly context: Readonly<Record<string, unknown>>;
  readonly attempt: number;
  /** Put off by the process for as long as it holds the run. */
  deadlineMs: number;
  /** For a process that was still starting: from when it reads this, the run has so long. */
  readonly timeoutMs?: number | undefined;
  readonly source: SourceRunInput | null;
  /** The checkpoint of a run that goes on; left out of a run that begins at its first step. */
  readonly earlier?: EarlierSegments | undefined;
  /** Not in the first message: a process may be started before its first run. */
  readonly resumeKey: string;
  /** By the step's index. */
  readonly props?: readonly (PropsInput | null)[] | undefined;
  /** As `stepDb` in RunRequest. */
  readonly db?: Readonly<Record<string, string>> | undefined;
  /** The run is held until fewer than so many are in flight, and `begun` is written before its code is called. Left out: it begins at once. */
  readonly atOnce?: number | undefined;
}

/** Asks for a run that is held; the answer is its `end`, with `halted`. A run that has begun goes on, and its `begun` says so. */
export interface DropMessage {
  readonly t: 'drop';
  readonly run: number;
}

/** Ends the run now; the response (`end` with `halted`) also shows that the process is alive. */
export interface HaltMessage {
  readonly t: 'halt';
  readonly run: number;
}

/** The reply to a `request`: its JSON text is the next `bytes`; when not `ok`, the error's name and message. */
export interface ReplyMessage {
  readonly t: 'reply';
  readonly run: number;
  readonly id: number;
  readonly ok: boolean;
  readonly bytes: number;
}

export type ToChild = InitMessage | RunMessage | DropMessage | HaltMessage | ReplyMessage;

export interface ChildFault {
  /** Index of the step. */
  readonly step: number;
  readonly code: string;
  readonly msg: string;
  readonly tsMs: number;
  readonly stack: string;
}

/** A step's state as a number: its index in the server's list of names. */
export const STEP_STATE = { succeeded: 0, failed: 1, exited: 2 } as const;

/** Index, state (of STEP_STATE), start (epoch ms), duration (ms), return value (JSON text or null), exports (JSON texts or null). */
export type StepTuple = readonly [number, number, number, number, string | null, Record<string, string> | null];

/** Kind, name, body (JSON text), summary, item id, item time (epoch ms), when to deliver (epoch ms), whether its origin was checked. */
export type OutgoingTuple = readonly [
  Outgoing['kind'],
  string,
  string,
  (string | null)?,
  (string | null)?,
  (number | null)?,
  (number | null)?,
  true?,
];

/** Kind, duration (ms), context (JSON text or null). */
export type WaitTuple = readonly [WaitAsked['kind'], number, string | null];

/** Time (epoch ms), level, namespace, text. */
export type LogTuple = readonly [number, string, string, string];

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** What a run has produced since its last message. Empty members are left out: most runs have none of them. */
export interface RunProgress {
  /** In a heavy message: the length of each of its texts (bulk.ts). They follow behind `bytes`. */
  readonly bulk?: readonly number[] | undefined;
  readonly logs?: readonly LogTuple[] | undefined;
  /** Log bytes since the run's begin. */
  readonly dropped?: number | undefined;
  readonly outgoing?: readonly OutgoingTuple[] | undefined;
  readonly summary?: string | undefined;
  /** Of a source, or of steps that have succeeded. */
  readonly dbWrites?: Readonly<Record<string, string | null>> | undefined;
}

export interface EndMessage extends RunProgress {
  readonly t: 'end';
  readonly run: number;
  readonly kind: 'succeeded' | 'waiting' | 'failed' | 'halted';
  readonly wait?: WaitTuple | undefined;
  readonly exitReason?: string | undefined;
  readonly fault?: ChildFault | undefined;
  /** The last step, which no `step` message has reported. */
  readonly step?: StepTuple | undefined;
  readonly answer?: AnswerHead | undefined;
  /** The length of the answer's body. */
  readonly bytes?: number | undefined;
  /** No other run should follow in this process. Of a failed run, set when the message is written. */
  isTainted?: boolean | undefined;
}

/** A run that was held begins. */
export interface BegunMessage {
  readonly t: 'begun';
  readonly run: number;
}

/** A step has ended and another begins: what takes effect should the process die in the next one. */
export interface StepMessage extends RunProgress {
  readonly t: 'step';
  readonly run: number;
  readonly step: StepTuple;
}

/** Lines, at least one, that a step has printed so far: they stand should the process die in this step. */
export interface LogMessage extends RunProgress {
  readonly t: 'log';
  readonly run: number;
}

export interface AnswerMessage {
  readonly t: 'answer';
  readonly run: number;
  readonly answer: AnswerHead;
  readonly bytes: number;
}

/**
 * A request of the code, which waits for the `reply` of this id. At most ChildLimits.openChildRequests of a run are
 * open at a time.
 */
export interface ChildRequestMessage {
  readonly t: 'request';
  readonly run: number;
  readonly id: number;
  readonly verb: string;
  /** JSON text of an object. */
  readonly args: string;
  /** The length of the value's JSON text; 0: there is none. */
  readonly bytes: number;
}

/** The steps before this one are loaded, and its code comes next. */
export interface LoadingMessage {
  readonly t: 'loading';
  /** Index of the step. With the first one, the process is up. */
  readonly step: number;
}

/** The steps are loaded, and runs can begin at once. */
export interface LoadedMessage {
  readonly t: 'loaded';
}

/** A step's module could not be loaded, so no run can begin. */
export interface BrokenMessage {
  readonly t: 'broken';
  /** The run that this concerns, where sources share the process; none: all of them. */
  readonly run?: number;
  readonly fault: ChildFault;
}

export interface ShapeMessage {
  readonly t: 'shape';
  readonly shape: unknown;
}

/** The answer to the query of `init`: its JSON text is the next `bytes`. */
export interface QueryResultMessage {
  readonly t: 'query-result';
  readonly bytes: number;
}

/** An exception that belongs to no run in flight. */
export interface StrayMessage {
  readonly t: 'stray';
  readonly msg: string;
  /** The run that has ended, and whose code threw it: once for each run, with the fault. */
  readonly run?: number;
  readonly fault?: ChildFault;
}

/** What code may ask for too late, by the name that it has there. */
export const LATE_CALLS = [
  '$.send.emit',
  '$.send.email',
  '$.send.http',
  '$.export',
  '$.respond',
  '$.flow.trigger',
  '$.flow.exit',
  '$.flow.delay',
  '$.flow.suspend',
  '$.flow.rerun',
  'this.http.respond',
  'this.db.set',
] as const;

export type LateCall = (typeof LATE_CALLS)[number];

/** The late calls by which something is lost that others wait for: what was to be sent, started or kept. */
export const LOST_CALLS = ['$.send.emit', '$.send.email', '$.send.http', '$.flow.trigger', 'this.db.set'] as const;

/** A run that has ended, and how often its code has called what since. */
export interface LateCallsMessage {
  readonly t: 'late';
  readonly run: number;
  readonly calls: { readonly [call in LateCall]?: number };
  /** Where the first call was by which something was lost. Once for each run. */
  readonly fault?: ChildFault;
}

export type FromChild =
  | LoadedMessage
  | BegunMessage
  | EndMessage
  | StepMessage
  | LogMessage
  | AnswerMessage
  | ChildRequestMessage
  | BrokenMessage
  | ShapeMessage
  | QueryResultMessage
  | StrayMessage
  | LateCallsMessage;

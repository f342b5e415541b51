// What a run keeps over its waits: read when it goes on, put together with what its next segment came to, and written
// when it waits again. A run without waits passes through here untouched.

import { text, utf8 } from '../bytes.ts';
import { memberOf } from '../json-member.ts';
import { LIMITS } from '../limits.ts';
import type { ClaimedRun, RunOutcome } from './run.ts';
import type { LogLine, StepResult } from './step-result.ts';
import type { Checkpoint, GoingOn, WaitKind, WaitStart } from './wait.ts';

/** Of a run that begins at its first step. */
const NOTHING: Omit<Checkpoint, 'kind'> = {
  waits: 0,
  steps: [],
  logs: [],
  logBytesDropped: 0,
  summary: null,
  retries: 0,
  reruns: null,
  callback: null,
};

/** Null: it begins at its first step. */
export function checkpointOf({ checkpoint }: Pick<ClaimedRun, 'checkpoint'>): Checkpoint | null {
  return checkpoint === null ? null : (JSON.parse(checkpoint) as Checkpoint);
}

/** What the runner is given of what was before. */
export function goingOnOf(run: Pick<ClaimedRun, 'checkpoint' | 'resumed'>): GoingOn | null {
  const checkpoint = checkpointOf(run);
  if (!checkpoint) return null;
  const { waits, logs, reruns } = checkpoint;
  const logBytes = logs.reduce((sum, line) => sum + costOf(line), 0);
  return {
    steps: stepsBefore(checkpoint, run.resumed),
    waits,
    reruns,
    callback: callbackOf(run, checkpoint),
    logBytes,
  };
}

/** All segments of a run so far, the last one included. */
export interface Whole extends Pick<RunOutcome, 'steps' | 'logs' | 'logBytesDropped' | 'summary'> {
  /** Null: this was the first segment. */
  readonly checkpoint: Checkpoint | null;
}

export function wholeOf(run: Pick<ClaimedRun, 'checkpoint' | 'resumed'>, outcome: RunOutcome): Whole {
  const { steps, logs, logBytesDropped, summary } = outcome;
  const checkpoint = checkpointOf(run);
  if (!checkpoint) return { steps, logs, logBytesDropped, summary, checkpoint };
  // Of a step that is executed again, by request, and of one that has failed since then and is tried again.
  const data = checkpoint.reruns === null ? undefined : resumeDataOf(callbackOf(run, checkpoint));
  const own = data === undefined ? steps : steps.map((step, i) => (i === 0 ? { ...step, resumeData: data } : step));
  return {
    steps: [...stepsBefore(checkpoint, run.resumed), ...own],
    logs: [...checkpoint.logs, ...logs],
    logBytesDropped: checkpoint.logBytesDropped + logBytesDropped,
    summary: summary ?? checkpoint.summary,
    checkpoint,
  };
}

/** What is kept when the step that ran last waits. */
export function waitOf(
  { whole, outcome }: { readonly whole: Whole; readonly outcome: RunOutcome },
  wait: { readonly kind: WaitKind; readonly context: string | null },
  dueAtMs: number,
): WaitStart {
  const before = whole.checkpoint ?? NOTHING;
  const isRerun = wait.kind === 'rerun';
  // Only the step with which this segment began has been executed before.
  const runs = outcome.steps.length === 1 ? (before.reruns?.runs ?? 0) : 0;
  return startOf(
    {
      ...keptOf(whole),
      kind: wait.kind,
      steps: isRerun ? whole.steps.slice(0, -1) : whole.steps,
      reruns: isRerun ? { runs: runs + 1, context: wait.context } : null,
      callback: null,
    },
    dueAtMs,
  );
}

/** What is kept when the step that ran last failed, and is tried again. */
export function retryOf(
  run: Pick<ClaimedRun, 'checkpoint' | 'resumed'>,
  { whole, outcome }: { readonly whole: Whole; readonly outcome: RunOutcome },
  dueAtMs: number,
): WaitStart {
  const steps = whole.steps.filter((step) => step.state !== 'failed');
  // The step that failed is the one with which this segment began: it is given again what it was given.
  const isFirst = outcome.steps.every((step) => step.state === 'failed');
  const { checkpoint } = whole;
  return startOf(
    {
      ...keptOf(whole),
      kind: 'retry',
      steps,
      retries: (checkpoint?.retries ?? 0) + 1,
      reruns: isFirst && checkpoint ? checkpoint.reruns : null,
      callback: isFirst && checkpoint ? callbackOf(run, checkpoint) : null,
    },
    dueAtMs,
  );
}

/** For a run that goes on where another one failed: the steps that had succeeded there. */
export function checkpointFrom(steps: readonly StepResult[]): string {
  return JSON.stringify({ ...NOTHING, kind: 'retry', steps } satisfies Checkpoint);
}

function keptOf({ checkpoint, logs, logBytesDropped, summary }: Whole) {
  const { waits, retries } = checkpoint ?? NOTHING;
  return { waits: waits + 1, retries, logs, logBytesDropped, summary };
}

function startOf(checkpoint: Checkpoint, dueAtMs: number): WaitStart {
  return { kind: checkpoint.kind, dueAtMs, waits: checkpoint.waits, checkpoint: JSON.stringify(checkpoint) };
}

/** With the body of the request that ended the wait at the step that waited. */
function stepsBefore({ kind, steps }: Checkpoint, resumed: string | null): readonly StepResult[] {
  const resumeData = kind === 'delay' || kind === 'suspend' ? resumeDataOf(resumed) : undefined;
  if (resumeData === undefined) return steps;
  return steps.map((step, i) => (i === steps.length - 1 ? { ...step, resumeData } : step));
}

/** Of what steps left, and of the requests that ended their waits: what `LIMITS.resultBytes` bounds over a whole run. */
export function keptBytes(steps: readonly Pick<StepResult, 'returnValue' | 'exports' | 'resumeData'>[]): number {
  let bytes = 0;
  for (const { returnValue = '', exports, resumeData = '' } of steps) {
    bytes += bytesOf(returnValue) + bytesOf(resumeData);
    for (const [name, text] of Object.entries(exports)) bytes += bytesOf(name) + bytesOf(text);
  }
  return bytes;
}

/** Of the body of a request that ends a wait, as it is kept. */
export function resumeBytes(request: string | null): number {
  return bytesOf(resumeDataOf(request) ?? '');
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

function resumeDataOf(resumed: string | null): string | undefined {
  const body = resumed === null ? undefined : memberOf(utf8(resumed), 'body');
  return body && text(body);
}

function callbackOf({ resumed }: Pick<ClaimedRun, 'resumed'>, checkpoint: Checkpoint): string | null {
  return checkpoint.kind === 'retry' ? checkpoint.callback : resumed;
}

function costOf(line: LogLine): number {
  return utf8(line.text).byteLength + LIMITS.logLineBytes;
}

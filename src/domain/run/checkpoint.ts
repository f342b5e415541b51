// What a run keeps over its waits: read when it resumes, merged with the outcome of its next segment, and written when it
// waits again. For a run without waits these functions change nothing.

import { text, utf8 } from '../bytes.ts';
import { memberOf } from '../json-member.ts';
import { LIMITS } from '../limits.ts';
import type { ClaimedRun, RunOutcome } from './run.ts';
import type { LogLine, StepResult } from './step-result.ts';
import type { Checkpoint, EarlierSegments, WaitKind, WaitStart } from './wait.ts';

/** For a run that begins at its first step. */
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

/** Returns null for a run that begins at its first step. */
export function checkpointOf({ checkpoint }: Pick<ClaimedRun, 'checkpoint'>): Checkpoint | null {
  return checkpoint === null ? null : (JSON.parse(checkpoint) as Checkpoint);
}

/** Returns what the runner needs of earlier segments. */
export function earlierSegmentsOf(run: Pick<ClaimedRun, 'checkpoint' | 'resumed'>): EarlierSegments | null {
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

/** All segments of a run so far, including the last one. */
export interface WholeRun extends Pick<RunOutcome, 'steps' | 'logs' | 'logBytesDropped' | 'summary'> {
  /** Null: this is the first segment. */
  readonly checkpoint: Checkpoint | null;
}

export function wholeOf(run: Pick<ClaimedRun, 'checkpoint' | 'resumed'>, outcome: RunOutcome): WholeRun {
  const { steps, logs, logBytesDropped, summary } = outcome;
  const checkpoint = checkpointOf(run);
  if (!checkpoint) return { steps, logs, logBytesDropped, summary, checkpoint };
  // Belongs to a step that is executed again, by `$.flow.rerun` or as a retry.
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

/** Returns the checkpoint of a run whose last step waits. */
export function waitOf(
  { whole, outcome }: { readonly whole: WholeRun; readonly outcome: RunOutcome },
  wait: { readonly kind: WaitKind; readonly context: string | null },
  dueAtMs: number,
): WaitStart {
  const before = whole.checkpoint ?? NOTHING;
  const isRerun = wait.kind === 'rerun';
  // Only the first step of this segment has been executed before.
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

/** Returns the checkpoint of a run whose last step failed and is retried. */
export function retryOf(
  run: Pick<ClaimedRun, 'checkpoint' | 'resumed'>,
  { whole, outcome }: { readonly whole: WholeRun; readonly outcome: RunOutcome },
  dueAtMs: number,
): WaitStart {
  const steps = whole.steps.filter((step) => step.state !== 'failed');
  // The failed step is the first of this segment: its retry gets the same input.
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

/** Returns the checkpoint with the successful steps of a failed run, for the run that continues in its place. */
export function checkpointFrom(steps: readonly StepResult[]): string {
  return JSON.stringify({ ...NOTHING, kind: 'retry', steps } satisfies Checkpoint);
}

function keptOf({ checkpoint, logs, logBytesDropped, summary }: WholeRun) {
  const { waits, retries } = checkpoint ?? NOTHING;
  return { waits: waits + 1, retries, logs, logBytesDropped, summary };
}

function startOf(checkpoint: Checkpoint, dueAtMs: number): WaitStart {
  return { kind: checkpoint.kind, dueAtMs, waits: checkpoint.waits, checkpoint: JSON.stringify(checkpoint) };
}

/** Adds the body of the request that ended the wait to the step that waited. */
function stepsBefore({ kind, steps }: Checkpoint, resumed: string | null): readonly StepResult[] {
  const resumeData = kind === 'delay' || kind === 'suspend' ? resumeDataOf(resumed) : undefined;
  if (resumeData === undefined) return steps;
  return steps.map((step, i) => (i === steps.length - 1 ? { ...step, resumeData } : step));
}

/** Counts the bytes of steps' results and of resume requests: `LIMITS.resultBytes` bounds them over a whole run. */
export function keptBytes(steps: readonly Pick<StepResult, 'returnValue' | 'exports' | 'resumeData'>[]): number {
  let bytes = 0;
  for (const { returnValue = '', exports, resumeData = '' } of steps) {
    bytes += bytesOf(returnValue) + bytesOf(resumeData);
    for (const [name, text] of Object.entries(exports)) bytes += bytesOf(name) + bytesOf(text);
  }
  return bytes;
}

/** Counts the stored bytes of a resume request's body. */
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

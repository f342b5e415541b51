// What follows from a run's outcome: its state, its emissions, and whether it waits or runs again.

import { text, utf8 } from '../bytes.ts';
import { digestKeyFor } from '../delivery/digest.ts';
import { readRequest, requestListener } from '../delivery/http-request.ts';
import type { NewEmission } from '../emission.ts';
import { EMAIL, ERRORS, HTTP, RUN } from '../emission.ts';
import { emittedBy, failureOfRun } from '../failure.ts';
import { memberOf } from '../json-member.ts';
import { retryOf, type WholeRun, waitOf, wholeOf } from './checkpoint.ts';
import type { ClaimedRun, Fault, HttpAnswer, Outgoing, RunLease, RunOutcome } from './run.ts';
import { detailOf } from './run-trace.ts';
import type { StepResult } from './step-result.ts';
import type { WaitStart } from './wait.ts';

/** What a run leaves for the next ones: what `$.service.db` was given, and of a source also which items it has emitted. */
export interface MemoryWrites {
  /** Of the source or workflow. */
  readonly id: string;
  /** Name → JSON text, or null to clear. A step's names begin with its namespace and a dot. */
  readonly dbWrites: Readonly<Record<string, string | null>>;
}

/** What one transaction writes when a run ends. */
export interface RunEnd {
  readonly lease: RunLease;
  /** The run's workflow or source. */
  readonly runnableId: string;
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'queued' | 'waiting';
  readonly endedAtMs: number;
  /** With state `queued`: the run is executed again, `alone` in a process to itself, which is counted, or `returned`. */
  readonly again: 'alone' | 'returned' | null;
  readonly fault: Fault | null;
  readonly summary: string | null;
  /** With state `waiting`. A retry counts as an attempt when it begins to wait. */
  readonly wait: WaitStart | null;
  /** JSON text of `{steps, logs, log_bytes_dropped, exit_reason}` of the whole run so far; null when all are empty. */
  readonly detail: string | null;
  /** In the order in which they take effect; a failed run's `$errors` is last. */
  readonly emissions: readonly NewEmission[];
  /** Null in a workflow's run that wrote nothing, and in a source's that failed. */
  readonly memory: MemoryWrites | null;
  /** Stored with the event's idempotency key, if any. */
  readonly answer: HttpAnswer | null;
}

/** Estimates the bytes that the end writes. */
export function bytesOfEnd({ detail, emissions }: Pick<RunEnd, 'detail' | 'emissions'>): number {
  return emissions.reduce((sum, { body }) => sum + body.byteLength, detail?.length ?? 0);
}

/** Returns the end of a claimed run, or of its segment, from its outcome. */
export function endOf(run: ClaimedRun, outcome: RunOutcome, nowMs: number): RunEnd {
  const { end } = outcome;
  const base = baseOf(run, outcome, nowMs);
  if (end.kind === 'unattributed' || end.kind === 'returned') {
    const again = end.kind === 'unattributed' ? 'alone' : 'returned';
    return { ...base, state: 'queued', again, detail: null, emissions: [], answer: null };
  }
  const isSource = run.runnable.id.startsWith('dc_');
  const whole = wholeOf(run, outcome);
  const summary = whole.summary;
  const detail = detailOf({ ...whole, exitReason: end.kind === 'succeeded' ? end.exitReason : undefined });
  if (end.kind === 'cancelled') return { ...base, state: 'cancelled', summary, detail, emissions: [] };
  // Emissions that a workflow asked for before it threw take effect; a source's run is all or nothing.
  const failed = end.kind === 'failed';
  const emissions = failed && isSource ? [] : outgoingOf(run, outcome.outgoing, whole);
  if (end.kind === 'waiting') {
    const wait = waitOf({ whole, outcome }, end.wait, nowMs + end.wait.ms);
    const shown = end.wait.kind === 'rerun' ? detailOf({ ...whole, steps: withLastAgain(whole.steps) }) : detail;
    return { ...base, state: 'waiting', summary, detail: shown, emissions, wait, memory: memoryOf(run, outcome) };
  }
  if (failed) emissions.push(failureOfRun(run, end.fault));
  const fault = failed ? end.fault : null;
  return { ...base, state: end.kind, fault, summary, detail, emissions, memory: memoryOf(run, outcome) };
}

/**
 * Returns what a run's end writes to the memory of its source or workflow. A source's run is all or nothing; of a workflow's,
 * what the steps that have succeeded wrote takes effect.
 */
function memoryOf({ runnable: { id } }: ClaimedRun, { end, dbWrites }: RunOutcome): MemoryWrites | null {
  if (id.startsWith('dc_')) return end.kind === 'failed' ? null : { id, dbWrites };
  for (const _name in dbWrites) return { id, dbWrites };
  return null;
}

/**
 * Returns the end of a failed attempt that is retried: the run waits. Emissions of the successful steps take effect; those
 * of the failed step are dropped, since its retry asks for them again.
 */
export function endOfAttempt(
  run: ClaimedRun,
  outcome: RunOutcome & { readonly end: { readonly kind: 'failed' } },
  { nowMs, inMs }: { readonly nowMs: number; readonly inMs: number },
): RunEnd {
  const whole = wholeOf(run, outcome);
  const emissions = outgoingOf(run, outcome.outgoing.slice(0, outcome.outgoingOfDone), whole);
  const isFirst = (whole.checkpoint?.retries ?? 0) === 0;
  if (isFirst && run.runnable.settings.retry?.reportFirst) emissions.push(failureOfRun(run, outcome.end.fault));
  return {
    ...baseOf(run, outcome, nowMs),
    state: 'waiting',
    summary: whole.summary,
    detail: detailOf(whole),
    emissions,
    memory: memoryOf(run, outcome),
    wait: retryOf(run, { whole, outcome }, nowMs + inMs),
  };
}

function withLastAgain(steps: readonly StepResult[]): StepResult[] {
  return steps.map((step, i) => (i === steps.length - 1 ? { ...step, isAgain: true } : step));
}

function baseOf(run: ClaimedRun, outcome: RunOutcome, nowMs: number) {
  const lease = { run: run.run, fence: run.fence };
  const { summary, answer } = outcome;
  const runnableId = run.runnable.id;
  return { lease, runnableId, endedAtMs: nowMs, summary, answer, again: null, fault: null, wait: null, memory: null };
}

function outgoingOf(run: ClaimedRun, outgoing: readonly Outgoing[], { checkpoint }: WholeRun): NewEmission[] {
  let mails = 0;
  return outgoing.map((out) => {
    if (out.kind === 'email') {
      const place = checkpoint ? `${checkpoint.waits}.${mails++}` : `${mails++}`;
      return { ...emittedBy(run, EMAIL, out.body), digestKey: digestKeyOf(run, place) };
    }
    if (out.kind === 'trigger') return { ...emittedBy(run, RUN, out.body), onlyListenerId: out.name };
    if (out.kind === 'http') {
      const onlyListenerId = requestListener(run.emission.ownerId, readRequest(out.body));
      return { ...emittedBy(run, HTTP, out.body), onlyListenerId };
    }
    return emittedItem(run, out);
  });
}

/**
 * Returns the emission for an item that code has emitted. Only a source may postpone an emission, or mark its sender as
 * verified.
 */
function emittedItem(run: ClaimedRun, out: Outgoing): NewEmission {
  const { summary, itemId, itemTs, deliverAtMs } = out;
  const isSource = run.runnable.id.startsWith('dc_');
  const later = deliverAtMs !== undefined && isSource ? { deliverAtMs } : {};
  const verified = out.isVerified === true && isSource;
  return { ...emittedBy(run, out.name, out.body), summary, itemId, itemTs, ...later, verified };
}

/**
 * Returns the key under which repeats of an emission are counted; null: they are not. Mails of the global error workflow about
 * one group of errors repeat each other.
 */
function digestKeyOf(run: ClaimedRun, place: string): string | null {
  return run.via === 'global' && run.emission.name === ERRORS ? digestKeyFor(run.emission, place) : null;
}

/** Adds a log line with the number of emissions that dedupe dropped. */
export function withSuppressed(
  { detail, endedAtMs }: Pick<RunEnd, 'detail' | 'endedAtMs'>,
  suppressed: number,
): string {
  const known = utf8(detail ?? '{"steps":[]}');
  const noun = suppressed === 1 ? 'duplicate' : 'duplicates';
  const line = JSON.stringify({
    ts_ms: endedAtMs,
    level: 'info',
    namespace: '',
    text: `dedupe suppressed ${suppressed} ${noun}`,
  });
  // Spliced into the text, not parsed: the results beside it may be millions of values.
  const logs = memberOf(known, 'logs');
  if (!logs) return `${text(known.subarray(0, -1))},"logs":[${line}],"suppressed":${suppressed}}`;
  const end = logs.byteOffset - known.byteOffset + logs.byteLength - 1;
  const comma = logs.byteLength > 2 ? ',' : '';
  return `${text(known.subarray(0, end))}${comma}${line}${text(known.subarray(end, -1))},"suppressed":${suppressed}}`;
}

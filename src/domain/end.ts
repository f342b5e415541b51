// What follows from a run's outcome: the state, what it emits, and whether it must run again.

import type { NewEmission } from './emission.ts';
import { EMAIL, ERRORS } from './emission.ts';
import { emittedBy, failureOfRun } from './failure.ts';
import type { ClaimedRun, Fault, HttpAnswer, RunLease, RunOutcome } from './run.ts';
import type { WaitStart } from './waiting.ts';

/** Everything that one transaction writes when a run ends. */
export interface RunEnd {
  readonly lease: RunLease;
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'queued' | 'waiting';
  readonly endedAtMs: number;
  /** With state `queued`: run it again, in a process to itself, and count that. */
  readonly again: 'alone' | 'returned' | null;
  readonly fault: Fault | null;
  readonly summary: string | null;
  /** With state `waiting`. A retry counts as an attempt when it begins to wait. */
  readonly wait: WaitStart | null;
  /** JSON text of `{steps, logs, log_bytes_dropped, exit_reason}`, of the whole run so far, also when it begins to wait; null when there is nothing to tell. */
  readonly detail: string | null;
  /** In the order in which they take effect; a failed run's `$errors` is last. */
  readonly emissions: readonly NewEmission[];
  readonly source: { readonly id: string; readonly dbWrites: Readonly<Record<string, string | null>> } | null;
  /** Kept with the idempotency key that the event came with, if any. */
  readonly answer: HttpAnswer | null;
}

/** The end of a claimed run, from its outcome. */
export function endOf(run: ClaimedRun, outcome: RunOutcome, nowMs: number): RunEnd {
  const { end } = outcome;
  const lease = { run: run.run, fence: run.fence };
  const base = { lease, endedAtMs: nowMs, summary: outcome.summary, answer: outcome.answer, again: null, wait: null };
  const isSource = run.runnable.id.startsWith('dc_');
  if (end.kind === 'bystander' || end.kind === 'returned') {
    const again = end.kind === 'bystander' ? 'alone' : 'returned';
    return { ...base, state: 'queued', again, fault: null, detail: null, emissions: [], source: null, answer: null };
  }
  const detail = detailOf(outcome);
  if (end.kind === 'cancelled') {
    return { ...base, state: 'cancelled', fault: null, detail, emissions: [], source: null };
  }
  // What a workflow sent before it threw takes effect; a source's run is all or nothing.
  const failed = end.kind === 'failed';
  const emissions = failed && isSource ? [] : outgoingOf(run, outcome);
  if (failed) emissions.push(failureOfRun(run, end.fault));
  const source = isSource && !failed ? { id: run.runnable.id, dbWrites: outcome.dbWrites } : null;
  return { ...base, state: end.kind, fault: failed ? end.fault : null, detail, emissions, source };
}

function outgoingOf(run: ClaimedRun, outcome: RunOutcome): NewEmission[] {
  let mails = 0;
  return outcome.outgoing.map((out) => {
    if (out.kind === 'email') return { ...emittedBy(run, EMAIL, out.body), digestKey: digestKeyOf(run, mails++) };
    const { summary, itemId, itemTs } = out;
    return { ...emittedBy(run, out.name, out.body), summary, itemId, itemTs };
  });
}

/** Mails of the global error workflow about one error are repeats of each other by emitter, code and place in the run. */
function digestKeyOf(run: ClaimedRun, ordinal: number): string | null {
  if (run.via !== 'global' || run.emission.name !== ERRORS) return null;
  return `${run.emission.emitterId} ${run.emission.code ?? ''} ${ordinal}`;
}

function detailOf(outcome: RunOutcome): string | null {
  const { steps, logs, logBytesDropped, end } = outcome;
  if (steps.length === 0 && logs.length === 0) return null;
  const parts = [`"steps":[${steps.map(stepJson).join(',')}]`];
  if (logs.length > 0) {
    const lines = logs.map((l) => ({ ts_ms: l.tsMs, level: l.level, namespace: l.namespace, text: l.text }));
    parts.push(`"logs":${JSON.stringify(lines)}`);
  }
  if (logBytesDropped > 0) parts.push(`"log_bytes_dropped":${logBytesDropped}`);
  if (end.kind === 'succeeded' && end.exitReason !== undefined)
    parts.push(`"exit_reason":${JSON.stringify(end.exitReason)}`);
  return `{${parts.join(',')}}`;
}

/** The detail with a log line that tells how many emissions dedupe has dropped: never silently. */
export function withSuppressed(
  { detail, endedAtMs }: Pick<RunEnd, 'detail' | 'endedAtMs'>,
  suppressed: number,
): string {
  const known = JSON.parse(detail ?? '{"steps":[]}') as { logs?: object[] };
  const noun = suppressed === 1 ? 'duplicate' : 'duplicates';
  const line = { ts_ms: endedAtMs, level: 'info', namespace: '', text: `dedupe suppressed ${suppressed} ${noun}` };
  return JSON.stringify({ ...known, logs: [...(known.logs ?? []), line], suppressed });
}

// Return values and exports are JSON text already: they are copied in, not parsed and written again.
function stepJson(step: RunOutcome['steps'][number]): string {
  const exports = Object.entries(step.exports).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `{"id":"${step.id}","namespace":"${step.namespace}","state":"${step.state}","started_at_ms":${step.startedAtMs},"took_ms":${step.tookMs},"return_value":${step.returnValue ?? 'null'},"exports":{${exports.join(',')}}}`;
}

// A replay of an error, or a retry of the run that failed: another run for the same event.

import { text } from '../bytes.ts';
import { directEmission, type Emission, ERRORS, type NewEmission, REPLAY, type SourceType } from '../emission.ts';
import { numberedId, PREFIX, recordId } from '../ids.ts';
import { isAfterEnd } from '../refusal.ts';
import { isOver, type RunState } from '../run/run.ts';

export interface Replay {
  readonly kind: 'replay' | 'retry';
  /** With another event than the original one. */
  readonly isEdited: boolean;
  readonly run: number;
  readonly state: RunState;
  /** The operation that made it; null: none. */
  readonly operationId: string | null;
}

/** Returns what an emission says of the error or run that it runs again; shown as `caused_by.summary` of its run. */
export const replayOf = (entry: number, isEdited: boolean): string =>
  isEdited ? `replay of ${recordId(entry)}${EDITED}` : `replay of ${recordId(entry)}`;
export const retryOf = (run: number): string => `retry of ${numberedId(PREFIX.run, run)}`;

/** How what an emission says ends when it runs another event than the original one. */
export const EDITED = ', edited';

/**
 * Returns what an emission runs again, by its summary; null: another error of the same run. Both kinds name the run that
 * failed as their cause, by which they are found.
 */
export function kindOfReplay(
  { name, summary }: Pick<NewEmission, 'name' | 'summary'>,
  of: { readonly entry: number | null; readonly run: number | null },
): Pick<Replay, 'kind' | 'isEdited'> | null {
  if (name !== REPLAY || summary === null) return null;
  if (of.run !== null && summary === retryOf(of.run)) return { kind: 'retry', isEdited: false };
  if (of.entry === null) return null;
  const isEdited = summary.endsWith(EDITED);
  return summary === replayOf(of.entry, isEdited) ? { kind: 'replay', isEdited } : null;
}

/**
 * Returns whether nothing is left to be replayed of an error because of this replay: what it fails with is an error of its own.
 * With another event, only what it succeeds with: that it fails says nothing of the original one.
 */
export function standsFor({ isEdited, state }: Pick<Replay, 'isEdited' | 'state'>): boolean {
  return state !== 'cancelled' && !(isEdited && state === 'failed');
}

/**
 * Returns whether the run that an error is of has tried again by itself since, as it does when its first failure is reported at
 * once: it stands for the error as a retry does. Of its last failure it does not: that is what it has ended in.
 */
export function hasGoneOn(
  run: { readonly state: RunState; readonly errorEntry: number | null },
  entry: number,
): boolean {
  return run.state !== 'failed' || (run.errorEntry !== null && run.errorEntry !== entry);
}

/** Returns why an operation makes no replay beside this one. */
export function whyNotAgain({ run, state, isEdited, operationId }: Omit<Replay, 'kind'>): string {
  const id = numberedId(PREFIX.run, run);
  const by = operationId === null ? id : `${id} of ${operationId}`;
  const how = isEdited ? 'again, with changes,' : 'again';
  return isOver(state) ? `its event was run ${how} by ${by} (${state})` : `its event is being run ${how} by ${by}`;
}

/** Returns the same of any replay in that state, for many errors. */
export function whyPassedOver({ state, isEdited }: Pick<Replay, 'state' | 'isEdited'>): string {
  if (!isOver(state)) return 'its event is being run again already';
  if (isEdited) return 'its event was run again with changes, and succeeded';
  if (state === 'succeeded') return 'its event was run again, and succeeded';
  return 'its event was run again, and failed: the error of that run is listed itself';
}

/** Why a named error is not replayed that the owner does not have. */
export const NO_ERROR = 'there is no such error, or its event is no longer stored';
/** Why an error of a hook is not replayed. */
export const OF_HOOK = 'it is of a hook, which runs again when the source is changed';
export const whyNothingRuns = (emitterId: string | null): string => `there is no ${emitterId} any more`;

/** What says whether the event of an error can be replayed. */
export interface Replayable
  extends Pick<Emission, 'emitterId' | 'name' | 'originalStart' | 'causeRun' | 'causeDelivery' | 'code'> {
  /** Returns what its context says of it. */
  readonly marks: () => { readonly reported?: boolean; readonly redacted?: boolean };
}

/** Returns why the event of an error can never be replayed; null: it can, if there is still something to run it. */
export function whyNeverReplayed(error: Emission): string | null {
  return whyNever({ ...error, marks: () => contextOf(error) });
}

export function whyNever(error: Replayable): string | null {
  const { emitterId, name, originalStart, causeRun, causeDelivery, code, marks } = error;
  if (name !== ERRORS || originalStart === null) return 'it is no error with an original event';
  if (emitterId.startsWith(PREFIX.webhook))
    return 'it is of a webhook: its deliveries are sent again, and not replayed';
  if (causeRun === null && causeDelivery === null) {
    if (marks().reported) return 'it was reported by another program: there is nothing here to run again';
    if (isAfterEnd(code)) return AFTER_END;
    const of = code === 'StartFailed' ? 'a file that could not be deployed' : 'a watch';
    return `it is of ${of}: no run failed, and there is no event to replay`;
  }
  if (marks().redacted) return REDACTED;
  if (causeRun === null) return 'it is of a mail or a request: deliveries are sent again, and not replayed';
  return null;
}

const AFTER_END =
  'it is of what a run left behind when it had ended: that run did not fail, and its event is not run again';

/** How many bytes behind an original event have the marks, with names of workflows in them. */
export const MARKS_BYTES = 8192;
/** The mark of an event that was redacted is the first one. */
export const REDACTED_BYTES = 64;

/** Reads marks from the beginning of what stands behind an original event. Quotes in strings are escaped, so no text looks like one. */
export function marksIn(head: string): ReturnType<Replayable['marks']> {
  const [context = ''] = head.split(',"error":', 1);
  return { reported: context.includes(',"reported":true'), redacted: context.includes('{"redacted":true') };
}

/** Returns the emission that runs the original event of an error again, byte for byte. `edited`: another event instead. */
export function emissionOfReplay(error: Emission, edited: Uint8Array | null): NewEmission {
  const start = error.originalStart ?? 0;
  const context = contextOf(error);
  return {
    ...directEmission(error.ownerId, error.emitterId, edited ?? error.body.subarray(start, endOfOriginal(error))),
    name: REPLAY,
    sourceType: context.source_type,
    originId: context.emitter_id,
    verified: context.verified,
    replay: true,
    traceId: error.traceId,
    traceparent: error.traceparent,
    // By what failed, the replay is found from the error.
    causeRun: error.causeRun,
    causeDelivery: error.causeDelivery,
    summary: replayOf(error.entry, edited !== null),
  };
}

/** Why the event of an error that was redacted before it was stored is not replayed. */
export const REDACTED = 'its event was redacted before it was stored (before_storing), and is no longer what arrived';

export function isRedacted(error: Emission): boolean {
  return contextOf(error).redacted === true;
}

/** Returns whether another program has reported the error. */
export function isReported(error: Emission): boolean {
  return contextOf(error).reported === true;
}

interface OriginalContext {
  readonly source_type: SourceType;
  readonly emitter_id: string;
  readonly verified: boolean;
  readonly reported?: boolean;
  readonly redacted?: boolean;
}

function endOfOriginal({ originalStart, originalLength }: Emission): number {
  return (originalStart ?? 0) + (originalLength ?? 0);
}

/** Reads `,"original_context":{…},"error":{…}}`, the part of an error's body that we wrote. */
function contextOf(error: Emission): OriginalContext {
  const rest = text(error.body.subarray(endOfOriginal(error)));
  return (JSON.parse(`{${rest.slice(1)}`) as { original_context: OriginalContext }).original_context;
}

// A replay of an error, or a retry of the run that failed: another run for the same event.

import { type NewEmission, REPLAY } from '../emission.ts';
import { numberedId, PREFIX, recordId } from '../ids.ts';
import type { RunState } from '../run/run.ts';

export interface Replay {
  readonly kind: 'replay' | 'retry';
  /** With another event than the original one. */
  readonly isEdited: boolean;
  readonly run: number;
  readonly state: RunState;
}

/** What an emission says of the error or run that it runs again; shown as `caused_by.summary` of its run. */
export const replayOf = (entry: number, isEdited: boolean): string =>
  isEdited ? `replay of ${recordId(entry)}${EDITED}` : `replay of ${recordId(entry)}`;
export const retryOf = (run: number): string => `retry of ${numberedId(PREFIX.run, run)}`;

const EDITED = ', edited';

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

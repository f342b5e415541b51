// Lines that the server writes into the log of a run, about what the run's code cannot see: that it was started again, and
// that its answer reached no caller.

import { checkpointOf } from '../../domain/run/checkpoint.ts';
import type { ClaimedRun, RunOutcome } from '../../domain/run/run.ts';
import type { LogLine } from '../../domain/run/step-result.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { retryStorage } from '../storage-retry.ts';

interface NoteDeps {
  readonly store: Pick<Store, 'listTriggers'>;
  readonly clock: Clock;
}

const STARTED_AGAIN =
  'started again, alone in its process: the one before was ended because of a run in it, this one or another of the same ' +
  'workflow or source';
const UNHEARD = 'respond has no effect, since the caller was answered before the run:';
const OF_WORKFLOW = `${UNHEARD} the HTTP trigger has no custom_response`;
const OF_SOURCE = `${UNHEARD} the http prop has no customResponse`;

/** Returns whether there may be something to say: most runs are not kept waiting for that. */
export function mayHaveNotes(run: Pick<ClaimedRun, 'alone'>, outcome: Pick<RunOutcome, 'answer'>): boolean {
  return run.alone || outcome.answer !== null;
}

/** Returns the outcome with these lines. `isAwaited`: a caller waits for the answer. */
export async function withNotes(
  deps: NoteDeps,
  run: ClaimedRun,
  { outcome, isAwaited, signal }: { outcome: RunOutcome; isAwaited: boolean; signal: AbortSignal },
): Promise<RunOutcome> {
  const before = run.alone && !isNoted(run) ? [lineOf(STARTED_AGAIN, deps.clock)] : [];
  const isUnheard = outcome.answer !== null && !isAwaited && (await answersNoCaller(deps.store, run, signal));
  const unheard = run.runnable.id.startsWith('dc_') ? OF_SOURCE : OF_WORKFLOW;
  const behind = isUnheard ? [lineOf(unheard, deps.clock)] : [];
  if (before.length + behind.length === 0) return outcome;
  return { ...outcome, logs: [...before, ...outcome.logs, ...behind] };
}

/** Returns whether the log says so already: a run that has waited stays alone. */
function isNoted(run: ClaimedRun): boolean {
  return checkpointOf(run)?.logs.some(({ text }) => text === STARTED_AGAIN) ?? false;
}

/**
 * Returns whether the run was begun by a request to its own address that waits for no answer. Other runs of the same code,
 * such as replays, have no caller; to say so each time would help no reader.
 */
async function answersNoCaller(store: NoteDeps['store'], run: ClaimedRun, signal: AbortSignal): Promise<boolean> {
  const { runnable, emission } = run;
  if (emission.sourceType !== 'HTTP' || emission.replay || !emission.emitterId.startsWith('hi_')) return false;
  const triggers = await retryStorage(() => store.listTriggers(runnable.ownerId, runnable.id), signal);
  return triggers?.some(({ id, customResponse }) => id === emission.emitterId && !customResponse) ?? false;
}

function lineOf(text: string, clock: Clock): LogLine {
  return { tsMs: clock.nowMs(), level: 'warn', namespace: '', text };
}

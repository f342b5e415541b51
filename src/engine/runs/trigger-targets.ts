// Workflows that a run triggers by their id must be there: what it sends them never goes silently into nowhere.

import type { ClaimedRun, Fault, Outgoing, RunOutcome } from '../../domain/run/run.ts';
import type { LogLine } from '../../domain/run/step-result.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';

interface CheckedOutcome {
  readonly outcome: RunOutcome;
  /** The run failed because of this, and would again. */
  readonly isFinal: boolean;
}

/** Ids in the message, which is also a line of the log and stands in mails. A run may ask for 10,000. */
const NAMED = 10;

const isTrigger = ({ kind }: Outgoing): boolean => kind === 'trigger';

/** Returns whether the run triggers workflows. */
export function hasTargets({ outgoing }: RunOutcome): boolean {
  return outgoing.some(isTrigger);
}

/**
 * Checks that what a run triggers is there. A run that triggers what is not its owner's workflow has failed in its last step,
 * also when it would have waited.
 */
export async function checkTargets(
  { store, clock }: { readonly store: Pick<Store, 'exists'>; readonly clock: Clock },
  run: ClaimedRun,
  outcome: RunOutcome,
): Promise<CheckedOutcome> {
  if (!hasTargets(outcome)) return { outcome, isFinal: false };
  const { ownerId } = run.runnable;
  const targets = [...new Set(outcome.outgoing.filter(isTrigger).map(({ name }) => name))];
  const known = await Promise.all(targets.map((id) => id.startsWith('p_') && store.exists(ownerId, id)));
  const missing = targets.filter((_, i) => !known[i]);
  if (missing.length === 0) return { outcome, isFinal: false };

  const sends = (out: Outgoing): boolean => isTrigger(out) && missing.includes(out.name);
  const msg = `$.flow.trigger: there is no workflow ${listOf(missing)}`;
  const outgoing = outcome.outgoing.filter((out) => !sends(out));
  const outgoingOfDone = outcome.outgoing.slice(0, outcome.outgoingOfDone).filter((out) => !sends(out)).length;
  const whole = { ...outcome, outgoing, outgoingOfDone, logs: [...outcome.logs, lineOf(msg, outcome, clock)] };
  const { kind } = outcome.end;
  if (kind !== 'succeeded' && kind !== 'waiting') return { outcome: whole, isFinal: false };
  const last = outcome.steps.at(-1);
  const steps = outcome.steps.map((step) => (step === last ? { ...step, state: 'failed' as const } : step));
  const fault: Fault = {
    code: 'ConfigurationError',
    msg,
    cellId: last?.id ?? '',
    namespace: last?.namespace ?? '',
    tsMs: clock.nowMs(),
    stack: '',
  };
  return { outcome: { ...whole, steps, end: { kind: 'failed', fault } }, isFinal: true };
}

function listOf(missing: readonly string[]): string {
  const named = missing.slice(0, NAMED).join(', ');
  return missing.length > NAMED ? `${named} and ${missing.length - NAMED} others` : named;
}

function lineOf(text: string, outcome: RunOutcome, clock: Clock): LogLine {
  return { tsMs: clock.nowMs(), level: 'error', namespace: outcome.steps.at(-1)?.namespace ?? '', text };
}

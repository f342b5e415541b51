// Runs of a source happen one after the other, hooks among them. But a hook that registers the source's address at a
// service may be waiting for that service, and the service for an answer from the address, to see that it is right:
// then the run that answers must not wait for the hook. So where callers wait for a source's answers, and a hook of it has
// been under way for a while, one run at a time goes beside it. Not at once: what comes when the hook has just registered is
// better run behind it, when what the hook has written to the db is there.

import { LIMITS } from '../domain/limits.ts';
import { NO_OUTCOME, type RunOutcome } from '../domain/run.ts';
import type { Slots } from './slots.ts';

interface Beside {
  readonly slots: Pick<Slots, 'letBeside' | 'endBeside'>;
  /** One more may begin. */
  readonly wakeRuns: () => void;
}

/** Executes the hooks of that source, whose callers wait for answers. */
export async function executeHooks(
  { slots, wakeRuns }: Beside,
  sourceId: string,
  execute: () => Promise<RunOutcome>,
): Promise<RunOutcome> {
  // Other hooks of it are under way: a change at another node, which must not mix with this one.
  if (slots.endBeside(sourceId)) return { ...NO_OUTCOME, end: { kind: 'returned' } };
  const timer = setTimeout(() => {
    slots.letBeside(sourceId);
    wakeRuns();
  }, LIMITS.hooksAloneMs);
  try {
    return await execute();
  } finally {
    clearTimeout(timer);
    slots.endBeside(sourceId);
  }
}

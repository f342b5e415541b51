// Ending waits of runs from outside: a caller with the address of a wait ends it, by resuming the run or by cancelling it.

import { numberedId, PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WaitAddress, WaitOrder } from '../../domain/requests.ts';
import { keptBytes, resumeBytes } from '../../domain/run/checkpoint.ts';
import type { RunState } from '../../domain/run/run.ts';
import { stepsIn } from '../../domain/run/run-trace.ts';
import type { Wake } from '../../ports.ts';
import { isResumeToken, resumeKeyOf, resumeToken } from '../../runner/resume-token.ts';
import type { Store } from '../../store/contract/store.ts';
import type { WaitingRun } from '../../store/contract/waits.ts';
import type { Waiters } from '../accept/waiters.ts';
import { CANCELLED } from './ready-runs.ts';

export interface ResumeDeps {
  readonly store: Pick<Store, 'waitingRun' | 'resumeRun' | 'getRun' | 'deriveKey'>;
  readonly waiters: Pick<Waiters, 'end'>;
  readonly wake: Wake;
}

/** Stands for a deployment where there is no run, so that the answer takes as long. */
const NO_DEPLOYMENT = 'd_';

/** What became of a run whose wait is not to be ended any more. */
const BECAME: Readonly<Record<RunState, string>> = {
  queued: 'it goes on already',
  running: 'it goes on already',
  waiting: 'this wait of it is over, and it waits for something else',
  succeeded: 'it went on, and has succeeded',
  failed: 'it went on, and has failed',
  cancelled: 'it was cancelled by a request or because its time was up',
};

export function createResumes({ store, waiters, wake }: ResumeDeps) {
  /** Finds a run that waits. A run that is not there and a wrong token are refused alike. */
  async function waitingRun({ run, waits, token }: WaitAddress): Promise<WaitingRun> {
    const known = await store.waitingRun(run);
    const key = resumeKeyOf(store.deriveKey('resume'), known?.deploymentId ?? NO_DEPLOYMENT);
    if (!isResumeToken(token, resumeToken(key, run, waits)) || !known) throw notThere();
    return known;
  }

  async function findWait(address: WaitAddress): Promise<string> {
    return (await waitingRun(address)).ownerId;
  }

  /** Ends a wait. Returns the run's state after that. */
  async function endWait(order: WaitOrder): Promise<RunState> {
    return end(order, await waitingRun(order));
  }

  /** Ends the wait that a run of the owner is in, without its address: the run goes on. Returns the run's state after that. */
  async function resumeRun(ownerId: string, run: number, request: string): Promise<RunState> {
    const known = await store.waitingRun(run);
    if (known?.ownerId !== ownerId) throw new Refusal('not_found', `there is no run ${numberedId(PREFIX.run, run)}`);
    if (known.state !== 'waiting') throw over(run, known);
    return end({ run, waits: known.waits, order: 'resume', request }, known);
  }

  async function end({ run, waits, order, request }: Omit<WaitOrder, 'token'>, known: WaitingRun): Promise<RunState> {
    if (order === 'resume') await mustFit(known, run, request);
    const taken = await store.resumeRun({ run, waits }, order, order === 'resume' ? request : null);
    const now = await store.waitingRun(run);
    if (taken === undefined || !now) throw notThere();
    if (taken === 'over') throw over(run, now);
    if (now.state === 'cancelled') waiters.end(run, CANCELLED);
    else wake.notify('runs');
    return now.state;
  }

  /**
   * Throws `Refusal` when the run would keep more than its steps may leave: so the sender learns of it. (When the request
   * comes before its wait has begun, the results of the step under way are counted when the run goes on.)
   */
  async function mustFit({ ownerId }: WaitingRun, run: number, request: string): Promise<void> {
    const whole = await store.getRun(ownerId, run);
    const steps = whole?.detail ? stepsIn(whole.detail).filter((step) => !step.isAgain) : [];
    const [kept, bytes] = [keptBytes(steps), resumeBytes(request)];
    if (kept + bytes <= LIMITS.resultBytes) return;
    throw new Refusal(
      'too_large',
      `The run ${numberedId(PREFIX.run, run)} has kept ${kept} bytes of results; with this body of ${bytes} bytes it would be more than the ${LIMITS.resultBytes} that a run may keep. It still waits`,
    );
  }

  return { findWait, endWait, resumeRun };
}

function notThere(): Refusal {
  return new Refusal('not_found', 'No run waits at this address');
}

function over(run: number, { state }: WaitingRun): Refusal {
  return new Refusal('conflict', `The run ${numberedId(PREFIX.run, run)} no longer waits here: ${BECAME[state]}`);
}

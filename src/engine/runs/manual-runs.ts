// Runs started by a request: of a workflow with an event, of a source, a replay of an error, a hook.

import { utf8 } from '../../domain/bytes.ts';
import { directEmission, type Emission, ERRORS } from '../../domain/emission.ts';
import { emissionOfReplay, isReported, whyNeverReplayed, whyNotAgain } from '../../domain/errors/replay.ts';
import { numberedId, PREFIX, recordId } from '../../domain/ids.ts';
import { LOST_AFTER_END, Refusal, THROWN_AFTER_END } from '../../domain/refusal.ts';
import { isOver, type RunState } from '../../domain/run/run.ts';
import type { Clock } from '../../ports.ts';
import type { Appended, Store } from '../../store/contract/store.ts';
import type { Emit } from '../accept/emit.ts';
import type { Waiters } from '../accept/waiters.ts';
import { tickEvent } from '../schedule/cron.ts';
import { hooksOf } from '../sources/hooks.ts';
import { CANCELLED, type ReadyRuns } from './ready-runs.ts';

export interface ManualRunDeps {
  readonly clock: Clock;
  readonly store: Store;
  readonly emit: Emit;
  readonly readyRuns: Pick<ReadyRuns, 'cancel'>;
  readonly waiters: Waiters;
}

/** Ends the wait of callers whose run was cancelled with its workflow or source: no answer will come. */
export async function releaseCallers(deps: Pick<ManualRunDeps, 'store' | 'waiters'>, ownerId: string): Promise<void> {
  for (const run of deps.waiters.runs()) {
    const record = await deps.store.getRun(ownerId, run);
    if (record?.state === 'cancelled') deps.waiters.end(run, CANCELLED);
  }
}

export function createManualRuns(deps: ManualRunDeps) {
  const { store, emit, readyRuns, clock } = deps;

  /**
   * Returns the verb that runs listeners of one kind by hand: what is requested as a workflow is no source, though both are run
   * alike.
   */
  function runsOf(noun: 'workflow' | 'source') {
    return async (ownerId: string, listenerId: string, event: Uint8Array): Promise<Appended> => {
      if (!listenerId.startsWith(PREFIX[noun]) || !(await store.exists(ownerId, listenerId))) {
        throw new Refusal('not_found', `there is no ${noun} ${listenerId}`);
      }
      return (await emit(directEmission(ownerId, listenerId, event))).appended;
    };
  }

  /** Returns the event of a tick at this moment; of a source without a timer, an empty object. */
  async function tickNow(ownerId: string, sourceId: string): Promise<Uint8Array> {
    const triggers = await store.listTriggers(ownerId, sourceId);
    const schedule = triggers.find((trigger) => trigger.schedule !== null)?.schedule;
    const nowMs = clock.nowMs();
    return schedule ? tickEvent(schedule, { dueAtMs: nowMs, firedAtMs: nowMs, missed: 0 }) : utf8('{}');
  }

  const invoke = runsOf('source');
  const invokeSource = async (ownerId: string, id: string, event: Uint8Array | null): Promise<Appended> =>
    await invoke(ownerId, id, event ?? (await tickNow(ownerId, id)));

  /** Runs the event of an error again, or `edited` instead. `isOnce`: not when it was run again before, or is. */
  async function replay(
    ownerId: string,
    listenerId: string,
    entry: number,
    { edited, isOnce = false }: { readonly edited: Uint8Array | null; readonly isOnce?: boolean },
  ): Promise<Appended> {
    const error = await store.getEmission(ownerId, entry);
    if (!error || error.name !== ERRORS || error.emitterId !== listenerId || error.originalStart === null) {
      throw new Refusal('not_found', `${nounOf(listenerId)} ${listenerId} has no error ${recordId(entry)}`);
    }
    if (!(await store.exists(ownerId, listenerId))) {
      throw new Refusal('not_found', `there is no ${nounOf(listenerId)} ${listenerId}`);
    }
    if (error.causeRun === null && error.causeDelivery === null) throw nothingRan(error);
    await mustBeNoHook(error);
    const whyNever = edited === null ? whyNeverReplayed(error) : null;
    if (whyNever !== null) {
      const why = `error ${recordId(entry)} is not replayed: ${whyNever}. Send an event of your own`;
      throw new Refusal('impossible', why);
    }
    const { causeRun } = error;
    // Under the lock on the error: an operation that comes to it later follows this run, and none runs the event beside it.
    const byOperation = !isOnce;
    const isBeside = edited === null && causeRun !== null && { unlessReplayed: { entry, causeRun, byOperation } };
    const { appended } = await emit(emissionOfReplay(error, edited), { ...isBeside });
    const { lastReplay } = appended;
    if (!lastReplay) return appended;
    const what = isOver(lastReplay.state) ? '' : ': replay it when that run is over, or cancel it';
    throw new Refusal('conflict', `error ${recordId(entry)} is not replayed: ${whyNotAgain(lastReplay)}${what}`);
  }

  async function mustBeNoHook({ ownerId, causeRun, entry }: Emission): Promise<void> {
    const failed = causeRun === null ? undefined : await store.getRun(ownerId, causeRun);
    if (!failed || hooksOf({ name: failed.eventName, body: failed.event }) === null) return;
    const why = 'was of a hook, which runs again when the source is changed; there is no event to replay';
    throw new Refusal('impossible', `error ${recordId(entry)} ${why}`);
  }

  async function cancelRun(ownerId: string, run: number): Promise<RunState> {
    const state = await store.cancelRun(ownerId, run);
    if (state === undefined) throw new Refusal('not_found', `there is no run ${numberedId(PREFIX.run, run)}`);
    if (state === 'running') readyRuns.cancel(run);
    else if (state === 'cancelled') deps.waiters.end(run, CANCELLED);
    return state;
  }

  return { runWorkflow: runsOf('workflow'), invokeSource, replay, cancelRun };
}

const WHY_NOTHING_RAN: Readonly<Record<string, string>> = {
  StartFailed:
    'was of a file that could not be deployed: no run failed, and there is no event to replay. Correct the file',
  [THROWN_AFTER_END]:
    'was thrown after its run had ended: that run did not fail, and its event is not run again. Run the workflow with it',
  [LOST_AFTER_END]:
    'is of calls after its run had ended: that run did not fail, and its event is not run again. Run the workflow with it',
};

function nothingRan(error: Emission): Refusal {
  const why = isReported(error)
    ? 'was reported by another program: no run failed, and there is nothing here to run again'
    : (WHY_NOTHING_RAN[error.code ?? ''] ??
      'was of a watch: no run failed, and there is no event to replay. Run the workflow');
  return new Refusal('impossible', `error ${recordId(error.entry)} ${why}`);
}

function nounOf(listenerId: string): string {
  return listenerId.startsWith(PREFIX.source) ? 'source' : 'workflow';
}

// What the code of a run has left behind, and does behind a timer or a request when the run has ended: exceptions, and calls by
// which something is lost. They undo no end; each run that has them is told of once for each of the two, as an error of its
// workflow or source.
//
// Told are runs that succeeded, or wait. One that failed has its error, of which what comes then is most often a part; one
// that is tried again, or was cancelled, is told by its log alone.

import { failureAfterEnd } from '../../domain/failure.ts';
import { numberedId, PREFIX } from '../../domain/ids.ts';
import { LOST_AFTER_END, THROWN_AFTER_END } from '../../domain/refusal.ts';
import type { Log } from '../../ports.ts';
import type { LateFailure } from '../../runner/runner.ts';
import type { RunRecord } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Emit } from '../accept/emit.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { retryStorage } from '../storage-retry.ts';

export interface LateFailuresDeps {
  readonly store: Pick<Store, 'getRun' | 'getEmission' | 'getDeployment' | 'getWorkflow' | 'getSource'>;
  readonly emit: Emit;
  readonly metrics: Pick<Metrics, 'errors'>;
  readonly log: Log;
  /** Settles when what a run has led to so far is written. */
  readonly written: (run: number) => Promise<unknown>;
}

export function createLateFailures(deps: LateFailuresDeps) {
  const { store, emit, metrics, log, written } = deps;
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function tell({ ownerId, deploymentIds, run, fault, step, lost }: LateFailure): Promise<void> {
    await written(run);
    const record = await store.getRun(ownerId, run);
    // The process of code says which run it was, and may say anything.
    if (!record || !deploymentIds.includes(record.deploymentId) || !isTold(record)) return;
    const { runnableId, deploymentId, entry, attempt } = record;
    const isWorkflow = runnableId.startsWith(PREFIX.workflow);
    const [emission, deployment, runnable] = await Promise.all([
      store.getEmission(ownerId, entry),
      store.getDeployment(ownerId, deploymentId),
      isWorkflow ? store.getWorkflow(ownerId, runnableId) : store.getSource(ownerId, runnableId),
    ]);
    if (!emission || !runnable) return;
    const { id: cellId = '', namespace = '' } = deployment?.steps[step] ?? {};
    const failed = { emission, runnable: { ...runnable, deploymentId }, run, attempt };
    const error = failureAfterEnd(failed, { fault: { ...fault, cellId, namespace }, lost });
    const code = lost === null ? THROWN_AFTER_END : LOST_AFTER_END;
    // Its run is told of once, also when another process of code goes on with it after a wait.
    const once = { triggerId: numberedId(PREFIX.run, run), key: code, requestHash: '' };
    const { repeated } = await emit(error, { idempotency: once }).then(({ appended }) => appended);
    if (!repeated) metrics.errors.inc({ code });
  }

  return {
    /** Tells of it. Never throws. */
    tell: (late: LateFailure): void => {
      const told = retryStorage(() => tell(late), stopping.signal).catch((error: unknown) => {
        log.error(
          { err: error, run: numberedId(PREFIX.run, late.run) },
          'what code did after its run could not be told',
        );
      });
      const done = told.then(() => void underWay.delete(done));
      underWay.add(done);
    },
    /** Waits until all are written that the runner has told of. */
    stop: async (): Promise<void> => {
      stopping.abort();
      await Promise.all(underWay);
    },
  };
}

function isTold({ state, waiting }: Pick<RunRecord, 'state' | 'waiting'>): boolean {
  return state === 'succeeded' || (state === 'waiting' && waiting?.kind !== 'retry');
}

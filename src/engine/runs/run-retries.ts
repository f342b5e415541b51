// Trying a failed run again by hand: a new run with the same event, which goes on from the step that failed.

import { directEmission, type Emission, REPLAY } from '../../domain/emission.ts';
import { isRedacted, REDACTED, retryOf, whyNotAgain } from '../../domain/errors/replay.ts';
import { numberedId, PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import { fromFailedStep } from '../../domain/run/failed-step.ts';
import type { RunWhole } from '../../store/contract/records.ts';
import type { Appended, Store } from '../../store/contract/store.ts';
import type { Emit } from '../accept/emit.ts';

export interface RunRetryDeps {
  readonly store: Store;
  readonly emit: Emit;
}

export function createRunRetries({ store, emit }: RunRetryDeps) {
  /**
   * Runs a failed run again, with the active deployment, which must have the same steps before the one that failed. `isAgain`:
   * also when its event was run again already.
   */
  async function retryRun(ownerId: string, run: number, { isAgain }: { isAgain: boolean }): Promise<Appended> {
    const id = numberedId(PREFIX.run, run);
    const failed = await store.getRun(ownerId, run);
    if (!failed) throw new Refusal('not_found', `there is no run ${id}`);
    const { runnableId } = failed;
    if (!runnableId.startsWith(PREFIX.workflow)) {
      throw new Refusal('impossible', `${id} is a run of a source; only runs of workflows can be tried again`);
    }
    const workflow = await store.getWorkflow(ownerId, runnableId);
    const deployment = workflow && (await store.getDeployment(ownerId, workflow.deploymentId));
    if (!deployment) throw new Refusal('not_found', `there is no workflow ${runnableId} any more`);
    if (failed.state !== 'failed') {
      throw new Refusal(
        'conflict',
        `${id} has not failed (its state is "${failed.state}"); only failed runs are tried again`,
      );
    }
    const { errorEntry } = failed;
    const error = errorEntry === null ? undefined : await store.getEmission(ownerId, errorEntry);
    if (error && isRedacted(error)) throw new Refusal('impossible', `${id} is not tried again: ${REDACTED}`);
    const emission = await store.getEmission(ownerId, failed.entry);
    if (!emission) throw new Refusal('not_found', `the event of ${id} is no longer stored`);
    const continuation = fromFailedStep(failed, deployment);
    if (typeof continuation === 'string')
      throw new Refusal('impossible', `${continuation}. A replay of the error runs all of its steps`);
    // What has succeeded since would be done twice by a request that was sent twice.
    const isFirst = !isAgain && errorEntry !== null && { unlessReplayed: { entry: errorEntry, causeRun: run } };
    const { appended } = await emit(emissionOf(emission, failed), { continuation, ...isFirst });
    const { lastReplay } = appended;
    if (!lastReplay) return appended;
    throw new Refusal(
      'conflict',
      `${id}: ${whyNotAgain(lastReplay)}. Send "again": true (--again) to retry it once more`,
    );
  }

  return { retryRun };
}

/** Returns the event as it was, for that workflow alone; in the same trace, and caused by the run that failed. */
function emissionOf(emission: Emission, failed: RunWhole) {
  const { sourceType, originId, verified, test, traceId, traceparent, lineage, hops } = emission;
  return {
    ...directEmission(emission.ownerId, failed.runnableId, emission.body),
    name: REPLAY,
    replay: true,
    causeRun: failed.run,
    summary: retryOf(failed.run),
    ...{ sourceType, originId, verified, test, traceId, traceparent, lineage, hops },
  };
}

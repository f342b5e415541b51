// Trying a failed run again by hand: a new run with the same event, which goes on from the step that failed.

import { directEmission, type Emission, REPLAY } from '../../domain/emission.ts';
import { isRedacted, REDACTED, retryOf, whyNotAgain } from '../../domain/errors/replay.ts';
import { numberedId, PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Deployment } from '../../domain/resource.ts';
import { checkpointFrom } from '../../domain/run/checkpoint.ts';
import { stepsIn } from '../../domain/run/run-trace.ts';
import type { StepResult } from '../../domain/run/step-result.ts';
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
    const continuation = { checkpoint: checkpointFrom(doneSteps(failed, deployment)), attempt: failed.attempt + 1 };
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

/** Returns the steps that had succeeded, as steps of the deployment with which the run goes on. */
function doneSteps({ run, detail }: RunWhole, { id, steps }: Deployment): readonly StepResult[] {
  const done = (detail === null ? [] : stepsIn(detail)).filter((step) => step.state !== 'failed' && !step.isAgain);
  const isSame = done.length < steps.length && done.every((step, i) => step.namespace === steps[i]?.namespace);
  if (isSame) return done.map((step, i) => ({ ...step, id: steps[i]?.id ?? step.id }));
  const before = done.map(({ namespace }) => namespace).join(', ');
  const now = steps.map(({ namespace }) => namespace).join(', ');
  const failed = numberedId(PREFIX.run, run);
  throw new Refusal(
    'impossible',
    `${failed} failed behind the steps ${before}, and the active deployment ${id} has the steps ${now}; it must begin with the same ones and have one more. A replay of the error runs all of its steps`,
  );
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

// Runs that go on from the step that failed in an earlier run of the same event.

import { numberedId, PREFIX } from '../ids.ts';
import type { Deployment } from '../resource.ts';
import { checkpointFrom } from './checkpoint.ts';
import { stepsIn } from './run-trace.ts';
import type { StepResult } from './step-result.ts';

/** The run that failed. `detail`: JSON text of its course, null when no step had begun. */
export interface FailedRun {
  readonly run: number;
  readonly attempt: number;
  readonly detail: string | null;
}

export interface Continuation {
  /** JSON text of Checkpoint. */
  readonly checkpoint: string;
  readonly attempt: number;
}

/**
 * Returns what a run of that deployment begins with to go on from the step that failed: the steps before it, with their results. A text
 * says why it cannot: the deployment must begin with the same steps, and have one more.
 */
export function fromFailedStep(
  { run, attempt, detail }: FailedRun,
  { id, steps }: Pick<Deployment, 'id' | 'steps'>,
): Continuation | string {
  const done = (detail === null ? [] : stepsIn(detail)).filter((step) => step.state !== 'failed' && !step.isAgain);
  const isSame = done.length < steps.length && done.every((step, i) => step.namespace === steps[i]?.namespace);
  if (isSame) {
    const kept = done.map((step, i): StepResult => ({ ...step, id: steps[i]?.id ?? step.id }));
    return { checkpoint: checkpointFrom(kept), attempt: attempt + 1 };
  }
  const before = done.map(({ namespace }) => namespace).join(', ');
  const now = steps.map(({ namespace }) => namespace).join(', ');
  const failed = numberedId(PREFIX.run, run);
  return `${failed} failed behind the steps ${before}, and the deployment ${id} has the steps ${now}; it must begin with the same ones and have one more`;
}

// Steps as asked for → a deployment, bundled; or a refusal that says where the code is wrong.

import { Refusal } from '../domain/fault.ts';
import { PREFIX } from '../domain/ids.ts';
import type { StepInput } from '../domain/requests.ts';
import type { Deployment, Step } from '../domain/resource.ts';
import type { Clock, Ids } from '../ports.ts';
import { bundleStep } from '../runner/bundle.ts';

interface Bundled {
  readonly ownerId: string;
  readonly id: string;
  readonly previous: Deployment | null;
  /** Where the caller gave the code, when not as a step. */
  readonly parameter?: string;
}

/** Step ids stay with their namespace across deployments. Throws `Refusal` (code_invalid) naming file, line and column. */
export async function makeDeployment(
  deps: { clock: Clock; ids: Ids },
  runnable: Bundled,
  inputs: readonly StepInput[],
): Promise<Deployment> {
  const bundled = await Promise.all(inputs.map((input) => bundleStep(input)));
  const problems = bundled.flatMap((result) => (result.ok ? [] : result.problems));
  if (problems.length > 0) {
    const errors = problems.map(({ file, line, column, text }) => ({
      parameter: runnable.parameter ?? `steps.${file.replace(/\.[a-z]+$/, '')}.code`,
      message: text,
      file,
      line,
      column,
    }));
    const { file, line, column, text } = problems[0] as (typeof problems)[number];
    throw new Refusal('code_invalid', `${file}:${line}:${column}: ${text}`, { errors });
  }
  const steps = inputs.map((input, i): Step => {
    const result = bundled[i] as Extract<(typeof bundled)[number], { ok: true }>;
    const known = runnable.previous?.steps.find((step) => step.namespace === input.namespace);
    return {
      id: known?.id ?? deps.ids.next(PREFIX.step),
      namespace: input.namespace,
      code: input.code,
      bundle: result.bundle,
      sourceMap: result.sourceMap,
    };
  });
  const { ownerId, id: runnableId } = runnable;
  return { id: deps.ids.next(PREFIX.deployment), ownerId, runnableId, steps, createdAtMs: deps.clock.nowMs() };
}

/** Whether these steps are the deployment's own, so that no new one is made for unchanged code. */
export function isSameCode(deployment: Deployment, inputs: readonly StepInput[]): boolean {
  if (deployment.steps.length !== inputs.length) return false;
  return inputs.every(({ namespace, code }, i) => {
    const step = deployment.steps[i];
    return step?.namespace === namespace && step.code === code;
  });
}

// From a caller's steps to a bundled deployment, or a refusal that says where the code is wrong.

import { PREFIX } from '../../domain/ids.ts';
import { originOf } from '../../domain/origin.ts';
import type { StepInput } from '../../domain/requests.ts';
import type { Deployment, Step } from '../../domain/resource.ts';
import type { Clock, Ids } from '../../ports.ts';
import { bundleStep } from '../../runner/bundling/bundle.ts';
import type { CodeProblem } from '../../runner/bundling/bundle-options.ts';
import { refusalOf } from '../components/code-refusal.ts';
import type { Components } from '../components/components.ts';
import { stepIdOf } from './step-ids.ts';

interface Bundling {
  readonly ownerId: string;
  readonly id: string;
  readonly previous: Deployment | null;
  /** The request's parameter with the code, when it is not a step. */
  readonly parameter?: string;
}

export interface CodeDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Absent: no packages and no files. */
  readonly components?: Components;
}

/** Makes a deployment; step ids stay with their namespace. Throws `Refusal` (code_invalid) naming file, line and column. */
export async function makeDeployment(
  deps: CodeDeps,
  runnable: Bundling,
  inputs: readonly StepInput[],
): Promise<Deployment> {
  const bundle = deps.components?.bundle ?? ((input: StepInput) => bundleStep(input));
  const bundled = await Promise.all(
    inputs.map(async ({ namespace, code, ready }) => {
      const known = ready ?? deployedFile(runnable.previous, code);
      if (known) return { ok: true as const, bundle: known.bundle, sourceMap: known.sourceMap };
      return isAddress(code) ? notCode(namespace) : await bundle({ namespace, code }, runnable.ownerId);
    }),
  );
  const problems = bundled.flatMap((result) => (result.ok ? [] : result.problems));
  if (problems.length > 0) {
    throw refusalOf(problems, (file) => runnable.parameter ?? `steps.${file.replace(/\.[a-z]+$/, '')}.code`);
  }
  const steps = inputs.map((input, i): Step => {
    const result = bundled[i] as Extract<(typeof bundled)[number], { ok: true }>;
    const known = runnable.previous?.steps.find((step) => step.namespace === input.namespace);
    return {
      id: known?.id ?? stepIdOf(runnable.id, input.namespace),
      namespace: input.namespace,
      code: input.code,
      bundle: result.bundle,
      sourceMap: result.sourceMap,
    };
  });
  const { ownerId, id: runnableId } = runnable;
  return { id: deps.ids.next(PREFIX.deployment), ownerId, runnableId, steps, createdAtMs: deps.clock.nowMs() };
}

/**
 * Returns the step that was deployed by path with this code: sent back, it stays as it is, since the code alone, without the files
 * around it, would be another program.
 */
function deployedFile(previous: Deployment | null, code: string): Step | undefined {
  if (originOf(code)?.kind !== 'component_path') return undefined;
  return previous?.steps.find((step) => step.code === code);
}

/** Returns whether the code is a URL: services that fetch code accept a link. */
function isAddress(code: string): boolean {
  return /^\s*(https?:\/\/|git@)\S+\s*$/.test(code);
}

function notCode(namespace: string): { ok: false; problems: readonly CodeProblem[] } {
  const text =
    'here is an address, where the code itself is expected: send what the file contains, deploy the file with "errand deploy", or name a file of the server with component_path';
  return { ok: false, problems: [{ file: `${namespace}.ts`, line: 1, column: 1, text }] };
}

/** Reads the steps that are files of the server. */
export async function readSteps({ components }: CodeDeps, inputs: readonly StepInput[]): Promise<StepInput[]> {
  return await Promise.all(
    inputs.map(async (input, i) => {
      const { componentPath, ...rest } = input;
      if (componentPath === undefined || components === undefined) return input;
      const parameter = `steps[${i}].component_path`;
      const { code, ...ready } = await components.fromPath(componentPath, { namespace: rest.namespace, parameter });
      return { ...rest, code, ready };
    }),
  );
}

/** Returns whether these steps are the deployment's own, so that unchanged code makes no new deployment. */
export function isSameCode(deployment: Deployment, inputs: readonly StepInput[]): boolean {
  if (deployment.steps.length !== inputs.length) return false;
  return inputs.every(({ namespace, code }, i) => {
    const step = deployment.steps[i];
    return step?.namespace === namespace && step.code === code;
  });
}

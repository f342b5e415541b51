// Deploys a draft in the place of the version that is shown, and of no other one.

import type { QueryClient } from '@tanstack/react-query';
import { ProblemError } from '../../../../src/client/client.ts';
import { type ReadWorkflow, updateWorkflow, workflowQuery } from '../../api/workflows.ts';
import type { CodeFault } from './code-editor.tsx';
import { codeOf, type ShownStep } from './draft-steps.ts';

/** The record is not the one any more that the change is of. */
const CHANGED = 412;

/** What was refused of a step. */
export interface StepFaults {
  readonly code: readonly CodeFault[];
  /** What has no place in its code. */
  readonly said: readonly string[];
}

export const NO_FAULTS: StepFaults = { code: [], said: [] };

/** Returns the workflow as it is then; null: another version is active. */
export async function deploy(
  client: QueryClient,
  workflow: ReadWorkflow,
  shown: readonly ShownStep[],
): Promise<ReadWorkflow | null> {
  const { id, etag, deployment_id: version } = workflow;
  // Props that are left out stay as they are, and so does a component whose code is sent back as it was read.
  const steps = shown.map((step) => ({ namespace: step.name, code: codeOf(step) }));
  try {
    return await updateWorkflow(id, { steps }, etag);
  } catch (error) {
    if (!(error instanceof ProblemError && error.status === CHANGED)) throw error;
    const now = await client.fetchQuery({ ...workflowQuery(id), staleTime: 0 });
    // What else of it was changed, such as its settings, does not matter.
    return now.deployment_id === version ? updateWorkflow(id, { steps }, now.etag) : null;
  }
}

/** Returns what the server refused, by the ids of the steps that were sent. */
export function faultsOf(error: unknown, sent: readonly ShownStep[]): ReadonlyMap<string, StepFaults> {
  const found = new Map<string, StepFaults>();
  if (!(error instanceof ProblemError)) return found;
  for (const { file = '', line, column = 1, message, parameter } of error.errors) {
    const [, place, name, rest = ''] = /^steps(?:\[(\d+)\]|\.(\w+))\.?(.*)$/.exec(parameter) ?? [];
    const named = name ?? file.replace(/\.\w+$/, '');
    const step = place === undefined ? sent.find((one) => one.name === named) : sent[Number(place)];
    if (!step) continue;
    const { code, said } = found.get(step.id) ?? NO_FAULTS;
    // Of a value in its configuration, the name of the value.
    const about = /^configured_props\.(.+)$/.exec(rest)?.[1];
    found.set(
      step.id,
      line === undefined
        ? { code, said: [...said, about === undefined ? message : `${about}: ${message}`] }
        : { code: [...code, { line, column, message }], said },
    );
  }
  return found;
}

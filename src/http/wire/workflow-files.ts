// What a workflow file says of itself, as the same thing would be asked for over HTTP. It comes from a process that runs
// user code, so it is checked as a request is.

import { type Static, Type } from 'typebox';
import type { WorkflowInput } from '../../domain/requests.ts';
import { validatorOf } from '../validation.ts';
import { WORKFLOW_CREATE, workflowInput } from './workflows.ts';

const DESCRIBED = Type.Object(WORKFLOW_CREATE, { additionalProperties: false });

const refusalOf = validatorOf(DESCRIBED);

/** The steps' code is in the bundle, and only their names are here. Throws `Refusal`. */
export function fileInput(described: unknown): WorkflowInput {
  const { steps, ...others } = (described ?? {}) as Readonly<Record<string, unknown>>;
  const named = Array.isArray(steps) ? steps.map((namespace: unknown) => ({ namespace, code: '-' })) : steps;
  const asked = { ...others, steps: named };
  const refusal = refusalOf(asked);
  if (refusal) throw refusal;
  return workflowInput(asked as Static<typeof DESCRIBED>);
}

// Parameters of workflow files; and what a file declares about itself, in the form of the API's parameters. That comes from
// a process that runs user code, so it is checked like a request.

import type { Static } from 'typebox';
import type { WorkflowInput } from '../../domain/requests.ts';
import { oneOf, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { validatorOf } from '../validation.ts';
import { SETTINGS_INPUT } from './settings.ts';
import { WORKFLOW_CREATE, WORKFLOW_WHOLE, workflowInput } from './workflows.ts';

export const FILE_INPUT = {
  path: text({
    description: 'Of the file in its folder.',
    pattern: '^[^/\\\\\\x00-\\x1f]+(/[^/\\\\\\x00-\\x1f]+)*$',
    expected: 'names joined by slashes, without one at the beginning or end',
    maxLength: 512,
    example: 'shop/order.ts',
  }),
  source: text({
    description: 'The file as it was written: what is shown as its code.',
    example: "import { defineWorkflow } from 'errand/workflow';\n…",
  }),
  bundle: text({
    description: 'An ES module that needs nothing but Node’s own modules; the bundler decides what it exports.',
    minLength: 1,
    example: 'var Chain = class …',
  }),
  source_map: text({
    description: 'From the bundle to the files, as JSON text.',
    example: '{"version":3,"sources":["order.ts"],"names":[],"mappings":"AAAA"}',
  }),
  env: SETTINGS_INPUT.properties.env,
};

export const FILE_ANSWER = Type.Object({
  result: oneOf(['made', 'changed', 'same']),
  workflow: WORKFLOW_WHOLE,
});

const DESCRIBED = Type.Object(WORKFLOW_CREATE, { additionalProperties: false });

const refusalOf = validatorOf(DESCRIBED);

/** Returns what the file declares; its steps have names only, since their code is in the bundle. Throws `Refusal`. */
export function fileInput(described: unknown): WorkflowInput {
  const { steps, ...others } = (described ?? {}) as Readonly<Record<string, unknown>>;
  const named = Array.isArray(steps) ? steps.map((namespace: unknown) => ({ namespace, code: '-' })) : steps;
  const asked = { ...others, steps: named };
  const refusal = refusalOf(asked);
  if (refusal) throw refusal;
  return workflowInput(asked as Static<typeof DESCRIBED>);
}

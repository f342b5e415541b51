// Parameters of workflow files; and what a file declares about itself, in the form of the API's parameters. That comes from
// a process that runs user code, so it is checked like a request.

import type { Static } from 'typebox';
import { FILE_LIMITS } from '../../domain/files/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WorkflowFileInput, WorkflowInput } from '../../domain/requests.ts';
import { oneOf, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { validatorOf } from '../validation.ts';
import { ENV } from './settings.ts';
import { WORKFLOW_CREATE, WORKFLOW_WHOLE, workflowInput } from './workflows.ts';

const BUNDLE = 'An ES module that needs nothing but Node’s own modules; the bundler decides what it exports.';
const SOURCE_MAP = 'From the bundle to the files, as JSON text.';

/** A file with its bundle. */
export const BUNDLED_FILE = {
  path: text({
    description: 'Of the file in its folder.',
    pattern: '^[^/\\\\\\x00-\\x1f]+(/[^/\\\\\\x00-\\x1f]+)*$',
    expected: 'names joined by slashes, without one at the beginning or end',
    maxLength: FILE_LIMITS.pathChars,
    example: 'shop/order.ts',
  }),
  source: text({
    description: 'The file as it was written: what is shown as its code.',
    example: "import { defineWorkflow } from 'errand/workflow';\n…",
  }),
  bundle: text({
    description: BUNDLE,
    minLength: 1,
    example: 'var Chain = class …',
  }),
  source_map: text({
    description: SOURCE_MAP,
    example: '{"version":3,"sources":["order.ts"],"names":[],"mappings":"AAAA"}',
  }),
};

const { path, source, bundle, source_map } = BUNDLED_FILE;

export const PROJECT = text({
  description:
    'Whose file it is. A path belongs to the project that deployed it first, and another one is refused: 409. Absent: it stays whose it is.',
  pattern: '^[\\w@.-]+(/[\\w@.-]+)*$',
  expected: 'names of letters, digits and @ . _ -, joined by slashes',
  minLength: 1,
  maxLength: FILE_LIMITS.projectChars,
  example: 'shop/workflows',
});

export const FILE_INPUT = {
  path,
  project: Type.Optional(PROJECT),
  source,
  bundle: Type.Optional({ ...bundle, description: `${BUNDLE} Absent: the server bundles \`source\`.` }),
  source_map: Type.Optional({ ...source_map, description: `${SOURCE_MAP} Given with \`bundle\`.` }),
  env: Type.Optional(ENV),
  unique_name: Type.Optional(
    Type.Boolean({
      description: 'True: a new workflow is refused when another active one has its name: 409.',
      examples: [false],
    }),
  ),
};

export const FILE_ANSWER = Type.Object({
  result: oneOf(['made', 'changed', 'same'], 'What became of the workflow; `same`: nothing has changed.'),
  workflow: WORKFLOW_WHOLE,
});

interface Uploaded {
  readonly path: string;
  readonly project?: string;
  readonly source: string;
  readonly bundle?: string;
  readonly source_map?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly unique_name?: boolean;
}

/** Throws `Refusal` when there is a bundle without its source map, or the other way round. */
export function uploadedFile(given: Uploaded): WorkflowFileInput {
  const { path, project = null, source, bundle, source_map: sourceMap, env = {}, unique_name: hasUniqueName } = given;
  const file = { path, project, source, env, hasUniqueName };
  if (bundle !== undefined && sourceMap !== undefined) return { ...file, bundled: { bundle, sourceMap } };
  if (bundle === undefined && sourceMap === undefined) return { ...file, bundled: null };
  const parameter = bundle === undefined ? 'bundle' : 'source_map';
  const message = 'is missing: bundle and source_map go together';
  throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

/** Whether it is active is no matter of its file. */
const { active: _, ...DECLARED } = WORKFLOW_CREATE;
const DESCRIBED = Type.Object(DECLARED, { additionalProperties: false });

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

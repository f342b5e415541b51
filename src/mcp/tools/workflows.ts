// list_workflows, read_workflow, deploy_workflow

import {
  type DeployWorkflowFileInput,
  type Errand,
  etagOf,
  ProblemError,
  type Trigger,
  type WorkflowWhole,
} from '../../client/client.ts';
import { withoutMark } from '../../domain/files/file-mark.ts';
import { FILE_LIMITS } from '../../domain/files/limits.ts';
import { LIMITS } from '../../domain/limits.ts';
import { cut, MAX } from '../excerpt.ts';
import { after, flag, ids, input, LISTED, limit, listOf, next, orNull, output, record, text } from '../schema.ts';
import { fileOf } from '../source-lines.ts';
import { READING, type Tool, ToolError, tool } from '../tool.ts';

interface Listing {
  readonly name?: string;
  readonly limit?: number;
  readonly after?: string;
}

export const listWorkflows: Tool = tool<Listing>({
  name: 'list_workflows',
  title: 'List workflows',
  description: 'Lists workflows with their ids and names.',
  scope: 'read',
  hints: READING,
  input: input({ name: text('Only the one with this name.', { maxLength: LIMITS.nameChars }), limit, after }),
  output: output({ workflows: listOf(record('id, name, active, deployment_id'), 'The workflows.'), next }, [
    'workflows',
    'next',
  ]),
  call: async (errand, { limit: count = LISTED, ...rest }) => {
    const { data, page_info: info } = await errand.listWorkflows({ ...rest, limit: count });
    const workflows = data.map(({ id, name, active, deployment_id }) => ({ id, name, active, deployment_id }));
    return { workflows, next: data.length < count ? null : info.end_cursor };
  },
});

const BY_FILE = 'deploy_workflow with this path and the whole file; deploy_workflow_file where the file is on disk.';
const BY_STEP = 'change_step with the namespace of a step and its whole code.';

const WORKFLOW = {
  id: ids.workflow,
  name: text('Its name.'),
  active: flag('Whether its triggers take events.'),
  deployment_id: text('The deployment that runs now.'),
  path: orNull(text('The path of the file that it was deployed from; null: it was deployed in another way.')),
  to_change: text('Which tool changes its code, and how.'),
  steps: listOf(
    record('namespace, code'),
    'Its steps with their code, as written; of a file the first one has it all.',
  ),
  triggers: listOf(record('type, and where or when'), 'Its triggers.'),
};

export const readWorkflow: Tool = tool<{ readonly id: string }>({
  name: 'read_workflow',
  title: 'Read one workflow',
  description:
    'Shows the code and the triggers of one workflow. Read it before you change it: deploy_workflow with the same path replaces it; where path is null, change_step replaces the code of a step.',
  scope: 'read',
  hints: READING,
  input: input({ id: ids.workflow }, ['id']),
  output: output(WORKFLOW, ['id', 'name', 'active', 'deployment_id', 'path', 'to_change', 'steps', 'triggers']),
  call: async (errand, { id }) => shown((await errand.getWorkflow({ id })).data),
});

function shown(workflow: WorkflowWhole) {
  const { id, name, active, deployment_id: deploymentId, steps, triggers } = workflow;
  const path = fileOf(workflow);
  return {
    ...{ id, name, active, deployment_id: deploymentId },
    path,
    to_change: path === null ? BY_STEP : BY_FILE,
    steps: steps.map(({ namespace, code = '' }) => ({ namespace, code: cut(withoutMark(code), MAX.code) })),
    triggers: triggers.map(triggerOf),
  };
}

function triggerOf(trigger: Trigger) {
  const { id, type, endpoint_url, cron, timezone, interval_seconds, emitter_id, source_id, event_name } = trigger;
  return { id, type, endpoint_url, cron, timezone, interval_seconds, emitter_id, source_id, event_name };
}

const FILE_CHARS = 500_000;

export const SECOND = flag(
  'True: make a new workflow although another active one has its name. Left out, it is refused.',
);

interface Deploying {
  readonly path: string;
  readonly source: string;
  readonly second?: boolean;
}

export const DEPLOYED = output(
  {
    result: text('made, changed, or same: nothing was changed.'),
    workflow_id: ids.workflow,
    name: text('Its name.'),
    deployment_id: text('The deployment that runs now.'),
    endpoints: listOf(text('An address.'), 'Where its HTTP triggers take events.'),
  },
  ['result', 'workflow_id', 'name', 'deployment_id', 'endpoints'],
);

export const DEPLOYING = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
} as const;

export const deployWorkflow: Tool = tool<Deploying>({
  name: 'deploy_workflow',
  title: 'Deploy a workflow file',
  description:
    'Deploys one TypeScript or JavaScript file whose default export is what defineWorkflow of "errand/workflow" returns. The server bundles it: it may import Node’s modules and packages that the server has, no other files. The same path is the same workflow: it is made or replaced at once, and its triggers take events from then on. Code that does not compile is refused with file, line and column, and nothing changes. The earlier deployment stays: a person can go back to it.',
  scope: 'write',
  hints: DEPLOYING,
  input: input(
    {
      path: text('The path of the file, such as shop/order.ts: it names the workflow.', {
        minLength: 1,
        maxLength: FILE_LIMITS.pathChars,
      }),
      source: text('The whole file.', { minLength: 1, maxLength: FILE_CHARS }),
      second: SECOND,
    },
    ['path', 'source'],
  ),
  output: DEPLOYED,
  call: async (errand, { second, ...file }) => deployed(errand, file, second),
});

/** Deploys a file. Throws `ToolError` when that would be a second workflow of its name, and this was not asked for. */
export async function deployed(errand: Errand, file: DeployWorkflowFileInput, second = false): Promise<object> {
  try {
    return deployedOf((await errand.deployWorkflowFile({ ...file, unique_name: !second })).data);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.errors[0]?.parameter !== 'unique_name') throw error;
    throw new ToolError(
      `${error.detail}. To correct that one, read it with read_workflow: deploy_workflow with its path replaces it, and where path is null, change_step changes it. Give second: true only when both are to run.`,
    );
  }
}

interface Changing {
  readonly workflow_id: string;
  readonly namespace: string;
  readonly code: string;
}

export const changeStep: Tool = tool<Changing>({
  name: 'change_step',
  title: 'Change the code of one step',
  description:
    'Replaces the code of one step of a workflow that was not deployed from a file: of one where read_workflow says that path is null. Its other steps, its triggers and its settings stay. Runs begin with the new code at once. Code that does not compile is refused with file, line and column, and nothing changes. The earlier deployment stays: a person can go back to it.',
  scope: 'write',
  hints: DEPLOYING,
  input: input(
    {
      workflow_id: ids.workflow,
      namespace: text('The name of the step, as read_workflow says.', { minLength: 1, maxLength: LIMITS.nameChars }),
      code: text('Its whole code: an ES module whose default export is a function or a component.', {
        minLength: 1,
        maxLength: FILE_CHARS,
      }),
    },
    ['workflow_id', 'namespace', 'code'],
  ),
  output: DEPLOYED,
  call: async (errand, { workflow_id: id, namespace, code }) => {
    const before = await errand.getWorkflow({ id });
    const path = fileOf(before.data);
    if (path !== null) throw new ToolError(`${id} was deployed from the file ${path}: change it with deploy_workflow.`);
    const names = before.data.steps.map((step) => step.namespace);
    if (!names.includes(namespace))
      throw new ToolError(`${id} has no step ${JSON.stringify(namespace)}; it has ${names.join(', ')}.`);
    const steps = before.data.steps.map((step) => ({
      namespace: step.namespace,
      code: step.namespace === namespace ? code : step.code,
    }));
    // Another change that came meanwhile is not overwritten.
    const { data } = await errand.updateWorkflow({ id, steps }, { ifMatch: etagOf(before) });
    const result = data.deployment_id === before.data.deployment_id ? 'same' : 'changed';
    return deployedOf({ result, workflow: data });
  },
});

/** Returns what a deployment came to. */
function deployedOf({ result, workflow }: { readonly result: string; readonly workflow: WorkflowWhole }) {
  const { id, name, deployment_id: deploymentId, triggers } = workflow;
  const endpoints = triggers.flatMap(({ endpoint_url: url }) => url ?? []);
  return { result, workflow_id: id, name, deployment_id: deploymentId, endpoints };
}

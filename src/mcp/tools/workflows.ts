// list_workflows, read_workflow, deploy_workflow

import type { Trigger, WorkflowWhole } from '../../client/client.ts';
import { withoutMark } from '../../domain/files/file-mark.ts';
import { FILE_LIMITS } from '../../domain/files/limits.ts';
import { LIMITS } from '../../domain/limits.ts';
import { cut, MAX } from '../excerpt.ts';
import { after, flag, ids, input, LISTED, limit, listOf, next, orNull, output, record, text } from '../schema.ts';
import { fileOf } from '../source-lines.ts';
import { READING, type Tool, tool } from '../tool.ts';

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

const WORKFLOW = {
  id: ids.workflow,
  name: text('Its name.'),
  active: flag('Whether its triggers take events.'),
  deployment_id: text('The deployment that runs now.'),
  path: orNull(text('The path of the file that it was deployed from; null: it was deployed in another way.')),
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
    'Shows the code and the triggers of one workflow. Read it before you change it: deploy_workflow with the same path replaces it.',
  scope: 'read',
  hints: READING,
  input: input({ id: ids.workflow }, ['id']),
  output: output(WORKFLOW, ['id', 'name', 'active', 'deployment_id', 'path', 'steps', 'triggers']),
  call: async (errand, { id }) => shown((await errand.getWorkflow({ id })).data),
});

function shown(workflow: WorkflowWhole) {
  const { id, name, active, deployment_id: deploymentId, steps, triggers } = workflow;
  return {
    ...{ id, name, active, deployment_id: deploymentId },
    path: fileOf(workflow),
    steps: steps.map(({ namespace, code = '' }) => ({ namespace, code: cut(withoutMark(code), MAX.code) })),
    triggers: triggers.map(triggerOf),
  };
}

function triggerOf(trigger: Trigger) {
  const { id, type, endpoint_url, cron, timezone, interval_seconds, emitter_id, source_id, event_name } = trigger;
  return { id, type, endpoint_url, cron, timezone, interval_seconds, emitter_id, source_id, event_name };
}

interface Deploying {
  readonly path: string;
  readonly source: string;
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
      source: text('The whole file.', { minLength: 1, maxLength: 500_000 }),
    },
    ['path', 'source'],
  ),
  output: DEPLOYED,
  call: async (errand, { path, source }) => deployedOf((await errand.deployWorkflowFile({ path, source })).data),
});

/** Returns what a deployment came to. */
export function deployedOf({ result, workflow }: { readonly result: string; readonly workflow: WorkflowWhole }) {
  const { id, name, deployment_id: deploymentId, triggers } = workflow;
  const endpoints = triggers.flatMap(({ endpoint_url: url }) => url ?? []);
  return { result, workflow_id: id, name, deployment_id: deploymentId, endpoints };
}

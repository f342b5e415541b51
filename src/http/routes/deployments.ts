import { stepDiffs } from '../../domain/errors/line-diff.ts';
import { PREFIX } from '../../domain/ids.ts';
import type { Deployment } from '../../domain/resource.ts';
import { STEP_CHANGES, stepChanges } from '../../domain/steps/step-changes.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { id, nullable, oneOf, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { STEP_DIFF, stepDiffToWire } from '../wire/log/differences.ts';
import { DEPLOYMENT, deploymentToWire, WORKFLOW_WHOLE, workflowWholeToWire } from '../wire/workflows.ts';

const STEP_CHANGE = Type.Object(
  {
    change: oneOf(STEP_CHANGES, 'What became of it.'),
    namespace: text({ description: 'Name of the step.', example: 'charge' }),
    was: nullable(text({ description: 'Of a step that was renamed: its name before.', example: 'pay' })),
  },
  { title: 'StepChange' },
);

const CHANGES = Type.Object(
  {
    deployment_id: id('d_'),
    from_deployment_id: nullable(id('d_', 'Null: there is none before it, and all of its code is new.')),
    code: Type.Array(STEP_DIFF, { description: 'Steps whose code differs.' }),
    steps: Type.Array(STEP_CHANGE, {
      description: 'Steps that were added, removed, renamed or moved. A step is known by its name, or by its code.',
    }),
  },
  { title: 'DeploymentChanges' },
);

export function addDeploymentRoutes(app: App, { actions, store, urls }: HttpDeps): void {
  const list = operation({
    id: 'listDeployments',
    tag: 'workflows',
    access: 'read',
    summary: 'List the versions of a workflow',
    description:
      'The newest 20 versions of its code, newest first, and older ones that are active or that open runs need. One of them is active.',
    params: idIn(PREFIX.workflow, 'The workflow.'),
    query: LIST_QUERY,
    answer: listOf(DEPLOYMENT),
  });
  app.get('/v1/workflows/:id/deployments', { schema: list }, async ({ params, query, caller }) => {
    const page = pageOf(query, resourceCursor(PREFIX.deployment));
    const workflow = found(await store.getWorkflow(caller.ownerId, params.id), 'workflow', params.id);
    const listed = await store.listDeployments(caller.ownerId, params.id, page);
    return listAnswer(listed, (deployment) => deploymentToWire(deployment, workflow.deploymentId));
  });

  const changes = operation({
    id: 'getDeploymentChanges',
    tag: 'workflows',
    access: 'read',
    summary: 'Compare two versions of a workflow',
    description:
      'Returns the steps whose code differs between this version and another one, line by line, and those that were added, removed, renamed or moved.',
    params: { ...idIn(PREFIX.workflow, 'The workflow.'), deployment_id: id('d_', 'The version.') },
    query: { from: Type.Optional(id('d_', 'The version to compare with; the one before it when not given.')) },
    answer: dataOf(CHANGES),
  });
  app.get('/v1/workflows/:id/deployments/:deployment_id/changes', { schema: changes }, async (request) => {
    const { params, query, caller } = request;
    const { ownerId } = caller;
    const read = async (version: string): Promise<Deployment> => {
      const deployment = await store.getDeployment(ownerId, version);
      return found(deployment?.runnableId === params.id ? deployment : undefined, 'deployment', version);
    };
    const after = await read(params.deployment_id);
    const earlier = { limit: 1, after: params.deployment_id };
    const before =
      query.from === undefined
        ? (await store.listDeployments(ownerId, params.id, earlier)).items[0]
        : await read(query.from);
    const had = before?.steps ?? [];
    const code = stepDiffs(had, after.steps).map(stepDiffToWire);
    const steps = stepChanges(had, after.steps).map((one) => ({ ...one }));
    return { data: { deployment_id: after.id, from_deployment_id: before?.id ?? null, code, steps } };
  });

  const activate = operation({
    id: 'activateDeployment',
    tag: 'workflows',
    access: 'write',
    summary: 'Activate a version of a workflow',
    description:
      'New events run with this version from now on. Runs in progress end with the version that they started with.',
    params: { ...idIn(PREFIX.workflow, 'The workflow.'), deployment_id: id('d_', 'The version.') },
    answer: dataOf(WORKFLOW_WHOLE),
  });
  const url = '/v1/workflows/:id/deployments/:deployment_id/activate';
  app.post(url, { schema: activate }, async ({ params, caller }) => {
    const whole = await actions.activateDeployment(caller.ownerId, params.id, params.deployment_id);
    return { data: workflowWholeToWire(whole, urls, false) };
  });
}

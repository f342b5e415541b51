import { PREFIX } from '../../domain/ids.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { id } from '../openapi/schema.ts';
import { DEPLOYMENT, deploymentToWire, WORKFLOW_WHOLE, workflowWholeToWire } from '../wire/workflows.ts';

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
    return listAnswer(listed, (deployment) => deploymentToWire(deployment, workflow.deploymentId), query);
  });

  const activate = operation({
    id: 'activateDeployment',
    tag: 'workflows',
    access: 'write',
    summary: 'Go back to a version',
    description: 'New events run with this version from now on; runs in flight end with the one that they began with.',
    params: { ...idIn(PREFIX.workflow, 'The workflow.'), deployment_id: id('d_', 'The version.') },
    answer: dataOf(WORKFLOW_WHOLE),
  });
  const url = '/v1/workflows/:id/deployments/:deployment_id/activate';
  app.post(url, { schema: activate }, async ({ params, caller }) => {
    const whole = await actions.activateDeployment(caller.ownerId, params.id, params.deployment_id);
    return { data: workflowWholeToWire(whole, urls, false) };
  });
}

import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { dataOf, operation } from '../openapi/operation.ts';
import { FILE_ANSWER, FILE_INPUT, uploadedFile } from '../wire/workflow-files.ts';
import { workflowWholeToWire } from '../wire/workflows.ts';

export function addWorkflowFileRoutes(app: App, { actions, urls }: HttpDeps): void {
  const schema = operation({
    id: 'deployWorkflowFile',
    tag: 'workflows',
    access: 'write',
    summary: 'Deploy a workflow file',
    description:
      'A file whose default export is what `defineWorkflow` returns. `errand deploy` sends it bundled with all that it imports; without `bundle` the server bundles it, and it may import Node’s modules and packages that the server has, no other files. The same path is the same workflow: it is made, or changed, or left as it is. A file that cannot be loaded is 422 with file, line and column.',
    body: FILE_INPUT,
    answer: dataOf(FILE_ANSWER),
  });
  app.put('/v1/workflow_files', { schema }, async ({ body, caller }) => {
    const { result, whole } = await actions.deployFile(caller.ownerId, uploadedFile(body));
    return { data: { result, workflow: workflowWholeToWire(whole, urls, false) } };
  });
}

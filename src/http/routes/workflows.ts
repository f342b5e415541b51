import { PREFIX } from '../../domain/ids.ts';
import { healthOf } from '../../domain/run/health.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { expectedBy, tag } from '../etag.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { oneOf, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { healthToWire } from '../wire/log/run-health.ts';
import {
  WORKFLOW,
  WORKFLOW_CHECKED,
  WORKFLOW_CREATE,
  WORKFLOW_UPDATE,
  WORKFLOW_WHOLE,
  workflowInput,
  workflowToWire,
  workflowWholeToWire,
} from '../wire/workflows.ts';

const PARAMS = idIn(PREFIX.workflow, 'The workflow.');

export function addWorkflowRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addCheck(app, deps);
  addList(app, deps);
  addOne(app, deps);
}

const EXAMPLE = {
  name: 'Orders',
  steps: [
    {
      namespace: 'charge',
      code: 'export default async ({ steps }) => {\n  return steps.trigger.event.body.order;\n};\n',
    },
  ],
  triggers: [{ type: 'http' }],
};

function addCreate(app: App, { actions, urls }: HttpDeps): void {
  const schema = operation({
    id: 'createWorkflow',
    tag: 'workflows',
    access: 'write',
    summary: 'Create a workflow',
    description:
      'Compiles and deploys the steps, creates the triggers, and activates the workflow. Code that does not compile is refused with 422, which names file, line and column.',
    body: WORKFLOW_CREATE,
    example: EXAMPLE,
    answer: dataOf(WORKFLOW_WHOLE),
  });
  app.post('/v1/workflows', { schema }, async ({ body, caller }) => {
    const whole = await actions.createWorkflow(caller.ownerId, workflowInput(body));
    return { data: workflowWholeToWire(whole, urls, false) };
  });
}

function addCheck(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'checkWorkflow',
    tag: 'workflows',
    access: 'write',
    summary: 'Check whether a workflow could be created',
    description:
      'Does all that creating the workflow does, apart from storing it: the answer is the one that creating it would be refused with, or says that it is valid.',
    body: WORKFLOW_CREATE,
    example: EXAMPLE,
    answer: dataOf(WORKFLOW_CHECKED),
  });
  app.post('/v1/workflows/check', { schema }, async ({ body, caller }) => {
    await actions.checkWorkflow(caller.ownerId, workflowInput(body));
    return { data: { valid: true } };
  });
}

function addList(app: App, { store, urls }: HttpDeps): void {
  const schema = operation({
    id: 'listWorkflows',
    tag: 'workflows',
    access: 'read',
    summary: 'List workflows',
    description:
      'Newest first, without steps and triggers. With `expand=health`, each has a summary of its newest runs: the last one, how many failed, and how long they took.',
    query: {
      active: Type.Optional(Type.Boolean({ description: 'True: only active ones; false: only inactive ones.' })),
      name: Type.Optional(text({ description: 'Only those with exactly this name.' })),
      expand: Type.Optional(oneOf(['health'], 'Adds a summary of its newest runs to each workflow.')),
      ...LIST_QUERY,
    },
    answer: listOf(WORKFLOW),
  });
  app.get('/v1/workflows', { schema }, async ({ query, caller }) => {
    const { active, name } = query;
    const page = pageOf(query, resourceCursor(PREFIX.workflow));
    const listed = await store.listWorkflows({ ownerId: caller.ownerId, active, name }, page);
    const ids = listed.items.map(({ id }) => id);
    const health = query.expand === 'health' ? await store.runHealth(caller.ownerId, ids) : null;
    return listAnswer(listed, (workflow) => ({
      ...workflowToWire(workflow, urls.publicUrl()),
      ...(health === null ? {} : { health: healthToWire(health.get(workflow.id) ?? healthOf(null, [])) }),
    }));
  });
}

function addOne(app: App, { actions, urls }: HttpDeps): void {
  const get = operation({
    id: 'getWorkflow',
    tag: 'workflows',
    access: 'read',
    summary: 'Read a workflow',
    description: 'Returns the code of its steps, its triggers and their addresses, and its settings.',
    params: PARAMS,
    answer: dataOf(WORKFLOW_WHOLE),
  });
  app.get('/v1/workflows/:id', { schema: get }, async ({ params, caller }, reply) => {
    const whole = await actions.getWorkflow(caller.ownerId, params.id);
    tag(reply, whole.workflow);
    return { data: workflowWholeToWire(whole, urls, true) };
  });

  const put = operation({
    id: 'updateWorkflow',
    tag: 'workflows',
    access: 'write',
    summary: 'Change a workflow',
    description:
      'Changed code creates a new deployment. A step keeps its id as long as it keeps its namespace. `triggers` replaces the whole list. Runs in progress end with the code that they started with.',
    params: PARAMS,
    put: { takes: 'members', oneByOne: ['settings'] },
    body: WORKFLOW_UPDATE,
    takesIfMatch: true,
    example: { active: false },
    answer: dataOf(WORKFLOW_WHOLE),
  });
  app.put('/v1/workflows/:id', { schema: put }, async (request, reply) => {
    const input = { ...workflowInput(request.body), ...expectedBy(request) };
    const whole = await actions.updateWorkflow(request.caller.ownerId, request.params.id, input);
    tag(reply, whole.workflow);
    return { data: workflowWholeToWire(whole, urls, false) };
  });

  const remove = operation({
    id: 'deleteWorkflow',
    tag: 'workflows',
    access: 'write',
    summary: 'Delete a workflow',
    description:
      'Deletes the workflow, its triggers, and all subscriptions from and to it, and cancels its queued and waiting runs.',
    params: PARAMS,
    answer: dataOf(WORKFLOW_WHOLE),
  });
  app.delete('/v1/workflows/:id', { schema: remove }, async ({ params, caller }) => {
    const whole = await actions.deleteWorkflow(caller.ownerId, params.id);
    return { data: workflowWholeToWire(whole, urls, false) };
  });
}

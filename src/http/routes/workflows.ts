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
  addList(app, deps);
  addOne(app, deps);
}

function addCreate(app: App, { actions, urls }: HttpDeps): void {
  const schema = operation({
    id: 'createWorkflow',
    tag: 'workflows',
    access: 'write',
    summary: 'Create a workflow',
    description:
      'Compiles and deploys the steps, makes the triggers, and activates it. Code that does not compile is 422 with file, line and column.',
    body: WORKFLOW_CREATE,
    example: {
      name: 'Orders',
      steps: [
        {
          namespace: 'charge',
          code: 'export default async ({ steps }) => {\n  return steps.trigger.event.body.order;\n};\n',
        },
      ],
      triggers: [{ type: 'http' }],
    },
    answer: dataOf(WORKFLOW_WHOLE),
  });
  app.post('/v1/workflows', { schema }, async ({ body, caller }) => {
    const whole = await actions.createWorkflow(caller.ownerId, workflowInput(body));
    return { data: workflowWholeToWire(whole, urls, false) };
  });
}

function addList(app: App, { store, urls }: HttpDeps): void {
  const schema = operation({
    id: 'listWorkflows',
    tag: 'workflows',
    access: 'read',
    summary: 'List workflows',
    description:
      'Newest first, without steps and triggers. With `expand=health` each has what its newest runs tell: the last one, how many failed, and how long they took.',
    query: {
      active: Type.Optional(Type.Boolean({ description: 'True: only active ones; false: only inactive ones.' })),
      name: Type.Optional(text({ description: 'Only those with exactly this name.' })),
      expand: Type.Optional(oneOf(['health'], 'Each workflow with what its newest runs tell.')),
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
    description: 'With its steps’ code, its triggers and their addresses.',
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
      'Changed code makes a new deployment, and steps keep their ids by their namespace. `triggers` replaces all of them. Runs in flight end with the code that they began with.',
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
    description: 'With its triggers and all subscriptions from and to it; what waits in its queue is cancelled.',
    params: PARAMS,
    answer: dataOf(WORKFLOW_WHOLE),
  });
  app.delete('/v1/workflows/:id', { schema: remove }, async ({ params, caller }) => {
    const whole = await actions.deleteWorkflow(caller.ownerId, params.id);
    return { data: workflowWholeToWire(whole, urls, false) };
  });
}

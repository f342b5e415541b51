// What is hidden wherever events and messages are shown: of an owner, and of one workflow.

import { PREFIX } from '../../domain/ids.ts';
import { NO_REDACTION } from '../../domain/privacy/rules.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { contentCheck, contentVersion, tag } from '../etag.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import {
  REDACTION,
  REDACTION_SET,
  redactionInput,
  redactionToWire,
  WORKFLOW_REDACTION,
  WORKFLOW_REDACTION_SET,
  workflowRedactionToWire,
} from '../wire/log/redaction.ts';
import { exists } from './log/emitters.ts';

const ABOUT =
  'Values that the rules match are hidden in lists, searches, runs, groups, streams, exports, fixtures and mails. Listeners and replays get the unchanged events.';
const EXAMPLE = { keys: ['password', '*token'], patterns: ['\\b\\d{13,19}\\b'] };

export function addRedactionRoutes(app: App, deps: HttpDeps): void {
  addOwn(app, deps);
  addOfWorkflow(app, deps);
}

function addOwn(app: App, { actions }: HttpDeps): void {
  const get = operation({
    id: 'getRedaction',
    tag: 'account',
    access: 'read',
    summary: 'Read your redaction rules',
    description: ABOUT,
    answer: dataOf(REDACTION),
  });
  app.get('/v1/users/me/redaction', { schema: get }, async ({ caller: { ownerId } }, reply) => {
    const redaction = (await actions.getRedactions(ownerId)).get(ownerId) ?? NO_REDACTION;
    tag(reply, contentVersion(redaction));
    return { data: redactionToWire(redaction) };
  });

  const put = operation({
    id: 'setRedaction',
    tag: 'account',
    access: 'account',
    summary: 'Set your redaction rules',
    description: ABOUT,
    put: { takes: 'whole' },
    body: REDACTION_SET,
    takesIfMatch: true,
    example: EXAMPLE,
    answer: dataOf(REDACTION),
  });
  app.put('/v1/users/me/redaction', { schema: put }, async (request, reply) => {
    const { ownerId } = request.caller;
    const redaction = redactionInput(request.body);
    await actions.setRedaction(ownerId, ownerId, { redaction, check: contentCheck(request, 'the redaction') });
    tag(reply, contentVersion(redaction));
    return { data: redactionToWire(redaction) };
  });
}

function addOfWorkflow(app: App, { actions, store }: HttpDeps): void {
  const params = idIn(PREFIX.workflow, 'The workflow.');
  const get = operation({
    id: 'getWorkflowRedaction',
    tag: 'workflows',
    access: 'read',
    summary: 'Read the redaction rules of a workflow',
    description: 'They apply in addition to your own rules.',
    params,
    answer: dataOf(WORKFLOW_REDACTION),
  });
  app.get('/v1/workflows/:id/redaction', { schema: get }, async ({ params: { id }, caller: { ownerId } }, reply) => {
    await exists(store, ownerId, { id, noun: 'workflow', prefix: PREFIX.workflow });
    const redaction = (await actions.getRedactions(ownerId)).get(id) ?? NO_REDACTION;
    tag(reply, contentVersion(redaction));
    return { data: workflowRedactionToWire(redaction) };
  });

  const put = operation({
    id: 'setWorkflowRedaction',
    tag: 'workflows',
    access: 'write',
    summary: 'Set the redaction rules of a workflow',
    description: 'The rules of the workflow, which apply in addition to your own.',
    params,
    put: { takes: 'whole' },
    body: WORKFLOW_REDACTION_SET,
    takesIfMatch: true,
    example: { ...EXAMPLE, before_storing: false },
    answer: dataOf(WORKFLOW_REDACTION),
  });
  app.put('/v1/workflows/:id/redaction', { schema: put }, async (request, reply) => {
    const { id } = request.params;
    const { ownerId } = request.caller;
    await exists(store, ownerId, { id, noun: 'workflow', prefix: PREFIX.workflow });
    const redaction = redactionInput(request.body);
    await actions.setRedaction(ownerId, id, { redaction, check: contentCheck(request, 'the redaction') });
    tag(reply, contentVersion(redaction));
    return { data: workflowRedactionToWire(redaction) };
  });
}

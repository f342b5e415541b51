import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { expectedBy, tag } from '../../etag.ts';
import { found } from '../../found.ts';
import { dataOf, operation } from '../../openapi/operation.ts';
import { KEY_OWNER, keyOwnerToWire, OWNER_UPDATE } from '../../wire/owners.ts';

export function addUserRoutes(app: App, { actions, store }: HttpDeps): void {
  const get = operation({
    id: 'getMe',
    tag: 'account',
    access: 'read',
    summary: 'Read the owner of your key',
    description: 'The owner of the key, and the workflow that gets every error.',
    answer: dataOf(KEY_OWNER),
  });
  app.get('/v1/users/me', { schema: get }, async ({ caller }, reply) => {
    const owner = found(await store.getOwner(caller.ownerId), 'owner', caller.ownerId);
    tag(reply, owner);
    return { data: keyOwnerToWire(owner) };
  });

  const put = operation({
    id: 'updateMe',
    tag: 'account',
    access: 'account',
    summary: 'Change the owner of your key',
    description: '`global_error_workflow_id` may name any workflow of yours.',
    put: { takes: 'members' },
    body: OWNER_UPDATE,
    takesIfMatch: true,
    example: { email: 'ada@example.com' },
    answer: dataOf(KEY_OWNER),
  });
  app.put('/v1/users/me', { schema: put }, async (request, reply) => {
    const { body, caller } = request;
    const { name, email, global_error_workflow_id: globalErrorWorkflowId, digest_window_ms: digestWindowMs } = body;
    const { channels: channelIds } = body;
    const known = { name, email, globalErrorWorkflowId, digestWindowMs, channelIds };
    const input = { ...known, ...expectedBy(request) };
    const owner = await actions.updateOwner(caller.ownerId, input);
    tag(reply, owner);
    return { data: keyOwnerToWire(owner) };
  });
}

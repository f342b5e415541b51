import type { FastifyReply } from 'fastify';
import { HEALTHY } from '../../domain/delivery/health.ts';
import { PREFIX } from '../../domain/ids.ts';
import type { ApiKey } from '../../domain/keys.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { expectedBy, tag } from '../etag.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { WEBHOOK_CREATE, WEBHOOK_UPDATE, webhookInput } from '../wire/webhook-input.ts';
import { NEW_WEBHOOK, newWebhookToWire, WEBHOOK, type WebhookView, webhookToWire } from '../wire/webhooks.ts';

const PARAMS = idIn(PREFIX.webhook, 'The webhook.');

const CREATE_EXAMPLE = {
  url: 'https://example.com/hooks/errand',
  name: 'Errors to chat',
  headers: { 'x-team': 'orders' },
  retry: { delays_ms: [5000, 60_000, 3_600_000] },
  rate_limit: { limit: 100, interval_ms: 60_000 },
};

export function addWebhookRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addList(app, deps);
  addOne(app, deps);
}

/** Returns what one webhook is shown with to this caller. */
export async function viewOf({ store, clock }: HttpDeps, caller: ApiKey, webhook: Webhook): Promise<WebhookView> {
  const healths = await store.webhookHealth(caller.ownerId, [webhook.id]);
  return { health: healths.get(webhook.id) ?? HEALTHY, nowMs: clock.nowMs(), scopes: caller.scopes };
}

function addCreate(app: App, deps: HttpDeps): void {
  const schema = operation({
    id: 'createWebhook',
    tag: 'webhooks',
    access: 'write',
    summary: 'Create a webhook',
    description:
      'A webhook is an HTTP endpoint of yours. Subscriptions decide which events are delivered to it. `secret`, with which a receiver checks the signature, is returned only here.',
    body: WEBHOOK_CREATE,
    example: CREATE_EXAMPLE,
    answer: dataOf(NEW_WEBHOOK),
  });
  app.post('/v1/webhooks', { schema }, async ({ body, caller }) => {
    const input = { ...webhookInput(body), url: body.url };
    const webhook = await deps.actions.createWebhook(caller.ownerId, input);
    return { data: newWebhookToWire(webhook, await viewOf(deps, caller, webhook)) };
  });
}

function addList(app: App, { store, clock }: HttpDeps): void {
  for (const [url, id] of [
    ['/v1/webhooks', 'listWebhooks'],
    ['/v1/users/me/webhooks', 'listMyWebhooks'],
  ] as const) {
    const schema = operation({
      id,
      tag: 'webhooks',
      access: 'read',
      summary: id === 'listWebhooks' ? 'List webhooks' : 'List your webhooks',
      description: id === 'listWebhooks' ? 'Newest first.' : 'The same as `GET /v1/webhooks`.',
      query: LIST_QUERY,
      answer: listOf(WEBHOOK),
    });
    app.get(url, { schema }, async ({ query, caller }) => {
      const { ownerId, scopes } = caller;
      const page = await store.listWebhooks(ownerId, pageOf(query, resourceCursor(PREFIX.webhook)));
      const ids = page.items.map((webhook) => webhook.id);
      const healths = await store.webhookHealth(ownerId, ids);
      const nowMs = clock.nowMs();
      const toWire = (webhook: Webhook) =>
        webhookToWire(webhook, { health: healths.get(webhook.id) ?? HEALTHY, nowMs, scopes });
      return listAnswer(page, toWire);
    });
  }
}

function addOne(app: App, deps: HttpDeps): void {
  const { actions, store } = deps;
  const answer = dataOf(WEBHOOK);
  const shown = async (reply: FastifyReply, caller: ApiKey, webhook: Webhook) => {
    tag(reply, webhook);
    return { data: webhookToWire(webhook, await viewOf(deps, caller, webhook)) };
  };
  const get = operation({
    id: 'getWebhook',
    tag: 'webhooks',
    access: 'read',
    summary: 'Read a webhook',
    description: 'Returns its settings, its health and its public keys, but not its secret.',
    params: PARAMS,
    answer,
  });
  app.get('/v1/webhooks/:id', { schema: get }, async ({ params, caller }, reply) => {
    return shown(reply, caller, found(await store.getWebhook(caller.ownerId, params.id), 'webhook', params.id));
  });

  const put = operation({
    id: 'updateWebhook',
    tag: 'webhooks',
    access: 'write',
    summary: 'Change a webhook',
    description: 'Null restores the default of a setting.',
    params: PARAMS,
    put: { takes: 'members' },
    body: WEBHOOK_UPDATE,
    takesIfMatch: true,
    example: { active: false },
    answer,
  });
  app.put('/v1/webhooks/:id', { schema: put }, async (request, reply) => {
    const { params, caller } = request;
    const input = { ...webhookInput(request.body), ...expectedBy(request) };
    return shown(reply, caller, await actions.updateWebhook(caller.ownerId, params.id, input));
  });

  const remove = operation({
    id: 'deleteWebhook',
    tag: 'webhooks',
    access: 'write',
    summary: 'Delete a webhook',
    description: 'Deletes the webhook with its subscriptions, and cancels its open deliveries.',
    params: PARAMS,
    answer,
  });
  app.delete('/v1/webhooks/:id', { schema: remove }, async ({ params, caller }, reply) => {
    return shown(reply, caller, await actions.deleteWebhook(caller.ownerId, params.id));
  });
}

import { Type } from 'typebox';
import { PREFIX } from '../../domain/ids.ts';
import type { App } from '../app.ts';
import type { HttpDeps } from '../deps.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, numberCursor, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../operation.ts';
import { DELIVERY, DELIVERY_STATE, deliveryToWire } from '../wire/deliveries.ts';
import { NEW_WEBHOOK, WEBHOOK, WEBHOOK_CREATE, WEBHOOK_UPDATE, webhookInput, webhookToWire } from '../wire/webhooks.ts';

const PARAMS = idIn(PREFIX.webhook, 'The webhook.');

export function addWebhookRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addList(app, deps);
  addOne(app, deps);
  addDeliveries(app, deps);
}

function addCreate(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'createWebhook',
    tag: 'webhooks',
    summary: 'Create a webhook',
    description:
      'An endpoint of yours. What reaches it is decided by subscriptions. `secret` is shown here only: with it a receiver checks the signature.',
    body: WEBHOOK_CREATE,
    answer: dataOf(NEW_WEBHOOK),
  });
  app.post('/v1/webhooks', { schema }, async ({ body, caller }) => {
    const webhook = await actions.createWebhook(caller.ownerId, webhookInput(body));
    return { data: { ...webhookToWire(webhook), secret: webhook.secrets[0] } };
  });
}

function addList(app: App, { store }: HttpDeps): void {
  for (const [url, id] of [
    ['/v1/webhooks', 'listWebhooks'],
    ['/v1/users/me/webhooks', 'listMyWebhooks'],
  ] as const) {
    const schema = operation({
      id,
      tag: 'webhooks',
      summary: id === 'listWebhooks' ? 'List webhooks' : 'List your webhooks',
      description: id === 'listWebhooks' ? 'Newest first.' : 'The same as `GET /v1/webhooks`.',
      query: LIST_QUERY,
      answer: listOf(WEBHOOK),
    });
    app.get(url, { schema }, async ({ query, caller }) => {
      const page = pageOf(query, resourceCursor(PREFIX.webhook));
      return listAnswer(await store.listWebhooks(caller.ownerId, page), webhookToWire, query);
    });
  }
}

function addOne(app: App, { actions, store }: HttpDeps): void {
  const answer = dataOf(WEBHOOK);
  const get = operation({
    id: 'getWebhook',
    tag: 'webhooks',
    summary: 'Read a webhook',
    description: 'Without its secret.',
    params: PARAMS,
    answer,
  });
  app.get('/v1/webhooks/:id', { schema: get }, async ({ params, caller }) => {
    return { data: webhookToWire(found(await store.getWebhook(caller.ownerId, params.id), 'webhook', params.id)) };
  });

  const put = operation({
    id: 'updateWebhook',
    tag: 'webhooks',
    summary: 'Change a webhook',
    description: 'Any of the members; those left out stay as they are.',
    params: PARAMS,
    body: WEBHOOK_UPDATE,
    example: { active: false },
    answer,
  });
  app.put('/v1/webhooks/:id', { schema: put }, async ({ params, body, caller }) => {
    return { data: webhookToWire(await actions.updateWebhook(caller.ownerId, params.id, webhookInput(body))) };
  });

  const remove = operation({
    id: 'deleteWebhook',
    tag: 'webhooks',
    summary: 'Delete a webhook',
    description: 'With its subscriptions; its open deliveries are cancelled.',
    params: PARAMS,
    answer,
  });
  app.delete('/v1/webhooks/:id', { schema: remove }, async ({ params, caller }) => {
    return { data: webhookToWire(await actions.deleteWebhook(caller.ownerId, params.id)) };
  });
}

function addDeliveries(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listWebhookDeliveries',
    tag: 'deliveries',
    summary: 'List deliveries to a webhook',
    description: 'Newest first.',
    params: PARAMS,
    query: { state: Type.Optional(DELIVERY_STATE), ...LIST_QUERY },
    answer: listOf(DELIVERY),
  });
  app.get('/v1/webhooks/:id/deliveries', { schema }, async ({ params, query, caller }) => {
    const { ownerId } = caller;
    const page = pageOf(query, numberCursor(PREFIX.delivery));
    found(await store.getWebhook(ownerId, params.id), 'webhook', params.id);
    const listed = await store.listDeliveries({ ownerId, listenerId: params.id, state: query.state }, page);
    return listAnswer(listed, deliveryToWire, query);
  });
}

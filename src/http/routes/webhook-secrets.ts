import { PREFIX } from '../../domain/ids.ts';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { Store } from '../../store/contract/store.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, pageOfAll } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { ROTATE } from '../wire/webhook-input.ts';
import { keyCursor, WEBHOOK_KEY, webhookKeysOf } from '../wire/webhook-keys.ts';
import { NEW_WEBHOOK, newWebhookToWire } from '../wire/webhooks.ts';
import { viewOf } from './webhooks.ts';

export function addWebhookSecretRoutes(app: App, deps: HttpDeps): void {
  addRotate(app, deps);
  addKeys(app, deps);
}

function addRotate(app: App, deps: HttpDeps): void {
  const schema = operation({
    id: 'rotateWebhookSecret',
    tag: 'webhooks',
    access: 'write',
    summary: 'Replace a webhook’s secret',
    description:
      'For `overlap_s` seconds, requests are also signed with the previous secrets, so that receivers have time to switch to the new one. The same holds for `v1a` keys. The new `secret` is returned only here.',
    params: idIn(PREFIX.webhook, 'The webhook.'),
    body: ROTATE,
    answer: dataOf(NEW_WEBHOOK),
  });
  app.post('/v1/webhooks/:id/rotate_secret', { schema }, async ({ params, body, caller }) => {
    const overlapMs = body.overlap_s === undefined ? LIMITS.secretOverlapMs : body.overlap_s * SECOND_MS;
    const webhook = await deps.actions.rotateSecret(caller.ownerId, params.id, overlapMs);
    return { data: newWebhookToWire(webhook, await viewOf(deps, caller, webhook)) };
  });
}

function addKeys(app: App, { store, clock }: HttpDeps): void {
  const schema = operation({
    id: 'listWebhookKeys',
    tag: 'webhooks',
    access: 'read',
    summary: 'List public keys',
    description:
      'The ed25519 keys of all webhooks that sign requests now. Receivers check `v1a` signatures with them. Newest webhook first.',
    query: {
      webhook_id: Type.Optional(text({ description: 'Only those of this webhook.', example: 'wh_0Vj3aBc9dEfGhIjK' })),
      ...LIST_QUERY,
    },
    answer: listOf(WEBHOOK_KEY),
  });
  app.get('/v1/webhook_keys', { schema }, async ({ query, caller }) => {
    const page = pageOf(query, keyCursor);
    const webhooks = await webhooksOf(store, caller.ownerId, query.webhook_id);
    const nowMs = clock.nowMs();
    const keys = webhooks.flatMap((webhook) => webhookKeysOf(webhook, nowMs));
    return listAnswer(pageOfAll(keys, page), (key) => key);
  });
}

/** Returns all webhooks of the owner, or the one asked for. */
async function webhooksOf(store: Store, ownerId: string, id: string | undefined): Promise<readonly Webhook[]> {
  if (id !== undefined) {
    const webhook = await store.getWebhook(ownerId, id);
    return webhook ? [webhook] : [];
  }
  const all: Webhook[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const { items } = await store.listWebhooks(ownerId, {
      limit: LIMITS.pageRecords,
      ...(after === undefined ? {} : { after }),
    });
    all.push(...items);
    if (items.length < LIMITS.pageRecords) return all;
  }
}

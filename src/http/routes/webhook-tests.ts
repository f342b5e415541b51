import { PREFIX } from '../../domain/ids.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { found } from '../found.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { eventOf } from '../params.ts';
import { Type } from '../schema/type.ts';
import { PROBE, probeToWire } from '../wire/probes.ts';

export function addWebhookTestRoutes(app: App, { actions, store, maxBodyBytes }: HttpDeps): void {
  const schema = operation({
    id: 'testWebhook',
    tag: 'webhooks',
    access: 'write',
    summary: 'Send a test delivery',
    description:
      'Sends one request now, also to a webhook that is not active, and returns the whole exchange. It is signed like any other request, with `errand-trigger: test`. Nothing of it is stored: there is no delivery and no retry, and the health of the webhook does not change.',
    params: idIn(PREFIX.webhook, 'The webhook.'),
    body: {
      event: Type.Optional(
        Type.Unknown({
          description: 'Any JSON value, sent unchanged; a default event when not given.',
          'x-expected': 'any JSON value',
        }),
      ),
    },
    example: { event: { order: 12345 } },
    answer: dataOf(PROBE),
  });
  app.post('/v1/webhooks/:id/test', { schema }, async (request) => {
    const { params, caller } = request;
    const webhook = found(await store.getWebhook(caller.ownerId, params.id), 'webhook', params.id);
    const event = eventOf(request, maxBodyBytes) ?? null;
    return { data: probeToWire(await actions.testWebhook(caller.ownerId, params.id, event), webhook) };
  });
}

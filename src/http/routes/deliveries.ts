import { Type } from 'typebox';
import { MAIL } from '../../domain/delivery.ts';
import { Refusal } from '../../domain/fault.ts';
import { numberOf, PREFIX } from '../../domain/ids.ts';
import type { App } from '../app.ts';
import type { HttpDeps } from '../deps.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, numberCursor, pageOf } from '../list.ts';
import { dataOf, idIn, operation } from '../operation.ts';
import { text } from '../schema.ts';
import { attemptToWire, DELIVERY, DELIVERY_STATE, DELIVERY_WHOLE, deliveryToWire } from '../wire/deliveries.ts';

export function addDeliveryRoutes(app: App, { store }: HttpDeps): void {
  const list = operation({
    id: 'listDeliveries',
    tag: 'deliveries',
    summary: 'List deliveries',
    description:
      'To all webhooks, and mails, newest first. `emission_id` is the emit id of the event, and the `webhook-id` that the receiver gets.',
    query: {
      state: Type.Optional(DELIVERY_STATE),
      webhook_id: Type.Optional(text({ description: 'Only those to this webhook.', example: 'wh_0Vj3aBc9dEfGhIjK' })),
      kind: Type.Optional(
        Type.Literal('mail', {
          description: 'Only mails.',
          'x-expected': '"mail"; for the deliveries of a webhook send webhook_id',
        }),
      ),
      ...LIST_QUERY,
    },
    answer: listOf(DELIVERY),
  });
  app.get('/v1/deliveries', { schema: list }, async ({ query, caller }) => {
    const { kind, webhook_id: webhookId, state } = query;
    if (kind && webhookId !== undefined) throw new Refusal('malformed', 'kind=mail and webhook_id exclude each other');
    const page = pageOf(query, numberCursor(PREFIX.delivery));
    const listenerId = kind ? MAIL : webhookId;
    const listed = await store.listDeliveries({ ownerId: caller.ownerId, listenerId, state }, page);
    return listAnswer(listed, deliveryToWire, query);
  });

  const get = operation({
    id: 'getDelivery',
    tag: 'deliveries',
    summary: 'Read a delivery',
    description: 'With every attempt: when, how long, what came back.',
    params: idIn(PREFIX.delivery, 'The delivery.'),
    answer: dataOf(DELIVERY_WHOLE),
  });
  app.get('/v1/deliveries/:id', { schema: get }, async ({ params, caller }) => {
    const delivery = found(numberOf(PREFIX.delivery, params.id), 'delivery', params.id);
    const whole = found(await store.getDelivery(caller.ownerId, delivery), 'delivery', params.id);
    return { data: { ...deliveryToWire(whole.record), attempts: whole.attempts.map(attemptToWire) } };
  });
}

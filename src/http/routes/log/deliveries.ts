import { MAIL } from '../../../domain/delivery/delivery.ts';
import { entryOfEvent, numberOf, PREFIX } from '../../../domain/ids.ts';
import { channelListener } from '../../../domain/notices/listener.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { DeliveryRecord, Page } from '../../../store/contract/records.ts';
import type { Store } from '../../../store/contract/store.ts';
import { maySeeSecrets } from '../../access/auth.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found } from '../../found.ts';
import { LIST_QUERY, type ListAnswer, listAnswer, listOf, numberCursor, pageOf } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { oneOf, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import {
  DELIVERY,
  DELIVERY_STATE,
  DELIVERY_WHOLE,
  deliveryToWire,
  deliveryWholeToWire,
} from '../../wire/log/deliveries.ts';
import { contentOf } from '../../wire/log/delivery-content.ts';
import { wrong } from '../../wire/times.ts';
import { addMailPage } from './delivery-mail.ts';

const PARAMS = idIn(PREFIX.delivery, 'The delivery.');

export function addDeliveryRoutes(app: App, deps: HttpDeps): void {
  addOfWebhook(app, deps);
  addList(app, deps);
  addOne(app, deps);
  addMailPage(app, deps);
}

function addOfWebhook(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listWebhookDeliveries',
    tag: 'deliveries',
    access: 'read',
    summary: 'List deliveries to a webhook',
    description: 'Newest first.',
    params: idIn(PREFIX.webhook, 'The webhook.'),
    query: { state: Type.Optional(DELIVERY_STATE), ...LIST_QUERY },
    answer: listOf(DELIVERY),
  });
  app.get('/v1/webhooks/:id/deliveries', { schema }, async ({ params, query, caller }) => {
    const { ownerId } = caller;
    const page = pageOf(query, numberCursor(PREFIX.delivery));
    found(await store.getWebhook(ownerId, params.id), 'webhook', params.id);
    const listed = await store.listDeliveries({ ownerId, listenerId: params.id, state: query.state }, page);
    return deliveriesAnswer(store, ownerId, listed);
  });
}

function addList(app: App, { store }: HttpDeps): void {
  const list = operation({
    id: 'listDeliveries',
    tag: 'deliveries',
    access: 'read',
    summary: 'List deliveries',
    description:
      'Deliveries to webhooks and channels, mails, and requests of `$.send.http`, newest first. `emission_id` is the id of the event, and the `webhook-id` that the receiver gets.',
    query: {
      state: Type.Optional(DELIVERY_STATE),
      webhook_id: Type.Optional(text({ description: 'Only those to this webhook.', example: 'wh_0Vj3aBc9dEfGhIjK' })),
      kind: Type.Optional(
        oneOf(
          ['webhook', 'mail', 'http'],
          'Only to webhooks, mails, or requests that code asked for with `$.send.http`.',
        ),
      ),
      channel_id: Type.Optional(
        text({ description: 'Only notices to this channel of yours.', example: 'ch_0Vj3aBc9dEfGhIjK' }),
      ),
      emission_id: Type.Optional(
        text({ description: 'Only those of this event: its emit id, or its record id.', example: 'k3x9qg4w9zl7un4' }),
      ),
      ...LIST_QUERY,
    },
    answer: listOf(DELIVERY),
  });
  app.get('/v1/deliveries', { schema: list }, async ({ query, caller }) => {
    const { kind, webhook_id: webhookId, channel_id: channelId, state } = query;
    const { ownerId } = caller;
    const entry = query.emission_id === undefined ? undefined : emissionIn(query.emission_id);
    if (kind && kind !== 'webhook' && webhookId !== undefined)
      throw new Refusal('malformed', `kind=${kind} and webhook_id exclude each other`);
    if (channelId !== undefined && (kind ?? webhookId) !== undefined)
      throw new Refusal('malformed', 'channel_id excludes kind and webhook_id');
    const page = pageOf(query, numberCursor(PREFIX.delivery));
    const listenerId = channelId === undefined ? webhookId : channelListener(ownerId, channelId);
    const of = kind === 'mail' ? { listenerId: MAIL } : { listenerId, kind };
    const listed = await store.listDeliveries({ ownerId, ...of, state, entry }, page);
    return deliveriesAnswer(store, ownerId, listed);
  });
}

function emissionIn(given: string): number {
  const entry = entryOfEvent(given);
  if (entry !== undefined) return entry;
  throw wrong('emission_id', 'must be an emit id or the id of a record', given);
}

async function deliveriesAnswer(store: Store, ownerId: string, listed: Page<DeliveryRecord>): Promise<ListAnswer> {
  return listAnswer(listed, await shower(store, ownerId, listed.items));
}

/** Reads the webhooks' pauses, too, so that a due time is the same here as in the delivery by itself. */
async function shower(store: Store, ownerId: string, records: readonly DeliveryRecord[]) {
  const waiting = records.filter(({ kind, nextAttemptAtMs }) => kind === 'webhook' && nextAttemptAtMs !== null);
  const ids = [...new Set(waiting.map(({ listenerId }) => listenerId))];
  const healths = ids.length === 0 ? null : await store.webhookHealth(ownerId, ids);
  return (record: DeliveryRecord) => deliveryToWire(record, healths?.get(record.listenerId)?.pausedUntilMs ?? null);
}

function addOne(app: App, { actions, store, clock }: HttpDeps): void {
  const get = operation({
    id: 'getDelivery',
    tag: 'deliveries',
    access: 'read',
    summary: 'Read a delivery',
    description:
      'Returns every attempt with its time, duration and response, and in `why` for what the delivery waits. For a webhook, also what was sent: the event, and the headers of each attempt. For a request, what the code asked for. For a mail or notice, its content.',
    params: PARAMS,
    answer: dataOf(DELIVERY_WHOLE),
  });
  app.get('/v1/deliveries/:id', { schema: get }, async ({ params, caller }) => {
    const delivery = found(numberOf(PREFIX.delivery, params.id), 'delivery', params.id);
    const whole = found(await store.getDelivery(caller.ownerId, delivery), 'delivery', params.id);
    const content = contentOf(whole.record);
    const emission = content === null ? undefined : await store.getEmission(caller.ownerId, whole.record.entry);
    const withSecrets = maySeeSecrets(caller);
    const shown = emission ? { content, name: emission.name, body: emission.body, withSecrets } : null;
    return { data: deliveryWholeToWire(whole, clock.nowMs(), shown) };
  });

  const resend = operation({
    id: 'resendDelivery',
    tag: 'deliveries',
    access: 'write',
    summary: 'Send a delivery again',
    description:
      'Sends it at once, instead of the next automatic attempt, with the same `webhook-id`, signed with the current secret. A delivery that had ended starts its schedule of retries again. Mails and requests can be resent, too. 409 while an attempt is in progress or the webhook is not active, 422 when the webhook was deleted.',
    params: PARAMS,
    answer: dataOf(DELIVERY),
  });
  app.post('/v1/deliveries/:id/resend', { schema: resend }, async ({ params, caller }) => {
    const { ownerId } = caller;
    const delivery = found(numberOf(PREFIX.delivery, params.id), 'delivery', params.id);
    const record = await actions.resendDelivery(ownerId, delivery);
    const toWire = await shower(store, ownerId, [record]);
    return { data: toWire(record) };
  });
}

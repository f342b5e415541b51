// Webhooks as a caller makes them, something that emits to them, and their deliveries.

import type { Json } from './client.ts';
import type { Errand } from './errand.ts';
import type { Receiver } from './receiver.ts';
import { until } from './wait.ts';

/** A step that emits the body of its trigger's event. */
export const EMIT_BODY = 'export default ({ steps, $ }) => { $.send.emit(steps.trigger.event.body); };';

export function createWebhook(errand: Errand, receiver: Pick<Receiver, 'url'>, more: Json = {}): Promise<Json> {
  return errand.client.post('/v1/webhooks', { url: receiver.url, ...more });
}

/** A workflow that emits what it gets, and a webhook at the receiver that hears it. */
export async function emitterWithWebhook(
  errand: Errand,
  receiver: Receiver,
): Promise<{ emitter: Json; webhook: Json }> {
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver);
  await errand.subscribe(emitter.id, webhook.id);
  return { emitter, webhook };
}

/** Waits until a webhook has `count` deliveries in a state; returns them newest first, each with its attempts. */
export function deliveries(errand: Errand, webhookId: string, state: string, count = 1): Promise<Json[]> {
  return until(`${count} deliveries of ${webhookId} ${state}`, async () => {
    const page = await errand.client.get(`/v1/webhooks/${webhookId}/deliveries?state=${state}`);
    if (page.data.length < count) return false;
    return Promise.all(page.data.map(async (d: Json) => (await errand.client.get(`/v1/deliveries/${d.id}`)).data));
  });
}

/** Waits until a delivery has made `count` attempts and is not at one; returns it with them. */
export function attempted(errand: Errand, deliveryId: string, count: number): Promise<Json> {
  return until(`attempt ${count} of ${deliveryId}`, async () => {
    const { data } = await errand.client.get(`/v1/deliveries/${deliveryId}`);
    return data.attempts.length >= count && data.state !== 'sending' && data;
  });
}

/** Waits for the delivery of an emitter's newest event to a webhook. */
export function newestDelivery(errand: Errand, webhookId: string): Promise<Json> {
  return until(`a delivery of ${webhookId}`, async () => {
    const page = await errand.client.get(`/v1/webhooks/${webhookId}/deliveries?limit=1`);
    return page.data[0];
  });
}

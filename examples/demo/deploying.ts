// Chapter 1: the files of examples/ become workflows and a source; subscriptions say who hears what.

import type { Deployed, World } from './world.ts';
import { exampleCode } from './world.ts';

export async function deploy({ story, server, api, archive, receiver }: World): Promise<Deployed> {
  story.heading('A server, and code deployed over its HTTP interface');
  story.say(`Errand runs at ${server.url}, on a store of its own in a temporary folder.\n`);

  const checkOrder = await api.post('/v1/workflows', {
    name: 'Check order',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'check', code: await exampleCode('workflows/check-order.ts') }],
  });
  const keepErrors = await api.post('/v1/workflows', {
    name: 'Keep errors',
    steps: [{ namespace: 'keep', code: await exampleCode('workflows/keep-errors.ts') }],
    settings: { env: { ARCHIVE_URL: archive.url } },
  });
  const shopOrders = await api.post('/v1/sources', { component_code: await exampleCode('sources/shop-orders.ts') });
  const alerts = await webhook('/alerts', 'Errors to the alert desk');
  const books = await webhook('/books', 'Orders to the bookkeeping');
  story.show(`workflow  check-order.ts   ${checkOrder.id}  at ${checkOrder.triggers[0].endpoint_url}
workflow  keep-errors.ts   ${keepErrors.id}  has no trigger: it only listens
source    shop-orders.ts   ${shopOrders.id} at ${shopOrders.endpoint_url}
webhook   alerts           ${alerts.id}
webhook   books            ${books.id}\n`);

  await subscribe(checkOrder.id, keepErrors.id, '$errors');
  await subscribe(checkOrder.id, alerts.id, '$errors');
  await subscribe(shopOrders.id, books.id);
  story.say('Who hears what is a subscription, from an emitter to a listener:\n');
  story.show(`Check order   ──$errors──▶  Keep errors   (a workflow)
Check order   ──$errors──▶  alerts        (a webhook)
Shop orders   ───────────▶  books         (a webhook)\n`);

  const { data } = await api.get('/v1/subscriptions');
  story.fact('three subscriptions stand', data.length === 3);
  const listening = await api.get(`/v1/workflows/${keepErrors.id}`);
  story.fact('a subscription is no trigger of the workflow that listens', listening.data.triggers.length === 0);
  return { checkOrder, keepErrors, shopOrders, alerts, books };

  async function webhook(path: string, name: string) {
    const made = await api.post('/v1/webhooks', { url: receiver.url + path, name });
    receiver.trust(path, made.secret);
    return made;
  }

  async function subscribe(emitter_id: string, listener_id: string, event_name?: string): Promise<void> {
    await api.post('/v1/subscriptions', { emitter_id, listener_id, event_name });
  }
}

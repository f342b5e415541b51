import { queryOptions } from '@tanstack/react-query';
import type {
  Delivery,
  DeliveryWhole,
  NewWebhook,
  Operation,
  ResendDryRun,
  ResendWebhookInput,
  Webhook,
  WebhookTest,
} from '../../../src/client/client.ts';
import { parseEvent } from '../errors/event-text.ts';
import { call, send } from './http.ts';
import { type Data, listQuery } from './list.ts';

const AGAIN_MS = 4000;
const OVER_AGAIN_MS = 30_000;

export const webhooksQuery = listQuery<Webhook>({
  key: ['webhooks'],
  path: '/v1/webhooks',
  limit: 100,
  againMs: AGAIN_MS,
});

export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: ['webhook', id],
    queryFn: async ({ signal }) => (await call<Data<Webhook>>('GET', `/v1/webhooks/${id}`, undefined, signal)).data,
    refetchInterval: AGAIN_MS,
  });
}

export function deliveriesQuery(webhookId: string, state: Delivery['state'] | undefined) {
  const path = `/v1/webhooks/${webhookId}/deliveries`;
  return listQuery<Delivery>({ key: ['deliveries', webhookId], path, filter: { state }, againMs: AGAIN_MS });
}

export function deliveryQuery(id: string) {
  return queryOptions({
    queryKey: ['delivery', id],
    queryFn: async ({ signal }) => {
      const text = await send('GET', `/v1/deliveries/${id}`, { signal });
      // The event shows numbers as they were sent.
      return (parseEvent(text) as { value: Data<DeliveryWhole> }).value.data;
    },
    // One that is over changes only when it is sent again.
    refetchInterval: ({ state }) => (state.data?.ended_at_ms == null ? AGAIN_MS : OVER_AGAIN_MS),
  });
}

export async function createWebhook(input: { url: string; name?: string }): Promise<NewWebhook> {
  return (await call<Data<NewWebhook>>('POST', '/v1/webhooks', input)).data;
}

export async function setWebhookActive(id: string, active: boolean): Promise<void> {
  await call('PUT', `/v1/webhooks/${id}`, { active });
}

export async function updateWebhook(
  id: string,
  change: { url: string; name: string | null; description: string | null },
): Promise<void> {
  await call('PUT', `/v1/webhooks/${id}`, change);
}

export async function deleteWebhook(id: string): Promise<void> {
  await call('DELETE', `/v1/webhooks/${id}`);
}

export async function rotateSecret(id: string): Promise<NewWebhook> {
  return (await call<Data<NewWebhook>>('POST', `/v1/webhooks/${id}/rotate_secret`, { overlap_s: 86_400 })).data;
}

/** Sends a test event now. Nothing of it is kept. */
export async function testWebhook(id: string): Promise<WebhookTest> {
  return (await call<Data<WebhookTest>>('POST', `/v1/webhooks/${id}/test`)).data;
}

export type Resend = Omit<ResendWebhookInput, 'id' | 'dry_run'>;

export async function resendMany(id: string, asked: Resend): Promise<Operation> {
  return (await call<Data<Operation>>('POST', `/v1/webhooks/${id}/resend`, asked)).data;
}

/** Tells what would be sent again; nothing is. */
export function resendDryRunQuery(id: string, asked: Resend) {
  return queryOptions({
    queryKey: ['resend-dry-run', id, asked],
    queryFn: async ({ signal }) => {
      const body = { ...asked, dry_run: true };
      return (await call<Data<ResendDryRun>>('POST', `/v1/webhooks/${id}/resend`, body, signal)).data;
    },
    placeholderData: (before) => before,
    staleTime: 0,
  });
}

export async function resendDelivery(id: string): Promise<void> {
  await call('POST', `/v1/deliveries/${id}/resend`);
}

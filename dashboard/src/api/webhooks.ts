import { queryOptions } from '@tanstack/react-query';
import type {
  Delivery,
  NewWebhook,
  Operation,
  ResendDryRun,
  ResendWebhookInput,
  WebhookTest,
} from '../../../src/client/client.ts';
import { type DeliverySearch, isKind } from '../webhooks/search.ts';
import { changes, dataOf, errand, exactDataOf } from './errand.ts';
import { listQuery } from './list.ts';

const AGAIN_MS = 4000;
const OVER_AGAIN_MS = 30_000;

export const webhooksQuery = listQuery({
  key: ['webhooks'],
  read: (asked, options) => errand.listWebhooks(asked, options),
  limit: 100,
  againMs: AGAIN_MS,
});

export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) => dataOf(errand.getWebhook({ id }, { signal })),
    refetchInterval: AGAIN_MS,
  });
}

export function deliveriesQuery(webhookId: string, state: Delivery['state'] | undefined) {
  return listQuery({
    key: ['deliveries', webhookId],
    read: (asked, options) => errand.listWebhookDeliveries({ id: webhookId, ...asked }, options),
    filter: { state },
    againMs: AGAIN_MS,
  });
}

/** Of all receivers. */
export function allDeliveriesQuery({ to, state }: DeliverySearch) {
  const by =
    to === undefined ? {} : isKind(to) ? { kind: to } : to.startsWith('ch_') ? { channel_id: to } : { webhook_id: to };
  return listQuery({
    key: ['deliveries', 'all'],
    read: (asked, options) => errand.listDeliveries(asked, options),
    filter: { ...by, state },
    againMs: AGAIN_MS,
  });
}

export function deliveryQuery(id: string) {
  return queryOptions({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => exactDataOf(errand.getDelivery({ id }, { signal })),
    // One that is over changes only when it is sent again.
    refetchInterval: ({ state }) => (state.data?.ended_at_ms == null ? AGAIN_MS : OVER_AGAIN_MS),
  });
}

export async function createWebhook(input: { url: string; name?: string }): Promise<NewWebhook> {
  return await dataOf(changes.createWebhook(input));
}

export async function setWebhookActive(id: string, active: boolean): Promise<void> {
  await changes.updateWebhook({ id, active });
}

export async function updateWebhook(
  id: string,
  change: { url?: string; name?: string | null; description?: string | null },
): Promise<void> {
  await changes.updateWebhook({ id, ...change });
}

export async function deleteWebhook(id: string): Promise<void> {
  await changes.deleteWebhook({ id });
}

export async function rotateSecret(id: string): Promise<NewWebhook> {
  return await dataOf(changes.rotateWebhookSecret({ id, overlap_s: 86_400 }));
}

/** Sends a test event now. Nothing of it is kept. */
export async function testWebhook(id: string): Promise<WebhookTest> {
  return await dataOf(changes.testWebhook({ id }));
}

export type Resend = Omit<ResendWebhookInput, 'id' | 'dry_run'>;

export async function resendMany(id: string, asked: Resend): Promise<Operation> {
  return (await dataOf(changes.resendWebhook({ id, ...asked }))) as Operation;
}

/** Tells what would be sent again; nothing is. */
export function resendDryRunQuery(id: string, asked: Resend) {
  return queryOptions({
    queryKey: ['resend-dry-run', id, asked],
    queryFn: async ({ signal }) =>
      (await dataOf(errand.resendWebhook({ id, ...asked, dry_run: true }, { signal }))) as ResendDryRun,
    placeholderData: (before) => before,
    staleTime: 0,
  });
}

export async function resendDelivery(id: string): Promise<void> {
  await changes.resendDelivery({ id });
}

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { DeliveryMail } from '../../../src/client/client.ts';
import { call, query } from './http.ts';
import type { Page } from './types.ts';

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly active: boolean;
  readonly timeout_ms: number;
  readonly max_in_flight: number;
  readonly ordered: boolean;
  readonly health: {
    readonly status: string;
    readonly failing_since_ms: number | null;
    readonly exhausted_in_row: number;
    readonly paused_until_ms: number | null;
  };
  readonly secret?: string;
}

export interface Delivery {
  readonly id: string;
  readonly kind: string;
  readonly webhook_id?: string;
  readonly emitter_id: string;
  readonly event_name: string;
  readonly state: string;
  readonly attempts_made: number;
  readonly next_attempt_at_ms: number | null;
  readonly why: string;
  readonly created_at_ms: number;
  readonly ended_at_ms: number | null;
}

export interface Attempt {
  readonly n: number;
  readonly trigger: string;
  readonly started_at_ms: number;
  readonly took_ms: number;
  readonly timing?: {
    readonly dns_ms: number | null;
    readonly connect_ms: number | null;
    readonly first_byte_ms: number | null;
  };
  readonly outcome: string;
  readonly status: number | null;
  readonly response_headers?: Readonly<Record<string, unknown>> | null;
  readonly response_body?: string | null;
  readonly detail: string | null;
}

export interface WholeDelivery extends Delivery {
  readonly channel_id?: string;
  readonly mail?: DeliveryMail;
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly body: string;
  };
  readonly attempts: readonly Attempt[];
}

interface Data<T> {
  readonly data: T;
}

const AGAIN_MS = 4000;

export const webhooksQuery = infiniteQueryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ pageParam, signal }) =>
    call<Page<Webhook>>('GET', `/v1/webhooks${query({ limit: 100, after: pageParam })}`, undefined, signal),
  initialPageParam: null as string | null,
  getNextPageParam: (last) => (last.data.length < 100 ? null : last.page_info.end_cursor),
  refetchInterval: AGAIN_MS,
});

export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: ['webhook', id],
    queryFn: async ({ signal }) => (await call<Data<Webhook>>('GET', `/v1/webhooks/${id}`, undefined, signal)).data,
    refetchInterval: AGAIN_MS,
  });
}

const DELIVERIES_PER_PAGE = 50;

export function deliveriesQuery(webhookId: string, state: string | undefined) {
  const of = { state, limit: DELIVERIES_PER_PAGE };
  return infiniteQueryOptions({
    queryKey: ['deliveries', webhookId, of],
    queryFn: ({ pageParam, signal }) => {
      const path = `/v1/webhooks/${webhookId}/deliveries${query({ ...of, after: pageParam })}`;
      return call<Page<Delivery>>('GET', path, undefined, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.data.length < DELIVERIES_PER_PAGE ? null : last.page_info.end_cursor),
    refetchInterval: AGAIN_MS,
  });
}

export function deliveryQuery(id: string) {
  return queryOptions({
    queryKey: ['delivery', id],
    queryFn: async ({ signal }) =>
      (await call<Data<WholeDelivery>>('GET', `/v1/deliveries/${id}`, undefined, signal)).data,
    refetchInterval: AGAIN_MS,
  });
}

export async function createWebhook(input: { url: string; name?: string }): Promise<Webhook> {
  return (await call<Data<Webhook>>('POST', '/v1/webhooks', input)).data;
}

export async function setWebhookActive(id: string, active: boolean): Promise<void> {
  await call('PUT', `/v1/webhooks/${id}`, { active });
}

export async function rotateSecret(id: string): Promise<Webhook> {
  return (await call<Data<Webhook>>('POST', `/v1/webhooks/${id}/rotate_secret`, { overlap_s: 86_400 })).data;
}

export interface Probe {
  readonly delivered: boolean;
  readonly follows: string;
  readonly attempt: Attempt;
}

/** Sends a test event now. Nothing of it is kept. */
export async function testWebhook(id: string): Promise<Probe> {
  return (await call<Data<Probe>>('POST', `/v1/webhooks/${id}/test`)).data;
}

export async function resendDelivery(id: string): Promise<void> {
  await call('POST', `/v1/deliveries/${id}/resend`);
}

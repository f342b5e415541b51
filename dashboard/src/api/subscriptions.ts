import { queryOptions } from '@tanstack/react-query';
import type { CreateSubscriptionInput, Subscription } from '../../../src/client/client.ts';
import { call } from './http.ts';
import { type Data, readAll } from './list.ts';

export const subscriptionsQuery = queryOptions({
  queryKey: ['subscriptions', 'all'],
  queryFn: ({ signal }) => readAll<Subscription>('/v1/subscriptions', { via: 'subscription' }, signal),
});

export async function createSubscription(input: CreateSubscriptionInput): Promise<Subscription> {
  return (await call<Data<Subscription>>('POST', '/v1/subscriptions', input)).data;
}

export async function deleteSubscription(id: string): Promise<void> {
  await call('DELETE', `/v1/subscriptions/${id}`);
}

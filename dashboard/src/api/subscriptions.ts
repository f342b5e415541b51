import { queryOptions } from '@tanstack/react-query';
import type { CreateSubscriptionInput, Subscription } from '../../../src/client/client.ts';
import { changes, errand } from './errand.ts';
import { readAll } from './list.ts';

export const subscriptionsQuery = queryOptions({
  queryKey: ['subscriptions', 'all'],
  queryFn: ({ signal }) =>
    readAll<Subscription>(
      (asked, options) => errand.listSubscriptions({ ...asked, via: 'subscription' }, options),
      signal,
    ),
});

export async function createSubscription(input: CreateSubscriptionInput): Promise<void> {
  await changes.createSubscription(input);
}

export async function deleteSubscription(id: string): Promise<void> {
  await changes.deleteSubscription({ id });
}

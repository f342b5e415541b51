import { queryOptions } from '@tanstack/react-query';
import type { CreateSubscriptionInput, Subscription } from '../../../src/client/client.ts';
import { changes, errand } from './errand.ts';
import { readAll } from './list.ts';

/** A subscription, or a trigger that starts a workflow with what another emits. */
export interface Link extends Subscription {
  readonly isTrigger: boolean;
}

/** What has a page of its own; triggers by HTTP and time are emitters of nothing else. */
const HAS_PAGE = /^(p|dc|wh|hb)_\w/;

async function readLinks(via: 'subscription' | 'trigger', signal: AbortSignal): Promise<Link[]> {
  const all = await readAll<Subscription>(
    (asked, options) => errand.listSubscriptions({ ...asked, via }, options),
    signal,
  );
  return all.map((one) => ({ ...one, isTrigger: via === 'trigger' }));
}

/** Who hears whom: subscriptions, newest first, then triggers. */
export const subscriptionsQuery = queryOptions({
  queryKey: ['subscriptions', 'all'],
  queryFn: async ({ signal }) => {
    const [made, triggers] = await Promise.all([readLinks('subscription', signal), readLinks('trigger', signal)]);
    return [...made, ...triggers.filter(({ emitter_id: id }) => HAS_PAGE.test(id))];
  },
});

export async function createSubscription(input: CreateSubscriptionInput): Promise<void> {
  await changes.createSubscription(input);
}

export async function deleteSubscription(id: string): Promise<void> {
  await changes.deleteSubscription({ id });
}

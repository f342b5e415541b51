import { queryOptions } from '@tanstack/react-query';
import type {
  Channel,
  ChannelTest,
  CreateChannelInput,
  Delivery,
  ListDeliveriesInput,
  UpdateChannelInput,
} from '../../../src/client/client.ts';
import { changes, dataOf, errand } from './errand.ts';
import { listQuery, readAll } from './list.ts';
import { everyOf } from './states.ts';

export const CHANNEL_KINDS = everyOf<Channel['kind']>()([
  'mail',
  'slack',
  'discord',
  'teams',
  'pagerduty',
  'opsgenie',
  'http',
]);

export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => readAll<Channel>((asked, options) => errand.listChannels(asked, options), signal),
  staleTime: 10_000,
});

export async function createChannel(input: CreateChannelInput): Promise<Channel> {
  return await dataOf(changes.createChannel(input));
}

export async function updateChannel(id: string, change: Omit<UpdateChannelInput, 'id'>): Promise<void> {
  await changes.updateChannel({ id, ...change });
}

export async function deleteChannel(id: string): Promise<void> {
  await changes.deleteChannel({ id });
}

/** Sends a notice now. Nothing of it is kept. */
export async function testChannel(id: string): Promise<ChannelTest> {
  return await dataOf(changes.testChannel({ id }));
}

const AGAIN_MS = 4000;
const NEWEST_AGAIN_MS = 10_000;

/** The mail that was written last; null: there is none. */
export const newestMailQuery = queryOptions({
  queryKey: ['notices', 'newest mail'],
  queryFn: async ({ signal }) => {
    const { data } = await errand.listDeliveries({ kind: 'mail', limit: 1 }, { signal });
    return data[0] ?? null;
  },
});

/** Of so many, those under way are passed over. */
const NEWEST = 20;
const ATTEMPTED: readonly Delivery['state'][] = ['delivered', 'retrying', 'exhausted'];

/** The newest notice to a channel that was attempted; null: there is none. */
export function newestNoticeQuery(channelId: string) {
  return queryOptions({
    queryKey: ['notices', 'newest', channelId],
    queryFn: async ({ signal }) => {
      const { data } = await errand.listDeliveries({ channel_id: channelId, limit: NEWEST }, { signal });
      return data.find(({ state }) => ATTEMPTED.includes(state)) ?? null;
    },
    refetchInterval: NEWEST_AGAIN_MS,
  });
}

/** Mails, or the notices to a channel. */
export function noticesQuery(channelId: string | undefined, state: Delivery['state'] | undefined) {
  const filter: ListDeliveriesInput = {
    state,
    ...(channelId === undefined ? { kind: 'mail' } : { channel_id: channelId }),
  };
  return listQuery({
    key: ['notices'],
    read: (asked, options) => errand.listDeliveries(asked, options),
    filter,
    againMs: AGAIN_MS,
  });
}

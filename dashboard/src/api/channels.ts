import { queryOptions } from '@tanstack/react-query';
import type {
  Channel,
  ChannelTest,
  CreateChannelInput,
  Delivery,
  UpdateChannelInput,
} from '../../../src/client/client.ts';
import { call } from './http.ts';
import { type Data, listQuery, readAll } from './list.ts';

export const CHANNEL_KINDS = [
  'mail',
  'slack',
  'discord',
  'teams',
  'pagerduty',
  'opsgenie',
  'http',
] as const satisfies readonly Channel['kind'][];

export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => readAll<Channel>('/v1/channels', {}, signal),
  staleTime: 10_000,
});

export async function createChannel(input: CreateChannelInput): Promise<Channel> {
  return (await call<Data<Channel>>('POST', '/v1/channels', input)).data;
}

export async function updateChannel(id: string, change: Omit<UpdateChannelInput, 'id'>): Promise<void> {
  await call('PUT', `/v1/channels/${id}`, change);
}

export async function deleteChannel(id: string): Promise<void> {
  await call('DELETE', `/v1/channels/${id}`);
}

/** Sends a notice now. Nothing of it is kept. */
export async function testChannel(id: string): Promise<ChannelTest> {
  return (await call<Data<ChannelTest>>('POST', `/v1/channels/${id}/test`, {})).data;
}

const AGAIN_MS = 4000;

/** Mails, or the notices to a channel. */
export function noticesQuery(channelId: string | undefined, state: Delivery['state'] | undefined) {
  const filter = { state, ...(channelId === undefined ? { kind: 'mail' } : { channel_id: channelId }) };
  return listQuery<Delivery>({ key: ['notices'], path: '/v1/deliveries', filter, againMs: AGAIN_MS });
}

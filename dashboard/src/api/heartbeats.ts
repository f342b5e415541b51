import { queryOptions } from '@tanstack/react-query';
import type { CreateHeartbeatInput, Heartbeat } from '../../../src/client/client.ts';
import { call } from './http.ts';
import { type Data, readAll } from './list.ts';

const AGAIN_MS = 5000;

export const heartbeatsQuery = queryOptions({
  queryKey: ['heartbeats'],
  queryFn: ({ signal }) => readAll<Heartbeat>('/v1/heartbeats', {}, signal),
  refetchInterval: AGAIN_MS,
});

export function heartbeatQuery(id: string) {
  return queryOptions({
    queryKey: ['heartbeat', id],
    queryFn: async ({ signal }) => (await call<Data<Heartbeat>>('GET', `/v1/heartbeats/${id}`, undefined, signal)).data,
    refetchInterval: AGAIN_MS,
  });
}

export async function createHeartbeat(input: CreateHeartbeatInput): Promise<Heartbeat> {
  return (await call<Data<Heartbeat>>('POST', '/v1/heartbeats', input)).data;
}

export async function updateHeartbeat(
  id: string,
  change: Partial<CreateHeartbeatInput & Pick<Heartbeat, 'active'>>,
): Promise<void> {
  await call('PUT', `/v1/heartbeats/${id}`, change);
}

export async function deleteHeartbeat(id: string): Promise<void> {
  await call('DELETE', `/v1/heartbeats/${id}`);
}

import { queryOptions } from '@tanstack/react-query';
import type { CreateHeartbeatInput, Heartbeat } from '../../../src/client/client.ts';
import { changes, dataOf, errand } from './errand.ts';
import { readAll } from './list.ts';

const AGAIN_MS = 5000;

export const heartbeatsQuery = queryOptions({
  queryKey: ['heartbeats'],
  queryFn: ({ signal }) => readAll<Heartbeat>((asked, options) => errand.listHeartbeats(asked, options), signal),
  refetchInterval: AGAIN_MS,
});

export function heartbeatQuery(id: string) {
  return queryOptions({
    queryKey: ['heartbeat', id],
    queryFn: ({ signal }) => dataOf(errand.getHeartbeat({ id }, { signal })),
    refetchInterval: AGAIN_MS,
  });
}

export async function createHeartbeat(input: CreateHeartbeatInput): Promise<Heartbeat> {
  return await dataOf(changes.createHeartbeat(input));
}

export async function updateHeartbeat(
  id: string,
  change: Partial<CreateHeartbeatInput & Pick<Heartbeat, 'active'>>,
): Promise<void> {
  await changes.updateHeartbeat({ id, ...change });
}

export async function deleteHeartbeat(id: string): Promise<void> {
  await changes.deleteHeartbeat({ id });
}

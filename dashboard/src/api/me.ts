import { queryOptions } from '@tanstack/react-query';
import type { Owner, UpdateMeInput } from '../../../src/client/client.ts';
import { call } from './http.ts';
import type { Data } from './list.ts';

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => (await call<Data<Owner>>('GET', '/v1/users/me', undefined, signal)).data,
});

export async function updateMe(change: UpdateMeInput): Promise<Owner> {
  return (await call<Data<Owner>>('PUT', '/v1/users/me', change)).data;
}

import { queryOptions } from '@tanstack/react-query';
import type { KeyOwner, UpdateMeInput } from '../../../src/client/client.ts';
import { changes, dataOf, errand } from './errand.ts';

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => dataOf(errand.getMe({}, { signal })),
});

export async function updateMe(change: UpdateMeInput): Promise<KeyOwner> {
  return await dataOf(changes.updateMe(change));
}

import { queryOptions } from '@tanstack/react-query';
import type { Session } from '../../../src/client/client.ts';
import { call } from './http.ts';
import type { Data } from './list.ts';

/** Whether this browser has signed in: a page that never did asks the server for nothing that it would refuse. */
const MARK = 'errand.signed-in';

export function mayBeSignedIn(): boolean {
  try {
    return localStorage.getItem(MARK) !== null;
  } catch {
    return true;
  }
}

export function markSignedIn(isIn: boolean): void {
  try {
    if (isIn) localStorage.setItem(MARK, '1');
    else localStorage.removeItem(MARK);
  } catch {
    // A browser that keeps nothing for this page asks each time.
  }
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await call<Data<Session>>('GET', '/v1/session', undefined, signal)).data,
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

export async function signIn(by: { api_key: string } | { link: string }): Promise<Session> {
  const { data } = await call<Data<Session>>('POST', '/v1/session', by);
  markSignedIn(true);
  return data;
}

export async function signOut(): Promise<void> {
  await call('DELETE', '/v1/session');
  markSignedIn(false);
}

import { queryOptions } from '@tanstack/react-query';
import type { Session } from '../../../src/client/client.ts';
import { beginSession, call } from './http.ts';
import type { Data } from './list.ts';
import { markSignedIn } from './signed-in.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await call<Data<Session>>('GET', '/v1/session', undefined, signal)).data,
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

export async function signIn(by: { api_key: string } | { link: string }): Promise<Session> {
  const { data } = await call<Data<Session>>('POST', '/v1/session', by);
  markSignedIn(true);
  beginSession();
  return data;
}

/** Ends all sessions of the key, or of all keys of the owner. */
export async function signOutEverywhere(of: 'key' | 'owner'): Promise<void> {
  await call('DELETE', `/v1/sessions?of=${of}`);
  markSignedIn(false);
}

export async function signOut(): Promise<void> {
  await call('DELETE', '/v1/session');
  markSignedIn(false);
}

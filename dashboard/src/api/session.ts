import { queryOptions } from '@tanstack/react-query';
import type { Session } from '../../../src/client/client.ts';
import { beginSession, changes, dataOf, errand } from './errand.ts';
import { markSignedIn } from './signed-in.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => dataOf(errand.getSession({}, { signal })),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

export async function signIn(by: { api_key: string } | { link: string }): Promise<Session> {
  const begun = await dataOf(changes.createSession(by));
  markSignedIn(true);
  beginSession();
  return begun;
}

/** Ends all sessions of the key, or of all keys of the owner. */
export async function signOutEverywhere(of: 'key' | 'owner'): Promise<void> {
  await changes.endAllSessions({ of });
  markSignedIn(false);
}

export async function signOut(): Promise<void> {
  await changes.endSession();
  markSignedIn(false);
}

import { type QueryClient, type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionQuery } from '../api/session.ts';
import { toast, toastError } from './toast.tsx';

/** Returns what does something, says so, shows why it failed, and asks again for what it may have changed. */
export function useAct(
  ...changed: readonly QueryKey[]
): (what: () => Promise<unknown>, said?: string) => Promise<void> {
  const client = useQueryClient();
  return async (what, said) => {
    try {
      await what();
      if (said !== undefined) toast(said);
    } catch (error) {
      toastError(error);
    }
    for (const queryKey of changed) void askAgain(client, queryKey);
  };
}

/** What is asked for the first time is asked again, too: its answer may be older than the change, and would stay. */
async function askAgain(client: QueryClient, queryKey: QueryKey): Promise<void> {
  await client.cancelQueries({ queryKey, predicate: ({ state }) => state.data === undefined });
  await client.invalidateQueries({ queryKey });
}

/** Returns whether what was started is under way, and what starts it. The button of a form shows it. */
export function useBusy(): [boolean, (what: () => Promise<unknown>) => Promise<void>] {
  const [isBusy, setBusy] = useState(false);
  return [
    isBusy,
    async (what) => {
      setBusy(true);
      try {
        await what();
      } finally {
        setBusy(false);
      }
    },
  ];
}

/** Whether the key of this session has a scope. */
export function useMay(scope: 'write' | 'keys' | 'account'): boolean {
  return useQuery(sessionQuery).data?.key.scopes.includes(scope) ?? false;
}

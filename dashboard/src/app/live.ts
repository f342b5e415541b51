// New errors, as the server tells of them. While the page is hidden nothing is heard: browsers allow six connections to a
// server, and a seventh page would wait for ever.

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { errand } from '../api/errand.ts';
import { refreshGrown, refreshLists } from '../api/refresh.ts';

/** What comes meanwhile is shown together. */
const GATHER_MS = 500;
const AGAIN_MS = 5000;
/** A server that does not even begin to answer is asked again. */
const ANSWER_MS = 30_000;
const LOOK_MS = 1000;

/** Keeps lists of several pages up to date while the page is seen. */
export function useGrownLists(): void {
  const client = useQueryClient();
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === 'visible') refreshGrown(client, Date.now());
    };
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [client]);
}

/** Shows new errors as they come. Returns whether the server would tell of one now. */
export function useLiveErrors(): boolean {
  const client = useQueryClient();
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    let heard: AbortController | null = null;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const refresh = (): void => {
      gathering = undefined;
      for (const name of ['group', 'ledger']) void client.invalidateQueries({ queryKey: [name] });
      for (const name of ['groups', 'group-errors', 'runs']) void refreshLists(client, name);
    };
    const listen = async (signal: AbortSignal): Promise<void> => {
      const onConnect = (): void => {
        setLive(true);
        refresh();
      };
      const onDisconnect = (): void => setLive(false);
      const options = { signal, timeoutMs: ANSWER_MS, onConnect, onDisconnect };
      for await (const _ of errand.streamErrors({}, options)) gathering ??= setTimeout(refresh, GATHER_MS);
    };
    const open = async (): Promise<void> => {
      close();
      const own = new AbortController();
      heard = own;
      await listen(own.signal).catch(() => undefined);
      if (own.signal.aborted) return;
      setLive(false);
      // Whether the session is over, the answer to this tells, and leads to the sign-in.
      void client.invalidateQueries({ queryKey: ['session'] });
      const again = setTimeout(() => void open(), AGAIN_MS);
      own.signal.addEventListener('abort', () => clearTimeout(again));
    };
    const close = (): void => {
      heard?.abort();
      heard = null;
    };
    const follow = (): void => {
      if (document.visibilityState === 'visible') void open();
      else close();
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      clearTimeout(gathering);
      close();
    };
  }, [client]);
  return isLive;
}

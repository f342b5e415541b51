// New errors, as the server tells of them. While the page is hidden nothing is heard: browsers allow six connections to a
// server, and a seventh page would wait for ever.

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { refreshGrown, refreshLists } from '../api/refresh.ts';

/** What comes meanwhile is shown together. */
const GATHER_MS = 500;
const AGAIN_MS = 5000;
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

export function useLiveErrors(): boolean {
  const client = useQueryClient();
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    let stream: EventSource | null = null;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const refresh = (): void => {
      gathering = undefined;
      for (const name of ['group', 'ledger']) void client.invalidateQueries({ queryKey: [name] });
      for (const name of ['groups', 'group-errors', 'runs']) void refreshLists(client, name);
    };
    const open = (): void => {
      close();
      stream = new EventSource('/v1/errors/stream');
      stream.onopen = () => {
        setLive(true);
        refresh();
      };
      stream.addEventListener('$errors', () => {
        gathering ??= setTimeout(refresh, GATHER_MS);
      });
      stream.onerror = () => {
        setLive(false);
        // An answer that is no stream ends it for good: a node that stops, or a session that is over.
        if (stream?.readyState !== EventSource.CLOSED) return;
        again = setTimeout(open, AGAIN_MS);
        // Which of the two it was, the answer to this tells, and a session that is over leads to the sign-in.
        void client.invalidateQueries({ queryKey: ['session'] });
      };
    };
    const close = (): void => {
      clearTimeout(again);
      stream?.close();
      stream = null;
    };
    const follow = (): void => {
      if (document.visibilityState === 'visible') open();
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

// What could not be loaded and has no place in the page to say so: names, or what is shown and grows old. It is tried again by
// itself, and by a button.

import { type Query, useQueryClient } from '@tanstack/react-query';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ConnectionError, ProblemError } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { useSaid } from '../parts/failing.ts';
import { Failed } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { OtherVersion } from './later.tsx';

const AGAIN_MS = 10_000;

/** What is refused is refused again. */
function isPassing(error: unknown): boolean {
  return !(error instanceof ProblemError && error.status >= 400 && error.status < 500);
}

/** Of the queries whose data the page uses, those that failed last, also while they are tried again. */
function useFailing(): readonly Query[] {
  const client = useQueryClient();
  const [failing, setFailing] = useState<readonly Query[]>([]);
  useEffect(() => {
    const cache = client.getQueryCache();
    const failed = new Map<Query, Error>();
    const unsubscribe = cache.subscribe(({ type, query }) => {
      if (type !== 'updated' && type !== 'removed' && type !== 'observerRemoved') return;
      const { status, error, fetchStatus } = query.state;
      if (status === 'error' && error && isPassing(error)) failed.set(query, error);
      else if (status === 'success' || (fetchStatus === 'idle' && status !== 'error')) failed.delete(query);
      if (type === 'removed' || !query.isActive()) failed.delete(query);
      const now = [...failed.keys()];
      setFailing((before) =>
        before.length === now.length && before.every((one, at) => one === now[at]) ? before : now,
      );
    });
    const timer = setInterval(() => {
      for (const query of failed.keys())
        if (query.state.fetchStatus === 'idle') void query.fetch().catch(() => undefined);
    }, AGAIN_MS);
    return () => {
      unsubscribe();
      clearInterval(timer);
    };
  }, [client]);
  return failing;
}

export function Trouble({ isAway }: { isAway: boolean }) {
  const failing = useFailing();
  const said = useSaid();
  const [first] = failing.filter(({ state: { error } }) => error === null || !said.has(error));
  if (isAway) {
    return (
      <p className="trouble" role="status">
        {T.common.offline}
      </p>
    );
  }
  if (!first) return null;
  const isOld = first.state.error instanceof OtherVersion;
  return (
    <p className="trouble" role="status">
      {T.common.partFailed} <Foreign>{first.state.error?.message}</Foreign>{' '}
      <button
        type="button"
        className="link-button"
        onClick={() => {
          if (isOld) window.location.reload();
          else for (const query of failing) void query.fetch().catch(() => undefined);
        }}
      >
        {isOld ? T.common.reload : T.common.again}
      </button>
    </p>
  );
}

/** Returns whether a call failed: the server refused it, or did not answer. */
function isOfServer(error: unknown): boolean {
  return error instanceof ProblemError || error instanceof ConnectionError;
}

/** In the place of a page that could not begin: no session could be asked for, or its script did not come. */
export function PageFault({ error }: ErrorComponentProps) {
  const router = useRouter();
  useEffect(() => {
    if (!isOfServer(error)) return;
    const timer = setInterval(() => void router.invalidate(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [router, error]);
  return (
    <main className="main">
      <Failed
        error={error as Error}
        again={() => (isOfServer(error) ? void router.invalidate() : window.location.reload())}
      />
    </main>
  );
}

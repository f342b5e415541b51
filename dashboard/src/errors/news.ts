import { useEffect, useRef, useState } from 'react';
import type { ListedErrorGroup } from '../../../src/client/client.ts';
import { T } from '../english.ts';

/** A screen reader speaks no more often: in a storm, what comes meanwhile is told together. */
const QUIET_MS = 10_000;

/**
 * Returns what a screen reader is to say of errors that came since the list was first shown: who sees it sees them come. `list`:
 * which one it is; what another list has is no news. Empty: its answer has not come.
 */
export function useNews(groups: readonly ListedErrorGroup[], list: string): string {
  const [news, say] = useState('');
  const seen = useRef({ list: '', latestMs: 0 });
  const untold = useRef(new Map<string, string>());
  const quiet = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const latestMs = groups.reduce((latest, { last_seen_ms: ms }) => Math.max(latest, ms), 0);
    const { list: before, latestMs: beforeMs } = seen.current;
    seen.current = { list, latestMs: before === list ? Math.max(beforeMs, latestMs) : latestMs };
    if (before !== list || list === '') return;
    for (const { id, last_seen_ms: ms, rule, fingerprint } of groups)
      if (ms > beforeMs) untold.current.set(id, rule ?? fingerprint.code);
    const tell = (): void => {
      quiet.current = undefined;
      if (untold.current.size === 0) return;
      say(T.errors.news([...untold.current.values()]));
      untold.current.clear();
      quiet.current = setTimeout(tell, QUIET_MS);
    };
    if (quiet.current === undefined) tell();
  }, [groups, list]);
  useEffect(() => () => clearTimeout(quiet.current), []);
  return news;
}

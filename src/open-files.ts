// How many files and connections a process may have open (`ulimit -n`). Node raises its own limit to the hard one at its start.

import { readFileSync } from 'node:fs';

/** What a server opens besides connections of callers: its store, processes of code, connections to receivers. */
const BESIDES_CONNECTIONS = 1000;

/** Returns the limit of a process; null: it has none, or the system does not tell. */
export function openFilesLimit(pid: number | 'self'): number | null {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

/** Returns what is wrong with a limit for a server that takes so many connections, and what to do; null: it is high enough. */
export function whyTooFewFiles(limit: number | null, maxConnections: number): string | null {
  const needed = maxConnections + BESIDES_CONNECTIONS;
  if (limit === null || limit >= needed) return null;
  return `the process may open ${limit} files and connections, and with ERRAND_MAX_CONNECTIONS=${maxConnections} it may need ${needed}: beyond its limit new connections are closed, and code and mails fail. Raise the limit (ulimit -n, LimitNOFILE of systemd), or lower ERRAND_MAX_CONNECTIONS`;
}

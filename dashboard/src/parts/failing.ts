// Which failures a page says in the place of what is missing. Those of what is only out of date, or has no place of its own, are
// said beside the page.

import { useSyncExternalStore } from 'react';

let said: ReadonlySet<Error> = new Set();
const heard = new Set<() => void>();

function set(changed: ReadonlySet<Error>): void {
  said = changed;
  for (const one of heard) one();
}

/** Returns what takes it back. */
export function markSaid(error: Error): () => void {
  set(new Set([...said, error]));
  return () => set(new Set([...said].filter((one) => one !== error)));
}

export function useSaid(): ReadonlySet<Error> {
  return useSyncExternalStore(
    (hear) => {
      heard.add(hear);
      return () => heard.delete(hear);
    },
    () => said,
  );
}

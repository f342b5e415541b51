// A finishing write that storage refuses is tried until storage is back: the result is in our hands, and nowhere else.

import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../store/contract/store.ts';

const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 2000;

/** Resolves with the verb's value; undefined when `signal` ended the insisting (a restart then rescues the lease). */
export async function insist<T>(verb: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      return await verb();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (signal.aborted) return undefined;
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

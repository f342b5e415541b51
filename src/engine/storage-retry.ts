// A finishing write that storage refuses is tried until storage is back: no other place has the result.

import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../store/contract/unavailable.ts';
import type { StorageOutage } from './storage-outage.ts';

const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 2000;

/**
 * Resolves with the verb's value; undefined when `signal` ended the retries (a restart then rescues the lease). `outage`: is told
 * of each failure.
 */
export async function retryStorage<T>(
  verb: () => Promise<T>,
  signal: AbortSignal,
  outage?: Pick<StorageOutage, 'failed'>,
): Promise<T | undefined> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      return await verb();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      outage?.failed(error, 'finishing writes');
      if (signal.aborted) return undefined;
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

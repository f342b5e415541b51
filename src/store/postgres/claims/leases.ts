// How long runs and deliveries are leased.

import { LIMITS, MINUTE_MS } from '../../../domain/limits.ts';
import type { Runnable } from '../../../domain/resource.ts';

/** Added to a run's timeout for the start of a process, the node's own queue, and a slow database. */
const RUN_LEASE_SLACK_MS = 5 * MINUTE_MS;
/** Longer than an attempt and all its waits may take. */
export const DELIVERY_LEASE_MS = 10 * MINUTE_MS;
export const LONGEST_LEASE_MS = Math.max(DELIVERY_LEASE_MS, LIMITS.maxTimeoutMs + RUN_LEASE_SLACK_MS);

export function runLeaseMs({ settings }: Runnable): number {
  return (settings.timeoutMs ?? LIMITS.scheduleTimeoutMs) + RUN_LEASE_SLACK_MS;
}

// Closes the windows in which repeats of a notice were counted (write-emission.ts); one mail reports them.

import { countedIn, digestBody } from '../../domain/delivery/digest.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Claims } from '../contract/store.ts';
import type { ClosedDigest, LogWriter } from './port.ts';
import { writeEmission } from './write-emission.ts';

/** Windows that one transaction closes. */
export const DIGESTS_PER_STEP = 100;

/** Closes the windows that are over. A window with repeats sends its mail, and opens the next one; that of a group that is muted or resolved sends none. */
export function closeDigests(log: LogWriter): Claims {
  for (const digest of log.closedDigests()) closeDigest(log, digest);
  return log.claims;
}

function closeDigest(log: LogWriter, { ownerId, digestKey, window, newest, isWithheld }: ClosedDigest): void {
  if (newest === null || isWithheld || countedIn(digestKey, window) === 0) {
    log.endDigest(ownerId, digestKey);
    return;
  }
  const { entry: _entry, emitId: _emitId, ...mail } = newest;
  // The mail reports several runs, so it has no cause.
  const made = { ...mail, body: digestBody(digestKey, window, mail.body), digestKey, causeRun: null };
  const { emission } = writeEmission(log, made, { isDigest: true });
  const windowMs = log.owner(ownerId)?.digestWindowMs ?? LIMITS.digestWindowMs;
  const times = { openedAtMs: log.nowMs, closesAtMs: log.nowMs + windowMs, repeats: 0 };
  log.openDigest({ ownerId, digestKey, ...times, newestEntry: emission.entry });
}

// Closes the windows in which repeats of a notice were counted (write-emission.ts); one mail reports them. And changes those of mails
// that were given up.

import { countedIn, digestBody, digestIn, groupsKeyOf, isGroupsKey } from '../../domain/delivery/digest.ts';
import { afterGivenUp, groupsAfterGivenUp, withCountOf } from '../../domain/delivery/given-up.ts';
import type { Emission } from '../../domain/emission.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Claims } from '../contract/store.ts';
import type { ClosedDigest } from './groups/digest-store.ts';
import type { LogWriter } from './port.ts';
import { whyWithheld, writeEmission } from './write-emission.ts';

/** Windows that one transaction closes. */
export const DIGESTS_PER_STEP = 100;

/** Closes the windows that are over. A window with repeats sends its mail, and opens the next one; that of a group that is muted or resolved sends none. */
export function closeDigests(log: LogWriter): Claims {
  for (const digest of log.closedDigests()) closeDigest(log, digest);
  return log.claims;
}

function closeDigest(log: LogWriter, { ownerId, digestKey, window, newest, withheld }: ClosedDigest): void {
  if (newest === null || countedIn(digestKey, window) === 0) {
    log.endDigest(ownerId, digestKey);
    return;
  }
  const { entry: _entry, emitId: _emitId, ...mail } = newest;
  // The mail reports several runs, so it has no cause. By its key, what it has counted finds it.
  const body = digestBody(digestKey, window, newest);
  const made = { ...mail, body, digestKey, groupId: digestKey, causeRun: null };
  const { emission } = writeEmission(log, made, { digest: { withheld: withheld && whyWithheld(withheld) } });
  if (withheld) {
    log.endDigest(ownerId, digestKey);
    return;
  }
  const windowMs = log.owner(ownerId)?.digestWindowMs ?? LIMITS.digestWindowMs;
  const times = { openedAtMs: log.nowMs, closesAtMs: log.nowMs + windowMs, repeats: 0 };
  log.openDigest({ ownerId, digestKey, ...times, newestEntry: emission.entry });
}

/**
 * Changes what the mail has opened, and nothing that another mail has. `isResent`: a person sends it again, and what it counts was left to
 * the next digest before.
 */
export function giveUpMail(log: LogWriter, { ownerId, digestKey, entry, ...mail }: Emission, isResent: boolean): void {
  if (digestKey === null) return;
  const { nowMs } = log;
  const groupsKey = groupsKeyOf(digestKey);
  // Both are read first: Postgres locks them together then.
  const [window, groups] = [log.digestWindow(ownerId, digestKey), log.digestWindow(ownerId, groupsKey)];
  const digest = digestIn(mail);
  if (digest && !isResent) {
    const windowMs = log.owner(ownerId)?.digestWindowMs ?? 0;
    const given = { digestKey, entry, count: digest.count, sinceMs: digest.since_ms };
    const next = withCountOf(given, window, { nowMs, windowMs });
    if (window) log.changeDigest(ownerId, digestKey, next);
    else if (windowMs > 0) log.openDigest({ ownerId, digestKey, ...next, newestEntry: entry });
  } else if (window && !digest) {
    log.changeDigest(ownerId, digestKey, afterGivenUp(window, entry, nowMs));
  }
  if (groups && !isGroupsKey(digestKey)) log.changeDigest(ownerId, groupsKey, groupsAfterGivenUp(groups, entry, nowMs));
}

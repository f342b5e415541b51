// What a mail about errors that was given up changes in the windows that count repeats (digest.ts). No person was told by it: so the next
// error of the group is mailed at once, and what was counted is mailed as soon as may be.
//
// A mail server that refuses everything must not get a mail for each error. Mails that are sent at once are bounded by
// NOTICE_LIMITS.firstMails in a window; the digests here by a pause since the mail that was given up.

import { msOf } from '../ids.ts';
import { NOTICE_LIMITS } from '../notices/limits.ts';
import { type DigestWindow, isGroupsKey, isMailedAtOnce } from './digest.ts';

/** Returns the window of the group of a mail that was given up: over, if that mail has opened it. */
export function afterGivenUp(window: DigestWindow, entry: number, nowMs: number): DigestWindow {
  return msOf(entry) < window.openedAtMs ? window : closedBy(window, nowMs);
}

/** Returns the window that counts the groups of the emitter of such a mail: soon over when no further group is mailed at once. */
export function groupsAfterGivenUp(groups: DigestWindow, entry: number, nowMs: number): DigestWindow {
  if (isMailedAtOnce(groups) || msOf(entry) < groups.openedAtMs) return groups;
  return closedBy(groups, Math.max(nowMs, groups.openedAtMs + NOTICE_LIMITS.givenUpPauseMs));
}

interface GivenUpDigest {
  readonly digestKey: string;
  readonly entry: number;
  readonly count: number;
  readonly sinceMs: number;
}

/** Returns the window that counts for a digest, too, which was given up. `window`: the one that is open; null: there is none. */
export function withCountOf(
  digest: GivenUpDigest,
  window: DigestWindow | null,
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): DigestWindow {
  const uncounted = isGroupsKey(digest.digestKey) ? NOTICE_LIMITS.firstMails - 1 : 0;
  const before = window ?? { openedAtMs: nowMs, closesAtMs: nowMs + windowMs, repeats: 0 };
  const repeats = Math.max(before.repeats, uncounted) + digest.count;
  const openedAtMs = Math.min(before.openedAtMs, digest.sinceMs);
  const soonMs = Math.max(nowMs, msOf(digest.entry) + NOTICE_LIMITS.givenUpPauseMs);
  return closedBy({ ...before, repeats, openedAtMs }, before.repeats > uncounted ? soonMs : before.closesAtMs);
}

/** Returns a window that has counted one more: soon over when it counts for a digest that was given up, and so lasts longer than windows do. */
export function afterCount(
  window: DigestWindow,
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): DigestWindow {
  const { openedAtMs, closesAtMs } = window;
  const isForOther = windowMs > 0 && closesAtMs - openedAtMs > windowMs;
  const pauseMs = NOTICE_LIMITS.givenUpPauseMs;
  if (!isForOther || closesAtMs <= nowMs + pauseMs) return window;
  return closedBy(window, Math.max(nowMs, closesAtMs - windowMs + pauseMs));
}

function closedBy(window: DigestWindow, atMs: number): DigestWindow {
  return { ...window, closesAtMs: Math.min(window.closesAtMs, atMs) };
}

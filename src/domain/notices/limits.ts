// The bounds of channels and notices; those of everything else are in ../limits.ts.

import { DAY_MS, KIB, MINUTE_MS, SECOND_MS } from '../limits.ts';

export const NOTICE_LIMITS = {
  /** When to look whether a subscriber has taken an error, which else goes to the global error workflow; then less and less often. */
  fallbackFirstMs: SECOND_MS,
  fallbackMostMs: MINUTE_MS,
  fallbacksPerStep: 100,
  /** Groups of errors of one workflow, source or webhook that are mailed at once in each window. */
  firstMails: 20,
  /** After a mail about errors that was given up, a digest is not sent before this time has passed since that mail. */
  givenUpPauseMs: 10 * MINUTE_MS,
  channelsPerOwner: 100,
  /** Channels that are notified of one workflow's errors. */
  channelsToldOf: 20,
  channelKeyChars: 255,
  templateChars: 16 * KIB,
  templatePlaceholders: 50,
  /** A notice that was taken, and not sent within this time, is taken again: its process is gone. */
  noticeLeaseMs: MINUTE_MS,
  noticesPerStep: 50,
  /** When it is looked at again whether those were told of errors, to whom an attempt to tell is under way, before their recovery is. */
  undecidedMs: SECOND_MS,
  /** Groups of errors of one workflow, source or webhook that are told one by one within `foldMs`; others then in one notice. */
  noticesAtOnce: 20,
  foldMs: 10 * MINUTE_MS,
  foldsPerStep: 5,
  /** The oldest errors of a group, among which is the one that was mailed. */
  mailedAmong: 1000,
  noticeLinkMs: 30 * DAY_MS,
  /** How long a group is muted by a link. */
  linkMuteMs: DAY_MS,
  /** That a person has resolved a group is told so much later: an undone click closes no incident, and sends nothing. */
  recoveryGraceMs: 10 * SECOND_MS,
  /** A recovery notice says how many errors were replayed of a group that has no more than so many. */
  replaysCounted: 100_000,
} as const;

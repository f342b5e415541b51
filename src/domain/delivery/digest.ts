// Repeats of a notice: the first mail about a group of errors is sent at once; repeats within its window become one mail at its
// end. Errors whose messages differ are a group each, so groups are counted, too: the first of NOTICE_LIMITS.firstMails groups of a
// workflow are mailed at once, all others of the window in one mail at its end.

import { text, utf8 } from '../bytes.ts';
import { NOTICE_LIMITS } from '../notices/limits.ts';

/** Returns the key by which mails about one group of errors repeat each other. `place` tells apart several mails of a run. */
export function digestKeyFor(
  failed: { emitterId: string; groupId: string | null; code: string | null },
  place: string,
) {
  return `${failed.emitterId} ${failed.groupId ?? failed.code ?? ''} ${place}`;
}

/** Returns the key of the window that counts the groups of the same emitter. */
export function groupsKeyOf(digestKey: string): string {
  return `${digestKey.slice(0, digestKey.indexOf(' '))} * ${digestKey.slice(digestKey.lastIndexOf(' ') + 1)}`;
}

/** Returns whether a key is of a window that counts groups, not the errors of one. */
export function isGroupsKey(digestKey: string): boolean {
  return digestKey === groupsKeyOf(digestKey);
}

/** Returns whether one more group is mailed at once. The first one opened the window, so it is not among its repeats. */
export function isMailedAtOnce(groups: DigestWindow | null): boolean {
  return groups === null || groups.repeats + 1 < NOTICE_LIMITS.firstMails;
}

/** Returns how many mails the digest of a window stands for. */
export function countedIn(digestKey: string, { repeats }: DigestWindow): number {
  return isGroupsKey(digestKey) ? Math.max(0, repeats + 1 - NOTICE_LIMITS.firstMails) : repeats;
}

export interface DigestWindow {
  readonly openedAtMs: number;
  readonly closesAtMs: number;
  /** Mails counted instead of sent. */
  readonly repeats: number;
}

/** Returns the group of errors that a key is of, if it is of one. */
export function groupOfKey(digestKey: string): string {
  return digestKey.split(' ')[1] ?? '';
}

/** Why a mail was neither sent nor counted. */
export const MUTED_MAIL = 'its group of errors is muted';
export const RESOLVED_MAIL = 'its group of errors was resolved before';

/** Says why a mail was counted and not sent. Of a group beyond the first ones of its emitter, no mail may have been sent at all. */
export function whyCounted(digestKey: string, { closesAtMs, repeats }: Omit<DigestWindow, 'openedAtMs'>): string {
  const why = isGroupsKey(digestKey)
    ? `${NOTICE_LIMITS.firstMails} groups of errors of the same emitter were mailed in this window`
    : `repeat number ${repeats} of a notice already sent`;
  return `${why}: counted, and reported in the digest of ${new Date(closesAtMs).toISOString()}`;
}

interface MailBody {
  subject: string;
  text: string;
  html?: string;
}

/** Returns the body of the digest mail: the newest counted mail, preceded by their number and the window. */
export function digestBody(digestKey: string, window: DigestWindow, newest: Uint8Array): Uint8Array {
  const mail = JSON.parse(text(newest)) as MailBody;
  const since = new Date(window.openedAtMs).toISOString().slice(11, 16);
  const others = isGroupsKey(digestKey) ? ' of other kinds' : '';
  const more = `+${countedIn(digestKey, window)} more${others} since ${since} UTC`;
  const lead = `${more} (${new Date(window.openedAtMs).toISOString()} to ${new Date(window.closesAtMs).toISOString()}). The newest of them:`;
  const digest: MailBody = {
    subject: `${mail.subject} (${more})`,
    text: `${lead}\n\n${mail.text ?? ''}`,
    ...(typeof mail.html === 'string' ? { html: withLead(mail.html, `<p>${lead}</p>\n`) } : {}),
  };
  return utf8(JSON.stringify(digest));
}

/** Puts it first on the page: before its doctype, it would change how the page is shown. */
function withLead(html: string, lead: string): string {
  const [head = ''] = /^\s*<!doctype[^>]*>\s*<html[^>]*>\s*<body[^>]*>/i.exec(html) ?? [];
  return head + lead + html.slice(head.length);
}

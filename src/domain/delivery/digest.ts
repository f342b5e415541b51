// Repeats of a notice: the first mail about a group of errors is sent at once; repeats within its window become one mail at its
// end. Errors whose messages differ are a group each, so groups are counted, too: the first of NOTICE_LIMITS.firstMails groups of a
// workflow are mailed at once, all others of the window in one mail at its end.

import { text, utf8 } from '../bytes.ts';
import type { Emission } from '../emission.ts';
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

/** Returns a window while it counts: one that is over, and has counted nothing, holds no mail back. */
export function counting(window: DigestWindow | null, nowMs: number): DigestWindow | null {
  return window !== null && window.repeats === 0 && window.closesAtMs <= nowMs ? null : window;
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

/** What a reason begins with that says which window has counted a mail. */
const OF_GROUP = 'repeat number';
const OF_MANY = `${NOTICE_LIMITS.firstMails} groups of errors`;

/** Returns the key of the window that has counted a withheld mail; null: it was not counted. */
export function countedBy(digestKey: string, reason: string): string | null {
  if (reason.startsWith(OF_GROUP)) return digestKey;
  return reason.startsWith(OF_MANY) ? groupsKeyOf(digestKey) : null;
}

/** Says why a mail was counted and not sent. Of a group beyond the first ones of its emitter, no mail may have been sent at all. */
export function whyCounted(digestKey: string, { closesAtMs, repeats }: Omit<DigestWindow, 'openedAtMs'>): string {
  const why = isGroupsKey(digestKey)
    ? `${OF_MANY} of the same emitter were mailed in this window`
    : `${OF_GROUP} ${repeats} of a notice already sent`;
  return `${why}: counted, and reported in the digest of ${new Date(closesAtMs).toISOString()}`;
}

/** What a digest says of itself, so that the next one can count for it when it is given up. */
interface Digest {
  readonly count: number;
  readonly since_ms: number;
  readonly until_ms: number;
}

type Mail = Pick<Emission, 'causeRun' | 'body'>;

interface MailBody {
  subject: string;
  text: string;
  html?: string;
  digest?: Digest;
}

/** Returns the body of the digest mail: the newest counted mail, preceded by their number and the window. */
export function digestBody(digestKey: string, window: DigestWindow, newest: Mail): Uint8Array {
  const mail = withoutLead(digestKey, newest);
  const made = { count: countedIn(digestKey, window), since_ms: window.openedAtMs, until_ms: window.closesAtMs };
  const { more, lead } = leadOf(digestKey, made);
  const digest: MailBody = {
    subject: `${mail.subject} (${more})`,
    text: `${lead}\n\n${mail.text ?? ''}`,
    ...(typeof mail.html === 'string' ? { html: withLead(mail.html, htmlOf(lead)) } : {}),
    digest: made,
  };
  return utf8(JSON.stringify(digest));
}

function leadOf(digestKey: string, { count, since_ms: sinceMs, until_ms: untilMs }: Digest) {
  const [since, until] = [new Date(sinceMs).toISOString(), new Date(untilMs).toISOString()];
  const others = isGroupsKey(digestKey) ? ' of other kinds' : '';
  const more = `+${count} more${others} since ${since.slice(11, 16)} UTC`;
  return { more, lead: `${more} (${since} to ${until}). The newest of them:` };
}

const htmlOf = (lead: string): string => `<p>${lead}</p>\n`;

/** Returns what a mail says; of a digest, what the mail said that it was made of. */
function withoutLead(digestKey: string, newest: Mail): MailBody {
  const [mail, digest] = [JSON.parse(text(newest.body)) as MailBody, digestIn(newest)];
  if (!digest) return mail;
  const { more, lead } = leadOf(digestKey, digest);
  return {
    subject: mail.subject.replace(` (${more})`, ''),
    text: mail.text.replace(`${lead}\n\n`, ''),
    ...(typeof mail.html === 'string' ? { html: mail.html.replace(htmlOf(lead), '') } : {}),
  };
}

/** Returns what a digest has counted; null for every other mail. A digest reports several runs, so it has no cause. */
export function digestIn({ causeRun, body }: Mail): Digest | null {
  return causeRun === null ? ((JSON.parse(text(body)) as MailBody).digest ?? null) : null;
}

/** Puts it first on the page: before its doctype, it would change how the page is shown. */
function withLead(html: string, lead: string): string {
  const [head = ''] = /^\s*<!doctype[^>]*>\s*<html[^>]*>\s*<body[^>]*>/i.exec(html) ?? [];
  return head + lead + html.slice(head.length);
}

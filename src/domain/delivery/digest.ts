// Repeats of a notice: the first mail is sent at once; repeats within its window become one mail at its end.

import { text, utf8 } from '../bytes.ts';

export interface DigestWindow {
  readonly openedAtMs: number;
  readonly closesAtMs: number;
  /** Mails counted instead of sent. */
  readonly repeats: number;
}

/** Says why a mail was counted and not sent. */
export function whyCounted({ closesAtMs, repeats }: Omit<DigestWindow, 'openedAtMs'>): string {
  const closes = new Date(closesAtMs).toISOString();
  return `repeat number ${repeats} of a notice already sent: counted, and reported in the digest of ${closes}`;
}

interface MailBody {
  subject: string;
  text: string;
  html?: string;
}

/** Returns the body of the digest mail: the newest counted mail, preceded by their number and the window. */
export function digestBody(window: DigestWindow, newest: Uint8Array): Uint8Array {
  const mail = JSON.parse(text(newest)) as MailBody;
  const since = new Date(window.openedAtMs).toISOString().slice(11, 16);
  const more = `+${window.repeats} more since ${since} UTC`;
  const lead = `${more} (${new Date(window.openedAtMs).toISOString()} to ${new Date(window.closesAtMs).toISOString()}). The newest of them:`;
  const digest: MailBody = {
    subject: `${mail.subject} (${more})`,
    text: `${lead}\n\n${mail.text ?? ''}`,
    ...(typeof mail.html === 'string' ? { html: `<p>${lead}</p>\n${mail.html}` } : {}),
  };
  return utf8(JSON.stringify(digest));
}

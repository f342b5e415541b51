// A mail delivery as a letter: nodemailer's input, for SMTP and for the outbox alike. The same delivery always makes the
// same letter, byte for byte, so that a repeat after a crash has the same Message-ID and overwrites its own file.

import type { ClaimedDelivery } from '../domain/delivery/delivery.ts';
import { msOf } from '../domain/ids.ts';
import { isMailAddress } from '../domain/notices/mail-address.ts';
import { withoutTurns } from '../domain/notices/plain.ts';
import { threadOf } from '../domain/notices/thread.ts';

export interface Letter {
  readonly from: string;
  /** Null: no recipient; the letter goes only into the outbox. */
  readonly to: string | null;
  readonly ownerId: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly messageId: string;
  /**
   * The message id by which mail clients keep together all mails about one group of errors. No mail has it, so none of them
   * must arrive before the others. Null: the mail stands alone.
   */
  readonly threadId: string | null;
  readonly date: Date;
  readonly emitId: string;
}

/** Returns the letter of a delivery; a sentence when the body is not `{subject, text, html?}`. */
export function letterOf({ emission, mailTo }: ClaimedDelivery, from: string): Letter | string {
  const content = parse(emission.body);
  if (content === null) return 'The mail is not a JSON object in UTF-8.';
  const { subject, text, html = null } = content;
  if (typeof subject !== 'string') return 'The mail has no subject (a string).';
  if (typeof text !== 'string') return 'The mail has no text (a string).';
  if (html !== null && typeof html !== 'string') return 'The html of the mail is not a string.';
  if (mailTo !== null && !isMailAddress(mailTo)) return 'The recipient is not one mail address.';
  const { emitId, entry, ownerId } = emission;
  const domain = domainOf(from);
  const messageId = `<${emitId}@${domain}>`;
  const thread = threadOf(emission);
  const threadId = thread === null ? null : `<${thread}@${domain}>`;
  const date = new Date(msOf(entry));
  return { from, to: mailTo, ownerId, subject: oneLine(subject), text, html, messageId, threadId, date, emitId };
}

/**
 * Prevents automatic replies, also those of Exchange. No `Precedence: bulk` and `List-Unsubscribe`: mail servers file such mails
 * among newsletters.
 */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' };

/** Returns message options for nodemailer, which never treats the content as a path or URL. */
export function asMessage(letter: Letter) {
  const { from, to, ownerId, subject, text, html, messageId, threadId, date, emitId } = letter;
  return {
    from,
    // As an object: nodemailer would read text as a list of recipients.
    to: to === null ? noAddress(ownerId) : { name: '', address: to },
    subject,
    text,
    ...(html === null ? {} : { html }),
    messageId,
    ...(threadId === null ? {} : { inReplyTo: threadId, references: threadId }),
    date,
    headers: AUTOMATIC,
    baseBoundary: emitId,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Names the owner in a file of the outbox, by an address that no mail server delivers to (RFC 2606). */
function noAddress(ownerId: string): { name: string; address: string } {
  return { name: 'Owner without an address', address: `${ownerId}@no-address.invalid` };
}

function parse(body: Uint8Array): { subject?: unknown; text?: unknown; html?: unknown } | null {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof parsed === 'object' && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Removes line breaks and other control characters, which could begin a header of the sender's choice, and what turns the text. */
function oneLine(text: string): string {
  return withoutTurns(text.replace(/\p{Cc}+/gu, ' ')).toWellFormed();
}

/** Returns the domain of a sender such as `Errand <errand@example.com>`. */
export function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}

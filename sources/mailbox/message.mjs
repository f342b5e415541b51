// A message as it is emitted: what it says, and what is attached to it.

import { createHash } from 'node:crypto';
import PostalMime from 'postal-mime';

const MAX_TEXT_CHARS = 256 * 1024;
const HASH_CHARS = 16;

/**
 * `message`: as the server tells it, with as much of its source as was asked for. `maxContentBytes`: of an attachment that is
 * emitted with its content.
 */
export async function eventOf(message, { mailbox, maxContentBytes }) {
  const { uid, flags, internalDate, size, source } = message;
  const known = {
    mailbox,
    uid,
    received_at: timeOf(internalDate),
    size,
    flags: [...(flags ?? [])].sort(),
    ...(source.length < size ? { is_truncated: true } : {}),
  };
  try {
    return { ...known, ...partsOf(await PostalMime.parse(source), maxContentBytes) };
  } catch (error) {
    // It would come again with each poll, and nothing behind it would.
    const { messageId, date, subject } = message.envelope ?? {};
    return { ...known, message_id: messageId, date: timeOf(date), subject, unreadable: error.message };
  }
}

function partsOf(mail, maxContentBytes) {
  return {
    message_id: mail.messageId,
    in_reply_to: mail.inReplyTo,
    references: mail.references,
    date: timeOf(mail.date),
    from: addressesOf([mail.from])[0],
    reply_to: addressesOf(mail.replyTo),
    to: addressesOf(mail.to),
    cc: addressesOf(mail.cc),
    subject: mail.subject,
    text: mail.text?.slice(0, MAX_TEXT_CHARS),
    html: mail.html?.slice(0, MAX_TEXT_CHARS),
    attachments: mail.attachments.map((attachment) => attachmentOf(attachment, maxContentBytes)),
  };
}

function attachmentOf({ filename, mimeType, disposition, contentId, content }, maxContentBytes) {
  const bytes = Buffer.from(content);
  return {
    filename,
    mime_type: mimeType,
    disposition,
    content_id: contentId,
    size: bytes.length,
    ...(bytes.length <= maxContentBytes ? { content: bytes.toString('base64') } : {}),
  };
}

/** Those of a group are addresses like others. */
function addressesOf(given = []) {
  return given
    .filter(Boolean)
    .flatMap((one) => one.group ?? [one])
    .map(({ name, address }) => ({ name: name || undefined, address }));
}

/** Returns undefined for text that is no time: the sender writes the header. */
function timeOf(date) {
  const ms = date === undefined ? Number.NaN : new Date(date).getTime();
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** The same in whatever order and under whatever number the server has the message. */
export function identityOf({ envelope = {}, size }) {
  const { messageId, date, subject, from } = envelope;
  const parts = messageId ? [messageId] : [timeOf(date), subject, from?.[0]?.address, size];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, HASH_CHARS);
}

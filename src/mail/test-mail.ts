// The mail that "errand doctor --send-mail" sends.

import { randomUUID } from 'node:crypto';
import { LIMITS } from '../domain/limits.ts';
import { domainOf } from './letter.ts';
import { accepted, refused, timedOut } from './reply.ts';
import { createSmtp } from './smtp.ts';
import type { SmtpFinding } from './smtp-check.ts';

interface TestMail {
  readonly smtpUrl: string;
  readonly from: string;
  readonly to: string;
}

/** Sends the mail. Never rejects. */
export async function sendTestMail({ smtpUrl, from, to }: TestMail): Promise<SmtpFinding> {
  const smtp = createSmtp({ smtpUrl });
  const emitId = randomUUID();
  const text = `This mail was sent by "errand doctor --send-mail": mails of errors will arrive as it did.\n`;
  const mail = { from, to, ownerId: '', subject: 'Mails of Errand arrive', text, html: null, threadId: null };
  const signal = AbortSignal.timeout(LIMITS.maxAttemptTimeoutMs);
  try {
    const letter = { ...mail, messageId: `<${emitId}@${domainOf(from)}>`, date: new Date(), emitId };
    const { detail } = accepted(await smtp.send(letter, signal));
    return { is: 'well', says: `a mail to ${to} was sent: ${detail}` };
  } catch (error) {
    const { detail } = signal.aborted ? timedOut(LIMITS.maxAttemptTimeoutMs) : refused(error);
    return { is: 'wrong', says: `a mail from ${from} to ${to} was not taken: ${detail}` };
  } finally {
    smtp.close();
  }
}

// Mails over SMTP. The server's address is the operator's own setting, so that no address is judged here.

import { createTransport } from 'nodemailer';
import { LIMITS } from '../domain/limits.ts';
import { asMessage, type Letter } from './letter.ts';

export interface Smtp {
  /** Resolves with the server's last reply. Rejects with nodemailer's error; see reply.ts. */
  send(letter: Letter, signal: AbortSignal): Promise<string>;
  close(): void;
}

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with credentials where the server wants them. */
  readonly smtpUrl: string;
  readonly connectTimeoutMs?: number;
}

const CONNECTIONS = 5;

/** Throws an Error, which does not quote the URL and so not its password, when the URL is none of SMTP. */
export function createSmtp({ smtpUrl, connectTimeoutMs = LIMITS.connectTimeoutMs }: SmtpOptions): Smtp {
  const url = URL.parse(smtpUrl);
  // nodemailer would take localhost for whatever it cannot read.
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new Error('the address of the mail server is not smtp://host:port or smtps://host:port');
  }
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: CONNECTIONS,
    // Once, for a server that had closed an idle connection; every other repeat is the delivery schedule's.
    maxRequeues: 1,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
  });

  async function send(letter: Letter, signal: AbortSignal): Promise<string> {
    const info = await transport.sendMail({ ...asMessage(letter), signal });
    return info.response;
  }

  return { send, close: () => transport.close() };
}

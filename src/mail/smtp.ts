// Mails over SMTP. The server's address is the operator's own setting, so it is not judged here.

import { LIMITS } from '../domain/limits.ts';
import { asMessage, type Letter } from './letter.ts';
import { nodemailer } from './nodemailer.ts';

export interface Smtp {
  /** Resolves with the server's last reply. Rejects with nodemailer's error; see reply.ts. */
  send(letter: Letter, signal: AbortSignal): Promise<string>;
  close(): void;
}

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with credentials if the server needs them. */
  readonly smtpUrl: string;
  readonly connectTimeoutMs?: number;
}

const CONNECTIONS = 5;

/** Throws an Error when the URL is not an SMTP URL. The message does not quote the URL, which may contain a password. */
export function createSmtp({ smtpUrl, connectTimeoutMs = LIMITS.connectTimeoutMs }: SmtpOptions): Smtp {
  const url = URL.parse(smtpUrl);
  // For a URL that nodemailer cannot read, it would use localhost.
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new Error('the address of the mail server is not smtp://host:port or smtps://host:port');
  }
  let isClosed = false;
  const open = () => {
    const transport = nodemailer().createTransport({
      url: smtpUrl,
      pool: true,
      maxConnections: CONNECTIONS,
      // One repeat, for a server that had closed an idle connection; all others follow the delivery schedule.
      maxRequeues: 1,
      connectionTimeout: connectTimeoutMs,
      greetingTimeout: connectTimeoutMs,
      dnsTimeout: connectTimeoutMs,
    });
    if (isClosed) transport.close();
    return transport;
  };
  let opened: ReturnType<typeof open> | null = null;

  async function send(letter: Letter, signal: AbortSignal): Promise<string> {
    opened ??= open();
    const info = await opened.sendMail({ ...asMessage(letter), signal });
    return info.response;
  }

  function close(): void {
    isClosed = true;
    opened?.close();
  }

  return { send, close };
}

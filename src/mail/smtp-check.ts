// Tries the mail server as a delivery would, up to signing in: connects, says EHLO, upgrades to TLS where it is offered, signs in
// and quits. No mail is sent. Says what it found, and what to do, in sentences without the password.

import { SECOND_MS } from '../domain/limits.ts';
import { refused } from './reply.ts';

export interface SmtpFinding {
  readonly is: 'well' | 'look' | 'wrong';
  readonly says: string;
}

interface Session {
  readonly isEncrypted: boolean;
  readonly offersSignIn: boolean;
}

/** Of all of it: a server may take long for each answer. */
const WITHIN_MS = 10 * SECOND_MS;
const SIGN_IN = new Set([530, 534, 535, 538]);
const PORTS =
  'smtps:// is for TLS from the first byte (port 465), smtp:// for all else (587, 25); many networks block port 25';

/** Tries a mail server. Never rejects; settles within `withinMs`. */
export async function checkSmtp(smtpUrl: string, withinMs = WITHIN_MS): Promise<SmtpFinding> {
  const url = URL.parse(smtpUrl);
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    return { is: 'wrong', says: 'ERRAND_SMTP_URL is not smtp://host:port or smtps://host:port' };
  }
  const at = `${url.hostname}:${url.port || (url.protocol === 'smtps:' ? 465 : 587)}`;
  try {
    return found(at, url.username !== '', await open(smtpUrl, withinMs));
  } catch (error) {
    return { is: 'wrong', says: `${at}: ${whatIsWrong(error, withinMs)}` };
  }
}

/** Resolves when it has signed in, where that is asked for and offered. Rejects with nodemailer's error. */
async function open(smtpUrl: string, withinMs: number): Promise<Session> {
  const { default: Transport } = await import('nodemailer/lib/smtp-transport');
  const { default: Connection } = await import('nodemailer/lib/smtp-connection');
  const timeouts = {
    connectionTimeout: withinMs,
    greetingTimeout: withinMs,
    dnsTimeout: withinMs,
    socketTimeout: withinMs,
  };
  const transport = new Transport({ url: smtpUrl, ...timeouts });
  const connection = new Connection(transport.options);
  const auth = transport.getAuth({});
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      // Each answer starts nodemailer's own timeouts again.
      timer = setTimeout(() => reject(Object.assign(new Error('too late'), { code: 'ETIMEDOUT' })), withinMs);
      const settle = (error?: unknown): void => (error ? reject(error) : resolve());
      connection.once('error', reject);
      connection.once('end', () => reject(new Error('the connection was closed')));
      connection.connect((error) => {
        if (error || !auth || !connection.allowsAuth) settle(error);
        else connection.login(auth, settle);
      });
    });
    const session = { isEncrypted: connection.secure, offersSignIn: connection.allowsAuth };
    connection.quit();
    return session;
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function found(at: string, hasUser: boolean, { isEncrypted, offersSignIn }: Session): SmtpFinding {
  const way = isEncrypted ? 'over TLS' : 'without TLS';
  if (hasUser && !offersSignIn) {
    const why = isEncrypted ? '' : ', since the connection is not encrypted, most likely: try smtps:// and port 465';
    return { is: 'look', says: `${at} answers ${way}, but offers no sign-in${why}; user and password are not used` };
  }
  const signedIn = hasUser ? ', and takes user and password' : '';
  if (isEncrypted) return { is: 'well', says: `${at} answers over TLS${signedIn}` };
  const says = `${at} answers${signedIn}, but offers no TLS: mails${hasUser ? ' and the password' : ''} can be read on their way; use smtps://, or a server that offers STARTTLS`;
  return { is: isLoopback(at) ? 'well' : 'look', says: isLoopback(at) ? `${at} answers${signedIn}` : says };
}

function isLoopback(at: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+$/.test(at);
}

function whatIsWrong(error: unknown, withinMs: number): string {
  const { outcome, status, detail } = refused(error);
  const said = detail.replace(/\.$/, '');
  const code = String(Reflect.get(Object(error), 'originalCode') ?? Reflect.get(Object(error), 'code') ?? '');
  if (status !== null && SIGN_IN.has(status)) {
    return `${said}; correct user and password in ERRAND_SMTP_URL (an @ in them is %40, a : is %3A, a / is %2F)`;
  }
  if (status !== null) return `${said}; its operator knows why it refuses this machine`;
  if (outcome === 'timeout') {
    return `no answer within ${withinMs / SECOND_MS} s; check host and port, and firewalls on the way: ${PORTS}`;
  }
  if (outcome === 'tls') return `${said}; ${aboutTls(code, error)}`;
  if (outcome === 'refused') return `${said}; nothing listens there, or a firewall refuses: ${PORTS}`;
  if (outcome === 'dns') return `${said}; correct the host in ERRAND_SMTP_URL, or the name servers of this machine`;
  return `${said}; check that it is a mail server: ${PORTS}`;
}

function aboutTls(code: string, error: unknown): string {
  if (/ALTNAME|HOSTNAME/.test(code)) {
    return 'its certificate is for another name: use the name of the certificate in ERRAND_SMTP_URL';
  }
  if (/EXPIRED|NOT_YET/.test(code)) return 'its certificate is not valid now: renew it, and check the clocks';
  if (/wrong version|packet length|EPROTO/i.test(`${code} ${(error as Error).message}`)) {
    return `it does not speak TLS at once: ${PORTS}`;
  }
  return 'its certificate is not trusted here: name the file of the authority that signed it in NODE_EXTRA_CA_CERTS, for the server, too';
}
